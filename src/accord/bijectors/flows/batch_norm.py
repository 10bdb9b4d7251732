"""Standardise the elements of vectors by running means and variances."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ..base import AbstractBijector
from .networks import at_one_dtype, row


class BatchNorm(AbstractBijector):
    """Map `y = shift + exp(log_scale) * (x - mean) / sqrt(variance + epsilon)`, with frozen statistics.

    The map depends only on its fields, never on the batch, so it is the same under any batching. `updated` gives the
    map with the running statistics moved towards a batch's.

    **Fields**
    - `mean`, `variance`: running statistics of the input, shape `(n,)`; not meant to be trained.
    - `log_scale`, `shift`: shape `(n,)`.
    - `epsilon`: added to the variance, > 0.

    **Source**: Ioffe & Szegedy (2015), Batch normalization, algorithm 2; as a bijector, Dinh et al. (2017), Density
    estimation using real NVP, section 3.7.

    **Example**

    >>> layer = bijectors.BatchNorm.init(2)
    >>> batch = np.array([[0.0, 10.0], [2.0, 14.0]])
    >>> print(layer.updated(batch, momentum=1.0).forward_and_log_det(batch)[0])
    [[-1. -1.]
     [ 1.  1.]]
    """

    mean: Any
    variance: Any
    log_scale: Any
    shift: Any
    epsilon: float = eqx.field(static=True, default=1e-5)
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    @classmethod
    def init(cls, size: int, epsilon: float = 1e-5) -> "BatchNorm":
        """Start with mean 0, variance 1, scale 1 and shift 0."""
        zeros = jnp.zeros(size)
        return cls(zeros, jnp.ones(size), zeros, zeros, epsilon)

    def updated(self, x: jax.Array, momentum: float = 0.1) -> "BatchNorm":
        """Move the running statistics by the share `momentum` towards the statistics of `x`, shape `(..., n)`."""
        axes = tuple(range(x.ndim - 1))
        mean = self.mean + momentum * (x.mean(axis=axes) - self.mean)
        variance = self.variance + momentum * (x.var(axis=axes) - self.variance)
        return BatchNorm(mean, variance, self.log_scale, self.shift, self.epsilon)

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, flow = at_one_dtype(x, self)
        log_scale = flow._log_scale()
        y = row(flow.shift, x.ndim) + row(jnp.exp(log_scale), x.ndim) * (x - row(flow.mean, x.ndim))
        return y, jnp.broadcast_to(log_scale.sum(), x.shape[:-1])

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, flow = at_one_dtype(y, self)
        log_scale = flow._log_scale()
        x = row(flow.mean, y.ndim) + row(jnp.exp(-log_scale), y.ndim) * (y - row(flow.shift, y.ndim))
        return x, jnp.broadcast_to(-log_scale.sum(), y.shape[:-1])

    def _log_scale(self) -> jax.Array:
        """Return the log of the whole factor."""
        return self.log_scale - 0.5 * jnp.log(self.variance + self.epsilon)
