"""Map vectors to covariance and correlation matrices and to their Cholesky factors, and matrices to factors."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from .arrays import align
from .base import AbstractBijector
from .elementwise import softplus
from .triangular import (
    LowerCholesky,
    below_diagonal,
    diagonal,
    ranks,
    split_diagonal,
    triangle_size,
    with_diagonal,
)


class Cholesky(AbstractBijector):
    """Map symmetric positive definite matrices to their lower Cholesky factors.

    The log determinant is with respect to the elements on and below the diagonal.

    **Example**

    >>> bijector = bijectors.Cholesky()
    >>> y, log_det = bijector.forward_and_log_det(np.array([[4.0, 2.0], [2.0, 5.0]]))
    >>> print(y, f"{log_det:.3f}")
    [[2. 0.]
     [1. 2.]] -3.466
    """

    domain_event_dim: ClassVar[int] = 2
    codomain_event_dim: ClassVar[int] = 2

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        y = jnp.linalg.cholesky(x)
        return y, -_log_det_square(jnp.log(diagonal(y)))

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        return _square(y), _log_det_square(jnp.log(diagonal(y)))


class CorrMatrixCholesky(AbstractBijector):
    """Map correlation matrices to their lower Cholesky factors.

    The log determinant is with respect to the elements below the diagonal.

    **Example**

    >>> bijector = bijectors.CorrMatrixCholesky()
    >>> y, log_det = bijector.forward_and_log_det(np.array([[1.0, 0.6], [0.6, 1.0]]))
    >>> print(y, log_det.shape)
    [[1.  0. ]
     [0.6 0.8]] ()
    """

    domain_event_dim: ClassVar[int] = 2
    codomain_event_dim: ClassVar[int] = 2

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        y = jnp.linalg.cholesky(x)
        return y, -_log_det_square_of_unit_rows(jnp.log(diagonal(y)))

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        return _correlation(y), _log_det_square_of_unit_rows(jnp.log(diagonal(y)))


class PositiveDefinite(LowerCholesky):
    """Map vectors of length `n (n + 1) / 2` to symmetric positive definite matrices, squares of `LowerCholesky`.

    Elements of the factor are kept below the square root of the largest number, so that no product overflows.

    **Example**

    >>> bijector = bijectors.PositiveDefinite()
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.0, 0.5, 0.0]))
    >>> print(y, f"{log_det:.3f}")
    [[2.718 0.   ]
     [0.    1.   ]] 2.886
    """

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        below, last = split_diagonal(x)
        return _square(_bounded_factor(below, last)), last.sum(axis=-1) + _log_det_square(last)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        x, log_det = super().inverse_and_log_det(jnp.linalg.cholesky(y))
        return x, log_det - _log_det_square(x[..., x.shape[-1] - y.shape[-1] :])


class BelowIdentity(LowerCholesky):
    """Map vectors of length `n (n + 1) / 2` to symmetric matrices with eigenvalues between 0 and 1.

    With the `LowerCholesky` factor L of a vector, and C the factor of I + L L', the matrix has the factor C^-1 L; the
    identity less the matrix has the factor C^-1. In one dimension this is a share with odds L^2.

    **Example**

    >>> bijector = bijectors.BelowIdentity()
    >>> y, log_det = bijector.forward_and_log_det(np.zeros(3))
    >>> print(y, f"{log_det:.3f}")
    [[0.5 0. ]
     [0.  0.5]] -2.773
    """

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        below, last = split_diagonal(x)
        factor = _bounded_factor(below, last)
        # I + L L' itself would be singular where one element is as large as the inverse of rounding.
        eye = jnp.broadcast_to(jnp.eye(last.shape[-1], dtype=last.dtype), factor.shape)
        root = jnp.linalg.qr(jnp.concatenate([eye, factor.mT], axis=-2), mode="r").mT
        size = diagonal(root)
        root = root * jnp.where(size < 0, -1.0, 1.0)[..., None, :]
        share = jax.lax.linalg.triangular_solve(root, factor, left_side=True, lower=True)
        log_size = jnp.log(jnp.abs(size))
        log_det = last.sum(axis=-1) + _log_det_square(last) - _log_det_share(log_size)
        return _square(share), log_det

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        eye = jnp.broadcast_to(jnp.eye(y.shape[-1], dtype=y.dtype), y.shape)
        share, rest = jnp.linalg.cholesky(y), jnp.linalg.cholesky(eye - y)
        factor = jax.lax.linalg.triangular_solve(rest, share, left_side=True, lower=True)
        x, log_det = super().inverse_and_log_det(factor)
        last = x[..., x.shape[-1] - y.shape[-1] :]
        return x, log_det - _log_det_square(last) + _log_det_share(-jnp.log(diagonal(rest)))


class CorrCholesky(AbstractBijector):
    """Map vectors of length `n (n - 1) / 2` to the Cholesky factors of correlation matrices `(n, n)`.

    Row by row, tanh of each element is the share that a column takes of the row's remaining length (one in total).
    These shares are the canonical partial correlations.

    **Source**: Lewandowski, Kurowicka & Joe (2009), J. Multivariate Anal. 100, 1989-2001, sections 2 and 3.

    **Example**

    >>> bijector = bijectors.CorrCholesky()
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.5]))
    >>> print(y, f"{log_det:.3f}")
    [[1.    0.   ]
     [0.462 0.887]] -0.240
    """

    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 2

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        y, _, log_det = self.forward_with_log_diagonal(x)
        return y, log_det

    def forward_with_log_diagonal(self, x: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the factor, its log diagonal (exact where the diagonal underflows) and the log determinant."""
        (x,) = align(x)
        size = self.forward_shape(x.shape)[-1]
        ones = jnp.ones((*x.shape[:-1], size), x.dtype)
        share = with_diagonal(jnp.tanh(x), ones)
        # log sqrt(1 - tanh(x)^2), summed along each row: the log of the length left before each column.
        log_rest = math.log(2) + x - softplus(2.0 * x)
        row = with_diagonal(log_rest, jnp.zeros_like(ones))
        log_left = jnp.concatenate(
            [jnp.zeros((*row.shape[:-1], 1), x.dtype), jnp.cumsum(row[..., :-1], axis=-1)], axis=-1
        )
        y = share * jnp.exp(log_left)
        return y, diagonal(log_left), (2.0 * log_rest + below_diagonal(log_left)).sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        # Squares summed from the far end: the length left before each column, without subtraction from one.
        left = jnp.flip(jnp.cumsum(jnp.flip(y * y, axis=-1), axis=-1), axis=-1)
        before = below_diagonal(left)
        after = below_diagonal(jnp.concatenate([left[..., 1:], jnp.ones_like(left[..., :1])], axis=-1))
        # atanh(t) = asinh(t / sqrt(1 - t^2)), which keeps its digits as t goes to one.
        x = jnp.arcsinh(below_diagonal(y) / jnp.sqrt(after))
        return x, -(jnp.log(after) - 0.5 * jnp.log(before)).sum(axis=-1)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        size = triangle_size(shape[-1]) + 1
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


class CorrMatrix(CorrCholesky):
    """Map vectors of length `n (n - 1) / 2` to correlation matrices `(n, n)`, squares of `CorrCholesky` factors.

    **Example**

    >>> bijector = bijectors.CorrMatrix()
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.5]))
    >>> print(y, f"{log_det:.3f}")
    [[1.    0.462]
     [0.462 1.   ]] -0.240
    """

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        factor, log_diagonal, log_det = self.forward_with_log_diagonal(x)
        return _correlation(factor), log_det + _log_det_square_of_unit_rows(log_diagonal)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        factor, log_det = CorrMatrixCholesky().forward_and_log_det(y)
        x, log_det_factor = super().inverse_and_log_det(factor)
        return x, log_det + log_det_factor


def _bounded_factor(below: jax.Array, last: jax.Array) -> jax.Array:
    """Build a lower factor from elements below its diagonal and log diagonals, bounded so that its square exists."""
    bound = math.sqrt(float(jnp.finfo(last.dtype).max) / (2 * last.shape[-1]))
    return with_diagonal(jnp.clip(below, -bound, bound), jnp.exp(jnp.minimum(last, 0.999 * math.log(bound))))


def _square(factor: jax.Array) -> jax.Array:
    """Return the matrix with this Cholesky factor."""
    return jnp.matmul(factor, factor.swapaxes(-1, -2), precision="highest")


def _correlation(factor: jax.Array) -> jax.Array:
    """Return the correlation matrix with this Cholesky factor; its diagonal is exactly one."""
    unit = np.eye(factor.shape[-1], dtype=bool)
    return jnp.where(unit.reshape((1,) * (factor.ndim - 2) + unit.shape), 1.0, _square(factor))


def _log_det_square(log_diagonal: jax.Array) -> jax.Array:
    """Return the log determinant of squaring a Cholesky factor, by the elements on and below the diagonal."""
    size = log_diagonal.shape[-1]
    return ((size - ranks(log_diagonal)) * log_diagonal).sum(axis=-1) + size * math.log(2)


def _log_det_share(log_diagonal: jax.Array) -> jax.Array:
    """Return the log determinant of the map from I - (C C')^-1 to C C', from the log diagonal of C."""
    size = log_diagonal.shape[-1]
    return ((3 * size + 1 - 2 * ranks(log_diagonal)) * log_diagonal).sum(axis=-1)


def _log_det_square_of_unit_rows(log_diagonal: jax.Array) -> jax.Array:
    """Return the log determinant of squaring a factor with unit rows; elements below the diagonal fix the rest."""
    size = log_diagonal.shape[-1]
    return ((size - 1 - ranks(log_diagonal)) * log_diagonal).sum(axis=-1)
