"""Define the matrix F distribution: the ratio of two Wishart matrices."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, float_type
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special.basic.linear import (
    diagonal,
    invert_lower,
    log_diagonal,
    multiply_matrix,
    product,
    solve_lower_matrix,
)
from .triangular import (
    choose_events,
    has_nan,
    is_positive_definite,
    positive_definite,
    random_bartlett,
    with_event_axes,
)
from .wishart_pairs import check_degrees, degrees, log_multivariate_beta, mean_log


class MatrixFDist(AbstractDistribution):
    """Matrix F distribution: the ratio of two Wishart matrices, a heavy-tailed prior for a covariance.

    **Fields**
    - `df1`: degrees of freedom of the numerator, > p - 1 for p rows.
    - `df2`: degrees of freedom of the denominator, > p - 1; the mean exists above p + 1, the variance above p + 3.
    - `scale_matrix`: B, symmetric, positive definite, shape `(..., p, p)`.

    **Density**: `det(B)^(-df1/2) det(X)^((df1 - p - 1)/2) det(I + B^-1 X)^(-(df1 + df2)/2) Gamma_p((df1 + df2)/2) /
    (Gamma_p(df1/2) Gamma_p(df2/2))`, with respect to the elements on and below the diagonal.

    **Source**: Mulder & Pericchi (2018), Bayesian Analysis 13(4), 1193-1214.
    """

    df1: Any
    df2: Any
    scale_matrix: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "df1": constraints.positive,
        "df2": constraints.positive,
        "scale_matrix": constraints.positive_definite,
    }

    def __check_init__(self) -> None:
        shape = np.shape(self.scale_matrix)
        if len(shape) < 2 or shape[-2] != shape[-1]:
            raise self.refuse(f"scale_matrix has shape {shape}", "Give a matrix of shape (..., p, p).")
        check_degrees(self, shape[-1])

    @property
    def event_shape(self) -> Shape:
        return np.shape(self.scale_matrix)[-2:]

    @property
    def support(self) -> Constraint:
        return constraints.positive_definite

    @property
    def mean(self) -> jax.Array:
        df1, rest, scale = self._summary_parts()
        eye = jnp.broadcast_to(jnp.eye(self._size, dtype=bool), scale.shape)
        missing = jnp.where(eye, jnp.inf, jnp.nan).astype(scale.dtype)
        return jnp.where(rest > 0, df1 / jnp.where(rest > 0, rest, 1.0) * scale, missing)

    @property
    def variance(self) -> jax.Array:
        df1, rest, scale = self._summary_parts()
        exists = rest > 2
        m = jnp.where(exists, rest, 3.0)
        # Over numerators W: Var(W_ij) / m^2, and the mean of the variance of an inverse Wishart matrix of scale W.
        spread = diagonal(scale)
        across = jnp.expand_dims(spread, -1) * jnp.expand_dims(spread, -2)
        square = scale * scale
        of_numerator = df1 * (square + across) / (m * m)
        mean_square = df1 * df1 * square + df1 * (square + across)
        mean_across = df1 * df1 * across + 2 * df1 * square
        of_ratio = ((m + 2) * mean_square + m * mean_across) / ((m + 1) * m * m * (m - 2))
        return jnp.where(exists, of_numerator + of_ratio, jnp.where(rest > 0, jnp.inf, jnp.nan))

    @property
    def mode(self) -> jax.Array:
        df1, rest, scale = self._summary_parts()
        power = df1 - (self._size + 1)
        return jnp.where(power > 0, power / (rest + 2 * (self._size + 1)) * scale, jnp.nan)

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, self.df1, self.df2, self.scale_matrix)
        x = jnp.asarray(value, dtype)
        x = jnp.broadcast_to(x, np.broadcast_shapes(x.shape, self._shape()))
        is_inside = is_positive_definite(x) | has_nan(x, 2)
        x = choose_events(is_inside, x, np.eye(self._size))
        scale = jnp.linalg.cholesky(jnp.asarray(self.scale_matrix, dtype))
        white = solve_lower_matrix(scale, jnp.linalg.cholesky(x))
        identity = jnp.broadcast_to(jnp.eye(self._size, dtype=dtype), white.shape)
        log_one = log_diagonal(jnp.linalg.cholesky(product(white, white.mT) + identity))
        log_white, log_scale, df1, df2 = align(
            log_diagonal(white), log_diagonal(scale), *(jnp.asarray(df, dtype) for df in (self.df1, self.df2))
        )
        powers = (df1 - (self._size + 1)) * log_white - (self._size + 1) * log_scale - (df1 + df2) * log_one
        return jnp.where(is_inside, powers - log_multivariate_beta(self._size, df1, df2), -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key1, key2 = jax.random.split(key)
        shape = self._shape(sample_shape)[:-1]
        df1, df2 = (degrees(df, self._size) for df in self._arrays("df1", "df2"))
        numerator = random_bartlett(key1, jnp.broadcast_to(df1, shape))
        denominator = random_bartlett(key2, jnp.broadcast_to(jnp.flip(df2, -1), shape))
        scale = jnp.linalg.cholesky(jnp.asarray(self.scale_matrix, self.dtype))
        root = product(multiply_matrix(scale, numerator), invert_lower(denominator))
        return positive_definite(root)

    def entropy(self) -> jax.Array:
        df1, df2 = self._arrays("df1", "df2")
        size = self._size
        log_scale = log_diagonal(jnp.linalg.cholesky(jnp.asarray(self.scale_matrix, self.dtype)))
        log_one = mean_log(size, df2, df1)
        log_white = log_one - mean_log(size, df1, df2)
        powers = 0.5 * (df1 - size - 1) * log_white - 0.5 * (df1 + df2) * log_one
        return log_multivariate_beta(size, df1, df2) - powers + self._batched((size + 1) * log_scale)

    @property
    def _size(self) -> int:
        """Return the number of rows."""
        return self.event_shape[-1]

    def _summary_parts(self) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return df1 and df2 - p - 1 with event axes, and the scale matrix, of the whole shape."""
        df1, df2 = (with_event_axes(df, 2) for df in self._arrays("df1", "df2"))
        return df1, df2 - (self._size + 1), self._full(self.scale_matrix)
