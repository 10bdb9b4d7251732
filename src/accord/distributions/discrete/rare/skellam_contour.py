"""Compute probabilities and tails of the difference of two Poisson numbers by integrals over a circle.

With G(z) the mean of z^X, the probability of k is the coefficient of z^k in G(z), that of being at most k in
G(z) / (1 - z): Cauchy's integrals, here over a circle through the saddle point z of G(z) z^-k. Along it the integrand
is a bell, of which the midpoint rule with a few points is exact to rounding at rates of any size. Before the integral
stands the value at the saddle, in terms of excesses, whose large parts never meet.

**Source**: the rule and its correction for a pole near the circle: Trefethen & Weideman (2014), SIAM Review 56(3),
385-458, sections 2 and 5.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...special import excess, log1p_excess

_COUNT = 24  # points on half of the circle
_STEP = 0.5  # in standard deviations of the bell
_HALF = np.arange(_COUNT) + 0.5


class Saddle(NamedTuple):
    """Saddle point: its logarithm, the tilted rates, and the log of the integrand there."""

    log_z: jax.Array
    first: jax.Array
    second: jax.Array
    log_height: jax.Array


def skellam_log_prob(k: jax.Array, rate1: jax.Array, rate2: jax.Array) -> jax.Array:
    """Compute the log probability of the whole number k; all arguments of one shape."""
    k, rate1, rate2 = k[None], rate1[None], rate2[None]
    saddle = _saddle(k, rate1, rate2)
    width = saddle.first + saddle.second
    angle, step = _angles(width)
    bell = jnp.exp(-2 * width * jnp.sin(0.5 * angle) ** 2) * jnp.cos(k * (jnp.sin(angle) - angle))
    tiny = float(jnp.finfo(k.dtype).tiny)
    log_bell = jnp.log(jnp.maximum(bell.sum(axis=0) * (step[0] / np.pi), tiny))
    return saddle.log_height[0] + log_bell


@jax.custom_jvp
def skellam_log_tails(k: jax.Array, rate1: jax.Array, rate2: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute log probabilities of at most and above the whole number k, each accurate where it is small."""
    # The tail on the far side of the mean; the tail above k is that of at most -k - 1 with the rates swapped.
    is_low = k + 0.5 < rate1 - rate2
    first, second = jnp.where(is_low, rate1, rate2), jnp.where(is_low, rate2, rate1)
    small = jnp.minimum(_log_lower(jnp.where(is_low, k, -k - 1), first, second), -1e-30)
    large = jnp.where(small > -1, jnp.log(-jnp.expm1(small)), jnp.log1p(-jnp.exp(small)))
    return jnp.where(is_low, small, large), jnp.where(is_low, large, small)


@skellam_log_tails.defjvp
def _tails_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    k, rate1, rate2 = primals
    _, rate1_dot, rate2_dot = tangents
    below, above = skellam_log_tails(*primals)
    at, beyond = skellam_log_prob(*primals), skellam_log_prob(k + 1, rate1, rate2)
    # One more event with probability d rate: it moves the mass at an edge across it.
    return (below, above), (
        jnp.exp(beyond - below) * rate2_dot - jnp.exp(at - below) * rate1_dot,
        jnp.exp(at - above) * rate1_dot - jnp.exp(beyond - above) * rate2_dot,
    )


def _log_lower(k: jax.Array, rate1: jax.Array, rate2: jax.Array) -> jax.Array:
    """Compute the log probability of at most k, for k not above the mean (after rounding to whole numbers)."""
    k, rate1, rate2 = k[None], rate1[None], rate2[None]
    saddle, gap = _saddle(k, rate1, rate2), k - (rate1 - rate2)
    # Keep the pole at z = 1 a standard deviation away.
    nearest = -jnp.minimum(1 / jnp.sqrt(saddle.first + saddle.second), 1.0)
    is_near = saddle.log_z > nearest
    t = jnp.where(is_near, nearest, 0.0)
    rise, fall = jnp.expm1(t), jnp.expm1(-t)
    near_height = -rate1 * log1p_excess(rise) - rate2 * log1p_excess(fall) - gap * t
    log_height = jnp.where(is_near, near_height, saddle.log_height)
    log_z = jnp.where(is_near, nearest, saddle.log_z)
    first = jnp.where(is_near, rate1 * jnp.exp(t), saddle.first)
    second = jnp.where(is_near, rate2 * jnp.exp(-t), saddle.second)
    drift = jnp.where(is_near, rate1 * rise - rate2 * fall - gap, 0.0)
    width = first + second
    angle, step = _angles(width)
    sine, half = jnp.sin(angle), jnp.sin(0.5 * angle) ** 2
    phase = drift * sine + k * (sine - angle)
    # 1 - z = u - i v on the circle.
    z = jnp.exp(log_z)
    u, v = -jnp.expm1(log_z) + 2 * z * half, z * sine
    bell = jnp.exp(-2 * width * half) * (u * jnp.cos(phase) - v * jnp.sin(phase)) / (u * u + v * v)
    # The midpoint rule's error from the pole on the far side, unless it is below rounding.
    skipped = 2 * np.pi * log_z / step
    is_felt = log_z * jnp.sqrt(width) > -8
    pole = jnp.where(is_felt, jnp.exp(jnp.where(is_felt, skipped - log_height, 0.0)), 0.0)
    total = bell.sum(axis=0) * (step[0] / np.pi) + (pole / (1 + jnp.exp(skipped)))[0]
    return log_height[0] + jnp.log(total)


def _saddle(k: jax.Array, rate1: jax.Array, rate2: jax.Array) -> Saddle:
    """Find the positive number z at which G(z) z^-k is least."""
    is_negative = k < 0
    sign = jnp.where(is_negative, -1.0, 1.0)
    size = sign * k
    one, two = jnp.where(is_negative, rate2, rate1), jnp.where(is_negative, rate1, rate2)
    gap = size - (one - two)
    # The tilted rates a, b have the product of the given ones and the difference |k|; r is their sum.
    centre = 2 * jnp.sqrt(one) * jnp.sqrt(two)
    long, short = jnp.maximum(size, centre), jnp.minimum(size, centre)
    r = long * jnp.sqrt(1 + (short / long) ** 2)
    a = 0.5 * (r + size)
    b = (one / a) * two
    rest = 2 * one - size
    is_plain = rest > 0
    move = jnp.where(is_plain, 2 * one * gap / (jnp.where(is_plain, rest, 1.0) + r), 0.5 * (r - rest))
    log_ratio = jnp.log(a) - jnp.log(one)
    is_close = jnp.abs(move) < 0.5 * one
    log_z = jnp.where(is_close, jnp.log1p(jnp.where(is_close, move, 0.0) / one), log_ratio)
    height = excess(a, -move, -log_ratio) + excess(b, 2 * two * gap / ((2 * two + size) + r), log_z)
    first, second = jnp.where(is_negative, b, a), jnp.where(is_negative, a, b)
    return Saddle(sign * log_z, first, second, height)


def _angles(width: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return angles on half of the circle along the first axis, and their spacing, for a bell of this squared width."""
    width = jax.lax.stop_gradient(width)
    step = jnp.minimum(_STEP / jnp.sqrt(jnp.maximum(width, 1e-3)), np.pi / _COUNT)
    return jnp.asarray(_HALF, width.dtype).reshape((-1,) + (1,) * (width.ndim - 1)) * step, step
