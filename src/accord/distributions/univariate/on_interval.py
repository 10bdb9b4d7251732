"""Share what laws on an interval with given ends have in common."""

from typing import Any

import equinox as eqx
import jax

from .. import constraints
from ..base import AbstractDistribution
from ..constraint import Constraint
from ..parameters import check_bounds


class AbstractOnInterval(AbstractDistribution):
    """A law on [`low`, `high`]."""

    low: eqx.AbstractVar[Any]
    high: eqx.AbstractVar[Any]

    def __check_init__(self) -> None:
        check_bounds(self, self.low, self.high)

    @property
    def support(self) -> Constraint:
        return constraints.interval(self.low, self.high)


class AbstractSymmetricOnInterval(AbstractOnInterval):
    """One that is symmetric about the middle, and has its largest density at the lower end too."""

    @property
    def mean(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return low + 0.5 * (high - low)

    @property
    def mode(self) -> jax.Array:
        return self._full(self.low)
