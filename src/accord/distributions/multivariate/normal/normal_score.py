"""Compute the normal quantile from a log probability, where the probability itself would underflow."""

import math
from typing import Any

import jax
import jax.numpy as jnp

from ...special.basic.error_function import erfcx
from ...special.normal.normal import ndtri

_ROOT_HALF = math.sqrt(0.5)
_ROOT_HALF_PI = math.sqrt(math.pi / 2)
# Below this the tail is so far that Newton's steps start from its asymptotic form.
_FAR = -50.0


@jax.custom_jvp
def ndtri_exp(log_q: jax.Array) -> jax.Array:
    """Compute the standard normal quantile of exp(log_q), for a finite log_q of at most log(1/2)."""
    is_far = log_q < _FAR
    near = ndtri(jnp.exp(jnp.where(is_far, -1.0, log_q)))
    y = jnp.where(is_far, log_q, _FAR)
    z = -jnp.sqrt(-2.0 * (y + 0.5 * jnp.log(-4.0 * math.pi * y)))
    for _ in range(3):
        ratio = erfcx(-_ROOT_HALF * z)
        z = z - (jnp.log(0.5 * ratio) - 0.5 * z * z - y) * (_ROOT_HALF_PI * ratio)
    return jnp.where(is_far, z, near)


@ndtri_exp.defjvp
def _ndtri_exp_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[jax.Array, jax.Array]:
    (log_q,), (log_q_dot,) = primals, tangents
    z = ndtri_exp(log_q)
    return z, _ROOT_HALF_PI * erfcx(-_ROOT_HALF * z) * log_q_dot
