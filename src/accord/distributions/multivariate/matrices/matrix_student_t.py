"""Define the matrix Student's t distribution: a matrix normal with inverse Wishart row covariance."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, float_type
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special.basic.gamma_ratio import log_gamma_rise
from ...special.basic.linear import invert_lower, log_diagonal, multiply_matrix, product
from .matrix_normal import MatrixNormal, check_sides, log_volume_of, whiten
from .triangular import random_bartlett, with_event_axes


class MatrixStudentT(AbstractDistribution):
    """Matrix Student's t distribution: the predictive distribution of a multivariate regression.

    **Fields**
    - `df`: degrees of freedom, > 0; the mean exists above 1, the variance above 2.
    - `loc`: centre, shape `(..., n, p)`, or a number for all elements.
    - `scale_tril_row`: A, lower Cholesky factor of the scale among rows, shape `(..., n, n)`.
    - `scale_tril_column`: B, lower Cholesky factor of the scale among columns, shape `(..., p, p)`. The scale has no
      factor of `df`.

    **Density**: `Gamma_n((df + n + p - 1)/2) / (pi^(n p/2) Gamma_n((df + n - 1)/2) det(A)^p det(B)^n) *
    det(I + W W')^(-(df + n + p - 1)/2)`, W = A^-1 (X - loc) B'^-1.

    **Source**: Gupta & Nagar (2000), Matrix Variate Distributions, section 4.2.
    """

    df: Any
    loc: Any
    scale_tril_row: Any
    scale_tril_column: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale_tril_row": constraints.lower_cholesky,
        "scale_tril_column": constraints.lower_cholesky,
    }

    def __check_init__(self) -> None:
        check_sides(self, self.loc, self.scale_tril_row, self.scale_tril_column)

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(np.shape(self.df), self._normal.batch_shape)

    @property
    def event_shape(self) -> Shape:
        return self._normal.event_shape

    @property
    def support(self) -> Constraint:
        return constraints.real_matrix

    @property
    def mean(self) -> jax.Array:
        df = with_event_axes(self._arrays("df")[0], 2)
        return jnp.where(df > 1, self._full(self.loc), jnp.nan)

    @property
    def mode(self) -> jax.Array:
        return self._full(self.loc)

    @property
    def variance(self) -> jax.Array:
        df = with_event_axes(self._arrays("df")[0], 2)
        finite = self._full(self._normal.variance) / (jnp.where(df > 2, df, 3.0) - 2)
        return jnp.where(df > 2, finite, jnp.where(df > 1, jnp.inf, jnp.nan))

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, *(getattr(self, name) for name in self.parameters))
        x, loc = align(jnp.asarray(value, dtype), self.loc)
        row, column = jnp.asarray(self.scale_tril_row, dtype), jnp.asarray(self.scale_tril_column, dtype)
        white = whiten(row, column, x - loc)
        rows, columns = self.event_shape
        # Compute the same determinant on the shorter side.
        white = white if rows <= columns else white.mT
        identity = jnp.broadcast_to(
            jnp.eye(white.shape[-2], dtype=dtype), (*white.shape[:-1], white.shape[-2])
        )
        log_root = log_diagonal(jnp.linalg.cholesky(product(white, white.mT) + identity))
        df = with_event_axes(jnp.asarray(self.df, dtype), 1)
        steps = np.arange(rows - 1, -1, -1).reshape((1,) * (df.ndim - 1) + (-1,)).astype(dtype)
        half = 0.5 * (df + steps)
        by_row = log_gamma_rise(half, 0.5 * columns) + 0.5 * columns * (jnp.log(half) - float(np.log(np.pi)))
        log_root, constant, log_volume, df = align(
            log_root, by_row.sum(axis=-1), log_volume_of(row, column), df.squeeze(-1)
        )
        return constant - log_volume - (df + (rows + columns - 1)) * log_root

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_scale, key_noise = jax.random.split(key)
        shape, dtype = self._shape(sample_shape), self.dtype
        df = with_event_axes(self._arrays("df")[0], 1)
        df = df + np.arange(shape[-2], dtype=dtype).reshape((1,) * (df.ndim - 1) + (-1,))
        spread = invert_lower(random_bartlett(key_scale, jnp.broadcast_to(df, shape[:-1])))
        noise = multiply_matrix(spread, jax.random.normal(key_noise, shape, dtype))
        row, column = jnp.asarray(self.scale_tril_row, dtype), jnp.asarray(self.scale_tril_column, dtype)
        coloured, loc = align(multiply_matrix(row, multiply_matrix(column, noise.mT).mT), self.loc)
        return loc + coloured

    @property
    def _normal(self) -> MatrixNormal:
        """Return the matrix normal with the same centre and scales."""
        return MatrixNormal(self.loc, self.scale_tril_row, self.scale_tril_column)
