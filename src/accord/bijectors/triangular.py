"""Map vectors to lower Cholesky factors, with a positive diagonal made in one of three ways."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import DistributionError
from .arrays import align
from .base import AbstractBijector
from .elementwise import inverse_softplus, log_softplus, softplus


class LowerCholesky(AbstractBijector):
    """Map vectors of length `n (n + 1) / 2` to lower triangular matrices `(n, n)` with a positive diagonal.

    The elements below the diagonal come first, row by row, unchanged; then the logarithms of the diagonal.

    **Example**

    >>> bijector = bijectors.LowerCholesky()
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.0, 0.5, 0.0]))
    >>> print(y, f"{log_det:.3f}")
    [[1.649 0.   ]
     [0.    1.   ]] 0.500
    """

    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 2

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        below, last = split_diagonal(x)
        return with_diagonal(below, jnp.exp(last)), last.sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        log_diagonal = jnp.log(diagonal(y))
        return jnp.concatenate([below_diagonal(y), log_diagonal], axis=-1), -log_diagonal.sum(axis=-1)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        size = triangle_size(shape[-1])
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-2], shape[-1] * (shape[-1] + 1) // 2)


class SoftplusLowerCholesky(LowerCholesky):
    """Map vectors to lower Cholesky factors with diagonal softplus(x), linear for large x.

    **Example**

    >>> bijector = bijectors.SoftplusLowerCholesky()
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.0, 0.5, 0.0]))
    >>> print(y, f"{log_det:.3f}")
    [[0.974 0.   ]
     [0.    0.693]] -1.167
    """

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        below, last = split_diagonal(x)
        return with_diagonal(below, softplus(last)), -softplus(-last).sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        last = inverse_softplus(diagonal(y))
        return jnp.concatenate([below_diagonal(y), last], axis=-1), softplus(-last).sum(axis=-1)


class ScaledUnitLowerCholesky(LowerCholesky):
    """Map vectors to lower Cholesky factors: unit lower triangular matrices with rows scaled by softplus(x).

    The elements below the diagonal are relative to the scale of their row.

    **Example**

    >>> bijector = bijectors.ScaledUnitLowerCholesky()
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.0, 0.5, 0.0]))
    >>> print(y, f"{log_det:.3f}")
    [[0.974 0.   ]
     [0.    0.693]] -1.534
    """

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        below, last = split_diagonal(x)
        scale = softplus(last)
        return with_diagonal(below, jnp.ones_like(last)) * scale[..., :, None], self._log_det(last)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        scale = diagonal(y)
        last = inverse_softplus(scale)
        below = below_diagonal(y / scale[..., :, None])
        return jnp.concatenate([below, last], axis=-1), -self._log_det(last)

    def _log_det(self, last: jax.Array) -> jax.Array:
        """Return the log determinant: each scale multiplies its row's free elements, and is softplus itself."""
        return (ranks(last) * log_softplus(last) - softplus(-last)).sum(axis=-1)


def triangle_size(length: int) -> int:
    """Return the number of rows `n` of a triangle of `n (n + 1) / 2` elements."""
    size = (math.isqrt(8 * length + 1) - 1) // 2
    if size * (size + 1) // 2 != length:
        raise DistributionError(
            f"A vector of length {length} does not fill a triangle. It must have n (n + 1) / 2 elements, such as "
            f"{size * (size + 1) // 2} or {(size + 1) * (size + 2) // 2}."
        )
    return size


def split_diagonal(x: Any) -> tuple[jax.Array, jax.Array]:
    """Return the elements below the diagonal, and the diagonal's elements, which come last."""
    (x,) = align(x)
    count = x.shape[-1] - triangle_size(x.shape[-1])
    return x[..., :count], x[..., count:]


def with_diagonal(below: jax.Array, last: jax.Array) -> jax.Array:
    """Build the lower triangular matrix with these elements below the diagonal, row by row, and this diagonal."""
    size = last.shape[-1]
    # One gather: elements above the diagonal come from a 0 appended to the vector.
    index = np.full((size, size), below.shape[-1] + size)
    index[np.tril_indices(size, -1)] = np.arange(below.shape[-1])
    index[np.diag_indices(size)] = below.shape[-1] + np.arange(size)
    zero = jnp.zeros((*last.shape[:-1], 1), last.dtype)
    return jnp.concatenate([below, last, zero], axis=-1)[..., index]


def diagonal(y: jax.Array) -> jax.Array:
    """Return the diagonal of each matrix."""
    return jnp.diagonal(y, axis1=-2, axis2=-1)


def below_diagonal(y: jax.Array) -> jax.Array:
    """Return the elements below the diagonal of each matrix, row by row."""
    return y[(..., *np.tril_indices(y.shape[-1], -1))]


def ranks(x: jax.Array) -> np.ndarray:
    """Return 0, 1, ..., n - 1 along the last axis, in the dtype and rank of `x`."""
    return np.arange(x.shape[-1], dtype=x.dtype).reshape((1,) * (x.ndim - 1) + (-1,))
