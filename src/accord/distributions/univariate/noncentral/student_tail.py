"""Compute the density and both tails of noncentral t, the ratio of a normal variable and an estimated scale.

With s the estimated scale and z = c - t s, c the noncentrality, they are means over s of

    density: s phi(z),    above t < 0: Phi(c) and the mean of Phi(z) - Phi(c),    above t >= 0: the mean of Phi(z).

The last has a tail in log(s) as long as df is small. Integrated by parts it is t / df times the density, and the same
mean with two more degrees of freedom at t (1 + 2 / df)^(1/2). Each integrand is a bell in log(s).

**Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, section 31.5 (the recurrence).
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ...special.basic.elementary import HALF_LOG_TWO_PI, log1m_exp, log_of
from ...special.basic.error_function import erfcx
from ...special.basic.quadrature import FALL, bits_of, exp_rest
from ...special.basic.tails import tail_pair
from ...special.bessel.bell import bell_points, find_bell
from ...special.normal.normal import log_normal_density
from ...special.student.scaled_chi import chi_excess, log_chi_constant, slope_by_df

_ROOT_HALF = math.sqrt(0.5)


class _Mean(NamedTuple):
    """Log of a mean over s and, along one more axis, its shares, log(s), s - 1, and z."""

    log_mean: jax.Array
    share: jax.Array
    log_s: jax.Array
    less: jax.Array
    z: jax.Array


@jax.custom_jvp
def log_noncentral_student(t: jax.Array, noncentrality: jax.Array, df: jax.Array) -> jax.Array:
    """Compute the log density at `t`; all arguments of one shape."""
    return _density(t, noncentrality, df).log_mean


@log_noncentral_student.defjvp
def _density_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    t, _, df = primals
    mean = _density(*primals)
    s = jnp.exp(mean.log_s)
    pull = s * mean.z
    by_t, by_c = (mean.share * pull).sum(-1), -(mean.share * mean.z).sum(-1)
    by_df = slope_by_df(df, mean.share, mean.log_s, mean.less, 1.0 + t[..., None] * pull)
    return mean.log_mean, by_t * tangents[0] + by_c * tangents[1] + by_df * tangents[2]


@jax.custom_jvp
def log_noncentral_student_tails(
    t: jax.Array, noncentrality: jax.Array, df: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Compute log probabilities below and above `t`, each accurate where it is small."""
    is_lower = _is_lower(t, noncentrality, df)
    return tail_pair(_log_tail(t, noncentrality, df, is_lower)[0], is_lower)


@log_noncentral_student_tails.defjvp
def _tails_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    t, noncentrality, df = primals
    is_lower = _is_lower(*primals)
    (small, at), (moved, _) = jax.jvp(
        lambda c, df: _log_tail(t, c, df, is_lower),
        (noncentrality, df),
        (jnp.asarray(tangents[1], t.dtype), jnp.asarray(tangents[2], t.dtype)),
    )
    below, above = tail_pair(small, is_lower)
    share = jnp.where(is_lower, moved, -moved)
    return (below, above), (
        jnp.exp(at - below) * tangents[0] + share * jnp.exp(small - below),
        -jnp.exp(at - above) * tangents[0] - share * jnp.exp(small - above),
    )


def _is_lower(t: jax.Array, noncentrality: jax.Array, df: jax.Array) -> jax.Array:
    """Return whether `t` is so low that s must be large: then the lower integrand has no long flat part."""
    is_light = df > 1
    r = 2.0 / (9.0 * jnp.where(is_light, df, 1.0))
    large = jnp.where(is_light, (1.0 - r + jnp.sqrt(r)) ** 3, 2.0 / df)
    return t < noncentrality / jnp.sqrt(large)


def _density(t: jax.Array, c: jax.Array, df: jax.Array) -> _Mean:
    # Around s the exponent falls by power (rho - step) + sharp rho^2 / 2, rho = exp(step) - 1, and a rest of rounding.
    still_t, still_c, still_df = jax.lax.stop_gradient((t, c, df))
    power, size = still_df + 1.0, jnp.hypot(jnp.sqrt(still_df), still_t)
    pull = still_t / size * still_c
    root, is_plain = jnp.hypot(pull, 2.0 * jnp.sqrt(power)), pull < 0
    scaled = jnp.where(is_plain, 2.0 * power / (root - jnp.where(is_plain, pull, 0.0)), 0.5 * (pull + root))
    s, sharp = scaled / size, scaled * scaled
    log_s = jnp.log(s)
    fall = FALL[bits_of(t)]
    each = fall / power
    left = 0.5 * (each + jnp.sqrt(each * (each + 8.0)))
    inside = jnp.minimum(jnp.sqrt(2.0 * fall / sharp), 1.0 - 1e-6)
    left = jnp.where(sharp > 2.0 * fall, jnp.minimum(left, -jnp.log1p(-inside)), left)
    right = jnp.log1p(jnp.minimum(each + jnp.sqrt(each * (each + 2.0)), jnp.sqrt(2.0 * fall / sharp)))
    bell = bell_points(log_s, 1.4 / jnp.sqrt(power + sharp), left, right)

    z, t_s, less = c - t * s, (t * s)[..., None], s - 1.0
    power, sharp = df + 1.0, df * s * s + (t * s) ** 2
    rise = jnp.expm1(bell.step)
    rest = 1.0 - df * less * (2.0 + less) + z * t * s
    is_near = jnp.abs(bell.step) < 0.5
    bend = jnp.where(is_near, exp_rest(jnp.where(is_near, bell.step, 0.0)), rise - bell.step)
    drop = power[..., None] * bend + 0.5 * sharp[..., None] * rise * rise - rest[..., None] * rise
    height = bell.weight * jnp.exp(-drop)
    total = height.sum(-1)
    peak = 0.5 * df * chi_excess(log_s, less) + log_s - 0.5 * z * z - HALF_LOG_TWO_PI - log_chi_constant(df)
    return _Mean(
        peak + jnp.log(total),
        height / total[..., None],
        log_s[..., None] + bell.step,
        less[..., None] + s[..., None] * rise,
        z[..., None] - t_s * rise,
    )


def _log_tail(t: jax.Array, c: jax.Array, df: jax.Array, is_lower: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute logs of the requested tail and the density; differentiable by noncentrality and df only."""
    t, c = jnp.where(is_lower, -t, t), jnp.where(is_lower, -c, c)
    is_left = t < 0
    density = log_noncentral_student(t, c, df)
    stretched = jnp.where(is_left, t, t * jnp.sqrt(1.0 + 2.0 / df))
    mean = _log_tail_mean(stretched, c, jnp.where(is_left, df, df + 2.0), is_left)
    by_parts = density + log_of(jnp.where(is_left, 1.0, t)) - jnp.log(df)
    return jnp.logaddexp(jnp.where(is_left, _log_normal_cdf(c), by_parts), mean), density


@jax.custom_jvp
def _log_tail_mean(t: jax.Array, c: jax.Array, df: jax.Array, is_left: jax.Array) -> jax.Array:
    """Compute the log mean of Phi(z), less Phi(c) for t < 0."""
    return _tail_mean(t, c, df, is_left)[0].log_mean


@_log_tail_mean.defjvp
def _log_tail_mean_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    t, c, df, is_left = primals
    mean, log_mass = _tail_mean(*primals)
    wide = is_left[..., None]
    slope = jnp.exp(log_normal_density(mean.z) - log_mass)
    lost = jnp.where(wide, jnp.exp(log_normal_density(c)[..., None] - log_mass), 0.0)
    s = jnp.exp(mean.log_s)
    by_t = -(mean.share * s * slope).sum(-1)
    by_c = (mean.share * (slope - lost)).sum(-1)
    by_df = slope_by_df(df, mean.share, mean.log_s, mean.less, -t[..., None] * s * slope)
    return mean.log_mean, by_t * tangents[0] + by_c * tangents[1] + by_df * tangents[2]


def _tail_mean(t: jax.Array, c: jax.Array, df: jax.Array, is_left: jax.Array) -> tuple[_Mean, jax.Array]:
    """Compute the mean of Phi(z), less Phi(c) for t < 0, and the log of its integrand at each point."""

    def parts(
        log_s: jax.Array, step: jax.Array, t: jax.Array, c: jax.Array, df: jax.Array
    ) -> tuple[jax.Array, ...]:
        s, rise = jnp.exp(log_s), jnp.expm1(step)
        less, z = (s - 1.0) + s * rise, (c - t * s) - t * s * rise
        return 0.5 * df * chi_excess(log_s + step, less), less, z, -t * jnp.exp(log_s + step)

    def rough(log_s: jax.Array, step: jax.Array, *given: jax.Array) -> jax.Array:
        *own, log_lost, side = given
        excess, _, z, gap = parts(log_s, step, *own)
        return excess + _log_mass(gap, own[1], _rough_log_normal_cdf(z), log_lost, side > 0)

    side = is_left.astype(t.dtype)
    # Where Phi falls with s, a bound on its slope puts the peak below 1; where it rises, above.
    size, reach = jnp.abs(t), jnp.abs(c) + 1.0
    steep = size * reach
    low = jnp.log(2.0 * df) - jnp.log(
        steep + jnp.hypot(steep, 2.0 * jnp.sqrt(df) * jnp.hypot(jnp.sqrt(df), size))
    )
    high = jnp.log(2.0 + 2.0 * (1.0 + steep) / df)
    low, high = jnp.where(is_left, 0.0, low), jnp.where(is_left, high, 0.0)
    bell = find_bell(rough, low, high, t, c, df, _rough_log_normal_cdf(c), side)
    wide = [jnp.broadcast_to(a[..., None], bell.step.shape) for a in (bell.peak, t, c, df)]
    excess, less, z, gap = parts(wide[0], bell.step, *wide[1:])
    log_lost = _log_normal_cdf(c)[..., None]
    log_mass = _log_mass(gap, c[..., None], _log_normal_cdf(z), log_lost, is_left[..., None])
    exponent = excess + log_mass
    top = jax.lax.stop_gradient(exponent.max(axis=-1))
    height = bell.weight * jnp.exp(exponent - top[..., None])
    total = height.sum(-1)
    log_mean = top + jnp.log(total) - log_chi_constant(df)
    return _Mean(log_mean, height / total[..., None], wide[0] + bell.step, less, z), log_mass


def _log_mass(
    rise: jax.Array, c: jax.Array, log_all: jax.Array, log_lost: jax.Array, is_left: jax.Array
) -> jax.Array:
    """Compute log Phi(z), or log of Phi(z) - Phi(c) where asked for and smaller; `rise` is z - c."""
    gap = jnp.where(is_left, log_lost - log_all, -1.0)
    apart = log_all + log1m_exp(jnp.minimum(gap, -1e-30))
    # Close together their difference is the density between them times the distance.
    is_close = rise * (1.0 + jnp.abs(c)) < 0.02
    h, m = jnp.where(is_close & (rise > 0), rise, 1e-3), c + 0.5 * rise
    square = m * m
    bend = h * h * ((square - 1.0) / 24.0 + h * h * (square * (square - 6.0) + 3.0) / 1920.0)
    close = log_normal_density(m) + jnp.log(h) + jnp.log1p(jnp.where(is_close, bend, 0.0))
    return jnp.where(is_left, jnp.where(is_close, close, apart), log_all)


def _log_normal_cdf(z: jax.Array) -> jax.Array:
    """Compute log Phi(z) from one scaled error function."""
    half_square = 0.5 * z * z
    tail = 0.5 * erfcx(_ROOT_HALF * jnp.abs(z))
    is_lower = z < 0
    log_lower = jnp.log(tail) - jnp.where(is_lower, half_square, 0.0)
    return jnp.where(is_lower, log_lower, jnp.log1p(-tail * jnp.exp(-half_square)))


def _rough_log_normal_cdf(z: jax.Array) -> jax.Array:
    """Compute log Phi(z) to a percent of the smaller tail, to locate a bell."""
    size = jnp.abs(z)
    log_tail = -0.5 * z * z - jnp.log(0.6267 * (3.0 * size + jnp.sqrt(size * size + 8.0)))
    return jnp.where(z < 0, log_tail, jnp.log1p(-jnp.exp(log_tail)))
