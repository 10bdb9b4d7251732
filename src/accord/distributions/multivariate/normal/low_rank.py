"""Define the multivariate normal distribution with a low-rank plus diagonal covariance."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, float_type
from ... import constraints
from ...base import Shape
from ...constraint import Constraint, Independent
from ...special import HALF_LOG_TWO_PI
from ...special.basic.linear import log_diagonal, multiply, product, solve_lower
from .centred import AbstractCentredVector


class LowRankMultivariateNormal(AbstractCentredVector):
    """Multivariate normal distribution with covariance `W W' + diag(D)`; no n by n matrix is built.

    **Fields**
    - `loc`: mean, shape `(..., n)`, or a number for all elements.
    - `cov_factor`: W, shape `(..., n, k)`, k well below n.
    - `cov_diag`: D, shape `(..., n)`, > 0.

    **Density**: `exp(-(x - loc)' C^-1 (x - loc) / 2) / sqrt((2 pi)^n det C)`, C = W W' + diag(D).

    **Source**: Woodbury (1950), Inverting modified matrices. Here the quadratic form is evaluated as the minimum over u
    of `|(x - loc - W u) / sqrt(D)|^2 + |u|^2`, a sum of squares, where Woodbury's difference would cancel.
    """

    loc: Any
    cov_factor: Any
    cov_diag: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "cov_factor": constraints.real_matrix,
        "cov_diag": Independent(constraints.positive, 1),
    }

    def __check_init__(self) -> None:
        factor, others = np.shape(self.cov_factor), (np.shape(self.loc), np.shape(self.cov_diag))
        if len(factor) < 2 or any(shape and shape[-1] not in (1, factor[-2]) for shape in others):
            raise self.refuse(
                f"loc has shape {others[0]}, cov_factor {factor} and cov_diag {others[1]}",
                "Give shapes (..., n), (..., n, k) and (..., n).",
            )

    @property
    def batch_shape(self) -> Shape:
        factor = np.shape(self.cov_factor)[:-2]
        return np.broadcast_shapes(np.shape(self.loc)[:-1], factor, np.shape(self.cov_diag)[:-1])

    @property
    def event_shape(self) -> Shape:
        return (np.shape(self.cov_factor)[-2],)

    @property
    def variance(self) -> jax.Array:
        from_factor = (jnp.asarray(self.cov_factor, self.dtype) ** 2).sum(axis=-1)
        from_factor, diagonal = align(from_factor, self.cov_diag)
        return self._full(from_factor + diagonal)

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, self.loc, self.cov_factor, self.cov_diag)
        x, loc, variance = align(jnp.asarray(value, dtype), self.loc, jnp.asarray(self.cov_diag, dtype))
        scaled, root, log_volume = self._whitened(dtype)
        # u: the common factors that best explain the value; found from C = I + W' D^-1 W.
        white = (x - loc) / jnp.sqrt(variance)
        u = solve_lower(root, multiply(scaled.mT, white))
        u = multiply(_inverse_transpose(root), u)
        explained = multiply(scaled, u)
        white, explained = align(white, explained)
        quadratic = ((white - explained) ** 2).sum(axis=-1) + (u * u).sum(axis=-1)
        quadratic, log_volume = align(quadratic, log_volume)
        return -0.5 * quadratic - (log_volume + self.event_shape[-1] * HALF_LOG_TWO_PI)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_common, key_own = jax.random.split(key)
        shape, dtype = self._shape(sample_shape), self.dtype
        factor = jnp.asarray(self.cov_factor, dtype)
        common = jax.random.normal(key_common, (*shape[:-1], factor.shape[-1]), dtype)
        own = jax.random.normal(key_own, shape, dtype)
        own, loc, variance = align(own, self.loc, jnp.asarray(self.cov_diag, dtype))
        return loc + multiply(factor, common) + jnp.sqrt(variance) * own

    def entropy(self) -> jax.Array:
        _, _, log_volume = self._whitened(self.dtype)
        return self._batched(log_volume) + self.event_shape[-1] * (HALF_LOG_TWO_PI + 0.5)

    def _whitened(self, dtype: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return D^-1/2 W, the Cholesky factor of I + W' D^-1 W, and half the log determinant of the covariance."""
        factor, variance = jnp.asarray(self.cov_factor, dtype), jnp.asarray(self.cov_diag, dtype)
        size, rank = factor.shape[-2:]
        variance = jnp.broadcast_to(variance, (*variance.shape[:-1], size))
        factor, deviation = align(factor, jnp.expand_dims(jnp.sqrt(variance), -1))
        scaled = factor / deviation
        identity = jnp.eye(rank, dtype=dtype).reshape((1,) * (scaled.ndim - 2) + (rank, rank))
        root = jnp.linalg.cholesky(product(scaled.mT, scaled) + identity)
        log_own, log_common = align(0.5 * jnp.log(variance).sum(axis=-1), log_diagonal(root))
        return scaled, root, log_own + log_common


def _inverse_transpose(root: jax.Array) -> jax.Array:
    """Return the transposed inverse of a small lower triangular matrix."""
    identity = jnp.broadcast_to(jnp.eye(root.shape[-1], dtype=root.dtype), root.shape)
    return jax.lax.linalg.triangular_solve(root, identity, left_side=True, lower=True, transpose_a=True)
