"""Define the multivariate log-normal distribution: positive vectors with jointly normal logarithms."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import float_type
from ... import constraints
from ...base import Shape
from ...constraint import Constraint, Independent
from ...special.basic.linear import lower_factor, multiply_matrix
from ..matrices.triangular import choose_events, has_nan
from .through_normal import AbstractThroughNormal


class MultivariateLogNormal(AbstractThroughNormal):
    """Multivariate log-normal distribution: exp(z) of a normal vector z; give exactly one of the three matrices.

    **Fields**
    - `loc`: mean of the logarithms, shape `(..., n)`, or a number for all elements.
    - `covariance_matrix`: of the logarithms, symmetric, positive definite.
    - `precision_matrix`: its inverse.
    - `scale_tril`: its lower Cholesky factor.

    **Density**: `exp(-(log x - loc)' C^-1 (log x - loc) / 2) / (sqrt((2 pi)^n det C) prod x)`, C the covariance matrix.

    **Source**: Kotz, Balakrishnan & Johnson (2000), Continuous Multivariate Distributions 1, ch. 44.
    """

    @property
    def event_shape(self) -> Shape:
        return self._of_z.event_shape

    @property
    def support(self) -> Constraint:
        return Independent(constraints.positive, 1)

    @property
    def mean(self) -> jax.Array:
        normal = self._of_z
        return jnp.exp(normal.mean + 0.5 * normal.variance)

    @property
    def variance(self) -> jax.Array:
        normal = self._of_z
        return self.mean**2 * jnp.expm1(normal.variance)

    @property
    def mode(self) -> jax.Array:
        normal = self._of_z
        factor = lower_factor(self.dtype, self.covariance_matrix, self.precision_matrix, self.scale_tril)
        return jnp.exp(normal.mean - multiply_matrix(factor, factor.mT).sum(axis=-1))

    def log_prob(self, value: Any) -> jax.Array:
        normal = self._of_z
        x = jnp.asarray(value, float_type(value, np.zeros((), self.dtype)))
        x = jnp.broadcast_to(x, np.broadcast_shapes(x.shape, self._shape()))
        is_inside = (x > 0).all(axis=-1) | has_nan(x, 1)
        log_x = jnp.log(choose_events(is_inside, x, 1.0))
        return jnp.where(is_inside, normal.log_prob(log_x) - log_x.sum(axis=-1), -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        limits = jnp.finfo(self.dtype)
        draws = jnp.exp(self._of_z.sample(key, sample_shape))
        return jnp.clip(draws, float(limits.tiny), float(limits.max))

    def entropy(self) -> jax.Array:
        normal = self._of_z
        return normal.entropy() + normal.mean.sum(axis=-1)
