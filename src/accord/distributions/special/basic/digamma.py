"""Compute digamma functions and their differences without their leading growth, which would cancel."""

from typing import Any

import jax
import jax.numpy as jnp

from .log_gamma import log_gamma_remainder


def digamma_less_log(a: jax.Array) -> jax.Array:
    """Compute digamma(a) - log(a), for a > 0: about -1/(2 a) when `a` is large."""
    # It is the derivative of the remainder of log-gamma, series and all.
    return jax.jvp(log_gamma_remainder, (a,), (jnp.ones_like(a),))[1]


def digamma_difference(a: jax.Array, step: Any) -> jax.Array:
    """Compute digamma(a + step) - digamma(a), for step > 0."""
    return digamma_less_log(a + step) - digamma_less_log(a) + jnp.log1p(step / a)
