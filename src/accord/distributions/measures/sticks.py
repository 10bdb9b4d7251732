"""Define distributions of a random measure's weights in size-biased order, and break sticks."""

from abc import abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align, float_type
from ...core.tracebacks import entry_point
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..special import log
from .random_measures import AbstractRandomMeasure


class AbstractStick(AbstractDistribution):
    """Abstract base class of scaled beta variables on [0, surplus]."""

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(np.shape(self._parts()[1]), self._parts()[0].batch_shape)

    @property
    def dtype(self) -> np.dtype:
        stick, surplus = self._parts()
        return float_type(surplus, *(getattr(stick, name) for name in stick.parameters))

    @property
    def support(self) -> Constraint:
        return constraints.interval(0.0, self._parts()[1])

    @property
    def mean(self) -> jax.Array:
        stick, surplus = self._parts()
        return self._full(stick.mean) * self._full(surplus)

    @property
    def variance(self) -> jax.Array:
        stick, surplus = self._parts()
        return self._full(stick.variance) * self._full(surplus) ** 2

    @property
    def mode(self) -> jax.Array:
        stick, surplus = self._parts()
        return self._full(stick.mode) * self._full(surplus)

    def log_prob(self, value: Any) -> jax.Array:
        x, stick, surplus = self._relative(value)
        result = stick.log_prob(x)
        (result, log_surplus) = align(result, log(surplus))
        return jnp.where(result == -jnp.inf, -jnp.inf, result - log_surplus)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        stick, surplus = self._parts()
        if stick.batch_shape != self.batch_shape:
            stick = stick.expand(self.batch_shape)
        drawn, surplus = align(stick.sample(key, sample_shape).astype(self.dtype), surplus)
        return drawn * surplus

    def cdf(self, value: Any) -> jax.Array:
        x, stick, _ = self._relative(value)
        return stick.cdf(x)

    def log_cdf(self, value: Any) -> jax.Array:
        x, stick, _ = self._relative(value)
        return stick.log_cdf(x)

    def log_survival(self, value: Any) -> jax.Array:
        x, stick, _ = self._relative(value)
        return stick.log_survival(x)

    def icdf(self, q: Any) -> jax.Array:
        stick, surplus = self._parts()
        x, surplus = align(stick.icdf(q), surplus)
        return x * surplus

    def entropy(self) -> jax.Array:
        stick, surplus = self._parts()
        return self._batched(stick.entropy()) + jnp.log(self._batched(surplus))

    @abstractmethod
    def _parts(self) -> tuple[AbstractDistribution, Any]:
        """Return the distribution of the share, and the length that it is a share of."""

    def _relative(self, value: Any) -> tuple[jax.Array, AbstractDistribution, Any]:
        """Return `value` as a share, the share's distribution, and the length that it is a share of."""
        stick, surplus = self._parts()
        x, surplus = align(value, surplus)
        return x / surplus, stick, surplus


class StickBreakingProcess(AbstractStick):
    """Share that the next stick takes of the remaining length; `stickbreak` turns shares into weights.

    **Fields**
    - `rpm`: a `DirichletProcess` or `PitmanYorProcess`.

    **Density**: a beta density with parameters `1, alpha`, or `1 - d, theta + (t + 1) * d`.

    **Source**: Sethuraman (1994), Statist. Sinica 4, 639-650; Pitman & Yor (1997), Ann. Probab. 25(2), 855-900.
    """

    rpm: AbstractRandomMeasure

    def _parts(self) -> tuple[AbstractDistribution, Any]:
        return self.rpm.stick(), 1.0


class SizeBiasedSamplingProcess(AbstractStick):
    """Weight of the next atom in size-biased order, given the remaining weight.

    **Fields**
    - `rpm`: a `DirichletProcess` or `PitmanYorProcess`.
    - `surplus`: the weight left, > 0 and at most 1.

    **Density**: the density of `surplus` times a draw of `StickBreakingProcess`.

    **Source**: Perman, Pitman & Yor (1992), Probab. Theory Relat. Fields 92, 21-39.
    """

    rpm: AbstractRandomMeasure
    surplus: Any
    parameters: ClassVar[dict[str, Constraint]] = {"surplus": constraints.positive}

    def _parts(self) -> tuple[AbstractDistribution, Any]:
        return self.rpm.stick(), self.surplus


@entry_point
def stickbreak(v: Any) -> jax.Array:
    """Break a stick of length 1: turn shares of the remaining length into lengths.

    **Arguments**: `v`, shape `(..., n)`, in [0, 1].

    **Returns** shape `(..., n + 1)`, with sum 1 along the last axis; the last is the remaining length.
    """
    (v,) = align(v)
    left = jnp.cumprod(1.0 - v, axis=-1)
    before = jnp.concatenate([jnp.ones_like(left[..., :1]), left], axis=-1)
    return before * jnp.concatenate([v, jnp.ones_like(left[..., :1])], axis=-1)
