"""Compute differences of gamma and digamma functions from what remains after their leading growth is removed."""

from typing import Any

import jax
import jax.numpy as jnp

from .log_gamma import log_gamma_remainder


def digamma_remainder(a: jax.Array) -> jax.Array:
    """Compute digamma(a) - log(a), for a > 0: about -1/(2 a) when `a` is large."""
    # It is the derivative of the remainder of log-gamma, series and all.
    return jax.jvp(log_gamma_remainder, (a,), (jnp.ones_like(a),))[1]


def log_gamma_rise(a: Any, step: Any) -> Any:
    """Compute log Gamma(a + step) - log Gamma(a) - step log(a): about step (step - 1) / (2 a) when `a` is large."""
    top = a + step
    growth = top * jnp.log1p(step / a) - step
    return log_gamma_remainder(top) - log_gamma_remainder(a) + growth


def digamma_difference(a: jax.Array, step: Any) -> jax.Array:
    """Compute digamma(a + step) - digamma(a), for step > 0."""
    return digamma_remainder(a + step) - digamma_remainder(a) + jnp.log1p(step / a)
