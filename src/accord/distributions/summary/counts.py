"""Sum over the values of a whole-number distribution: one by one if few, else over groups of them.

The values between neighbouring quantiles are cut into groups. Three values represent each group, with weights that are
exact for cubic polynomials. Groups of one or three values are summed exactly.
"""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from ..truncation.interval_support import ends

if TYPE_CHECKING:
    from ..base import AbstractDistribution

_GROUPS = 32
# Beyond the first and last knot, panels double this many times along the tails.
_DOUBLINGS = (4, 24)


def count_mean_of(d: "AbstractDistribution", knots: jax.Array) -> jax.Array:
    """Compute the expectation of a whole-number distribution, of the batch shape.

    **Arguments**: `knots`, values along a new first axis between which the probabilities are smooth on their own scale.
    """
    x, log_p, weight = _seen(d, knots)
    return _average(x, log_p, weight)


def count_variance_of(d: "AbstractDistribution", knots: jax.Array) -> jax.Array:
    """Compute the variance of a whole-number distribution, of the batch shape."""
    x, log_p, weight = _seen(d, knots)
    return _average((x - _average(x, log_p, weight)[None]) ** 2, log_p, weight)


def count_entropy_of(d: "AbstractDistribution", knots: jax.Array) -> jax.Array:
    """Compute the entropy in nats of a whole-number distribution, of the batch shape."""
    _, log_p, weight = _seen(d, knots)
    return -_average(jnp.where(log_p > -jnp.inf, log_p, 0.0), log_p, weight)


def cells_between(d: "AbstractDistribution", knots: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return non-decreasing values along a new first axis, each with the weight of the values that it represents."""
    dtype, shape = knots.dtype, knots.shape[1:]
    low, high = (jnp.broadcast_to(jnp.asarray(end, dtype), shape)[None] for end in ends(d.support))
    low, high, knots = jax.lax.stop_gradient((low, high, knots))
    edges = jnp.sort(
        jnp.where(jnp.isfinite(knots), jnp.round(knots), knots[knots.shape[0] // 2][None]), axis=0
    )
    first, last = edges[:1], edges[-1:]
    reach = jnp.maximum(last - first, 1.0)
    rank = (-1,) + (1,) * len(shape)
    down, up = ((2.0 ** np.arange(1, count + 1) - 1).astype(dtype).reshape(rank) for count in _DOUBLINGS)
    edges = jnp.clip(jnp.concatenate([first - reach * down[::-1], edges, last + reach * up]), low, high)
    # A cell includes its upper edge and excludes its lower edge.
    edges = jnp.concatenate([edges[:1] - 1, edges])
    shares = (np.arange(_GROUPS + 1) / _GROUPS).astype(dtype).reshape((1, -1) + (1,) * len(shape))
    # Groups grow with the distance from the smallest value, as powers of the distance need.
    start, width = edges[:-1, None], (edges[1:] - edges[:-1])[:, None]
    from_low = jnp.where(jnp.isfinite(low[None]), start - low[None], jnp.inf)
    growth = jnp.clip(jnp.log1p(width / jnp.maximum(from_low, 1.0)), 1e-3, 8.0)
    grown = jnp.where(shares < 1, jnp.expm1(growth * shares) / jnp.expm1(growth), 1.0)
    ladder = start + jnp.floor(width * grown)
    start, size = ladder[:, :-1], ladder[:, 1:] - ladder[:, :-1]
    # An even count of values is an odd count plus one.
    odd = jnp.maximum(jnp.where(size % 2 == 0, size - 1, size), 0.0)
    step, side = _sides(odd)
    middle = start + jnp.where(odd > 0, 0.5 * (odd + 1), 0.0)
    values = jnp.stack([middle - step, middle, middle + step, start + size], axis=2)
    weights = jnp.stack([side, odd - 2 * side, side, size - odd], axis=2)
    return values.reshape((-1, *shape)), weights.reshape((-1, *shape))


def _sides(size: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the offset of two values from the middle of an odd number of values, and the weight of each."""
    is_more = size >= 3
    square = jnp.where(is_more, size, 3.0) ** 2
    step = jnp.round(jnp.sqrt((3 * square - 7) / 20))
    side = jnp.sqrt(square) * (square - 1) / (24 * step * step)
    return jnp.where(is_more, step, 0.0), jnp.where(is_more, side, 0.0)


def _seen(d: "AbstractDistribution", knots: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return values, their log probabilities and weights."""
    x, weight = cells_between(d, knots)
    return x, d.log_prob(x), weight


def _average(of: jax.Array, log_p: jax.Array, weight: jax.Array) -> jax.Array:
    """Return the weighted average over the values."""
    p = weight * jnp.exp(log_p)
    return (p * of).sum(axis=0) / p.sum(axis=0)
