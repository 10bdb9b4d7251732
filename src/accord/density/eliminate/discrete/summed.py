"""Evaluate a model without its discrete unknowns, which are summed out.

The log density of the others is the logarithm of the whole density summed over all values of the discrete sites:
tables of the model's own log probabilities (`tables`) are summed plate by plate (`contract`), once they were found to
be the model's at assignments taken at random (`assignment`). For a draw the sites are drawn from their distribution
given all else, by random numbers that are a function of the position of the others.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ....core import keys
from ....core.errors import ModelError, SiteError
from ....core.notice import Notice
from ....core.once import TracedOnce
from ....core.position import Position
from ...latent import concrete
from ...program import AbstractProgram, ModelProgram, Recorded, View, every_site
from ...rows.row_files import in_memory
from ...support import EachAt
from ...unknowns import Unknowns, free_of
from ...weights import Parts
from ..at_once import at_once
from ..eliminated import AbstractEliminated, without
from .assignment import Assignment, check_assignment, comparing
from .backward import drawn, most_probable
from .beyond import shares_beyond
from .contract import Contracted, contract
from .distinct.program import computed_once
from .marginals import probabilities_of
from .plan import Plan
from .sums import Reduce, largest, log_sum
from .table import ordered, quoted
from .tables import Tables, choices_of, tables_of

Drawn = tuple[dict[str, jax.Array], jax.Array, dict[str, jax.Array]]
"""Numbers of values by site, the log probability of the draw, and shares that sums leave out: see `beyond`."""


@dataclass(frozen=True, eq=False)
class SummedProgram(AbstractEliminated):
    """A model without its discrete unknowns; its data is that of the whole model.

    **Fields**
    - `base`: the whole model. `plan`: of what depends on the discrete sites.
    - `term`: the name of what the sum over them adds to the log density.
    - `compare`: compiled, compares tables and model at an assignment.
    - `terms_once`, `drawn_once`: traced once for all programs of a run, the terms of all sites, and a draw of the
      discrete ones (`Drawn`).
    """

    base: ModelProgram
    plan: Plan
    term: str
    compare: Callable[..., Assignment]
    terms_once: TracedOnce
    drawn_once: TracedOnce

    @staticmethod
    def of(base: ModelProgram, plan: Plan) -> "SummedProgram":
        """Sum the discrete unknowns out of the whole model."""
        term = "summed"
        while term in {entry.name for entry in base.layout.sites}:
            term += "_"

        def terms(pieces: Any, data: Any) -> dict[str, jax.Array]:
            return _terms(base, plan, term, pieces, data, every_site)

        def draw(pieces: Any, data: Any, numbers: jax.Array) -> Drawn:
            tables = tables_of(base, plan, pieces, data, every_site)
            places, log_prob = drawn(_contracted(plan, tables).record, keys.of_numbers(numbers))
            found = {name: choice.index for name, choice in choices_of(places, tables).items()}
            return found, log_prob, _beyond(base, plan, tables, pieces, data)

        return SummedProgram(
            base, plan, term, comparing(base, plan), TracedOnce(terms, computed_once), TracedOnce(draw)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # What is compiled or traced does not travel.
        return SummedProgram.of, (self.base, self.plan)

    @property
    def told(self) -> tuple[Notice, ...]:
        """Say what is summed out, and what it costs."""
        names = self.plan.names
        sites = "sites" if len(names) > 1 else "site"
        limits = {entry.name: entry.upto for entry in self.base.layout.sites if entry.upto is not None}
        ends = {name: f", up to {limits[name]}" if name in limits else "" for name in names}
        values = ", ".join(
            f"{name!r} ({size} value{'s' if size > 1 else ''}{ends[name]})" for name, size in self.plan.sizes
        )
        before, after = self.plan.cost
        notice = Notice(
            "info",
            "summed_out",
            f"Discrete {sites} {values} {'are' if len(names) > 1 else 'is'} summed out of the log density"
            f"{'' if limits else ', exactly'}: "
            f"each evaluation takes {after:,} log probabilities where the model has {before:,}. Draws have values "
            "given the other unknowns of each draw.",
            "",
            names,
        )
        return (*self.base.told, notice)

    def terms_at(
        self, pieces: Mapping[str, jax.Array], data: Mapping[str, Any], view: View = every_site
    ) -> dict[str, jax.Array]:
        """Evaluate the terms of sites that depend on no discrete one, and the sum of the others."""
        if view is every_site:
            return self.terms_once(dict(pieces), dict(data))
        return _terms(self.base, self.plan, self.term, pieces, data, view)

    def parts_at(
        self,
        pieces: Mapping[str, jax.Array],
        data: Mapping[str, Any],
        view: View = every_site,
        beside: Collection[str] = (),
    ) -> Parts:
        """Evaluate the parts: what the discrete sites touch is a part of the likelihood of the others."""
        touched = {name for (name, _), _ in self.plan.seen}

        def apart(sites: Any) -> Any:
            return [(name, site) for name, site in view(sites) if name not in touched]

        found = self.base.parts_at(pieces, data, apart, beside)
        tables = tables_of(self.base, self.plan, pieces, data, view)
        return found._replace(
            likelihood=found.likelihood + _contracted(self.plan, tables, recorded=False).total
        )

    def check_separate(self, data: Mapping[str, Any]) -> None:
        """Raise where the prior of another site depends on a discrete one."""
        del data
        latents = {entry.name for entry in self.base.layout.entries}
        for (name, _), labels in self.plan.seen:
            if name in latents:
                which = quoted(ordered(each for each, _ in labels))
                raise ModelError(
                    f"the prior of site {name!r} depends on {which}, which is summed out, so that prior and "
                    "likelihood of the others cannot be told apart. Look for the mode of the posterior, "
                    'estimator="map".'
                )

    def of_part(
        self, hidden: Mapping[str, tuple[int, ...]], rows: Mapping[str, int], words: str
    ) -> AbstractProgram:
        """Return this program, of which views take the part, or the model itself for none.

        **Raises** `SiteError` where a site of the part sees entries of a discrete one by an index.
        """
        if not hidden:
            return self.base
        for ((part, _), name), _ in self.plan.taken:
            if rows and name in hidden:
                raise SiteError(
                    f"{name!r} cannot be summed out where {words}: site {part!r} takes entries of it by an index, "
                    "which is one into all rows. Keep the rows together."
                )
        return self

    def arranged(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """See `AbstractProgram.arranged`: with each distinct number computed once."""
        return TracedOnce(function, computed_once)

    def values(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Values of the whole model's sites, with one draw of the discrete ones for each position."""
        return self.base.values_at(self._drawn(position, data)[0], data)

    def recorded(self, position: Unknowns, data: Mapping[str, Any]) -> Recorded:
        """Evaluate the whole model at that draw, without the log probability of the draw given the others."""
        pieces, log_prob = self._drawn(position, data)
        found = self.base.recorded_at(pieces, data)
        return without(found, log_prob)

    def means(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Values of the whole model's sites, with the most probable values of the discrete ones."""
        others = self.others(position)
        tables = tables_of(self.base, self.plan, others, data, every_site)
        places = most_probable(_contracted(self.plan, tables, largest).record)
        return self.base.values_at({**others, **choices_of(places, tables)}, data)

    def most_probable_at(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Find the values of the discrete sites that are the most probable together, given values of the others."""
        pieces = self._pieces_of(values, data)
        tables = tables_of(self.base, self.plan, pieces, data, every_site)
        places = most_probable(_contracted(self.plan, tables, largest).record)
        found = self.base.values_at({**pieces, **choices_of(places, tables)}, data)
        return {name: found[name] for name in self.plan.names}

    def probabilities_at(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Compute probabilities of the values of each discrete site given values of the others: `(*site, value)`."""
        tables = tables_of(self.base, self.plan, self._pieces_of(values, data), data, every_site)
        return probabilities_of(tables, self.plan)

    def beyond(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Estimate, by site that is summed up to a chosen value, the share of probability beyond it."""
        return self.drawn_once(self.others(position), dict(data), _numbers_of(position))[2]

    def positions(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Unconstrained pieces of the sites that are not discrete."""
        return self.base.positions(values, data)

    def non_finite(self, position: Unknowns, data: Mapping[str, Any]) -> dict[str, jax.Array]:
        """Count as the whole model does, at the smallest values."""
        return self.base.non_finite(position, data)

    def check_exact(self, data: Mapping[str, Any]) -> None:
        """Raise `SiteError` where tables are not the model's at an assignment taken at random."""
        at_once(check_assignment, self.base, self.plan, self.compare, in_memory(data))

    def _drawn(self, position: Unknowns, data: Mapping[str, Any]) -> tuple[dict[str, Any], jax.Array]:
        """Draw the discrete sites; return pieces of the whole model, and the log probability of the draw."""
        others = self.others(position)
        places, log_prob, _ = self.drawn_once(others, dict(data), _numbers_of(position))
        return {**others, **{name: EachAt(place) for name, place in places.items()}}, log_prob

    def _pieces_of(self, values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, jax.Array]:
        whole = {entry.name for entry in self.layout.whole}
        found = self.positions(values, data)
        return {name: each.astype(jnp.int32) if name in whole else each for name, each in found.items()}


def _terms(
    base: ModelProgram, plan: Plan, term: str, pieces: Mapping[str, Any], data: Mapping[str, Any], view: View
) -> dict[str, jax.Array]:
    tables = tables_of(base, plan, pieces, data, view)
    return {**tables.terms, term: _contracted(plan, tables, recorded=False).total}


def _beyond(
    base: ModelProgram, plan: Plan, tables: Tables, pieces: Mapping[str, Any], data: Mapping[str, Any]
) -> dict[str, jax.Array]:
    names = [name for name in plan.names if base.layout[name].upto is not None]
    if not names:
        return {}
    found = probabilities_of(tables, plan)
    with concrete(base.constants):
        sites = base.sites(pieces, data)
    return shares_beyond(sites, {name: found[name] for name in names})


def _contracted(plan: Plan, tables: Tables, reduce: Reduce = log_sum, *, recorded: bool = True) -> Contracted:
    dtype = next(iter(tables.tables.values())).entries.dtype
    return contract(tables.tables.values(), tables.owned, dict(plan.chains), reduce, dtype, recorded=recorded)


def _numbers_of(position: Unknowns) -> jax.Array:
    """Return all numbers of a position as floats."""
    free = free_of(position)
    whole = position.whole if isinstance(position, Position) else None
    return free if whole is None else jnp.concatenate([free, whole.astype(free.dtype)])
