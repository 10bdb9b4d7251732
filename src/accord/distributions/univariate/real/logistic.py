"""Define the logistic and hyperbolic secant distributions on the real line."""

import math
from typing import Any

import jax
import jax.numpy as jnp

from ...special import logistic, softplus
from ...special.basic.smooth import log_cosh
from ..common.location_scale import AbstractLocationScale


class Logistic(AbstractLocationScale):
    """Logistic distribution on the real line: the noise behind logistic regression.

    **Fields**
    - `loc`: mean and median, any real.
    - `scale`: > 0; the standard deviation is `pi / sqrt(3)` times this.

    **Density**: `exp(-z) / (1 + exp(-z))^2 / scale`, z = (x - loc) / scale.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 23.
    """

    loc: Any = 0.0
    scale: Any = 1.0

    @property
    def mean(self) -> jax.Array:
        return self._place(0.0)

    @property
    def variance(self) -> jax.Array:
        return self._spread(math.pi**2 / 3)

    @property
    def mode(self) -> jax.Array:
        return self._place(0.0)

    def entropy(self) -> jax.Array:
        return self._uncertainty(2.0)

    def _log_density(self, z: jax.Array, *_: Any) -> jax.Array:
        return -2 * log_cosh(0.5 * z) - math.log(4)

    def _cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        return logistic(z)

    def _log_cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        return -softplus(-z)

    def _log_survival(self, z: jax.Array, *_: Any) -> jax.Array:
        return -softplus(z)

    def _icdf(self, q: jax.Array, *_: Any) -> jax.Array:
        return jnp.log(q) - jnp.log1p(-q)


class SoftLaplace(AbstractLocationScale):
    """Hyperbolic secant distribution on the real line: exponential tails and a smooth peak.

    **Fields**
    - `loc`: mean and median, any real.
    - `scale`: > 0; the standard deviation is `pi / 2` times this.

    **Density**: `2 / (pi scale (exp(z) + exp(-z)))`, z = (x - loc) / scale.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, section 23.11.
    """

    loc: Any
    scale: Any

    @property
    def mean(self) -> jax.Array:
        return self._place(0.0)

    @property
    def variance(self) -> jax.Array:
        return self._spread(math.pi**2 / 4)

    @property
    def mode(self) -> jax.Array:
        return self._place(0.0)

    def entropy(self) -> jax.Array:
        return self._uncertainty(math.log(2 * math.pi))

    def _log_density(self, z: jax.Array, *_: Any) -> jax.Array:
        return -log_cosh(z) - math.log(math.pi)

    def _cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        below = z < 0
        tail = (2 / math.pi) * jnp.arctan(jnp.exp(jnp.where(below, z, -z)))
        return jnp.where(below, tail, 1 - tail)

    def _log_cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        # Far out arctan(u) is u to rounding, and u may underflow.
        is_far, above = z < -20.0, z > 0
        u = jnp.exp(jnp.where(is_far, 0.0, jnp.where(above, -z, z)))
        tail = (2 / math.pi) * jnp.arctan(u)
        near = jnp.log1p(-jnp.where(above, tail, 0.0))
        return jnp.where(is_far, z + math.log(2 / math.pi), jnp.where(above, near, jnp.log(tail)))

    def _log_survival(self, z: jax.Array, *_: Any) -> jax.Array:
        return self._log_cdf(-z)

    def _icdf(self, q: jax.Array, *_: Any) -> jax.Array:
        below = q < 0.5
        tail = jnp.log(jnp.tan((0.5 * math.pi) * jnp.where(below, q, 1 - q)))
        return jnp.where(below, tail, -tail)
