"""Draw from densities of one to three numbers each, one number after the other, given those before.

The density of a number, beside those that are drawn, is integrated over those that are not by the nodes of a
quadrature. A draw is by the inverse of its cumulative probability, over the range of the nodes, and over 8 standard
deviations to each side at least. Between points that are a small part of a standard deviation apart the log density is
taken to be linear.
"""

import math

import jax
import jax.numpy as jnp

from ....distributions.special import log_sum_exp
from ..normal.square import Conditional
from .nodes import ByGroup, nodes_of

_CELLS = 6  # of a draw, for each node, between the outermost ones
_FARTHEST = 8.0  # standard deviations, which draws reach at least: few nodes are nearer than most tails


def drawn(
    by_group: ByGroup, normal: Conditional, count: int, levels: tuple[jax.Array, jax.Array]
) -> jax.Array:
    """Draw from each density, shape `(num, size)`.

    **Arguments**: as of `log_integrals`; `count`, of nodes along each dimension; `levels`, two uniform numbers for each
    number, shape `(num, size)`.
    """
    num, size = normal.mean.shape
    dtype = normal.mean.dtype
    outermost = float(nodes_of(count, 1)[0].max())
    end = max(outermost, _FARTHEST)
    num_cells = math.ceil(_CELLS * count * end / outermost)
    ends = jnp.linspace(-end, end, num_cells + 1, dtype=dtype)
    width = 2 * end / num_cells
    x = jnp.zeros((num, 0), dtype)  # in standard deviations from the mode
    for which in range(size):
        rest, log_weights = (jnp.asarray(each, dtype) for each in nodes_of(count, size - which - 1))

        def height(here: jax.Array, x: jax.Array = x, rest: jax.Array = rest, w: jax.Array = log_weights):
            def at(beyond: jax.Array) -> jax.Array:
                ahead = jnp.broadcast_to(jnp.concatenate([here[None], beyond]), (num, 1 + len(beyond)))
                return by_group(normal.mean + normal.deviation(jnp.concatenate([x, ahead], axis=1)))

            found = jax.vmap(at)(rest)
            # Where a model overflows, it has no mass.
            return log_sum_exp(w[:, None] + jnp.where(jnp.isnan(found), -jnp.inf, found), axis=0)

        # Some at a time: an array of all of them and all rows may be large.
        heights = jax.lax.map(height, ends, batch_size=max(1, count // len(rest)))
        places = _inverse(heights, levels[0][:, which], levels[1][:, which])
        x = jnp.concatenate([x, (-end + width * places)[:, None]], axis=1)
    return normal.mean + normal.deviation(x)


def _inverse(heights: jax.Array, level: jax.Array, within: jax.Array) -> jax.Array:
    """Draw places, counted in cells, from densities whose logarithms at the ends of cells are `heights`."""
    num_cells = len(heights) - 1
    dtype = heights.dtype
    heights = jnp.maximum(heights - jnp.max(heights, axis=0, keepdims=True), jnp.finfo(dtype).min / 4)
    rise = heights[1:] - heights[:-1]
    steep = jnp.abs(rise)
    is_flat = steep < 1e-6
    safe = jnp.where(is_flat, 1.0, steep)
    # The integral of exp over a cell of length 1.
    log_mass = jnp.maximum(heights[1:], heights[:-1]) + jnp.where(
        is_flat, -steep / 2, jnp.log(-jnp.expm1(-safe)) - jnp.log(safe)
    )
    below = jnp.cumsum(jnp.exp(log_mass), axis=0)
    cell = jnp.minimum(jnp.sum(below <= level[None] * below[-1:], axis=0), num_cells - 1)
    here = jnp.take_along_axis(rise, cell[None], axis=0)[0]
    # From the higher end, the cumulative probability is (1 - exp(-steep x)) / (1 - exp(-steep)).
    steep = jnp.abs(here)
    is_flat = steep < 1e-6
    safe = jnp.where(is_flat, 1.0, steep)
    inside = jnp.where(is_flat, within, -jnp.log1p(within * jnp.expm1(-safe)) / safe)
    inside = jnp.where(here > 0, 1 - inside, inside)
    return cell.astype(dtype) + inside
