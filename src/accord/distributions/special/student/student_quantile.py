"""Invert the tail and the central mass of Student's t by Newton's method, with implicit derivatives."""

import math
from typing import Any

import jax
import jax.numpy as jnp

from ..basic.gamma_ratio import log_gamma_1p, log_gamma_ratio
from .student import HEAVY, log_student_density, student_centre, student_log_tail

_MOST_STEPS = 40


@jax.custom_jvp
def student_quantile(log_tail: jax.Array, df: jax.Array) -> jax.Array:
    """Compute the z >= 0 with log probability `log_tail` above it, at most log(1/2)."""
    is_end = log_tail == -jnp.inf
    target = jnp.where(is_end, -1.0, log_tail)
    eps, root = float(jnp.finfo(df.dtype).eps), jnp.sqrt(df)

    def is_moving(state: tuple[Any, ...]) -> jax.Array:
        step, _, moving = state
        return (step < _MOST_STEPS) & moving.any()

    def improve(state: tuple[Any, ...]) -> tuple[Any, ...]:
        # The logarithm is concave in y, so Newton's method needs no bracket; an infinite z has passed the end.
        step, y, moving = state
        z = root * jnp.sinh(y)
        is_past = z == jnp.inf
        z = jnp.where(is_past, 1.0, z)
        found = student_log_tail(z, df)
        slope = -jnp.exp(log_student_density(z, df) - found) * jnp.hypot(root, z)
        after = jnp.maximum(y + (target - found) / slope, 0.0)
        still = moving & ~is_past & (jnp.abs(after - y) > 2.0 * eps * y)
        return step + 1, jnp.where(moving & ~is_past, after, y), still

    small = jnp.where(df < HEAVY, df, 1.0)
    lead = log_gamma_ratio(jnp.full_like(df, 0.5), 0.5 * small) - log_gamma_1p(0.5 * small) - math.log(2)
    power = math.log(2) + (lead - target) / small
    t = jnp.sqrt(-2.0 * target)
    normal = jnp.arcsinh((t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t))) / root)
    start = jnp.maximum(jnp.where(df < HEAVY, power, normal), 0.0)
    y = jax.lax.while_loop(is_moving, improve, (0, start, jnp.ones(df.shape, bool)))[1]
    return jnp.where(is_end, jnp.inf, jnp.where(jnp.isnan(log_tail), jnp.nan, root * jnp.sinh(y)))


@student_quantile.defjvp
def _student_quantile_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    (log_tail, df), (tail_dot, df_dot) = primals, tangents
    z = student_quantile(log_tail, df)
    is_end = z == jnp.inf
    safe = jnp.where(is_end, 1.0, z)
    found, by_df = jax.jvp(lambda df: student_log_tail(safe, df), (df,), (df_dot,))
    slope = -jnp.exp(log_student_density(safe, df) - found)
    return z, jnp.where(is_end, 0.0, (tail_dot - by_df) / slope)


@jax.custom_jvp
def student_centre_quantile(p: jax.Array, df: jax.Array) -> jax.Array:
    """Compute the z >= 0 with probability `p` between -z and z, accurate for small `p` too."""
    at_centre = jnp.exp(log_student_density(jnp.zeros_like(p), df))
    near = 0.5 * p / at_centre
    is_close = near * near * (1.0 + 1.0 / df) < 0.3
    # The mass is concave, so Newton's method comes from below, and from so near that a few steps are exact.
    near = jnp.where(is_close, near, 0.0)

    def improve(_: Any, z: jax.Array) -> jax.Array:
        return z + 0.5 * (p - student_centre(z, df)) * jnp.exp(-log_student_density(z, df))

    close = jax.lax.fori_loop(0, 5, improve, near)
    far = student_quantile(jnp.log1p(-p) - math.log(2), df)
    return jnp.where(is_close, close, far)


@student_centre_quantile.defjvp
def _student_centre_quantile_jvp(
    primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[jax.Array, jax.Array]:
    (p, df), (p_dot, df_dot) = primals, tangents
    z = student_centre_quantile(p, df)
    is_end = z == jnp.inf
    safe = jnp.where(is_end, 1.0, z)
    _, by_df = jax.jvp(lambda df: student_centre(safe, df), (df,), (df_dot,))
    return z, jnp.where(is_end, 0.0, 0.5 * (p_dot - by_df) * jnp.exp(-log_student_density(safe, df)))
