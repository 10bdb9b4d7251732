"""Define the inverse Wishart distribution of positive definite matrices and their Cholesky factors."""

from typing import ClassVar

import jax
import jax.numpy as jnp

from ...special import log_gamma_step
from ...special.basic.linear import diagonal
from .triangular import with_event_axes
from .wishart_family import AbstractWishart


class InverseWishart(AbstractWishart):
    """Inverse Wishart distribution, conjugate for a normal covariance; give exactly one of the three matrices.

    **Fields**
    - `concentration`: degrees of freedom, > p - 1 for p rows; the mean exists above p + 1, the variance above p + 3.
    - `scale_matrix`: P, shape `(..., p, p)`; the mean is `P / (concentration - p - 1)`.
    - `rate_matrix`: the inverse of P.
    - `scale_tril`: the lower Cholesky factor of P.

    **Density**: `det(P)^(nu/2) det(X)^(-(nu + p + 1)/2) exp(-tr(P X^-1)/2) / (2^(nu p/2) Gamma_p(nu/2))`, for
    nu = concentration, with respect to the elements on and below the diagonal.

    **Source**: Gupta & Nagar (2000), Matrix Variate Distributions, section 3.4.
    """

    is_inverse: ClassVar[bool] = True
    is_factor: ClassVar[bool] = False

    @property
    def mean(self) -> jax.Array:
        df = with_event_axes(self._arrays("concentration")[0], 2) - (self._size + 1)
        return self._where(df > 0, self._batch_of_scale() / jnp.where(df > 0, df, 1.0), jnp.nan)

    @property
    def variance(self) -> jax.Array:
        # df: what the concentration is above the p + 3 at which the variance becomes finite.
        df = with_event_axes(self._arrays("concentration")[0], 2) - (self._size + 3)
        safe = jnp.where(df > 0, df, 1.0)
        scale = self._batch_of_scale()
        variances = diagonal(scale)
        products = jnp.expand_dims(variances, -1) * jnp.expand_dims(variances, -2)
        finite = scale * scale * (safe + 4) + products * (safe + 2)
        finite = finite / ((safe + 3) * (safe + 2) ** 2 * safe)
        return self._where(df > 0, finite, jnp.where(df > -2, jnp.inf, jnp.nan))

    @property
    def mode(self) -> jax.Array:
        df = with_event_axes(self._arrays("concentration")[0], 2) + (self._size + 1)
        return self._full(self._batch_of_scale() / df)


class InverseWishartCholesky(AbstractWishart):
    """Distribution of the lower Cholesky factor of an `InverseWishart` matrix; give one of the three matrices.

    **Fields**
    - `concentration`: degrees of freedom, > p - 1 for p rows; the mean exists above p, the variance above p + 1.
    - `scale_matrix`: P, shape `(..., p, p)`; the mean of the matrix is `P / (concentration - p - 1)`.
    - `rate_matrix`: the inverse of P.
    - `scale_tril`: the lower Cholesky factor of P.

    **Density**: `InverseWishart(L L') * 2^p * prod over i = 1..p of L_ii^(p - i + 1)`, with respect to the elements on
    and below the diagonal.

    **Source**: Gupta & Nagar (2000), Matrix Variate Distributions, section 3.4; Muirhead (1982), theorem 2.1.9.
    """

    is_inverse: ClassVar[bool] = True
    is_factor: ClassVar[bool] = True

    @property
    def mean(self) -> jax.Array:
        df = self._df(self.dtype) - 1
        safe = jnp.where(df > 0, df, 1.0)
        means = self._columns(jnp.exp(-log_gamma_step(0.5 * safe)) / jnp.sqrt(safe))
        return jnp.tril(self._where(jnp.expand_dims(df > 0, -2), means, jnp.nan))

    @property
    def variance(self) -> jax.Array:
        df = self._df(self.dtype) - 2
        safe = jnp.where(df > 0, df, 1.0)
        # The variance of the inverse of a chi variable: 1/df less its mean squared, without their cancellation.
        step = log_gamma_step(0.5 * (safe + 1))
        own = (1 - safe * jnp.expm1(-2 * step)) / (safe * (safe + 1))
        finite = self._column_variances(own, 1 / (safe * (safe + 1)))
        other = jnp.expand_dims(jnp.where(df > -1, jnp.inf, jnp.nan), -2)
        return jnp.tril(self._where(jnp.expand_dims(df > 0, -2), finite, other))

    @property
    def mode(self) -> jax.Array:
        # In the order of the rows the powers of F are the concentration plus 1, 2, ..., p.
        df = self._df(self.dtype)
        rows = jnp.flip(df, axis=-1) + 1
        first = rows[..., :1]
        return self._columns(1 / jnp.sqrt(2 * first - rows))
