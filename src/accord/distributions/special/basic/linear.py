"""Multiply and solve with batches of matrices and vectors whose batch shapes broadcast.

Axes that the matrices do not have become columns of one product or solve, instead of copies of the matrices. Products
are computed in full precision also on accelerators that would round their factors first.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def multiply(matrix: jax.Array, vectors: jax.Array) -> jax.Array:
    """Multiply matrices `(..., m, n)` and vectors `(..., n)`."""
    return by_columns(lambda columns: product(matrix, columns), vectors, matrix.shape)


def solve_lower(factor: jax.Array, vectors: jax.Array) -> jax.Array:
    """Solve lower triangular systems, factors `(..., n, n)`, for vectors `(..., n)`."""
    return by_columns(lambda columns: solve_columns(factor, columns), vectors, factor.shape)


def multiply_matrix(left: jax.Array, right: jax.Array) -> jax.Array:
    """Multiply matrices `(..., m, n)` and `(..., n, k)`."""
    return multiply(jnp.expand_dims(left, -3), right.mT).mT


def solve_lower_matrix(factor: jax.Array, right: jax.Array) -> jax.Array:
    """Solve lower triangular systems, factors `(..., n, n)`, for every column of `right`, `(..., n, k)`."""
    return solve_lower(jnp.expand_dims(factor, -3), right.mT).mT


def product(left: jax.Array, right: jax.Array) -> jax.Array:
    """Multiply matrices of equal batch shapes, in full precision."""
    return jnp.matmul(left, right, precision=jax.lax.Precision.HIGHEST)


def solve_columns(factor: jax.Array, right: jax.Array) -> jax.Array:
    """Solve lower triangular systems for every column of `right`, which has the batch shape of `factor`."""
    return jax.lax.linalg.triangular_solve(factor, right, left_side=True, lower=True)


def invert_lower(factor: jax.Array) -> jax.Array:
    """Invert a lower triangular matrix."""
    identity = jnp.broadcast_to(jnp.eye(factor.shape[-1], dtype=factor.dtype), factor.shape)
    return solve_columns(factor, identity)


def lower_factor(
    dtype: Any, covariance: Any = None, precision: Any = None, scale_tril: Any = None
) -> jax.Array:
    """Return the lower Cholesky factor of a covariance from the one matrix that was given."""
    if scale_tril is not None:
        return jnp.asarray(scale_tril, dtype)
    if covariance is not None:
        return jnp.linalg.cholesky(jnp.asarray(covariance, dtype))
    # The precision reversed in both axes factors as L L'; the inverse of L, reversed and transposed, is the lower
    # factor of the covariance. This takes one factorization and one solve.
    matrix = jnp.asarray(precision, dtype)
    reversed_factor = jnp.linalg.cholesky(jnp.flip(matrix, (-2, -1)))
    return invert_lower(jnp.flip(reversed_factor, (-2, -1)).mT)


def diagonal(matrix: jax.Array) -> jax.Array:
    """Return the diagonals of a batch of matrices."""
    return jnp.diagonal(matrix, axis1=-2, axis2=-1)


def log_diagonal(factor: jax.Array) -> jax.Array:
    """Sum the logarithms of the diagonal."""
    return jnp.log(diagonal(factor)).sum(axis=-1)


def diagonal_matrix(values: jax.Array) -> jax.Array:
    """Build diagonal matrices `(..., n, n)` from vectors `(..., n)`."""
    eye = jnp.eye(values.shape[-1], dtype=bool)
    eye = eye.reshape((1,) * (values.ndim - 1) + eye.shape)
    return jnp.where(eye, jnp.expand_dims(values, -1), jnp.zeros((), values.dtype))


def first_given(*matrices: Any) -> Any:
    """Return the first argument that is not None."""
    return next(matrix for matrix in matrices if matrix is not None)


def by_columns(
    function: Callable[[jax.Array], jax.Array], vectors: jax.Array, matrix_shape: tuple[int, ...]
) -> jax.Array:
    """Apply a linear map of columns, with matrices of `matrix_shape` behind it, to vectors of shape `(..., n)`."""
    batch = matrix_shape[:-2]
    outer = np.broadcast_shapes(vectors.shape[:-1], batch)
    vectors = jnp.broadcast_to(vectors, (*outer, vectors.shape[-1]))
    padded = (1,) * (len(outer) - len(batch)) + tuple(batch)
    own = [i for i in range(len(outer)) if i >= len(outer) - len(batch) and padded[i] == outer[i]]
    shared = [i for i in range(len(outer)) if i not in own]
    order = (*own, len(outer), *shared)
    moved = jnp.transpose(vectors, order)
    # Matrix batch axes of length 1 that the vectors repeat are shared too; the matrices keep them as length 1.
    result = function(moved.reshape((*batch, vectors.shape[-1], -1)))
    shape = [outer[i] for i in own] + [result.shape[-2]] + [outer[i] for i in shared]
    return jnp.transpose(result.reshape(shape), np.argsort(order).tolist())
