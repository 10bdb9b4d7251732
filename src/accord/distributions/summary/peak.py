"""Find the mode of a univariate distribution: bisect the peaks of a fine grid and take the best."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from ..parameters import without_gradient
from ..truncation.interval_support import ends
from .counts import cells_between
from .rule import nodes_between

if TYPE_CHECKING:
    from ..base import AbstractDistribution

# Number of grid peaks to refine; between nodes the density may exceed its node values by about 1 part in 1000.
_PEAKS = 8
_STEPS = 64


def mode_of(d: "AbstractDistribution", knots: jax.Array) -> jax.Array:
    """Find the smallest value of largest density, of the batch shape; possibly an end of the support.

    **Arguments**: `knots`, points along a new first axis between which the density is smooth on its own scale.
    """
    d, knots = without_gradient((d, knots))
    x = nodes_between(d, knots).x
    log_density = d.log_prob(x)

    def is_rising(at: jax.Array) -> jax.Array:
        return jax.jvp(d.log_prob, (at,), (jnp.ones_like(at),))[1] > 0

    best = _best_peak(d, x, log_density, is_rising)
    top = log_density.max(axis=0)
    slack = 1e4 * float(jnp.finfo(x.dtype).eps) * (1 + jnp.abs(top))
    for end, nearest in zip(ends(d.support), (0, -1), strict=True):
        end = jnp.broadcast_to(jnp.asarray(end, x.dtype), best.shape)
        is_there = jnp.isfinite(end) & (log_density[nearest] >= top - slack)
        is_there = is_there & ((nearest == 0) | (log_density[0] < top - slack))
        best = jnp.where(is_there, end, best)
    return best


def whole_mode_of(d: "AbstractDistribution", knots: jax.Array) -> jax.Array:
    """Find the smallest whole number of largest probability, of the batch shape. See `mode_of`."""
    d = without_gradient(d)
    x, _ = cells_between(d, knots)

    def is_rising(at: jax.Array) -> jax.Array:
        at = jnp.floor(at)
        return d.log_prob(at + 1) > d.log_prob(at)

    found = _best_peak(d, x, d.log_prob(x), is_rising)
    around = jnp.stack([jnp.floor(found), jnp.ceil(found)])
    best = jnp.argmax(d.log_prob(around), axis=0)
    return jnp.take_along_axis(around, best[None], axis=0)[0]


def _best_peak(
    d: "AbstractDistribution",
    x: jax.Array,
    log_density: jax.Array,
    is_rising: Callable[[jax.Array], jax.Array],
) -> jax.Array:
    """Find the best local maximum of a sorted grid, refined by bisection between its neighbours."""
    below = jnp.concatenate([jnp.full_like(x[:1], -jnp.inf), log_density[:-1]])
    above = jnp.concatenate([log_density[1:], jnp.full_like(x[:1], -jnp.inf)])
    # Keep the first and last of equal neighbours: the density may be higher next to them.
    is_first = (log_density > below) & (log_density >= above)
    is_peak = is_first | ((log_density >= below) & (log_density > above))
    score = jnp.moveaxis(jnp.where(is_peak, log_density, -jnp.inf), 0, -1)
    index = jnp.moveaxis(jax.lax.top_k(score, _PEAKS)[1], -1, 0)
    last = x.shape[0] - 1
    low, high = (jnp.take_along_axis(x, jnp.clip(index + step, 0, last), axis=0) for step in (-1, 1))

    def halve(_: int, bracket: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = bracket
        middle = low + 0.5 * (high - low)
        rises = is_rising(middle)
        return jnp.where(rises, middle, low), jnp.where(rises, high, middle)

    low, high = jax.lax.fori_loop(0, _STEPS, halve, (low, high))
    # Count a node only if it is higher beyond rounding: near a smooth peak all heights agree.
    nodes = jnp.take_along_axis(x, index, axis=0)
    height, at_nodes = d.log_prob(low), d.log_prob(nodes)
    slack = 16 * float(jnp.finfo(x.dtype).eps) * (1 + jnp.abs(log_density.max(axis=0)))[None]
    is_node = at_nodes > height + slack
    found, height = jnp.where(is_node, nodes, low), jnp.where(is_node, at_nodes, height)
    return jnp.where(height >= height.max(axis=0)[None] - slack, found, jnp.inf).min(axis=0)
