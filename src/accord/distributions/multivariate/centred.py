"""Share what laws of vectors have in common that are symmetric about their most likely value."""

from typing import Any

import equinox as eqx
import jax

from .. import constraints
from ..base import AbstractDistribution
from ..constraint import Constraint


class AbstractCentredVector(AbstractDistribution):
    """A law of vectors around `loc`, which is mean and mode."""

    loc: eqx.AbstractVar[Any]

    @property
    def support(self) -> Constraint:
        return constraints.real_vector

    @property
    def mean(self) -> jax.Array:
        return self._full(self.loc)

    @property
    def mode(self) -> jax.Array:
        return self.mean
