"""Define the base class of distributions of one angle that are symmetric about their mode."""

from typing import Any

import equinox as eqx
import jax

from .. import constraints
from ..base import AbstractDistribution
from ..constraint import Constraint
from . import arc_mass


class AbstractCircular(AbstractDistribution):
    """Abstract base class of symmetric distributions of angles, with mean direction and mode `loc`."""

    loc: eqx.AbstractVar[Any]

    @property
    def support(self) -> Constraint:
        return constraints.circular

    @property
    def mean(self) -> jax.Array:
        (loc,) = self._arrays("loc")
        return arc_mass.wrap(loc)

    @property
    def mode(self) -> jax.Array:
        return self.mean
