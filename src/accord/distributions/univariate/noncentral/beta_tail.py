"""Compute density and both tails of noncentral beta variables: Poisson sums of beta distributions.

With the log odds l = log(x / (1 - x)), and the number j as common as exp(-mean) mean^j / j!, mean = noncentrality / 2,

    density of l: sum of x^(a+j) (1-x)^b / B(a + j, b),    below: sum of I(a + j, b, x).

Where many terms matter they form a bell, whose sum over all numbers is that over every h-th, times h, up to rounding:
so it is taken over as many points around the largest term, whatever the noncentrality.

**Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, section 30.7; Trefethen &
Weideman (2014), SIAM Review 56(3), 385-458 (such sums and integrals).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors.elementwise import softplus
from ...special.basic.digamma import digamma_less_log
from ...special.basic.elementary import log1m_exp, log_of
from ...special.basic.excess import excess
from ...special.basic.gamma_ratio import remainder_rise
from ...special.basic.log_gamma import log_factorial_remainder, log_gamma_remainder
from ...special.basic.quadrature import bits_of
from ...special.basic.tails import tail_pair
from ...special.gamma_beta.ratio_tail import nearer_ratio_tail

# Points: their number, their reach in roots of the largest index, and the additional reach above.
_POINTS = {32: (56, 6.5, 6.0), 64: (112, 9.5, 12.0)}


class _Terms(NamedTuple):
    """Log of a sum and, along one more axis, its shares, a + j, and logs of x, 1 - x over their means.

    Of the last without its linear term.
    """

    log_sum: jax.Array
    share: jax.Array
    a: jax.Array
    log_x: jax.Array
    bend_y: jax.Array


def poisson_points(centre: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Place points around an index along one more axis, and return their spacing; constants to derivatives."""
    count, spread, more = _POINTS[bits_of(centre)]
    centre = jax.lax.stop_gradient(centre)
    reach = spread * jnp.sqrt(centre + 1.0)
    first = jnp.maximum(centre - reach, 0.0)
    step = jnp.maximum((centre + reach + more - first) / (count - 1), 1.0)[..., None]
    steps = jnp.asarray(np.arange(count), centre.dtype).reshape((1,) * centre.ndim + (-1,))
    # Whole numbers where the first ones count.
    first = jnp.where(step > 1, first[..., None], 0.0)
    return first + step * steps, step


def log_poisson(j: jax.Array, mean: jax.Array) -> jax.Array:
    """Compute the log of exp(-mean) mean^j / j!."""
    safe = jnp.where(j == 0, 1.0, j)
    return excess(j, mean - j, log_of(mean / safe)) - log_factorial_remainder(j)


@jax.custom_jvp
def log_noncentral_beta(
    distance: jax.Array, a: jax.Array, b: jax.Array, noncentrality: jax.Array
) -> jax.Array:
    """Compute the log density of the log odds where they are `distance` + log((a + 1) / b); all arguments of one shape.

    Its derivatives by the concentrations, which are at a given distance, are exact also where they are large.
    """
    return _density(distance + reference_odds(a, b), a, b, noncentrality).log_sum


@log_noncentral_beta.defjvp
def _density_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    distance, a, b, noncentrality = primals
    odds = distance + reference_odds(a, b)
    terms = _density(odds, a, b, noncentrality)
    by_odds, by_noncentrality = _slopes(odds, b, terms)
    wide = jnp.broadcast_to(b[..., None], terms.a.shape)
    _, rise = jax.jvp(lambda b: remainder_rise(b, terms.a), (wide,), (jnp.ones_like(wide),))
    total = digamma_less_log(terms.a + wide)
    by_a = (terms.share * (terms.log_x + total - digamma_less_log(terms.a))).sum(-1) + by_odds / (a + 1.0)
    by_b = (terms.share * (terms.bend_y + rise)).sum(-1)
    moved = by_odds * tangents[0] + by_a * tangents[1] + by_b * tangents[2]
    return terms.log_sum, moved + by_noncentrality * tangents[3]


@jax.custom_jvp
def log_noncentral_beta_tails(
    distance: jax.Array, a: jax.Array, b: jax.Array, noncentrality: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Compute log probabilities below and above log odds of `distance` + log((a + 1) / b).

    Each is accurate where it is small.
    """
    is_lower = _is_lower(distance + reference_odds(a, b), a, b, noncentrality)
    return tail_pair(_log_tail(distance, a, b, noncentrality, is_lower), is_lower)


@log_noncentral_beta_tails.defjvp
def _tails_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    distance, a, b, noncentrality = primals
    odds = distance + reference_odds(a, b)
    is_lower = _is_lower(odds, a, b, noncentrality)
    small, moved = jax.jvp(
        lambda a, b: _log_tail(distance, a, b, noncentrality, is_lower),
        (a, b),
        (jnp.asarray(tangents[1], a.dtype), jnp.asarray(tangents[2], a.dtype)),
    )
    below, above = tail_pair(small, is_lower)
    terms = _density(odds, a, b, noncentrality)
    # Raising the index by one subtracts x^a (1-x)^b / (a B(a, b)) from the lower tail.
    change = tangents[0] - 0.5 * (terms.share / terms.a).sum(-1) * tangents[3]
    share = jnp.where(is_lower, moved, -moved)
    return (below, above), (
        jnp.exp(terms.log_sum - below) * change + share * jnp.exp(small - below),
        -jnp.exp(terms.log_sum - above) * change - share * jnp.exp(small - above),
    )


def reference_odds(a: jax.Array, b: jax.Array) -> jax.Array:
    """Compute log((a + 1) / b), the origin of distances; it varies little with a small or large `a`."""
    return jnp.log((a + 1.0) / b)


def mean_index(odds: jax.Array, a: jax.Array, b: jax.Array, noncentrality: jax.Array) -> jax.Array:
    """Compute the mean of the Poisson number, given the log odds."""
    terms = _density(odds, a, b, noncentrality)
    return (terms.share * terms.a).sum(-1) - a


def noncentral_beta_moments(
    a: jax.Array, b: jax.Array, noncentrality: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Compute mean and variance of x."""
    mean = 0.5 * noncentrality
    j, step = poisson_points(mean)
    weight = step * jnp.exp(log_poisson(j, mean[..., None]))
    b, shape = b[..., None], a[..., None] + j
    share, rest = shape / (shape + b), b / (shape + b)
    centre = (weight * share).sum(-1)
    inner = share * rest / (shape + b + 1.0)
    return centre, (weight * (inner + (share - centre[..., None]) ** 2)).sum(-1)


def _is_lower(odds: jax.Array, a: jax.Array, b: jax.Array, noncentrality: jax.Array) -> jax.Array:
    """Return whether x is below (about) its mean."""
    return odds < jnp.log((a + 0.5 * noncentrality) / b)


def _slopes(odds: jax.Array, b: jax.Array, terms: _Terms) -> tuple[jax.Array, jax.Array]:
    """Return derivatives of the log density by the log odds and the noncentrality."""
    x, y = jax.lax.logistic(odds)[..., None], jax.lax.logistic(-odds)[..., None]
    gap = terms.a * y - b[..., None] * x
    return (terms.share * gap).sum(-1), -0.5 * (terms.share * gap / terms.a).sum(-1)


def _density(odds: jax.Array, a: jax.Array, b: jax.Array, noncentrality: jax.Array) -> _Terms:
    mean = 0.5 * noncentrality
    j, step = _points(odds, a, b, mean)
    log_x, log_y = -softplus(-odds)[..., None], -softplus(odds)[..., None]
    x, y, b, shape = jnp.exp(log_x), jnp.exp(log_y), b[..., None], a[..., None] + j
    gap = x * b - y * shape
    # Logs relative to a beta variable's means, without their linear terms, which cancel.
    b = jnp.broadcast_to(b, shape.shape)
    curved_x = excess(shape, gap, log_x + jnp.log1p(b / shape))
    curved_y = excess(b, -gap, log_y + jnp.log1p(shape / b))
    bend = curved_x + curved_y
    remainders = remainder_rise(b, shape) - log_gamma_remainder(shape)
    exponent = log_poisson(j, mean[..., None]) + bend + remainders
    top = jax.lax.stop_gradient(exponent.max(axis=-1))
    height = step * jnp.exp(exponent - top[..., None])
    total = height.sum(-1)
    return _Terms(
        top + jnp.log(total),
        height / total[..., None],
        shape,
        (curved_x + gap) / shape,
        curved_y / b,
    )


def _points(odds: jax.Array, a: jax.Array, b: jax.Array, mean: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Place points around the density's largest term, where neighbouring terms are equal."""
    odds, a, b, mean = jax.lax.stop_gradient((odds, a, b, mean))
    z = mean * jax.lax.logistic(odds)
    half, rest = 0.5 * (z - a - 1.0), jnp.maximum(z * (a + b) - a, 0.0)
    root = jnp.hypot(half, jnp.sqrt(rest))
    is_plain = half < 0
    return poisson_points(jnp.where(is_plain, rest / (root - jnp.where(is_plain, half, -1.0)), half + root))


def _log_tail(
    distance: jax.Array, a: jax.Array, b: jax.Array, noncentrality: jax.Array, is_lower: jax.Array
) -> jax.Array:
    """Compute the log of the requested tail; differentiable by all but the noncentrality."""
    mean = 0.5 * noncentrality
    j, step = _points(distance + reference_odds(a, b), a, b, mean)
    shape = a[..., None] + j
    # At a given distance from its own reference each of the beta distributions hardly depends on a large `b`.
    from_own = distance[..., None] + jnp.log((a[..., None] + 1.0) / shape)
    found, found_lower = nearer_ratio_tail(from_own, shape, jnp.broadcast_to(b[..., None], j.shape))
    is_same = found_lower == is_lower[..., None]
    log_share = jnp.where(is_same, found, log1m_exp(jnp.where(is_same, -1.0, found)))
    exponent = log_poisson(j, mean[..., None]) + log_share
    top = jax.lax.stop_gradient(exponent.max(axis=-1))
    return top + jnp.log((step * jnp.exp(exponent - top[..., None])).sum(-1))
