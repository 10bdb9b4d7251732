"""Define the matrix normal distribution: one covariance among rows, another among columns."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, float_type
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special import HALF_LOG_TWO_PI
from ...special.basic.linear import log_diagonal, multiply_matrix, solve_lower_matrix


class MatrixNormal(AbstractDistribution):
    """Matrix normal distribution: the covariance is a Kronecker product of column and row covariances.

    **Fields**
    - `loc`: mean, shape `(..., n, p)`, or a number for all elements.
    - `scale_tril_row`: A, lower Cholesky factor of the covariance among rows, shape `(..., n, n)`.
    - `scale_tril_column`: B, lower Cholesky factor of the covariance among columns, shape `(..., p, p)`.

    **Density**: `exp(-|A^-1 (X - loc) B'^-1|^2 / 2) / ((2 pi)^(n p/2) det(A)^p det(B)^n)`.

    **Source**: Gupta & Nagar (2000), Matrix Variate Distributions, section 2.2.
    """

    loc: Any
    scale_tril_row: Any
    scale_tril_column: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale_tril_row": constraints.lower_cholesky,
        "scale_tril_column": constraints.lower_cholesky,
    }

    def __check_init__(self) -> None:
        check_sides(self, self.loc, self.scale_tril_row, self.scale_tril_column)

    @property
    def batch_shape(self) -> Shape:
        row, column = np.shape(self.scale_tril_row)[:-2], np.shape(self.scale_tril_column)[:-2]
        return np.broadcast_shapes(np.shape(self.loc)[:-2], row, column)

    @property
    def event_shape(self) -> Shape:
        return (np.shape(self.scale_tril_row)[-1], np.shape(self.scale_tril_column)[-1])

    @property
    def support(self) -> Constraint:
        return constraints.real_matrix

    @property
    def mean(self) -> jax.Array:
        return self._full(self.loc)

    @property
    def mode(self) -> jax.Array:
        return self.mean

    @property
    def variance(self) -> jax.Array:
        row, column = self._factors(self.dtype)
        rows, columns = align(
            (row * row).sum(axis=-1, keepdims=True), jnp.expand_dims((column * column).sum(axis=-1), -2)
        )
        return self._full(rows * columns)

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, self.loc, self.scale_tril_row, self.scale_tril_column)
        x, loc = align(jnp.asarray(value, dtype), self.loc)
        row, column = self._factors(dtype)
        white = whiten(row, column, x - loc)
        quadratic, log_volume = align((white * white).sum(axis=(-2, -1)), log_volume_of(row, column))
        return -0.5 * quadratic - (log_volume + float(np.prod(self.event_shape)) * HALF_LOG_TWO_PI)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise = jax.random.normal(key, self._shape(sample_shape), self.dtype)
        row, column = self._factors(self.dtype)
        coloured, loc = align(multiply_matrix(row, multiply_matrix(column, noise.mT).mT), self.loc)
        return loc + coloured

    def entropy(self) -> jax.Array:
        log_volume = log_volume_of(*self._factors(self.dtype))
        return self._batched(log_volume) + float(np.prod(self.event_shape)) * (HALF_LOG_TWO_PI + 0.5)

    def _factors(self, dtype: Any) -> tuple[jax.Array, jax.Array]:
        """Return the two Cholesky factors as arrays."""
        return jnp.asarray(self.scale_tril_row, dtype), jnp.asarray(self.scale_tril_column, dtype)


def check_sides(distribution: AbstractDistribution, loc: Any, row: Any, column: Any) -> None:
    """Raise `DistributionError` unless both matrices are square and `loc` has the rows of one, columns of the other."""
    loc, row, column = np.shape(loc), np.shape(row), np.shape(column)
    are_square = all(len(shape) >= 2 and shape[-2] == shape[-1] for shape in (row, column))
    fits = not loc or (
        len(loc) >= 2 and are_square and loc[-2] in (1, row[-1]) and loc[-1] in (1, column[-1])
    )
    if not (are_square and fits):
        raise distribution.refuse(
            f"loc has shape {loc}, scale_tril_row {row} and scale_tril_column {column}",
            "Give shapes (..., n, p), (..., n, n) and (..., p, p).",
        )


def whiten(row: jax.Array, column: jax.Array, difference: jax.Array) -> jax.Array:
    """Compute A^-1 X B'^-1, for lower triangular A and B."""
    return solve_lower_matrix(column, solve_lower_matrix(row, difference).mT).mT


def log_volume_of(row: jax.Array, column: jax.Array) -> jax.Array:
    """Return the logarithm of det(A)^p det(B)^n."""
    rows, columns = align(column.shape[-1] * log_diagonal(row), row.shape[-1] * log_diagonal(column))
    return rows + columns
