"""Run the steps of a loop, keeping all of what a gradient needs of them or only some."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..core.options import positive_count


def block_size(checkpoint: int | bool | None, length: int) -> int | None:
    """How many steps lie between carries that are kept; None keeps everything.

    **Raises** `OptionError` for a number below one.
    """
    if checkpoint is None or checkpoint is False:
        return None
    if checkpoint is True:
        return max(1, round(math.sqrt(length)))
    return min(positive_count("scan: checkpoint", checkpoint), length)


def loop(
    body: Callable[[Any, Any], Any], init: Any, xs: Any, length: int, *, reverse: bool, block: int | None
) -> tuple[Any, Any]:
    """`jax.lax.scan`, in blocks of so many steps that are worked out again when the gradient needs them.

    Where the blocks do not divide the steps, the rest is a shorter one at the end.
    """
    if block is None:
        return jax.lax.scan(body, init, xs, length, reverse=reverse)

    @jax.checkpoint
    def of_block(carry: Any, xs: Any) -> tuple[Any, Any]:
        return jax.lax.scan(body, carry, xs, reverse=reverse)

    num_blocks, num_left = divmod(length, block)
    first = num_left if reverse else 0  # the end of a loop in reverse is at the front
    whole = jax.tree.map(lambda x: x[first : first + num_blocks * block], xs)
    whole = jax.tree.map(lambda x: x.reshape(num_blocks, block, *x.shape[1:]), whole)
    carry, ys = jax.lax.scan(of_block, init, whole, num_blocks, reverse=reverse)
    ys = jax.tree.map(lambda y: y.reshape(num_blocks * block, *y.shape[2:]), ys)
    if not num_left:
        return carry, ys
    left = jax.tree.map(lambda x: x[:first] if reverse else x[num_blocks * block :], xs)
    carry, rest = of_block(carry, left)
    order = (rest, ys) if reverse else (ys, rest)
    return carry, jax.tree.map(lambda *parts: jnp.concatenate(parts), *order)
