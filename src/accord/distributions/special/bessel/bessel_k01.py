"""Compute modified Bessel functions K0 and K1, used by normal inverse Gaussian distributions.

From 1 on they are sums over the midpoints m of a bell, y (cosh t - 1) = m^2, below 1 series.

**Source**: DLMF 10.32.9 (the integral) and 10.31 (the series); Trefethen & Weideman (2014), SIAM Review 56(3), 385-458
(the rule).
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

STEP = 0.22
_COUNT = 28
MIDPOINTS = STEP * (np.arange(_COUNT) + 0.5)
BELL = 2 * STEP * np.exp(-(MIDPOINTS**2))
# Harmonic numbers less Euler's constant, and coefficients in powers of (x / 2)^2, of K0 and of K1, up to x = 1.
_PSI = np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, 12))]) - np.euler_gamma
_FACTORIALS = np.array([math.factorial(k) for k in range(12)], float)
_K0 = [(float(_PSI[k] / _FACTORIALS[k] ** 2), float(1 / _FACTORIALS[k] ** 2)) for k in range(10)]
_K1 = [
    (float(0.5 * (_PSI[k] + _PSI[k + 1]) / n), float(1 / n))
    for k, n in enumerate(_FACTORIALS[:10] * _FACTORIALS[1:11])
]


@jax.custom_jvp
def log_k1_scaled(y: jax.Array) -> jax.Array:
    """Compute log(y exp(y) K1(y)), for y >= 1."""
    square, bell = _k1_rule(y)
    return jnp.log((bell * (square + y[..., None])).sum(-1))


@log_k1_scaled.defjvp
def _log_k1_scaled_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[jax.Array, jax.Array]:
    (y,), (y_dot,) = primals, tangents
    return log_k1_scaled(y), _gap(y) * y_dot


def k1_gap(y: jax.Array) -> jax.Array:
    """Compute 1 - K0(y) / K1(y), for y > 0, with relative accuracy for large `y`."""
    is_small = y < 1
    small, large = jnp.where(is_small, y, 0.5), jnp.where(is_small, 2.0, y)
    return jnp.where(is_small, 1 - small * k0_small(small) * jnp.exp(-log_k1_small(small)), _gap(large))


def _gap(y: jax.Array) -> jax.Array:
    """Compute 1 - K0(y) / K1(y), for y >= 1, without cancellation."""
    square, bell = _k1_rule(y)
    return (bell * square).sum(-1) / (bell * (square + y[..., None])).sum(-1)


def _k1_rule(y: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the squares m^2 of the midpoints and weights that sum to exp(y) K0(y)."""
    square, bell = along_axis(MIDPOINTS**2, y), along_axis(BELL, y)
    return square, bell / jnp.sqrt(square + 2 * y[..., None])


@jax.custom_jvp
def log_k1_small(y: jax.Array) -> jax.Array:
    """Compute log(y K1(y)), for 0 < y <= 1."""
    square, log_half = 0.25 * y * y, jnp.log(0.5 * y)
    return jnp.log1p(-2 * square * _series(_K1, square, log_half))


@log_k1_small.defjvp
def _log_k1_small_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[jax.Array, jax.Array]:
    (y,), (y_dot,) = primals, tangents
    found = log_k1_small(y)
    return found, -y * k0_small(y) * jnp.exp(-found) * y_dot


def k0_small(y: jax.Array) -> jax.Array:
    """Compute K0(y), for 0 < y <= 1."""
    return _series(_K0, 0.25 * y * y, jnp.log(0.5 * y))


def _series(coefficients: list[tuple[float, float]], square: jax.Array, log_half: jax.Array) -> jax.Array:
    """Compute the sum of (first - second * log_half) * square^k."""
    first = second = jnp.zeros_like(square)
    for one, two in coefficients[::-1]:
        first, second = one + square * first, two + square * second
    return first - log_half * second


def along_axis(values: np.ndarray, x: jax.Array) -> jax.Array:
    """Return constants along one more axis than x has."""
    return jnp.asarray(values, x.dtype).reshape((1,) * x.ndim + (-1,))
