"""Define the base class of zero-inflated and hurdle distributions: a closed gate gives a zero."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align, float_type
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..discrete.common.counts import Odds, odds
from ..parameters import check_parameter, exactly_one
from ..special import log_sum_exp


class AbstractGated(AbstractDistribution):
    """Abstract base class of univariate distributions with a gate, which gives a zero when closed.

    **Raises** `DistributionError` unless exactly one of `gate` and `gate_logits` is given and the base is univariate.
    """

    base_dist: AbstractDistribution
    gate: Any = None
    gate_logits: Any = None

    def __init__(self, base_dist: AbstractDistribution, *, gate: Any = None, gate_logits: Any = None):
        self.base_dist = base_dist
        self.gate = gate
        self.gate_logits = gate_logits

    def __check_init__(self) -> None:
        exactly_one(self, "gate", "gate_logits")
        if self.gate is not None:
            check_parameter(type(self).__name__, "gate", constraints.unit_interval, self.gate)
        if self.base_dist.event_shape:
            raise self.refuse(
                f"{type(self.base_dist).__name__} has events of shape {self.base_dist.event_shape}",
                "Give a univariate distribution.",
            )

    @property
    def batch_shape(self) -> Shape:
        gate = self.gate if self.gate_logits is None else self.gate_logits
        return np.broadcast_shapes(self.base_dist.batch_shape, np.shape(gate))

    @property
    def dtype(self) -> np.dtype:
        return float_type(np.zeros((), self.base_dist.dtype), self.gate, self.gate_logits)

    def _gate(self, value: Any) -> tuple[jax.Array, Odds]:
        """Return the value, and the probabilities of a closed (p) and open (q) gate, in one dtype and shape."""
        is_logits = self.gate_logits is not None
        x, gate, _ = align(value, self.gate_logits if is_logits else self.gate, jnp.zeros((), self.dtype))
        shape = np.broadcast_shapes(x.shape, self.batch_shape)
        x = jnp.broadcast_to(x, shape)
        gate = ranked(jnp.asarray(gate, x.dtype), x.ndim)
        return x, odds(None, gate, x.dtype) if is_logits else odds(gate, None, x.dtype)

    def _chance(self) -> Odds:
        """Return the probabilities of a closed and an open gate, of the batch shape."""
        return self._gate(jnp.zeros(self.batch_shape, self.dtype))[1]

    def _log_zero(self, rank: int) -> jax.Array:
        """Return the base's log probability of zero, -inf for a continuous base, with `rank` axes."""
        base = self.base_dist
        if not base.is_discrete:
            return jnp.full((1,) * rank, -jnp.inf, base.dtype)
        return ranked(base.log_prob(jnp.zeros(base.batch_shape, base.dtype)), rank)


def ranked(array: jax.Array, rank: int) -> jax.Array:
    """Prepend axes of length 1."""
    return array.reshape((1,) * (rank - array.ndim) + array.shape)


def either(first: jax.Array, second: jax.Array) -> jax.Array:
    """Compute the logarithm of the sum of two probabilities from their logarithms."""
    return log_sum_exp(jnp.stack(jnp.broadcast_arrays(first, second)), axis=0)


def scaled(log_factor: jax.Array, log_p: jax.Array) -> jax.Array:
    """Compute the log of a factor times a probability; the gradient is zero where the probability is 0."""
    is_possible = (log_p != -jnp.inf) & (log_factor != -jnp.inf)
    log_factor, log_p = jnp.broadcast_arrays(log_factor, log_p)
    return jnp.where(is_possible, log_factor, -jnp.inf) + jnp.where(is_possible, log_p, 0.0)


def surprise(log_p: jax.Array) -> jax.Array:
    """Compute -p log p; 0 where p is 0."""
    return -jnp.exp(log_p) * jnp.where(log_p > -jnp.inf, log_p, 0.0)


def draw_gate(key: jax.Array, chance: Odds, shape: Shape) -> jax.Array:
    """Draw whether the gate is closed, for every draw."""
    return jax.random.bernoulli(key, jnp.broadcast_to(chance.p, shape), shape)


def ends(support: Constraint) -> tuple[Any, Any]:
    """Return the ends of a set of whole numbers, if it has them as fields."""
    return getattr(support, "lower", 0.0), getattr(support, "upper", np.inf)
