"""Convert arguments to one floating dtype and rank, exactly, and only when they are used.

Fields of distributions and bijectors stay as the user gave them: Python numbers, NumPy or JAX arrays. They are
converted here. Nothing relies on implicit promotion of dtypes or ranks, so the same code runs under JAX's strictest
settings.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer


def align(first: Any, *others: Any) -> tuple[Any, ...]:
    """Convert arguments to one floating dtype and one rank (leading axes of length 1).

    The first is always returned as an array. Among the others, Python numbers become Python floats, which stay weakly
    typed and exact until the operation that uses them.

    **Example**

    >>> x, scale = bijectors.align(np.zeros(3, np.float32), 0.1)
    >>> x.dtype, scale  # the dtype of the array, and the number as it is
    (dtype('float32'), 0.1)
    """
    arguments = (first, *others)
    dtype = float_type(*arguments)
    rank = max(np.ndim(argument) for argument in arguments)
    aligned: list[Any] = [_as_rank(jnp.asarray(first, dtype), rank)]
    for argument in others:
        if is_number(argument):
            aligned.append(float(argument))
        else:
            aligned.append(_as_rank(jnp.asarray(argument, dtype), rank))
    return tuple(aligned)


def float_type(*arguments: Any) -> np.dtype:
    """Return the widest floating dtype among strongly typed arguments; JAX's default float if there is none."""
    widest = None
    for argument in arguments:
        # A Python number that went through jit is weakly typed still.
        if argument is None or is_number(argument) or getattr(argument, "weak_type", False):
            continue
        dtype = jnp.result_type(argument)
        if jnp.issubdtype(dtype, jnp.floating) and (widest is None or dtype.itemsize > widest.itemsize):
            widest = dtype
    return np.dtype(jnp.result_type(float)) if widest is None else np.dtype(widest)


def is_number(value: Any) -> bool:
    """Return whether `value` is a Python number: weakly typed, known while tracing. NumPy scalars are arrays here."""
    return isinstance(value, (bool, int, float)) and not isinstance(value, np.generic)


def is_concrete(value: Any) -> bool:
    """Return whether the numbers in `value` can be read now: not a tracer, and held by this process."""
    if isinstance(value, Tracer):
        return False
    if isinstance(value, jax.Array):
        return value.is_fully_addressable
    return is_number(value) or isinstance(value, (np.ndarray, np.generic))


def log(value: Any) -> Any:
    """Compute the natural logarithm; a positive Python float gives a Python float, so constants compile to nothing."""
    if isinstance(value, float) and not isinstance(value, np.generic) and value > 0:
        return math.log(value)
    return jnp.log(value)


def value_hash(module: Any) -> int:
    """Hash a pytree by its values, so that `jax.jit(module.method)` works although the fields are arrays.

    A tracer counts by identity: two are never known to be equal.
    """
    leaves, structure = jax.tree.flatten(module)
    words = [
        (np.shape(leaf), np.asarray(leaf).tobytes()) if is_concrete(leaf) else id(leaf) for leaf in leaves
    ]
    return hash((structure, *words))


def _as_rank(array: jax.Array, rank: int) -> jax.Array:
    """Prepend axes of length 1; leave scalars alone, because they broadcast with every rank."""
    if 0 < array.ndim < rank:
        return jax.lax.expand_dims(array, range(rank - array.ndim))
    return array
