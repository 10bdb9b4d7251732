"""Run the steps of a loop, keeping all or only some of what a gradient needs of them."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ...core.options import positive_count


def block_size(checkpoint: int | bool | None, length: int) -> int | None:
    """Return how many steps lie between carries that are kept; None keeps everything.

    **Raises** `OptionError` for a number below one.
    """
    if checkpoint is None or checkpoint is False:
        return None
    if checkpoint is True:
        return max(1, round(math.sqrt(length)))
    return min(positive_count("scan: checkpoint", checkpoint), length)


def scan_in_blocks(
    body: Callable[[Any, Any], Any], init: Any, xs: Any, length: int, *, reverse: bool, block: int | None
) -> tuple[Any, Any]:
    """Run `jax.lax.scan`, in blocks of so many steps that are computed again when the gradient needs them.

    Where the blocks do not divide the steps, the rest is a shorter one at the end.
    """
    body, xs = _without_unused(body, init, xs)
    if block is None:
        return jax.lax.scan(body, init, xs, length, reverse=reverse)

    def of_block(length: int) -> Callable[[Any, Any], tuple[Any, Any]]:
        return jax.checkpoint(lambda carry, xs: jax.lax.scan(body, carry, xs, length, reverse=reverse))

    num_blocks, num_left = divmod(length, block)
    first = num_left if reverse else 0  # the end of a loop in reverse is at the front
    whole = jax.tree.map(lambda x: x[first : first + num_blocks * block], xs)
    whole = jax.tree.map(lambda x: x.reshape(num_blocks, block, *x.shape[1:]), whole)
    carry, ys = jax.lax.scan(of_block(block), init, whole, num_blocks, reverse=reverse)
    ys = jax.tree.map(lambda y: y.reshape(num_blocks * block, *y.shape[2:]), ys)
    if not num_left:
        return carry, ys
    left = jax.tree.map(lambda x: x[:first] if reverse else x[num_blocks * block :], xs)
    carry, rest = of_block(num_left)(carry, left)
    order = (rest, ys) if reverse else (ys, rest)
    return carry, jax.tree.map(lambda *parts: jnp.concatenate(parts), *order)


def _without_unused(
    body: Callable[[Any, Any], Any], init: Any, xs: Any
) -> tuple[Callable[[Any, Any], Any], list[Any]]:
    """Build the loop over the inputs alone that a step uses.

    Observations are such: what depends on them is computed for all steps at once, outside. It saves the loads; and XLA
    for CPUs (of JAX 0.10) has ended the process over such inputs, in a loop that it was to make one piece of code of.
    """
    leaves, structure = jax.tree.flatten(xs)
    one = [jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype) for leaf in leaves]
    jaxpr = jax.make_jaxpr(lambda carry, x: body(carry, jax.tree.unflatten(structure, x)))(init, one).jaxpr
    looked_at = {id(atom) for each in (*jaxpr.eqns, jaxpr) for atom in _read(each)}
    inputs = jaxpr.invars[len(jaxpr.invars) - len(leaves) :]
    is_used = [id(variable) in looked_at for variable in inputs]

    def lean(carry: Any, used: list[Any]) -> Any:
        rest = iter(used)
        whole = [
            next(rest) if is_used_now else _nothing(leaf)
            for is_used_now, leaf in zip(is_used, one, strict=True)
        ]
        return body(carry, jax.tree.unflatten(structure, whole))

    return lean, [leaf for leaf, is_used_now in zip(leaves, is_used, strict=True) if is_used_now]


def _read(part: Any) -> Any:
    """List what an equation takes, or a whole program returns."""
    return part.invars if hasattr(part, "primitive") else part.outvars


def _nothing(leaf: Any) -> jax.Array:
    """Make a value to put where none is used."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.split(jax.random.key(0), leaf.shape)
    return jnp.zeros(leaf.shape, leaf.dtype)
