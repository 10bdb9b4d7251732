"""Define the base class of distributions of vectors that are symmetric about their mode."""

from typing import Any

import equinox as eqx
import jax

from ... import constraints
from ...base import AbstractDistribution
from ...constraint import Constraint


class AbstractCentredVector(AbstractDistribution):
    """Abstract base class of distributions of vectors with mean and mode `loc`."""

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
