"""Share what laws of one angle have in common that are symmetric about their most likely direction."""

from typing import Any

import equinox as eqx
import jax

from .. import constraints
from ..base import AbstractDistribution
from ..constraint import Constraint
from . import arc_mass


class AbstractCircular(AbstractDistribution):
    """A law of angles around `loc`, which is mean direction and mode."""

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
