"""Define the logistic normal distribution: shares of a whole with jointly normal log ratios."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import float_type
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from .through_normal import AbstractThroughNormal


class LogisticNormal(AbstractThroughNormal):
    """Logistic normal distribution: softmax((z, 0)) for a multivariate normal z, so shares may be correlated.

    Give exactly one of the three matrices, shape `(..., n - 1, n - 1)`.

    **Fields**
    - `loc`: mean of the log ratios of the first n - 1 shares to the last, shape `(..., n - 1)`, or a number.
    - `covariance_matrix`: of the log ratios, symmetric, positive definite.
    - `precision_matrix`: its inverse.
    - `scale_tril`: its lower Cholesky factor.

    **Density**: `exp(-(z - loc)' C^-1 (z - loc) / 2) / (sqrt((2 pi)^(n - 1) det C) prod x)`, z_i = log(x_i / x_n), C
    the covariance matrix, with respect to the first n - 1 shares.

    **Source**: Aitchison & Shen (1980), Biometrika 67(2), 261-272.
    """

    @property
    def event_shape(self) -> Shape:
        return (self._of_z.event_shape[0] + 1,)

    @property
    def support(self) -> Constraint:
        return constraints.simplex

    def log_prob(self, value: Any) -> jax.Array:
        x = jnp.asarray(value, float_type(value, np.zeros((), self.dtype)))
        x = jnp.broadcast_to(x, np.broadcast_shapes(x.shape, self._shape()))
        is_inside = (self.support(x) & (x > 0).all(axis=-1)) | jnp.isnan(x).any(axis=-1)
        log_x = jnp.log(jnp.where(is_inside[..., None], x, 1 / x.shape[-1]))
        log_prob = self._of_z.log_prob(log_x[..., :-1] - log_x[..., -1:]) - log_x.sum(axis=-1)
        return jnp.where(is_inside, log_prob, -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        ratios = self._of_z.sample(key, sample_shape)
        shares = jax.nn.softmax(jnp.concatenate([ratios, jnp.zeros_like(ratios[..., :1])], axis=-1), axis=-1)
        # A share below the smallest number would round to 0, where the density ends.
        return jnp.maximum(shares, float(jnp.finfo(shares.dtype).tiny))
