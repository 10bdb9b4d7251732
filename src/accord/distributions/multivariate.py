"""Distribute real vectors: the multivariate normal."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..bijectors import align
from . import constraints
from .base import AbstractDistribution, Shape, exactly_one
from .constraint import Constraint
from .special import HALF_LOG_TWO_PI


class MultivariateNormal(AbstractDistribution):
    """The multivariate normal distribution; give exactly one of the three matrices, shape `(..., n, n)`.

    Prefer `scale_tril` where it is at hand: the others are factored at every evaluation.

    **Fields**
    - `loc`: mean, shape `(..., n)`, or a number for all elements.
    - `covariance_matrix`: symmetric, positive definite.
    - `precision_matrix`: its inverse.
    - `scale_tril`: its lower Cholesky factor.
    """

    loc: Any = 0.0
    covariance_matrix: Any = eqx.field(default=None, kw_only=True)
    precision_matrix: Any = eqx.field(default=None, kw_only=True)
    scale_tril: Any = eqx.field(default=None, kw_only=True)
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    def __check_init__(self) -> None:
        exactly_one(self, "covariance_matrix", "precision_matrix", "scale_tril")
        rows, columns = np.shape(self._matrix)[-2:]
        if rows != columns or (np.shape(self.loc) and np.shape(self.loc)[-1] not in (1, rows)):
            raise self.refuse(
                f"loc has shape {np.shape(self.loc)} and the matrix {np.shape(self._matrix)}",
                "Give loc of shape (..., n) and a matrix of shape (..., n, n).",
            )

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(np.shape(self.loc)[:-1], np.shape(self._matrix)[:-2])

    @property
    def event_shape(self) -> Shape:
        return np.shape(self._matrix)[-1:]

    @property
    def support(self) -> Constraint:
        return constraints.real_vector

    @property
    def mean(self) -> jax.Array:
        return self._full(self.loc)

    @property
    def variance(self) -> jax.Array:
        if self.covariance_matrix is not None:
            matrix = jnp.asarray(self.covariance_matrix, self.dtype)
            return self._full(jnp.diagonal(matrix, axis1=-2, axis2=-1))
        return self._full((self._scale_tril() ** 2).sum(axis=-1))

    def log_prob(self, value: Any) -> jax.Array:
        x, loc = align(value, self.loc)
        difference = x - loc
        size = self.event_shape[-1]
        if self.precision_matrix is not None:
            factor = jnp.linalg.cholesky(jnp.asarray(self.precision_matrix, self.dtype))
            white = _by_columns(lambda d: jnp.matmul(factor.mT, d), difference, factor.shape)
            log_volume = -_log_diagonal(factor)
        else:
            factor = self._scale_tril()
            white = _by_columns(lambda d: _solve(factor, d), difference, factor.shape)
            log_volume = _log_diagonal(factor)
        quadratic = (white * white).sum(axis=-1)
        quadratic, log_volume = align(quadratic, log_volume)
        return -0.5 * quadratic - (log_volume + size * HALF_LOG_TWO_PI)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, loc = align(jax.random.normal(key, self._shape(sample_shape), self.dtype), self.loc)
        factor = self._scale_tril()
        return loc + _by_columns(lambda z: jnp.matmul(factor, z), noise, factor.shape)

    def entropy(self) -> jax.Array:
        size = self.event_shape[-1]
        return self._batched(_log_diagonal(self._scale_tril()) + size * (HALF_LOG_TWO_PI + 0.5))

    @property
    def _matrix(self) -> Any:
        """Whichever matrix was given."""
        matrices = (self.covariance_matrix, self.precision_matrix, self.scale_tril)
        return next(matrix for matrix in matrices if matrix is not None)

    def _scale_tril(self) -> jax.Array:
        """The lower Cholesky factor of the covariance."""
        matrix = jnp.asarray(self._matrix, self.dtype)
        if self.scale_tril is not None:
            return matrix
        if self.covariance_matrix is not None:
            return jnp.linalg.cholesky(matrix)
        # The precision reversed in both axes factors as L L'; the inverse of L, reversed and transposed, is the
        # lower factor of the covariance. This takes one factorization and one solve.
        reversed_factor = jnp.linalg.cholesky(jnp.flip(matrix, (-2, -1)))
        lower = jnp.flip(reversed_factor, (-2, -1)).mT
        identity = jnp.broadcast_to(jnp.eye(matrix.shape[-1], dtype=matrix.dtype), matrix.shape)
        return _solve(lower, identity)


def _solve(factor: jax.Array, right: jax.Array) -> jax.Array:
    """Solve a lower triangular system for every column of `right`, which has the batch shape of `factor`."""
    return jax.lax.linalg.triangular_solve(factor, right, left_side=True, lower=True)


def _by_columns(function: Any, vectors: jax.Array, matrix_shape: Shape) -> jax.Array:
    """Apply a linear map of columns, with matrices of `matrix_shape`, to vectors of shape `(..., n)`.

    Axes that the matrices do not have become columns of one matrix product or solve, instead of copies of the matrix.
    """
    size = matrix_shape[-1]
    batch = matrix_shape[:-2]
    outer = np.broadcast_shapes(vectors.shape[:-1], batch)
    vectors = jnp.broadcast_to(vectors, (*outer, size))
    extra = len(outer) - len(batch)
    padded = (1,) * extra + tuple(batch)
    own = [i for i in range(len(outer)) if i >= extra and padded[i] == outer[i]]
    shared = [i for i in range(len(outer)) if i not in own]
    order = (*own, len(outer), *shared)
    moved = jnp.transpose(vectors, order)
    # Matrix batch axes of length 1 that the vectors repeat are shared too; the matrices keep them as length 1.
    kept = (size_i if i + extra in own else 1 for i, size_i in enumerate(batch))
    columns = moved.reshape((*kept, size, -1))
    result = function(columns).reshape(moved.shape)
    return jnp.transpose(result, np.argsort(order).tolist())


def _log_diagonal(factor: jax.Array) -> jax.Array:
    """Sum of the logarithms of the diagonal."""
    return jnp.log(jnp.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
