"""Define base classes of distributions on an interval with given ends."""

from typing import Any

import equinox as eqx
import jax

from ... import constraints
from ...base import AbstractDistribution
from ...constraint import Constraint
from ...parameters import check_bounds


class AbstractOnInterval(AbstractDistribution):
    """Abstract base class of distributions on [`low`, `high`]."""

    low: eqx.AbstractVar[Any]
    high: eqx.AbstractVar[Any]

    def __check_init__(self) -> None:
        check_bounds(self, self.low, self.high)

    @property
    def support(self) -> Constraint:
        return constraints.interval(self.low, self.high)


class AbstractSymmetricOnInterval(AbstractOnInterval):
    """Abstract base class of distributions symmetric about the middle, with a mode at the lower end too."""

    @property
    def mean(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return low + 0.5 * (high - low)

    @property
    def mode(self) -> jax.Array:
        return self._full(self.low)
