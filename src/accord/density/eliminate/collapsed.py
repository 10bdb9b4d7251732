"""Evaluate a model without some of its sites, which are integrated out: they are normal given all others.

The log density of the others is the whole log density at the mean of these sites, plus the logarithm of the volume of
their normal distribution. Mean and precision come from derivatives of the model's own log density (`square`), once it
was found to be quadratic (`exactness`). For a draw the sites are drawn from that distribution, by random numbers that
are a function of the position of the others, so that they are the same however a run is done.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ...core import keys
from ...core.errors import ModelError, SiteError
from ..layout import Layout
from ..program import AbstractProgram, ModelProgram, Recorded, View, every_site
from ..rows.conditions import listed
from ..rows.row_files import in_memory
from ..stage import AbstractStage
from ..unknowns import Unknowns, free_of
from ..weights import Parts
from .at_once import at_once
from .eliminated import AbstractEliminated
from .normal.exactness import Look, check_exact, looking
from .normal.groups import Groups
from .normal.independence import independent_groups
from .normal.separation import check_priors, check_supports, positions_beside
from .normal.square import Conditional, complete


@dataclass(frozen=True)
class Eliminate(AbstractStage):
    """Integrate out the sites that are to be collapsed."""

    def is_wanted(self, layout: Layout) -> bool:
        """Return whether there are any."""
        return bool(layout.to_collapse)

    def applied(self, program: AbstractProgram, data: Mapping[str, Any]) -> AbstractProgram:
        """Build the program of the other sites.

        **Raises** `SiteError` where that is not exact or is too much; `ModelError` where no other unknown is left, and
        for data that JAX is tracing.
        """
        whole = program.whole
        if whole is None:
            return program
        which = listed(whole.layout.to_collapse)
        if not whole.layout.marginal.entries:
            raise ModelError(
                f"handlers.collapse: {which} are all the unknowns of the model {whole.name!r}, so that nothing is left "
                "to sample: their posterior is a normal distribution, and known. Leave one of them out."
            )
        if any(isinstance(value, Tracer) for value in data.values()):
            raise ModelError(
                f"handlers.collapse: whether {which} can be integrated out is seen from the model's data, which a "
                "transformation of JAX around it (jit, vmap, grad or the like) is tracing. Make the log density "
                "outside, and give it the traced data by `density.with_data({...})`."
            )
        groups = at_once(independent_groups, whole, in_memory(data))
        check_supports(whole, groups, data)
        made = CollapsedProgram.of(whole, groups)
        made.check_exact(data)
        return made


@dataclass(frozen=True, eq=False)
class CollapsedProgram(AbstractEliminated):
    """A model without the sites that are collapsed; its data is that of the whole model.

    **Fields**: `base`, the whole model; `groups`, of entries of the sites that depend on each other; `term`, the name
    of what their distribution adds to the log density; `look`, compiled, tells whether that is exact.
    """

    base: ModelProgram
    groups: Groups
    term: str
    look: Look

    @staticmethod
    def of(base: ModelProgram, groups: Groups) -> "CollapsedProgram":
        """Integrate the sites of these groups out of the whole model."""
        term = "collapsed"
        while term in {entry.name for entry in base.layout.sites}:
            term += "_"
        return CollapsedProgram(base, groups, term, looking(base, groups))

    def __reduce__(self) -> tuple[Any, ...]:
        # What is compiled does not travel.
        return CollapsedProgram.of, (self.base, self.groups)

    def layout_of(self, base: AbstractProgram) -> Layout:
        """The layout of the other sites."""
        return base.layout.marginal

    def pieces(self, position: Unknowns) -> dict[str, jax.Array]:
        """Cut a position into pieces of the whole model, with zeros for the sites that are collapsed."""
        zeros = jnp.zeros((self.groups.num, self.groups.size), free_of(position).dtype)
        return {**self._others(position), **self.groups.unstack(zeros)}

    def conditional(self, position: Unknowns, data: Mapping[str, Any]) -> Conditional:
        """Find the normal distribution of the sites that are collapsed, given all others."""
        return self._conditional(self._others(position), data, every_site)

    def terms(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Evaluate the whole model's terms at the mean of the collapsed sites, and add their volume."""
        normal = self.conditional(position, data)
        return self._terms_around(normal, self._others(position), data, every_site)

    def terms_at(
        self, pieces: Mapping[str, jax.Array], data: Mapping[str, Any], view: View = every_site
    ) -> dict[str, jax.Array]:
        """Evaluate these terms for the sites in a view."""
        return self._terms_around(self._conditional(pieces, data, view), pieces, data, view)

    def parts_at(
        self,
        pieces: Mapping[str, jax.Array],
        data: Mapping[str, Any],
        view: View = every_site,
        beside: Collection[str] = (),
    ) -> Parts:
        """Evaluate the parts: the priors of the collapsed sites are a part of the likelihood of the others."""
        normal = self._conditional(pieces, data, view)
        every = {**pieces, **self.groups.unstack(normal.mean)}
        found = self.base.parts_at(every, data, view, (*self.groups.names, *beside))
        return found._replace(likelihood=found.likelihood + normal.log_volume)

    def check_separate(self, data: Mapping[str, Any]) -> None:
        """Raise where the prior of another site depends on a collapsed one."""
        check_priors(self.base, self.groups, data)

    def of_part(
        self, hidden: Mapping[str, tuple[int, ...]], rows: Mapping[str, int], words: str
    ) -> AbstractProgram:
        """Return the program without those of the sites that are in a part, or the model itself for none."""
        if not hidden:
            return self.base
        groups = self.groups.part(hidden)
        if not groups.are_along(rows):
            raise SiteError(
                f"handlers.collapse: {listed(hidden)} cannot be integrated out row by row, where {words}: entries of "
                "different rows depend on each other given all other unknowns, so that all rows are needed at once. "
                "Keep the rows together, or leave the sites out of `handlers.collapse`."
            )
        return replace(self, groups=groups)

    def values(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Values of the whole model's sites, with one draw of those that are collapsed for each position."""
        return self.base.values(self.whole_position(position, self._draw(position, data)[0]), data)

    def recorded(self, position: Unknowns, data: Mapping[str, Any]) -> Recorded:
        """Evaluate the whole model at that draw, without the log density of the draw given the others."""
        z, log_density = self._draw(position, data)
        values, known = self.base.recorded(self.whole_position(position, z), data)
        return values, known and (known[0], known[1] - log_density)

    def means(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Values of the whole model's sites, with those that are collapsed at their mean."""
        return self.base.values(self.whole_position(position, self.conditional(position, data).mean), data)

    def positions(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Unconstrained pieces of the sites that are not collapsed."""
        return positions_beside(self.base, self.groups, values, data)

    def non_finite(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Count as the whole model does, at the mean."""
        return self.base.non_finite(
            self.whole_position(position, self.conditional(position, data).mean), data
        )

    def check_exact(self, data: Mapping[str, Any]) -> None:
        """Raise `SiteError` where the whole log density is not quadratic in the collapsed sites."""
        at_once(check_exact, self.base, self.groups, self.look, in_memory(data))

    def whole_position(self, position: Unknowns, z: jax.Array) -> jax.Array:
        """Put together a whole position, from the other sites and the stacked collapsed values."""
        pieces = {**self._others(position), **self.groups.unstack(z)}
        return jnp.concatenate([jnp.ravel(pieces[entry.name]) for entry in self.base.layout.entries])

    def _draw(self, position: Unknowns, data: Mapping[str, Any]) -> tuple[jax.Array, jax.Array]:
        """Draw stacked values of the collapsed sites for a position, with their log density given the others."""
        normal = self.conditional(position, data)
        key = keys.of_numbers(free_of(position))
        noise = {
            name: keys.normal(key, int(np.prod(shape)), place, free_of(position).dtype).reshape(shape)
            for place, (name, shape) in enumerate(self.groups.sites)
        }
        length = sum(
            (jnp.sum(each**2) for each in noise.values()), start=jnp.zeros((), free_of(position).dtype)
        )
        return normal.mean + normal.deviation(self.groups.stack(noise)), -0.5 * length - normal.log_volume

    def _terms_around(
        self, normal: Conditional, others: Mapping[str, jax.Array], data: Mapping[str, Any], view: View
    ) -> dict[str, jax.Array]:
        found = self.base.terms_at({**others, **self.groups.unstack(normal.mean)}, data, view)
        return {**found, self.term: normal.log_volume}

    def _conditional(
        self, others: Mapping[str, jax.Array], data: Mapping[str, Any], view: View
    ) -> Conditional:
        def log_density(z: jax.Array) -> Any:
            first, *rest = self.base.terms_at({**others, **self.groups.unstack(z)}, data, view).values()
            return sum(rest, start=first)

        dtype = jax.tree.leaves(dict(others))[0].dtype  # of arrays, or of choices that hold them
        return complete(log_density, self.groups.num, self.groups.size, dtype)
