"""Define the Wishart distribution of positive definite matrices and their Cholesky factors."""

from typing import ClassVar

import jax
import jax.numpy as jnp

from ...special import log_gamma_step
from ...special.basic.linear import diagonal
from .triangular import with_event_axes
from .wishart_family import AbstractWishart


class Wishart(AbstractWishart):
    """Wishart distribution of the scatter matrix of normal vectors, `sum of x x'`; give one of the three matrices.

    **Fields**
    - `concentration`: degrees of freedom, > p - 1 for p rows; the number of normal vectors where it is whole.
    - `scale_matrix`: V, their covariance, shape `(..., p, p)`; the mean is `concentration * V`.
    - `rate_matrix`: the inverse of V.
    - `scale_tril`: the lower Cholesky factor of V.

    **Density**: `det(X)^((nu - p - 1)/2) exp(-tr(V^-1 X)/2) / (2^(nu p/2) det(V)^(nu/2) Gamma_p(nu/2))`, for
    nu = concentration, with respect to the elements on and below the diagonal.

    **Source**: Muirhead (1982), Aspects of Multivariate Statistical Theory, section 3.2 (Bartlett: theorem 3.2.14).
    """

    is_inverse: ClassVar[bool] = False
    is_factor: ClassVar[bool] = False

    @property
    def mean(self) -> jax.Array:
        return self._full(with_event_axes(self._arrays("concentration")[0], 2) * self._batch_of_scale())

    @property
    def variance(self) -> jax.Array:
        scale = self._batch_of_scale()
        variances = diagonal(scale)
        products = jnp.expand_dims(variances, -1) * jnp.expand_dims(variances, -2)
        return self._full(with_event_axes(self._arrays("concentration")[0], 2) * (scale * scale + products))

    @property
    def mode(self) -> jax.Array:
        df = with_event_axes(self._arrays("concentration")[0], 2) - (self._size + 1)
        return self._full(jnp.where(df > 0, df * self._batch_of_scale(), jnp.nan))


class WishartCholesky(AbstractWishart):
    """Distribution of the lower Cholesky factor of a `Wishart` matrix; give exactly one of the three matrices.

    **Fields**
    - `concentration`: degrees of freedom, > p - 1 for p rows.
    - `scale_matrix`: V, shape `(..., p, p)`; the mean of the Wishart matrix is `concentration * V`.
    - `rate_matrix`: the inverse of V.
    - `scale_tril`: the lower Cholesky factor of V.

    **Density**: `Wishart(L L') * 2^p * prod over i = 1..p of L_ii^(p - i + 1)`, with respect to the elements on and
    below the diagonal.

    **Source**: Muirhead (1982), Aspects of Multivariate Statistical Theory, theorems 2.1.9 and 3.2.14.
    """

    is_inverse: ClassVar[bool] = False
    is_factor: ClassVar[bool] = True

    @property
    def mean(self) -> jax.Array:
        df = self._df(self.dtype)
        return self._columns(jnp.sqrt(df) * jnp.exp(log_gamma_step(0.5 * df)))

    @property
    def variance(self) -> jax.Array:
        df = self._df(self.dtype)
        # The variance of a chi variable, df less its mean squared, without their cancellation.
        return self._column_variances(-df * jnp.expm1(2 * log_gamma_step(0.5 * df)), jnp.ones_like(df))

    @property
    def mode(self) -> jax.Array:
        df = self._df(self.dtype) - 1
        largest = self._columns(jnp.sqrt(jnp.maximum(df, 0.0)))
        exists = with_event_axes((df > 0).all(axis=-1), 2)
        return jnp.where(jnp.broadcast_to(self._full(exists) > 0, largest.shape), largest, jnp.nan)
