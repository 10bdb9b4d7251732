"""Integrate densities of one number each by adaptive Gauss-Hermite quadrature, and draw from them.

With mode m, s = (-h'')**-1/2 there, and nodes x_j with weights w_j for exp(-x**2), the logarithm of the integral of
exp(h) is log(sqrt(2) s) + log sum_j w_j exp(x_j**2 + h(m + sqrt(2) s x_j)).

**Source**: Liu & Pierce (1994), Biometrika 81(3), 624-629.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....distributions.special import log_sum_exp

_NEGLIGIBLE = -80.0  # logarithm of the share of an integral below which a node is left out
_CELLS = 6  # of a draw, for each node, between the outermost ones
_FARTHEST = 8.0  # standard deviations, which draws reach at least: few nodes are nearer than most tails


def nodes_of(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes, in standard deviations from the mode, and logarithms of their weights for a density."""
    places, weights = np.polynomial.hermite.hermgauss(count)
    return np.sqrt(2) * places, np.log(np.sqrt(2) * weights) + places**2


def log_integrals(
    by_group: Callable[[jax.Array], Any],
    mode: jax.Array,
    scale: jax.Array,
    counts: Sequence[int],
    fixed: Callable[[jax.Array], Any] | None = None,
) -> list[jax.Array]:
    """Compute the logarithm of each integral relative to the density at its mode, shape `(num,)`, by each of `counts`.

    **Arguments**: `by_group`, log densities of shape `(num,)` at one number each; `mode` and `scale`, shape `(num,)`;
    `counts`, of nodes; `fixed`, the log densities without derivatives by anything, where those of the results are
    wanted.
    """
    every = [nodes_of(count) for count in counts]
    places, log_weights = (
        jnp.asarray(np.concatenate(each), mode.dtype)[:, None] for each in zip(*every, strict=True)
    )
    at = mode[None] + scale[None] * places
    if fixed is not None:
        # A node far out, where a model may overflow, is taken out of the program before derivatives meet it.
        known = log_weights + jax.vmap(fixed)(jax.lax.stop_gradient(at))
        is_seen = (
            known > jnp.max(jnp.where(jnp.isnan(known), -jnp.inf, known), axis=0, keepdims=True) + _NEGLIGIBLE
        )
        at, log_weights = jnp.where(is_seen, at, mode[None]), jnp.where(is_seen, log_weights, -jnp.inf)
    peak, heights = jnp.split(jax.vmap(by_group)(jnp.concatenate([mode[None], at])), [1])
    parts = jnp.split(log_weights + heights - peak, np.cumsum(counts)[:-1])
    return [jnp.log(scale) + log_sum_exp(part, axis=0) for part in parts]


def drawn(
    by_group: Callable[[jax.Array], Any],
    mode: jax.Array,
    scale: jax.Array,
    count: int,
    levels: tuple[jax.Array, jax.Array],
) -> jax.Array:
    """Draw a number from each density, by the inverse of its cumulative probability.

    Draws are over the range of the nodes, and over 8 standard deviations to each side at least. Between points that are
    a small part of a standard deviation apart the log density is taken to be linear.

    **Arguments**: as of `log_integrals`; `levels`, two uniform numbers for each density.
    """
    outermost = float(nodes_of(count)[0][-1])
    end = max(outermost, _FARTHEST)
    num_cells = math.ceil(_CELLS * count * end / outermost)
    places = jnp.linspace(-end, end, num_cells + 1, dtype=mode.dtype)
    # Some at a time: an array of all of them and all rows may be large.
    found = jax.lax.map(by_group, mode[None] + scale[None] * places[:, None], batch_size=count)
    # Where a model overflows, it has no mass.
    found = jnp.where(jnp.isnan(found), -jnp.inf, found)
    heights = jnp.maximum(found - jnp.max(found, axis=0, keepdims=True), jnp.finfo(mode.dtype).min / 4)
    rise = heights[1:] - heights[:-1]
    steep = jnp.abs(rise)
    is_flat = steep < 1e-6
    safe = jnp.where(is_flat, 1.0, steep)
    # The integral of exp over a cell of length 1.
    log_mass = jnp.maximum(heights[1:], heights[:-1]) + jnp.where(
        is_flat, -steep / 2, jnp.log(-jnp.expm1(-safe)) - jnp.log(safe)
    )
    below = jnp.cumsum(jnp.exp(log_mass), axis=0)
    cell = jnp.minimum(jnp.sum(below <= levels[0][None] * below[-1:], axis=0), num_cells - 1)
    here = jnp.take_along_axis(rise, cell[None], axis=0)[0]
    # From the higher end, the cumulative probability is (1 - exp(-steep x)) / (1 - exp(-steep)).
    steep = jnp.abs(here)
    is_flat = steep < 1e-6
    safe = jnp.where(is_flat, 1.0, steep)
    inside = jnp.where(is_flat, levels[1], -jnp.log1p(levels[1] * jnp.expm1(-safe)) / safe)
    inside = jnp.where(here > 0, 1 - inside, inside)
    width = 2 * end / num_cells
    return mode + scale * (-end + width * (cell.astype(mode.dtype) + inside))
