"""Constrain square matrices: to Cholesky factors, covariances and correlations."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from .base import Constraint, repeat, slack


class _NearIdentity(Constraint):
    """Set of square matrices with the identity well inside it."""

    event_dim: ClassVar[int] = 2

    def feasible_like(self, value: Any) -> jax.Array:
        return repeat(np.eye(np.shape(value)[-1]), value)


class LowerCholesky(_NearIdentity):
    """Lower triangular square matrices with a positive diagonal."""

    words: ClassVar[str] = "lower triangular with a positive diagonal"

    def __call__(self, value: Any) -> Any:
        size = np.shape(value)[-1]
        above = np.triu_indices(size, 1)
        zero = (value[(..., *above)] == 0).all(-1) & (value == value).all((-2, -1))
        return zero & (_diagonal(value) > 0).all(-1)


class SoftplusLowerCholesky(LowerCholesky):
    """Lower Cholesky factors whose diagonal is built by softplus instead of exp."""


class ScaledUnitLowerCholesky(LowerCholesky):
    """Lower Cholesky factors built as a unit triangular matrix with scaled rows."""


class CorrCholesky(LowerCholesky):
    """Cholesky factors of correlation matrices: lower triangular, positive diagonal, rows of length one."""

    words: ClassVar[str] = "lower triangular with a positive diagonal and rows of length 1"

    def __call__(self, value: Any) -> Any:
        rows = abs((value * value).sum(-1) - 1) <= 2 * slack(np.shape(value)[-1])
        return super().__call__(value) & rows.all(-1)


class PositiveDefinite(_NearIdentity):
    """Symmetric matrices with positive eigenvalues."""

    words: ClassVar[str] = "symmetric and positive definite"

    def __call__(self, value: Any) -> Any:
        # Scale the diagonal to ones first: diag(1e-12, 1e12) is as well conditioned as the identity.
        positive = (_diagonal(_finite(value)) > 0).all(-1)
        return _is_symmetric(value) & positive & (_smallest_eigenvalue(_to_unit_diagonal(value)) > 0)


class PositiveSemidefinite(_NearIdentity):
    """Symmetric matrices without negative eigenvalues, to within rounding."""

    words: ClassVar[str] = "symmetric and positive semidefinite"

    def __call__(self, value: Any) -> Any:
        size = np.shape(value)[-1]
        largest = abs(_diagonal(_finite(value))).max(-1)
        smallest = _smallest_eigenvalue(value)
        return _is_symmetric(value) & (smallest >= -slack(size) * largest)


class BelowIdentity(Constraint):
    """Symmetric matrices with eigenvalues between 0 and 1."""

    event_dim: ClassVar[int] = 2
    words: ClassVar[str] = "symmetric, with eigenvalues between 0 and 1"

    def __call__(self, value: Any) -> Any:
        value = _finite(value)
        eye = np.eye(np.shape(value)[-1], dtype=value.dtype)
        rest = eye.reshape((1,) * (np.ndim(value) - 2) + eye.shape) - value
        return PositiveDefinite()(value) & (_smallest_eigenvalue(rest) > 0)

    def feasible_like(self, value: Any) -> jax.Array:
        return repeat(0.5 * np.eye(np.shape(value)[-1]), value)


class CorrMatrix(PositiveDefinite):
    """Correlation matrices: symmetric, positive definite, with a diagonal of ones."""

    words: ClassVar[str] = "symmetric and positive definite with a diagonal of ones"

    def __call__(self, value: Any) -> Any:
        size = np.shape(value)[-1]
        return super().__call__(value) & (abs(_diagonal(value) - 1) <= slack(size)).all(-1)


def _diagonal(value: Any) -> Any:
    """Return the diagonal of each matrix."""
    return value[(..., *np.diag_indices(np.shape(value)[-1]))]


def _is_symmetric(value: Any) -> Any:
    """Return whether each matrix is symmetric, to within the rounding of a float32 computation."""
    value = _finite(value)
    other = value.swapaxes(-1, -2)
    diagonal = abs(_diagonal(value))
    size = (diagonal[..., :, None] * diagonal[..., None, :]) ** 0.5
    return (abs(value - other) <= 1e-6 * (abs(value) + abs(other) + size)).all((-2, -1))


def _to_unit_diagonal(value: Any) -> Any:
    """Scale rows and columns to make the diagonal one; leave a matrix alone if its diagonal is not positive."""
    value = _finite(value)
    where: Any = jnp.where if isinstance(value, jax.Array) else np.where
    diagonal = _diagonal(value)
    root = where(diagonal > 0, diagonal, np.ones((), value.dtype)) ** 0.5
    return value / root[..., :, None] / root[..., None, :]


def _smallest_eigenvalue(value: Any) -> Any:
    """Return the smallest eigenvalue of each matrix; -1 where an element is not finite."""
    linalg: Any = jnp.linalg if isinstance(value, jax.Array) else np.linalg
    return linalg.eigvalsh(_finite(value))[..., 0]


def _finite(value: Any) -> Any:
    """Return floating matrices, with minus the identity where an element is not finite, since NumPy would warn."""
    value = value * 1.0
    where: Any = jnp.where if isinstance(value, jax.Array) else np.where
    finite = (abs(value) < np.inf).all((-2, -1))
    unit = np.eye(np.shape(value)[-1], dtype=value.dtype)
    return where(finite[..., None, None], value, -unit.reshape((1,) * (np.ndim(value) - 2) + unit.shape))
