"""Compute logarithms without their linear term, which cancels in log densities."""

import jax
import jax.numpy as jnp

# Coefficients of z^2, z^4, ... in atanh(z)/z - 1, which is exact to rounding up to z = 1/4.
_ATANH = tuple(1 / k for k in range(3, 27, 2))


def excess(x: jax.Array, gap: jax.Array, log_ratio: jax.Array) -> jax.Array:
    """Compute x log(1 + gap/x) - gap, for x >= 0 and x + gap >= 0.

    **Arguments**: `log_ratio` is that logarithm, used where `gap` is not small beside `x`; it may be -inf.
    """
    is_zero = x == 0
    safe = jnp.where(is_zero, 1.0, x)
    is_near = jnp.abs(gap) <= 0.5 * x
    near = safe * log1p_excess(jnp.where(is_near, gap, 0.0) / safe)
    far = safe * jnp.where(is_near | is_zero, 0.0, log_ratio) - gap
    return jnp.where(is_zero, -gap, jnp.where(is_near, near, far))


@jax.custom_jvp
def log1p_excess(u: jax.Array) -> jax.Array:
    """Compute log(1 + u) - u, for u > -1, to full relative accuracy."""
    is_small = jnp.abs(u) < 0.25
    small, large = jnp.where(is_small, u, 0.0), jnp.where(is_small, 1.0, u)
    return jnp.where(is_small, _near_zero(small), jnp.log1p(large) - large)


@log1p_excess.defjvp
def _log1p_excess_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (u,), (u_dot,) = primals, tangents
    return log1p_excess(u), -u / (1 + u) * u_dot


def _near_zero(u: jax.Array) -> jax.Array:
    """Compute log(1 + u) - u, for |u| < 0.25."""
    # log(1 + u) = 2 atanh(z), and 2 z - u = -u z.
    z = u / (2.0 + u)
    square = z * z
    total = jnp.full_like(z, _ATANH[-1])
    for coefficient in _ATANH[-2::-1]:
        total = coefficient + square * total
    return z * (2.0 * square * total - u)
