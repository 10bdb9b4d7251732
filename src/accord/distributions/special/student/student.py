"""Compute Student's t: its density, tails, central mass and quantiles, with the derivative by the degrees of freedom.

With t = sqrt(df) sinh(y) the density is cosh(y)^-df, which is log-concave, so a Gauss-Legendre rule, stretched to where
it has vanished, gives a tail. Derivatives by df are taken at fixed t: then nothing of order 1/df is subtracted, and
they are right where, for large df, they are of order 1/df^2. For df below 3 the exponential tail is integrated exactly
and only what is left by the rule.

**Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, sections 28.2-28.4.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from ..basic.elementary import HALF_LOG_TWO_PI, log1p_square, log_of
from ..basic.excess import near_zero
from ..basic.gamma_ratio import log_gamma_1p, log_gamma_ratio
from ..basic.log_gamma import log_gamma_step
from ..basic.quadrature import FALL, bits_of, rule_on_unit

HEAVY = 3.0


def log_student_density(z: jax.Array, df: jax.Array) -> jax.Array:
    """Compute the log density of Student's t, location 0 and scale 1."""
    return log_gamma_step(0.5 * df) - HALF_LOG_TWO_PI - _energy(z, df)


@jax.custom_jvp
def _energy(z: jax.Array, df: jax.Array) -> jax.Array:
    """Compute (df + 1)/2 log(1 + z^2/df)."""
    return 0.5 * (df + 1.0) * log1p_square(z * (1.0 / jnp.sqrt(df)))


def _energy_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, Any]:
    (z, df), (z_dot, df_dot) = primals, tangents
    u = z * (1.0 / jnp.sqrt(df))
    is_far = jnp.abs(u) > 1
    # Of u and its inverse the one of at most 1, whose square does not overflow.
    small = jnp.where(is_far, 1.0 / jnp.where(is_far, u, 1.0), u)
    square = small * small
    smaller = 1.0 / (1.0 + square)
    total = jnp.zeros_like(u)
    if not isinstance(z_dot, SymbolicZero):
        total = total + small * smaller * ((df + 1.0) / jnp.sqrt(df)) * z_dot
    if not isinstance(df_dot, SymbolicZero):
        share = jnp.where(is_far, smaller, square * smaller)
        total = total + 0.5 * (_log_less(share, log1p_square(u)) - share * (1.0 / df)) * df_dot
    return _energy(z, df), total


_energy.defjvp(_energy_jvp, symbolic_zeros=True)


def student_log_tail(z: jax.Array, df: jax.Array) -> jax.Array:
    """Compute the logarithm of the probability above `z`, for z >= 0."""
    is_close, centre, log_far = _parts(z, df)
    return jnp.where(is_close, jnp.log1p(-centre) - math.log(2), log_far)


def student_tail(z: jax.Array, df: jax.Array) -> jax.Array:
    """Compute the probability above `z`, for z >= 0."""
    is_close, centre, log_far = _parts(z, df)
    return jnp.where(is_close, 0.5 - 0.5 * centre, jnp.exp(log_far))


def student_centre(z: jax.Array, df: jax.Array) -> jax.Array:
    """Compute the probability between -z and z, for z >= 0, with relative accuracy as z goes to 0."""
    is_close, centre, log_far = _parts(z, df)
    return jnp.where(is_close, centre, 1.0 - 2.0 * jnp.exp(log_far))


def student_log_centre(z: jax.Array, df: jax.Array) -> jax.Array:
    """Compute the logarithm of the probability between -z and z, for z >= 0; -inf at 0."""
    is_close, centre, log_far = _parts(z, df)
    return jnp.where(is_close, log_of(centre), jnp.log1p(-2.0 * jnp.exp(log_far)))


def _parts(z: jax.Array, df: jax.Array) -> tuple[jax.Array, ...]:
    """Return whether z is close to the centre, and then the probability in (-z, z), else the log of the tail."""
    is_end = z == jnp.inf
    z = jnp.where(is_end, 1.0, z)
    # A rule for polynomials is exact up to where the density has halved or so.
    is_close, is_heavy = z * z * (1.0 + 1.0 / df) < 1.0, df < HEAVY
    centre = _centre(jnp.where(is_close, z, 0.0), jnp.where(is_close, df, 1.0))
    light = _log_light_tail(jnp.where(is_close, 1.0, z), jnp.where(is_heavy | is_close, HEAVY, df))
    heavy = _log_heavy_tail(jnp.where(is_close, 1.0, z), jnp.where(is_heavy & ~is_close, df, 1.0))
    return is_close & ~is_end, centre, jnp.where(is_end, -jnp.inf, jnp.where(is_heavy, heavy, light))


@jax.custom_jvp
def _log_light_tail(z: jax.Array, df: jax.Array) -> jax.Array:
    """Compute the logarithm of the tail for df of at least 3."""
    growth, weights, length, *_ = _light_nodes(z, df)
    return _log_of_parts(z, df, growth, weights, length)


def _log_of_parts(z: Any, df: Any, growth: Any, weights: Any, length: Any) -> jax.Array:
    """Return log(density at z times its unit of length times the integral of the density relative to z)."""
    total = (weights * jnp.exp(-(df + 1.0)[..., None] * growth)).sum(-1)
    return log_student_density(z, df) + jnp.log(length) + jnp.log(total)


@_log_light_tail.defjvp
def _log_light_tail_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    (z, df), (z_dot, df_dot) = primals, tangents
    growth, weights, length, unit, cosine = _light_nodes(z, df)
    found = _log_of_parts(z, df, growth, weights, length)
    log_density, by_df = jax.jvp(lambda df: log_student_density(z, df), (df,), (jnp.ones_like(df),))
    height = weights * jnp.exp(-(df + 1.0)[..., None] * growth)
    share = -jnp.expm1(-2.0 * growth)
    tilt = (cosine * cosine - 1.0 / unit**2)[..., None]
    fall = 0.5 * (_log_less(share, 2.0 * growth) + share * tilt)
    by_df = by_df - (height * fall).sum(-1) / height.sum(-1)
    return found, by_df * df_dot - jnp.exp(log_density - found) * z_dot


def _light_nodes(z: jax.Array, df: jax.Array) -> tuple[jax.Array, ...]:
    """Return at each node half the log of (df + t^2)/(df + z^2), weights and their unit, sqrt(df + z^2), z over it.

    The nodes t - z, the weights and their unit are constants to derivatives; z and df are not.
    """
    unit = _hypotenuse(jnp.sqrt(df), z)
    still_unit, still_z, still_df = jax.lax.stop_gradient((unit, z, df))
    c = still_z / still_unit
    fall = FALL[bits_of(z)] / still_df
    # The curve rises at least as c r + (1 - c^2) r^2/3 for r < 1, and by less than log 2 below its asymptote r.
    near = fall / (0.5 * c + jnp.sqrt(0.25 * c * c + fall * (1.0 - c * c) / 3))
    length = jnp.where(near < 1, near, fall + math.log(2))[..., None]
    nodes, weights = rule_on_unit(z)
    r = length * nodes
    half = jnp.sinh(0.5 * r)
    step = 2.0 * half * (jnp.sqrt(1.0 + half * half) + c[..., None] * half)
    slope = (1.0 + 2.0 * half * half) + c[..., None] * jnp.sinh(r)
    step = step * (still_unit / unit)[..., None]
    cosine = z / unit
    growth = 0.5 * jnp.log1p(step * (2.0 * cosine[..., None] + step))
    return growth, length * weights * slope, still_unit, unit, cosine


@jax.custom_jvp
def _log_heavy_tail(z: jax.Array, df: jax.Array) -> jax.Array:
    """Compute the logarithm of the tail for df below 3."""
    y = _inverse_sinh(z, df)
    lead = log_gamma_ratio(jnp.full_like(df, 0.5), 0.5 * df) - log_gamma_1p(0.5 * df) - math.log(2)
    return lead + df * (math.log(2) - y) + jnp.log1p(df * _heavy_rest(df, jnp.exp(-2.0 * y))[0])


@_log_heavy_tail.defjvp
def _log_heavy_tail_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    (z, df), (z_dot, df_dot) = primals, tangents
    y, found = _inverse_sinh(z, df), _log_heavy_tail(z, df)
    cosine = z / _hypotenuse(jnp.sqrt(df), z)
    k = jnp.exp(-2.0 * y)
    rest, rest_by_df, rest_by_k = _heavy_rest(df, k)

    def lead(df: jax.Array) -> jax.Array:
        return log_gamma_ratio(jnp.full_like(df, 0.5), 0.5 * df) - log_gamma_1p(0.5 * df)

    _, lead_by_df = jax.jvp(lead, (df,), (jnp.ones_like(df),))
    inner = rest + df * rest_by_df + rest_by_k * k * cosine
    by_df = lead_by_df + math.log(2) - y + 0.5 * cosine + inner / (1.0 + df * rest)
    return found, by_df * df_dot - jnp.exp(log_student_density(z, df) - found) * z_dot


def _heavy_rest(df: jax.Array, k: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Integrate e^(-df r) ((1 + k e^(-2 r))^-df - 1) over r > 0, with derivatives by df and k."""
    nodes, weights = rule_on_unit(df)
    length = jax.lax.stop_gradient(FALL[bits_of(df)] / (2.0 + df))[..., None]
    r, nu = length * nodes, df[..., None]
    part = jnp.exp(-2.0 * r)
    log_part = jnp.log1p(k[..., None] * part)
    decay = length * weights * jnp.exp(-nu * r)
    less = jnp.expm1(-nu * log_part)
    by_df = -(decay * (r * less + log_part * (1.0 + less))).sum(-1)
    by_k = -df * (decay * (1.0 + less) * part / (1.0 + k[..., None] * part)).sum(-1)
    return (decay * less).sum(-1), by_df, by_k


@jax.custom_jvp
def _centre(z: jax.Array, df: jax.Array) -> jax.Array:
    """Compute the probability between -z and z, for small z."""
    nodes, weights = rule_on_unit(z)
    return 2.0 * z * (weights * jnp.exp(log_student_density(z[..., None] * nodes, df[..., None]))).sum(-1)


@_centre.defjvp
def _centre_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    (z, df), (z_dot, df_dot) = primals, tangents
    nodes, weights = rule_on_unit(z)
    wide = jnp.broadcast_to(df[..., None], (*z.shape, nodes.shape[-1]))
    log_height, slope = jax.jvp(
        lambda df: log_student_density(z[..., None] * nodes, df), (wide,), (jnp.ones_like(wide),)
    )
    height = weights * jnp.exp(log_height)
    by_z, by_df = 2.0 * jnp.exp(log_student_density(z, df)), 2.0 * z * (height * slope).sum(-1)
    return 2.0 * z * height.sum(-1), by_z * z_dot + by_df * df_dot


def _log_less(share: jax.Array, log_whole: jax.Array) -> jax.Array:
    """Compute log(1 + w) - w/(1 + w), from share = w/(1 + w) and log(1 + w), without cancellation."""
    is_small = share < 0.25
    return jnp.where(is_small, -near_zero(jnp.where(is_small, -share, 0.0)), log_whole - share)


def _hypotenuse(a: jax.Array, b: jax.Array) -> jax.Array:
    """Compute sqrt(a^2 + b^2), a > 0, b >= 0, without overflow and with both derivatives at b = 0."""
    size = jax.lax.stop_gradient(jnp.maximum(a, b))
    return size * jnp.sqrt((a / size) ** 2 + (b / size) ** 2)


def _inverse_sinh(z: jax.Array, df: jax.Array) -> jax.Array:
    """Compute asinh(z / sqrt(df)), for z >= 0."""
    return jnp.arcsinh(z / jnp.sqrt(df))
