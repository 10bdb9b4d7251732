"""Compute density, tails and quantiles of a ratio of two gamma variables, each over its mean.

Its argument is the logarithm of the ratio, the distance d. With shapes a and b, d + log(a / b) are the log odds of a
beta variable, and the tails are its own. But where one shape is large the ratio hardly depends on it: then derivatives
by it, at a given d, are differences of derivatives of the beta distribution that are larger by that shape. So they are
taken under the integral: of the density f of d, whose derivatives by the shapes have no such differences,

    d log T / d a = integral of f (d log f / d a) over the tail / T,

and likewise in the integral from which small shapes get their tail near 0.

**Source**: DLMF 8.17.1, with t = a e^d / (a e^d + b).
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors.elementwise import softplus
from ..basic.digamma import digamma_less_log
from ..basic.elementary import log1m_exp
from ..basic.excess import log1p_excess
from ..basic.gamma_ratio import remainder_rise
from ..basic.log_gamma import STIRLING_FROM, log_gamma_remainder
from ..basic.quadrature import exp_rest, rule_on_unit
from .incomplete_beta import (
    beta_log_odds_quantile,
    nearer_beta_tail,
    quantile_moved,
    tail_exponent,
    tail_nodes,
)

_Slopes = tuple[jax.Array, jax.Array, jax.Array]


def log_ratio_density(distance: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
    """Compute the log density of the distance; all arguments of one shape, here and below."""
    return _log_fall(distance, a, b) + _log_height(a, b)


def nearer_ratio_tail(distance: jax.Array, a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute the logarithm of the nearer tail, and whether it is the lower; -inf at an infinite distance."""
    still, still_a, still_b = jax.lax.stop_gradient((distance, a, b))
    found, is_lower = nearer_beta_tail(still_a, still_b, still + jnp.log(still_a / still_b))
    return _with_slopes(found, is_lower, distance, a, b), is_lower


def log_ratio_tail(distance: jax.Array, a: jax.Array, b: jax.Array, is_lower: jax.Array) -> jax.Array:
    """Compute the logarithm of the lower or the upper tail."""
    found, found_lower = nearer_ratio_tail(distance, a, b)
    is_same = found_lower == is_lower
    return jnp.where(is_same, found, log1m_exp(jnp.where(is_same, -1.0, found)))


@jax.custom_jvp
def ratio_quantile(a: jax.Array, b: jax.Array, log_p: jax.Array, log_q: jax.Array) -> jax.Array:
    """Compute the distance whose lower tail has log `log_p` and upper tail log `log_q`; the smaller is matched."""
    return beta_log_odds_quantile(a, b, log_p, log_q) - jnp.log(a / b)


@ratio_quantile.defjvp
def _ratio_quantile_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    a, b, log_p, log_q = primals
    a_dot, b_dot, p_dot, q_dot = tangents
    found, is_lower = ratio_quantile(a, b, log_p, log_q), log_p < log_q
    tail_dot = jnp.where(is_lower, p_dot, q_dot)
    return found, quantile_moved(
        lambda d, a, b: log_ratio_tail(d, a, b, is_lower), found, (a, b), tail_dot, (a_dot, b_dot)
    )


@jax.custom_jvp
def _with_slopes(
    found: jax.Array, is_lower: jax.Array, distance: jax.Array, a: jax.Array, b: jax.Array
) -> jax.Array:
    """Attach derivatives to the logarithm of a computed tail."""
    del is_lower, distance, a, b
    return found


@_with_slopes.defjvp
def _with_slopes_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    _, is_lower, distance, a, b = primals
    is_end = jnp.abs(distance) == jnp.inf
    by_distance, by_a, by_b = _tail_slopes(jnp.where(is_end, 0.0, distance), a, b, is_lower)
    moved = by_distance * tangents[2] + by_a * tangents[3] + by_b * tangents[4]
    return _with_slopes(*primals), jnp.where(is_end, 0.0, moved)


def _tail_slopes(distance: jax.Array, a: jax.Array, b: jax.Array, is_lower: jax.Array) -> _Slopes:
    """Return derivatives of the logarithm of a tail by all three arguments."""
    odds = distance + jnp.log(a / b)
    is_flipped = odds > 0
    odds, distance = jnp.where(is_flipped, -odds, odds), jnp.where(is_flipped, -distance, distance)
    a, b = jnp.where(is_flipped, b, a), jnp.where(is_flipped, a, b)
    is_lower, x = is_lower != is_flipped, jax.lax.logistic(odds)
    is_near_zero = (a < 1.5) & (b * x <= 1) & is_lower

    low_a, low_b = jnp.where(is_near_zero, a, 1.0), jnp.where(is_near_zero, b, 1.0)
    near = _slopes_near_zero(jnp.where(is_near_zero, distance, 0.0), low_a, low_b)
    far_a, far_b = jnp.where(is_near_zero, 2.0, a), jnp.where(is_near_zero, 2.0, b)
    away = _slopes_away(jnp.where(is_near_zero, 0.0, distance), far_a, far_b, is_lower)
    by_distance, by_a, by_b = (jnp.where(is_near_zero, *both) for both in zip(near, away, strict=True))
    by_distance = jnp.where(is_flipped, -by_distance, by_distance)
    return by_distance, jnp.where(is_flipped, by_b, by_a), jnp.where(is_flipped, by_a, by_b)


def _slopes_away(distance: jax.Array, a: jax.Array, b: jax.Array, is_lower: jax.Array) -> _Slopes:
    """Return derivatives where the tail is an integral from its end."""
    x = jax.lax.logistic(distance + jnp.log(a / b))
    v, weights = tail_nodes(a, b, x, is_lower)
    height = weights * jnp.exp(tail_exponent(a, b, x, v))
    mass = height.sum(-1)
    fall_a, fall_b = _fall_slopes(distance[..., None] + v, a[..., None], b[..., None])
    _, pull = jax.vjp(_log_height, a, b)
    height_a, height_b = pull(jnp.ones_like(a))
    by_a, by_b = (height * fall_a).sum(-1) / mass + height_a, (height * fall_b).sum(-1) / mass + height_b
    return jnp.where(is_lower, 1.0, -1.0) / mass, by_a, by_b


def _slopes_near_zero(distance: jax.Array, a: jax.Array, b: jax.Array) -> _Slopes:
    """Return derivatives of the lower tail where it is nearly a power of x, by the rule u = w^8."""
    odds = distance + jnp.log(a / b)
    x, y, log_y = jax.lax.logistic(odds), jax.lax.logistic(-odds), -softplus(odds)
    nodes, weights = rule_on_unit(x)
    log_u, part = 8.0 * jnp.log(nodes), x[..., None] * nodes**8
    power = (8.0 * weights / nodes) * jnp.exp(a[..., None] * log_u)
    less = jnp.expm1((b - 1.0)[..., None] * jnp.log1p(-part))
    # The odds of `part` depend on b too, which leaves log(1 - part) of the order of their square.
    rise = part / (1.0 - part)
    bend = -log1p_excess(rise) - (x + y / b)[..., None] * rise
    inner, inner_b = (power * less).sum(-1), (power * (1.0 + less) * bend).sum(-1)
    whole = 1.0 + a * inner
    share = jnp.exp(b * log_y) / whole
    lead_a = distance + jnp.log(a) + jnp.log1p(a / b) + log_y - jnp.log1p(a)
    lead_a = lead_a + digamma_less_log(a + b) - digamma_less_log(1.0 + a)
    by_a = lead_a + (inner + a * (power * less * log_u).sum(-1)) / whole + share
    return a * share, by_a, _digamma_rise(b, a, x, y) + a * inner_b / whole


def _digamma_rise(b: jax.Array, a: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    """Compute digamma(a + b) - digamma(b) - a y / b, y = 1 - x, without cancellation where b is large."""
    is_large = b >= STIRLING_FROM
    low, from_b = jnp.where(is_large, 1.0, b), jnp.where(is_large, b, b + STIRLING_FROM)
    steps = low[..., None] + np.arange(STIRLING_FROM, dtype=b.dtype).reshape((1,) * b.ndim + (-1,))
    first = (a[..., None] / (steps * (steps + a[..., None]))).sum(-1)
    linear = jnp.where(is_large, a * x / from_b, a / from_b - a * y / b + first)
    _, rise = jax.jvp(lambda b: remainder_rise(b, a), (from_b,), (jnp.ones_like(b),))
    return rise + log1p_excess(a / from_b) + linear


def _log_height(a: jax.Array, b: jax.Array) -> jax.Array:
    """Return the log density of the distance at its mode, which is 0."""
    is_first = a > b
    large, small = jnp.where(is_first, a, b), jnp.where(is_first, b, a)
    return remainder_rise(large, small) - log_gamma_remainder(small)


@jax.custom_jvp
def _log_fall(distance: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
    """Return the log density of the log odds at a distance from their mode, relative to the mode."""
    p, q = a / (a + b), b / (a + b)
    is_upper = distance > 0
    size = jnp.where(is_upper, distance, -distance)
    is_near, is_far = size < 0.5, size > 30
    # Near the mode the linear terms, which cancel, are left out.
    near = jnp.where(is_near, distance, 0.0)
    bend = (a + b) * jnp.log1p(q * exp_rest(-p * near) + p * exp_rest(q * near))
    # Otherwise the remainder is of the size of the smaller share.
    share, other = jnp.where(is_upper, q, p), jnp.where(is_upper, p, q)
    is_small = share < 0.5
    outer, inner = jnp.where(is_upper, b, a), jnp.where(is_upper, a, b)
    fall = outer * size + (a + b) * jnp.log1p(jnp.where(is_small, share, 0.0) * jnp.expm1(-size))
    turned = jnp.where(is_far, 0.0, size)
    rise = inner * turned - (a + b) * jnp.log1p(other * jnp.expm1(turned))
    beyond = outer * size + (a + b) * jnp.log(other + share * jnp.exp(-size))
    away = jnp.where(is_small, -fall, jnp.where(is_far, -beyond, rise))
    return jnp.where(is_near, -bend, away)


@_log_fall.defjvp
def _log_fall_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    distance, a, b = primals
    is_lower, p, q = distance < 0, a / (a + b), b / (a + b)
    size = jnp.where(is_lower, -distance, distance)
    less, left = -jnp.expm1(-size), jnp.exp(-size)
    slope = a * q * less / jnp.where(is_lower, q + p * left, -(p + q * left))
    by_a, by_b = _fall_slopes(*primals)
    return _log_fall(*primals), slope * tangents[0] + by_a * tangents[1] + by_b * tangents[2]


def _fall_slopes(distance: jax.Array, a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the derivatives of `_log_fall` by the shapes."""
    is_lower, p, q = distance < 0, a / (a + b), b / (a + b)
    size = jnp.where(is_lower, -distance, distance)
    less, left = -jnp.expm1(-size), jnp.exp(-size)
    lower, upper = q + p * left, p + q * left
    by_a = _excess_of_log(jnp.where(is_lower, -q * less / lower, q * less / upper), -size - jnp.log(lower))
    by_b = _excess_of_log(jnp.where(is_lower, p * less / lower, -p * less / upper), -size - jnp.log(upper))
    return by_a, by_b


def _excess_of_log(u: jax.Array, log_1p: jax.Array) -> jax.Array:
    """Compute log(1 + u) - u, from that logarithm where `u` is near -1."""
    is_far = u < -0.4
    return jnp.where(is_far, log_1p - u, log1p_excess(jnp.where(is_far, 0.0, u)))
