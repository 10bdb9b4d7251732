"""Measure how much of a von Mises density lies on an arc, for any concentration, without cancellation.

Every integral is that of exp(-concentration (1 - cos s)) relative to its largest value, over the part of the arc on
which it exceeds exp(-40) of that, by a Gauss-Legendre rule. All terms are positive, so values and all derivatives,
which JAX takes under the sum, keep their digits.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..special import bessel_gap, log1m_exp, log_bessel_i0e, log_of

# Exact to 2e-14 for exponents that fall monotonically to -40, linearly or quadratically.
NODES, WEIGHTS = (
    (1 + np.polynomial.legendre.leggauss(32)[0]) / 2,
    np.polynomial.legendre.leggauss(32)[1] / 2,
)
_HALF_CUT = 20.0


def log_half_circle(k: Any) -> Any:
    """Compute log of the integral of exp(-k (1 - cos s)) over (0, pi), for k >= 0: log(pi I0(k)) - k."""
    if isinstance(k, float) and not isinstance(k, np.generic):
        reach = math.pi if k <= _HALF_CUT else 2 * math.asin(math.sqrt(_HALF_CUT / k))
        heights = np.exp(-2 * k * np.sin(0.5 * reach * NODES) ** 2)
        return math.log(reach * float(WEIGHTS @ heights))
    return log_bessel_i0e(k) + math.log(math.pi)


def mean_fall(k: jax.Array) -> jax.Array:
    """Compute the average of 1 - cos(angle) under concentration `k`."""
    return bessel_gap(k)


def tail(v: jax.Array, k: Any) -> tuple[jax.Array, jax.Array]:
    """Compute the share of the circle's mass at angles from `v` to pi from the centre, on one side.

    **Arguments**: `v`, in [0, pi]; `k`, the concentration, >= 0.

    **Returns** the share, at most 1/2, and its logarithm, which does not underflow; both with relative accuracy.
    """
    v, k = jnp.broadcast_arrays(v, jnp.asarray(k, v.dtype))
    # Near the centre measure the mass between it and `v` instead, which is odd in the angle.
    is_centre = v * v * jnp.maximum(k, 1.0) < 1.0
    start = jnp.where(is_centre, 0.0, v)
    reach = jnp.where(is_centre, v, _reach(start, k))
    width = _fall(start, reach, k)
    log_height = -2.0 * k * jnp.sin(0.5 * start) ** 2 - (log_half_circle(k) + math.log(2))
    share = jnp.exp(log_height) * width
    beyond = jnp.where(is_centre, 0.5 - share, 0.25)
    log_share = jnp.where(is_centre, jnp.log(beyond), log_height + log_of(width))
    return jnp.where(is_centre, beyond, share), log_share


@jax.custom_jvp
def cdf(x: jax.Array, loc: jax.Array, k: jax.Array) -> jax.Array:
    """Compute the mass between -pi and `x`, for x in [-pi, pi] and any `loc`; arguments of one shape and dtype."""
    return _cdf_by_tails(x, loc, k)


@cdf.defjvp
def _cdf_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    (x, loc, k), (x_dot, loc_dot, k_dot) = primals, tangents
    result, by_k = jax.jvp(lambda k: _cdf_by_tails(x, loc, k), (k,), (k_dot,))
    at_x, by_loc = _slopes(x, loc, k, jnp.zeros_like(x))
    return result, x_dot * at_x + loc_dot * by_loc + by_k


@jax.custom_jvp
def log_cdf(x: jax.Array, loc: jax.Array, k: jax.Array) -> jax.Array:
    """Compute the logarithm of the mass between -pi and `x`, accurate where it underflows; arguments as for `cdf`."""
    return _log_cdf_by_tails(x, loc, k)


@log_cdf.defjvp
def _log_cdf_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    (x, loc, k), (x_dot, loc_dot, k_dot) = primals, tangents
    result, by_k = jax.jvp(lambda k: _log_cdf_by_tails(x, loc, k), (k,), (k_dot,))
    is_empty = result == -jnp.inf
    at_x, by_loc = _slopes(x, loc, k, jnp.where(is_empty, 0.0, result))
    return result, jnp.where(is_empty, 0.0, x_dot * at_x + loc_dot * by_loc + by_k)


def log_density(angle: jax.Array, k: Any) -> jax.Array:
    """Compute the log density at an angle from the centre."""
    # Relative to the mode: the sine of half the angle stays accurate where 1 - cos cancels.
    return -2.0 * k * jnp.sin(0.5 * angle) ** 2 - (log_half_circle(k) + math.log(2))


def log_rise(w: jax.Array, loc: jax.Array, k: jax.Array) -> jax.Array:
    """Compute log density(-pi + w) - log density(-pi)."""
    return 2.0 * k * jnp.sin(0.5 * w) * jnp.sin(0.5 * w - loc)


def wrap(angle: Any) -> Any:
    """Bring an angle to [-pi, pi]."""
    return angle - 2 * math.pi * jnp.round(angle / (2 * math.pi))


def _cdf_by_tails(x: jax.Array, loc: Any, k: Any) -> jax.Array:
    """Compute the cdf from the tails on either side of the centre."""
    d, loc, sign = _from_centre(x, loc)
    before, _ = tail(_within(math.pi - sign * loc), k)
    v, is_early, is_low, is_high = _fold(d)
    share, _ = tail(v, k)
    whole = jnp.where(is_early, -share, jnp.where(is_low, share, jnp.where(is_high, 1 - share, 1 + share)))
    result = whole + sign * before
    return jnp.where(result < 0, 0.0, jnp.where(result > 1, 1.0, result))


def _log_cdf_by_tails(x: jax.Array, loc: Any, k: Any) -> jax.Array:
    """Compute the log cdf from the tails on either side of the centre."""
    d, loc, sign = _from_centre(x, loc)
    before, log_before = tail(_within(math.pi - sign * loc), k)
    v, is_early, is_low, is_high = _fold(d)
    share, log_share = tail(v, k)
    # Mass beyond pi on one side of the centre wraps to -pi: add or subtract it.
    larger, smaller = (
        jnp.where(is_early, log_before, log_share),
        jnp.where(is_early, log_share, log_before),
    )
    is_sum = ~is_early & (sign > 0)
    gap = jnp.minimum(jnp.where(jnp.isfinite(larger), smaller - larger, 0.0), 0.0)
    taken = larger + log1m_exp(jnp.where(is_sum, -1.0, gap))
    added = jnp.where(jnp.isfinite(log_before), jnp.logaddexp(log_share, _finite(log_before)), log_share)
    complement = jnp.where(is_high, share, -share) - sign * before
    near_one = jnp.log1p(-jnp.where(is_early | is_low | (complement < 0), 0.0, complement))
    return jnp.where(is_early | is_low, jnp.where(is_sum, added, taken), near_one)


def _slopes(x: jax.Array, loc: jax.Array, k: jax.Array, log_unit: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute derivatives of the cdf by `x` and `loc`, less the density at -pi, in units of exp(log_unit)."""
    rise = log_rise(x + math.pi, loc, k)
    at_x = jnp.exp(log_density(x - loc, k) - log_unit)
    at_end = jnp.exp(log_density(-math.pi - loc, k) - log_unit)
    is_up = rise > 0
    down = at_x * jnp.expm1(jnp.where(is_up, -rise, 0.0))
    return at_x, jnp.where(is_up, down, -at_end * jnp.expm1(jnp.where(is_up, 0.0, rise)))


def _from_centre(x: jax.Array, loc: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the angle from the centre, in [-2 pi, 2 pi], the centre on the circle, and the angle's sign (1 at 0)."""
    loc = wrap(jnp.asarray(loc, x.dtype))
    return x - loc, loc, jnp.where(loc >= 0, 1.0, -1.0).astype(x.dtype)


def _fold(d: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Fold the angle from the centre to [0, pi], and return whether `d` is below -pi, below 0, below pi."""
    is_early, is_low, is_high = d < -math.pi, d < 0, d < math.pi
    v = jnp.where(is_early, d + 2 * math.pi, jnp.where(is_low, -d, jnp.where(is_high, d, 2 * math.pi - d)))
    return _within(v), is_early, is_low, is_high


def _within(v: jax.Array) -> jax.Array:
    """Clip values that rounding put outside [0, pi]; the slope at the ends is 1."""
    return jnp.where(v > math.pi, math.pi, jnp.where(v < 0, 0.0, v))


def _reach(start: jax.Array, k: jax.Array) -> jax.Array:
    """Return how far beyond `start` the integrand matters: to pi, or until its exponent has fallen by 40."""
    sine, cosine = jnp.sin(0.5 * start), jnp.cos(0.5 * start)
    room = cosine * cosine
    is_whole = k * room <= _HALF_CUT
    # sin^2 of half the angle grows by `drop`; the difference of the two angles is written without cancellation.
    drop = _HALF_CUT / jnp.where(is_whole, 1e9, k)
    rest = jnp.where(is_whole, 1.0, room - drop)
    ratio = drop / (jnp.sqrt(sine * sine + drop) * cosine + sine * jnp.sqrt(jnp.maximum(rest, 0.0)))
    cut = 2.0 * jnp.arcsin(jnp.where(is_whole, 0.5, ratio))
    return jnp.where(is_whole, math.pi - start, jax.lax.stop_gradient(cut))


def _fall(start: jax.Array, reach: jax.Array, k: jax.Array) -> jax.Array:
    """Integrate exp(-k (cos(start) - cos(start + s))) over s from 0 to `reach`."""
    nodes, weights = rule(start)
    half = 0.5 * reach[..., None] * nodes
    exponent = -2.0 * k[..., None] * jnp.sin(half) * jnp.sin(half + start[..., None])
    return reach * (weights * jnp.exp(exponent)).sum(axis=-1)


def rule(like: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return nodes and weights on (0, 1), along a new axis after the axes of `like`."""
    nodes, weights = jnp.asarray(NODES, like.dtype), jnp.asarray(WEIGHTS, like.dtype)
    return jax.lax.expand_dims(nodes, range(like.ndim)), jax.lax.expand_dims(weights, range(like.ndim))


def _finite(x: jax.Array) -> jax.Array:
    """Replace -inf by a number where another branch is chosen."""
    return jnp.where(jnp.isfinite(x), x, -1.0)
