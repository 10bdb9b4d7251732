"""Put entries of arrays elsewhere: only their numbers move."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any

import jax
import numpy as np

from ....host.rules import MOVES
from .equation import numbers_moved, on_host, repeated
from .values import Cells, Dense, Known, Value, cells_of, joined, numbered, shortened, spread

NAMES = frozenset(MOVES).difference({"scatter"}) | {"rev"}
"""Operations that only put entries elsewhere, wherever they are."""

MAX_MOVED = 2**20
"""Entries of a result, up to which their numbers are moved."""


def moved(equation: Any, values: Sequence[Value]) -> list[Value]:
    """Apply an operation that puts entries elsewhere."""
    variables = equation.invars
    size = sum(prod(variable.aval.shape) for variable in equation.outvars)
    is_cheap = size <= MAX_MOVED or _is_view(equation)
    if is_cheap and all(isinstance(value, Known) for value in values):
        whole = [whole_of(v.value, x) for v, x in zip(values, variables, strict=True) if isinstance(v, Known)]
        found = on_host(equation, whole)
        if found is not None:
            return [Known(shortened(each)) for each in found]
    if len(values) == 1 and isinstance(values[0], Dense) and equation.primitive.name in _OF_DENSE:
        simple = _OF_DENSE[equation.primitive.name](equation, values[0].array)
        if simple is not None:
            return [Dense(simple)]
    is_short = any(v.shape != x.aval.shape for v, x in zip(values, variables, strict=True))
    if is_cheap and (is_short or any(isinstance(value, Cells) for value in values)):
        found = _by_numbers(equation, values)
        if found is not None:
            return found
    arrays = [spread(value, x.aval.shape) for value, x in zip(values, variables, strict=True)]
    return [Dense(each) for each in repeated(equation, arrays)]


def whole_of(array: np.ndarray, variable: Any) -> np.ndarray:
    """Return an array in its full shape, without a copy."""
    return np.broadcast_to(array, variable.aval.shape)


def _is_view(equation: Any) -> bool:
    """Return whether NumPy moves entries without a copy."""
    if equation.primitive.name == "reshape":
        (before,), after = [v.aval.shape for v in equation.invars], equation.outvars[0].aval.shape
        return _long(before) == _long(after)
    return equation.primitive.name in _OF_DENSE


def _long(shape: Sequence[int]) -> list[int]:
    return [size for size in shape if size != 1]


def _by_numbers(equation: Any, values: Sequence[Value]) -> list[Value] | None:
    all_cells = [numbered(value) for value in values]
    of_program = [cells for cells in all_cells if cells is not None]
    if len(of_program) < len(values):
        return None
    together, indices = joined(of_program)
    whole = [whole_of(index, x) for index, x in zip(indices, equation.invars, strict=True)]
    found = numbers_moved(equation, whole)
    return None if found is None else [cells_of(together, each) for each in found]


def _broadcast(equation: Any, array: Any) -> Any:
    shape = [1] * len(equation.params["shape"])
    for axis, size in zip(equation.params["broadcast_dimensions"], array.shape, strict=True):
        shape[axis] = size
    return _reshaped(array, shape)


def _transpose(equation: Any, array: Any) -> Any:
    return jax.lax.transpose(array, equation.params["permutation"])


def _reshape(equation: Any, array: Any) -> Any:
    """Add and leave out axes of length 1; None for another change."""
    (before,), after = [v.aval.shape for v in equation.invars], equation.outvars[0].aval.shape
    if _long(before) != _long(after):
        return None
    lengths = iter([own for own, size in zip(array.shape, before, strict=True) if size != 1])
    return _reshaped(array, [next(lengths) if size != 1 else 1 for size in after])


def _slice(equation: Any, array: Any) -> Any:
    (before,), params = [v.aval.shape for v in equation.invars], equation.params
    is_short = [own != size for own, size in zip(array.shape, before, strict=True)]
    strides = params["strides"] or [1] * array.ndim
    if any(short and not size for short, size in zip(is_short, equation.outvars[0].aval.shape, strict=True)):
        return None
    starts = [0 if short else each for short, each in zip(is_short, params["start_indices"], strict=True)]
    limits = [1 if short else each for short, each in zip(is_short, params["limit_indices"], strict=True)]
    strides = [1 if short else each for short, each in zip(is_short, strides, strict=True)]
    return jax.lax.slice(array, starts, limits, strides)


def _rev(equation: Any, array: Any) -> Any:
    return jax.lax.rev(array, [axis for axis in equation.params["dimensions"] if array.shape[axis] > 1])


def _reshaped(array: Any, shape: Sequence[int]) -> Any:
    return array if array.shape == tuple(shape) else jax.lax.reshape(array, tuple(shape))


_OF_DENSE: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "broadcast_in_dim": _broadcast,
        "copy": lambda _, array: array,
        "copy_p": lambda _, array: array,
        "expand_dims": _reshape,
        "reshape": _reshape,
        "rev": _rev,
        "slice": _slice,
        "squeeze": _reshape,
        "transpose": _transpose,
    }
)
"""How arrays that the program computes are moved; where they are alike along an axis, they stay so."""
