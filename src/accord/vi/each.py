"""Evaluate the draws of a step: side by side or one by one, on the same data or each on a part of its own."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from ..density import LogDensity
from .objectives.base import Each, LogDensityAt

_MOST_AT_ONCE = 2**24  # numbers of data times draws, up to which draws are evaluated side by side


def are_side_by_side(density: LogDensity, num_draws: int) -> bool:
    """Return whether so many draws are evaluated together: unless that would take too much memory."""
    size = sum(int(np.prod(np.shape(value))) for value in density.data.values())
    return size * num_draws <= _MOST_AT_ONCE


def sharing(log_density: LogDensityAt, is_side_by_side: bool) -> Each:
    """Return what evaluates draws on one log density."""
    return lambda function, noise: _mapped(partial(function, log_density), noise, is_side_by_side)


def in_pairs(log_density_of: Callable[[Int[Array, ""]], LogDensityAt], is_side_by_side: bool) -> Each:
    """Return what evaluates draws on a log density by number, which draw `i` shares with draw `i + draws / 2`."""

    def each(function: Callable[[LogDensityAt, Array], Any], noise: Array) -> Any:
        numbers = jnp.arange(noise.shape[0], dtype=jnp.int32) % max(noise.shape[0] // 2, 1)

        def evaluated(row: tuple[Array, Array]) -> Any:
            return function(log_density_of(row[1]), row[0])

        return _mapped(evaluated, (noise, numbers), is_side_by_side)

    return each


def _mapped(function: Callable[[Any], Any], rows: Any, is_side_by_side: bool) -> Any:
    return jax.vmap(function)(rows) if is_side_by_side else jax.lax.map(function, rows)
