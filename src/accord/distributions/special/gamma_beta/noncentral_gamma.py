"""Compute the density and both tails of noncentral chi-squared variables, of any size and in any tail.

Half of the degrees of freedom is p. With g(w) = (w - 1) x / 2 + (1/w - 1) noncentrality / 2 - p log w,

    density = 1/2 * mean over a contour of exp(g(w)),    tails = the same of exp(g(w)) / |1 - w|,

where the contour runs around the negative axis, to the right of 1 for the lower tail and to its left for the upper one
(a mean is an integral over 2 pi i). Through the saddle point of g, as log w = c t^2 + i t with the c of the path of
steepest descent, the integrand is a bell, of which the midpoint rule with a few points is exact to rounding. Since it
does not matter which contour is taken, the points are constants to derivatives, and g is linear in its parameters.

A bell that is not narrow would meet the negative axis. There the series in powers of x * noncentrality / 4, or of
Poisson weights times incomplete gamma functions, is short.

**Source**: DLMF 10.9.19 (the integral), 10.25.2 (the series); Johnson, Kotz & Balakrishnan (1995), Continuous
Univariate Distributions 2, equation 29.3; Trefethen & Weideman (2014), SIAM Review 56(3), 385-458 (the rule).
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from ..basic.elementary import log1m_exp, log_sum_exp
from .incomplete_gamma import nearer_gamma_tail

_COUNT = 36  # points on half of the contour
_STEP = 1 / 3  # in standard deviations of the bell
_NARROW_FROM = 18.0  # inverse squared standard deviation from which the bell is over before the negative axis
_VAST = 1e8
_AWAY = 2.0  # standard deviations that the pole is kept away
_TERMS = 44
_HALF = np.arange(_COUNT) + 0.5
_POWERS = np.arange(_TERMS)
_LOG_FACTORIALS = np.array([math.lgamma(j + 1.0) for j in range(_TERMS)])
_SCALE = 16.0  # brings powers and coefficients of the series into the range of single precision

_Arguments = tuple[jax.Array, jax.Array, jax.Array]


class _Path(NamedTuple):
    """Contour: log w and w - 1 at its middle and, along it, log v, v - 1, 1/v - 1, v = w over its middle value."""

    log_w: jax.Array
    beyond: jax.Array
    log_v: tuple[jax.Array, jax.Array]
    rise: tuple[jax.Array, jax.Array]
    fall: tuple[jax.Array, jax.Array]
    slope: jax.Array  # half of the derivative of the real part of log v by its imaginary part
    step: jax.Array


def log_noncentral_density(x: jax.Array, noncentrality: jax.Array, p: jax.Array) -> jax.Array:
    """Compute the log density at x > 0 with 2 p degrees of freedom; all arguments of one shape."""
    is_narrow, narrow, wide = _parts(x, noncentrality, p)
    return jnp.where(is_narrow, _density_by_path(*narrow), _density_by_series(*wide))


@jax.custom_jvp
def log_noncentral_tails(x: jax.Array, noncentrality: jax.Array, p: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute log probabilities below and above x > 0, each accurate where it is small."""
    is_lower = x < 2 * p + noncentrality
    small = jnp.minimum(_log_tail(x, noncentrality, p, is_lower), -1e-30)
    large = log1m_exp(small)
    return jnp.where(is_lower, small, large), jnp.where(is_lower, large, small)


@log_noncentral_tails.defjvp
def _tails_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    x, noncentrality, p = primals
    below, above = log_noncentral_tails(*primals)
    is_lower = x < 2 * p + noncentrality
    small, by_p = jax.jvp(
        lambda p: _log_tail(x, noncentrality, p, is_lower), (p,), (jnp.asarray(tangents[2], p.dtype),)
    )
    sign = jnp.where(is_lower, 1.0, -1.0)
    at, next_ = log_noncentral_density(*primals), log_noncentral_density(x, noncentrality, p + 1)
    # The lower tail's slope by x is the density; by noncentrality, minus the density with two more df.
    below_dot = jnp.exp(at - below) * tangents[0] - jnp.exp(next_ - below) * tangents[1]
    above_dot = jnp.exp(next_ - above) * tangents[1] - jnp.exp(at - above) * tangents[0]
    share = sign * by_p
    return (below, above), (
        below_dot + share * jnp.exp(small - below),
        above_dot - share * jnp.exp(small - above),
    )


def _parts(x: jax.Array, noncentrality: jax.Array, p: jax.Array) -> tuple[jax.Array, _Arguments, _Arguments]:
    """Return whether the bell is narrow, and safe arguments for either case."""
    is_narrow = _width(x, noncentrality, p) > _NARROW_FROM

    def kept(value: float, *, narrow: bool) -> _Arguments:
        is_kept = is_narrow if narrow else ~is_narrow
        first, second, third = (jnp.where(is_kept, a, value) for a in (x, noncentrality, p))
        return first, second, third

    return is_narrow, kept(2 * _NARROW_FROM, narrow=True), kept(1.0, narrow=False)


def _width(x: jax.Array, noncentrality: jax.Array, p: jax.Array) -> jax.Array:
    """Return the squared inverse width of the bell at the saddle point, without overflow of its parts."""
    x, noncentrality, p = jax.lax.stop_gradient((x, noncentrality, p))
    return jnp.hypot(p, jnp.sqrt(x) * jnp.sqrt(noncentrality))


def _log_tail(x: jax.Array, noncentrality: jax.Array, p: jax.Array, is_lower: jax.Array) -> jax.Array:
    """Compute the log of the requested tail, which does not hold the mean."""
    is_narrow, narrow, wide = _parts(x, noncentrality, p)
    return jnp.where(is_narrow, _tail_by_path(*narrow, is_lower), _tail_by_series(*wide, is_lower))


def _density_by_path(x: jax.Array, noncentrality: jax.Array, p: jax.Array) -> jax.Array:
    path = _path(x, noncentrality, p, None)
    height, log_size, phase = _exponent(path, x, noncentrality, p)
    # Nearly 0 on the path of steepest descent, where only its rounding remains.
    is_vast = (_width(x, noncentrality, p) > _VAST)[..., None]
    phase = jnp.where(is_vast, phase - jax.lax.stop_gradient(phase), phase)
    # The derivative of w along the path is (slope + i) w.
    turn = phase + path.log_v[1]
    bell = jnp.exp(log_size + path.log_v[0]) * (path.slope * jnp.sin(turn) + jnp.cos(turn))
    return height + path.log_w + jnp.log(0.5 / np.pi * path.step * bell.sum(-1))


def _tail_by_path(x: jax.Array, noncentrality: jax.Array, p: jax.Array, is_lower: jax.Array) -> jax.Array:
    path = _path(x, noncentrality, p, is_lower)
    height, log_size, phase = _exponent(path, x, noncentrality, p)
    # w - 1 = (u + i z) size, and w / (w - 1) = 1 + 1 / (w - 1) = real + i imaginary.
    size = 1 + jnp.abs(path.beyond)[..., None]
    w = jnp.exp(path.log_w)[..., None] / size
    u, z = path.beyond[..., None] / size + w * path.rise[0], w * path.rise[1]
    square = (u * u + z * z) * size
    real, imaginary = 1 + u / square, -z / square
    one, two = path.slope * real - imaginary, real + path.slope * imaginary
    bell = jnp.exp(log_size) * (one * jnp.sin(phase) + two * jnp.cos(phase))
    return height + jnp.log(jnp.where(is_lower, 1.0, -1.0) / np.pi * path.step * bell.sum(-1))


def _path(x: jax.Array, noncentrality: jax.Array, p: jax.Array, is_lower: jax.Array | None) -> _Path:
    """Return the contour through the saddle point, or right of a pole at 1."""
    x, noncentrality, p = jax.lax.stop_gradient((x, noncentrality, p))
    width = _width(x, noncentrality, p)
    rest = x - p
    gap = x - noncentrality - 2 * p
    is_plain = rest > 0
    beyond = jnp.where(is_plain, -gap / (jnp.where(is_plain, rest, 1.0) + width), (width - rest) / x)
    log_w = jnp.where(jnp.abs(beyond) < 0.5, jnp.log1p(jnp.maximum(beyond, -0.5)), jnp.log((p + width) / x))
    if is_lower is not None:
        away = _AWAY / jnp.sqrt(width)
        log_w = jnp.where(is_lower, jnp.maximum(log_w, away), jnp.minimum(log_w, -away))
        beyond = jnp.expm1(log_w)
    deviation = 1 / jnp.sqrt(width)
    step = jnp.minimum(_STEP * deviation, np.pi / _COUNT)
    t = step[..., None] * jnp.asarray(_HALF, x.dtype).reshape((1,) * x.ndim + (-1,))
    bend = (p / (6 * width))[..., None]
    log_r = bend * t * t
    return _Path(
        log_w,
        beyond,
        (log_r, t),
        _less_one(log_r, t),
        _less_one(-log_r, -t),
        2 * bend * t,
        step,
    )


def _less_one(log_r: jax.Array, t: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return real and imaginary part of exp(log_r + i t) - 1."""
    r = jnp.exp(log_r)
    return jnp.expm1(log_r) - 2 * r * jnp.sin(0.5 * t) ** 2, r * jnp.sin(t)


def _exponent(
    path: _Path, x: jax.Array, noncentrality: jax.Array, p: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the exponent g at the middle of the path, and real and imaginary part of its change along it."""
    w = jnp.exp(path.log_w)
    height = 0.5 * path.beyond * (x - noncentrality / w) - p * path.log_w
    first, second, power = (0.5 * x * w)[..., None], (0.5 * noncentrality / w)[..., None], p[..., None]
    parts = zip(path.rise, path.fall, path.log_v, strict=True)
    real, imaginary = (first * rise + second * fall - power * log_v for rise, fall, log_v in parts)
    return height, real, imaginary


def _density_by_series(x: jax.Array, noncentrality: jax.Array, p: jax.Array) -> jax.Array:
    half, other = 0.5 * x, 0.5 * noncentrality
    j = jnp.asarray(_POWERS, x.dtype).reshape((1,) * x.ndim + (-1,))
    known = jnp.asarray(_POWERS * math.log(_SCALE) - _LOG_FACTORIALS, x.dtype).reshape(j.shape)
    # 1 / Gamma(p) as p / Gamma(p + 1): p may be small.
    first = jnp.where(j == 0, p[..., None], 1.0)
    coefficients = first * jnp.exp(known - jsp.gammaln(p[..., None] + jnp.maximum(j, 1.0)))
    total = (coefficients * _powers(half * other / _SCALE)).sum(-1)
    return (p - 1) * jnp.log(half) - half - other - math.log(2) + jnp.log(total)


@jax.custom_jvp
def _powers(y: jax.Array) -> jax.Array:
    """Return 1, y, y^2, ... along one more axis, with derivatives also at 0."""
    return jnp.power(y[..., None], jnp.asarray(_POWERS, y.dtype).reshape((1,) * y.ndim + (-1,)))


@_powers.defjvp
def _powers_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[jax.Array, jax.Array]:
    (y,), (y_dot,) = primals, tangents
    found = _powers(y)
    before = jnp.concatenate([jnp.zeros_like(found[..., :1]), found[..., :-1]], axis=-1)
    return found, jnp.asarray(_POWERS, y.dtype).reshape((1,) * y.ndim + (-1,)) * before * y_dot[..., None]


def _tail_by_series(x: jax.Array, noncentrality: jax.Array, p: jax.Array, is_lower: jax.Array) -> jax.Array:
    """Compute the log of a sum of Poisson weights times incomplete gamma functions; differentiable by `p` only."""
    other = (0.5 * noncentrality)[..., None]
    j = jnp.asarray(_POWERS, x.dtype).reshape((1,) * x.ndim + (-1,))
    is_none = (other == 0) & (j > 0)
    log_weights = j * jnp.log(jnp.where(other == 0, 1.0, other)) - other
    log_weights = log_weights - jnp.asarray(_LOG_FACTORIALS, x.dtype).reshape(j.shape)
    found, found_lower = nearer_gamma_tail(
        p[..., None] + j, jnp.broadcast_to((0.5 * x)[..., None], (*x.shape, _TERMS))
    )
    is_same = found_lower == is_lower[..., None]
    log_shares = jnp.where(is_same, found, log1m_exp(jnp.where(is_same, -1.0, found)))
    return log_sum_exp(jnp.where(is_none, -jnp.inf, log_weights + log_shares))
