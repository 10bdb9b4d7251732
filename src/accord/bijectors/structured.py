"""Map vectors to simplexes, ordered vectors and Cholesky factors."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from .arrays import align
from .base import AbstractBijector
from .elementwise import softplus


class StickBreaking(AbstractBijector):
    """Vectors of length `n - 1` to the simplex in `n` parts: each element breaks a share off what is left of a stick.

    The shares are offset so that `x = 0` maps to the uniform point (1/n, ..., 1/n). Everything is computed from
    logarithms of shares, so small parts keep their relative accuracy and no `x` gives NaN.

    **Source**: Stan reference manual, "Unit simplex", which defines the offset. The log determinant here is the sum of
    log y, to which Stan's expression telescopes.
    """

    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        shifted = x - _offset(x)
        log_share, log_rest = -softplus(-shifted), -softplus(shifted)
        edge = jnp.zeros((*x.shape[:-1], 1), x.dtype)
        log_left = jnp.concatenate([edge, jnp.cumsum(log_rest, axis=-1)], axis=-1)
        log_y = log_left + jnp.concatenate([log_share, edge], axis=-1)
        return jnp.exp(log_y), log_y.sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        log_y = jnp.log(y)
        # Summed from the far end: no subtraction from 1, hence no cancellation when little of the stick is left.
        left = jnp.flip(jnp.cumsum(jnp.flip(y[..., 1:], axis=-1), axis=-1), axis=-1)
        x = log_y[..., :-1] - jnp.log(left) + _offset(left)
        return x, -log_y.sum(axis=-1)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] - 1)


class Ordered(AbstractBijector):
    """Vectors to increasing vectors: the first element is free, the others are positive steps `exp(x)`."""

    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        steps = jnp.concatenate([x[..., :1], jnp.exp(x[..., 1:])], axis=-1)
        return jnp.cumsum(steps, axis=-1), x[..., 1:].sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        log_steps = jnp.log(y[..., 1:] - y[..., :-1])
        return jnp.concatenate([y[..., :1], log_steps], axis=-1), -log_steps.sum(axis=-1)


class PositiveOrdered(AbstractBijector):
    """Vectors to increasing vectors of positive numbers: every step, also the first from 0, is `exp(x)`."""

    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        return jnp.cumsum(jnp.exp(x), axis=-1), x.sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        x = jnp.log(jnp.concatenate([y[..., :1], y[..., 1:] - y[..., :-1]], axis=-1))
        return x, -x.sum(axis=-1)


class LowerCholesky(AbstractBijector):
    """Vectors of length `n (n + 1) / 2` to lower triangular matrices `(n, n)` with a positive diagonal.

    The elements below the diagonal come first, row by row, as they are; then the logarithms of the diagonal.
    """

    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 2

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        size = self.forward_shape(x.shape)[-1]
        log_diagonal = x[..., x.shape[-1] - size :]
        below = jnp.zeros((*x.shape[:-1], size, size), x.dtype)
        below = below.at[(..., *np.tril_indices(size, -1))].set(x[..., : x.shape[-1] - size])
        y = below.at[(..., *np.diag_indices(size))].set(jnp.exp(log_diagonal))
        return y, log_diagonal.sum(axis=-1)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        size = y.shape[-1]
        log_diagonal = jnp.log(y[(..., *np.diag_indices(size))])
        x = jnp.concatenate([y[(..., *np.tril_indices(size, -1))], log_diagonal], axis=-1)
        return x, -log_diagonal.sum(axis=-1)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        size = (int(np.sqrt(8 * shape[-1] + 1)) - 1) // 2
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-2], shape[-1] * (shape[-1] + 1) // 2)


def _offset(x: jax.Array) -> np.ndarray:
    """Minus the logit of an equal share at each break: log(k - 1) with `k` parts left; dtype and rank of `x`."""
    logits = np.log(np.arange(x.shape[-1], 0, -1)).astype(x.dtype)
    return logits.reshape((1,) * (x.ndim - 1) + (-1,))
