"""Evaluate a model without some of its continuous sites: what exact and approximate integrals have in common.

The log density of the others is the whole log density at one point of these sites, plus the logarithm of the integral
over them relative to the density there. For a draw the sites are drawn from their distribution given the others, by
random numbers that are a function of the position of the others, so that they are the same however a run is done.
"""

import abc
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..layout import Layout
from ..program import AbstractProgram, ModelProgram, Recorded, View, every_site
from ..unknowns import Unknowns, free_of
from ..weights import Parts
from .eliminated import AbstractEliminated, without
from .normal.groups import Groups
from .normal.separation import check_priors, positions_beside


class Around(NamedTuple):
    """An integral over stacked sites, by the density at one point of them.

    **Fields**: `center`, the point, shape `(num, size)`; `log_integral`, of the density relative to that there, as
    often as it counts.
    """

    center: jax.Array
    log_integral: jax.Array


class Draw(NamedTuple):
    """Stacked values of the sites, shape `(num, size)`, with their log density given the others.

    **Fields**: also `quality`, by name, what tells how good an approximate integral is there.
    """

    z: jax.Array
    log_density: jax.Array
    quality: Mapping[str, jax.Array] = MappingProxyType({})


def term_of(base: ModelProgram) -> str:
    """Name what an integral adds to the log density, unlike any site."""
    term = "collapsed"
    while term in {entry.name for entry in base.layout.sites}:
        term += "_"
    return term


@dataclass(frozen=True, eq=False)
class AbstractIntegrated(AbstractEliminated):
    """A model without the sites that are collapsed; its data is that of the whole model.

    **Fields**: `base`, the whole model; `groups`, of entries of the sites that depend on each other; `term`, the name
    of what their integral adds to the log density; `weight`, how often each entry counts: above 1 where plates take a
    part of their entries.
    """

    base: ModelProgram
    groups: Groups
    term: str
    weight: float

    @abc.abstractmethod
    def around(self, others: Mapping[str, jax.Array], data: Mapping[str, Any], view: View) -> Around:
        """Integrate over the sites, with the others at these unconstrained values."""

    @abc.abstractmethod
    def drawn(self, position: Unknowns, data: Mapping[str, Any]) -> Draw:
        """Draw the sites for a position."""

    @property
    @abc.abstractmethod
    def if_degenerate(self) -> str:
        """Remedy where all is finite but the integral, in words."""

    def layout_of(self, base: AbstractProgram) -> Layout:
        """The layout of the other sites."""
        return base.layout.marginal

    def center(self, position: Unknowns, data: Mapping[str, Any]) -> jax.Array:
        """Find the mean or the mode of the stacked sites, given all others."""
        return self.around(self.others(position), data, every_site).center

    def pieces(self, position: Unknowns) -> dict[str, jax.Array]:
        """Cut a position into pieces of the whole model, with zeros for the sites that are collapsed."""
        zeros = jnp.zeros((self.groups.num, self.groups.size), free_of(position).dtype)
        return {**self.others(position), **self.groups.unstack(zeros)}

    def terms_at(
        self, pieces: Mapping[str, jax.Array], data: Mapping[str, Any], view: View = every_site
    ) -> dict[str, jax.Array]:
        """Evaluate the whole model's terms at the center of the collapsed sites, and add their integral."""
        found = self.around(pieces, data, view)
        terms = self.base.terms_at({**pieces, **self.groups.unstack(found.center)}, data, view)
        return {**terms, self.term: found.log_integral}

    def parts_at(
        self,
        pieces: Mapping[str, jax.Array],
        data: Mapping[str, Any],
        view: View = every_site,
        beside: Collection[str] = (),
    ) -> Parts:
        """Evaluate the parts: the priors of the collapsed sites are a part of the likelihood of the others."""
        around = self.around(pieces, data, view)
        every = {**pieces, **self.groups.unstack(around.center)}
        found = self.base.parts_at(every, data, view, (*self.groups.names, *beside))
        return found._replace(likelihood=found.likelihood + around.log_integral)

    def check_separate(self, data: Mapping[str, Any]) -> None:
        """Raise where the prior of another site depends on a collapsed one."""
        check_priors(self.base, self.groups, data)

    def values(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Values of the whole model's sites, with one draw of those that are collapsed for each position."""
        return self.base.values(self.whole_position(position, self.drawn(position, data).z), data)

    def recorded(self, position: Unknowns, data: Mapping[str, Any]) -> Recorded:
        """Evaluate the whole model at that draw, without the log density of the draw given the others."""
        draw = self.drawn(position, data)
        found = self.base.recorded(self.whole_position(position, draw.z), data)
        return without(found, self.weight * draw.log_density)._replace(quality=draw.quality)

    def means(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Values of the whole model's sites, with those that are collapsed at their center."""
        return self.base.values(self.whole_position(position, self.center(position, data)), data)

    def positions(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Unconstrained pieces of the sites that are not collapsed."""
        return positions_beside(self.base, self.groups, values, data)

    def non_finite(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Count as the whole model does, at the center."""
        return self.base.non_finite(self.whole_position(position, self.center(position, data)), data)

    def whole_position(self, position: Unknowns, z: jax.Array) -> jax.Array:
        """Put together a whole position, from the other sites and the stacked collapsed values."""
        pieces = {**self.others(position), **self.groups.unstack(z)}
        return jnp.concatenate([jnp.ravel(pieces[entry.name]) for entry in self.base.layout.entries])
