"""Define the matrix beta distribution: the share of one Wishart matrix in the sum of two."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, float_type
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special.basic.linear import log_diagonal, solve_columns
from .triangular import (
    choose_events,
    has_nan,
    is_positive_definite,
    positive_definite,
    random_bartlett,
    with_event_axes,
)
from .wishart_pairs import check_degrees, degrees, log_multivariate_beta, mean_log


class MatrixBeta(AbstractDistribution):
    """Matrix beta distribution: the share of one Wishart matrix in the sum of two.

    **Fields**
    - `dimension`: p, number of rows, a Python integer.
    - `df1`, `df2`: degrees of freedom of the matrix and of the other summand, > p - 1.

    **Density**: `det(U)^((df1 - p - 1)/2) det(I - U)^((df2 - p - 1)/2) Gamma_p((df1 + df2)/2) /
    (Gamma_p(df1/2) Gamma_p(df2/2))` for U and I - U positive definite, with respect to the elements on and below the
    diagonal.

    **Source**: Gupta & Nagar (2000), Matrix Variate Distributions, ch. 5; the variances: Konno (1988), J. Japan
    Statistical Society 18(2), 123-130.
    """

    dimension: int = eqx.field(static=True)
    df1: Any
    df2: Any
    parameters: ClassVar[dict[str, Constraint]] = {"df1": constraints.positive, "df2": constraints.positive}

    def __check_init__(self) -> None:
        check_degrees(self, self.dimension)

    @property
    def event_shape(self) -> Shape:
        return (self.dimension, self.dimension)

    @property
    def support(self) -> Constraint:
        return constraints.below_identity

    @property
    def mean(self) -> jax.Array:
        df1, df2 = self._arrays("df1", "df2")
        return self._of_identity(df1 / (df1 + df2))

    @property
    def variance(self) -> jax.Array:
        df1, df2 = self._arrays("df1", "df2")
        n = df1 + df2
        apart = (df1 / n) * (df2 / (n - 1)) / (n + 2)
        on_diagonal = self._of_identity(2 * (df1 / n) * (df2 / n) / (n + 2))
        eye = jnp.broadcast_to(jnp.eye(self.dimension, dtype=bool), on_diagonal.shape)
        return jnp.where(eye, on_diagonal, self._full(with_event_axes(apart, 2)))

    @property
    def mode(self) -> jax.Array:
        df1, df2 = (df - (self.dimension + 1) for df in self._arrays("df1", "df2"))
        exists = (df1 > 0) & (df2 > 0)
        return self._of_identity(jnp.where(exists, df1 / jnp.where(exists, df1 + df2, 1.0), jnp.nan))

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, self.df1, self.df2)
        x = jnp.asarray(value, dtype)
        x = jnp.broadcast_to(x, np.broadcast_shapes(x.shape, self._shape()))
        eye = np.eye(self.dimension)
        is_inside = _is_below_identity(x) | has_nan(x, 2)
        x = choose_events(is_inside, x, 0.5 * eye)
        rest = jnp.broadcast_to(jnp.asarray(eye, dtype), x.shape) - x
        log_x, log_rest = (log_diagonal(jnp.linalg.cholesky(part)) for part in (x, rest))
        log_x, df1, df2 = align(log_x, *(jnp.asarray(df, dtype) for df in (self.df1, self.df2)))
        powers = (df1 - (self.dimension + 1)) * log_x + (df2 - (self.dimension + 1)) * log_rest
        return jnp.where(is_inside, powers - log_multivariate_beta(self.dimension, df1, df2), -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape = self._shape(sample_shape)[:-1]
        first, second = (
            random_bartlett(k, jnp.broadcast_to(degrees(df, self.dimension), shape))
            for k, df in zip(jax.random.split(key), self._arrays("df1", "df2"), strict=True)
        )
        total = jnp.linalg.cholesky(positive_definite(first) + positive_definite(second))
        share = positive_definite(solve_columns(total, first))
        # Rounding may bring an eigenvalue up to 1.
        eye = jnp.broadcast_to(jnp.eye(self.dimension, dtype=share.dtype), share.shape)
        margin = 8 * self.dimension * float(jnp.finfo(share.dtype).eps)
        return (1 - 2 * margin) * share + margin * eye

    def entropy(self) -> jax.Array:
        df1, df2 = self._arrays("df1", "df2")
        log_x = -mean_log(self.dimension, df1, df2)
        log_rest = -mean_log(self.dimension, df2, df1)
        powers = 0.5 * (df1 - self.dimension - 1) * log_x + 0.5 * (df2 - self.dimension - 1) * log_rest
        return log_multivariate_beta(self.dimension, df1, df2) - powers

    def _of_identity(self, by_batch: jax.Array) -> jax.Array:
        """Return multiples of the identity."""
        eye = jnp.broadcast_to(jnp.eye(self.dimension, dtype=self.dtype), self._shape())
        return with_event_axes(by_batch, 2) * eye


def _is_below_identity(x: jax.Array) -> jax.Array:
    """Return whether each matrix, and the identity less it, are symmetric and positive definite."""
    eye = jnp.broadcast_to(jnp.eye(x.shape[-1], dtype=x.dtype), x.shape)
    # A Cholesky factor of the remainder decides: its small elements are rounding next to ones.
    rest = jax.lax.stop_gradient(eye - x)
    has_root = jnp.isfinite(jnp.linalg.cholesky(0.5 * (rest + rest.mT))).all((-2, -1))
    return is_positive_definite(x) & has_root
