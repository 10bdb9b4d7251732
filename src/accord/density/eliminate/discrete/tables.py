"""Make tables of a model's log probabilities by the values of its discrete sites.

The model is traced once, as a function of one value for each of them, and each log probability is mapped by `vmap` over
the values of the sites that it depends on: the model's code sees one value at a time. Where steps of a chain see each
other, it runs once more for each set of sites, with values that the steps have in turn.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from ....core.needed import only
from ....distributions.wrappers.entries import AbstractEntries
from ....language import Site
from ...latent import concrete
from ...layout import Layout
from ...program import ModelProgram, View
from ...reduction import total
from ...support import AllAt, EachAt
from .contract import Axes
from .plan import Plan
from .plan_parts import Part, parts_of
from .table import Axis, Label, Place, Table, Taken, axes_of, check_size, from_the_left, ordered


@dataclass(frozen=True)
class Tables:
    """Terms and tables that a model's log density is made of.

    **Fields**
    - `terms`: of sites that depend on no discrete one, each of shape `()`.
    - `tables`: of the others. `own`: by discrete site, the axes of its entries, from left to right.
    - `shapes`: by discrete site, its steps and its batch shape; of a site that is observed in part, that of all its
      entries. `index`: which of these it is.
    """

    terms: dict[str, jax.Array]
    tables: dict[Part, Table]
    own: dict[str, tuple[Axis, ...]]
    shapes: dict[str, tuple[int, ...]]
    index: dict[str, Any]

    @property
    def owned(self) -> dict[str, Axes]:
        """The axes by discrete site, in no order."""
        return {name: frozenset(axes) for name, axes in self.own.items()}


def tables_of(
    base: ModelProgram, plan: Plan, pieces: Mapping[str, Any], data: Mapping[str, Any], view: View
) -> Tables:
    """Evaluate a model for all values of its discrete sites, with the other unknowns at these unconstrained values.

    **Raises** `SiteError` for a table that is too large.
    """
    seen = dict(plan.seen)

    def run(places: Mapping[str, Any]) -> dict[Any, tuple[Site, jax.Array]]:
        every = {name: places.get(name, jnp.int32(0)) for name in plan.names}
        choices = {name: EachAt(place) if jnp.ndim(place) else AllAt(place) for name, place in every.items()}
        sites = base.sites({**pieces, **choices}, data)
        return {part: (site, entries) for part, site, entries in parts_of(sites, view, every)}

    with concrete(base.constants):
        first = run({})
        terms: dict[str, jax.Array] = {}
        for (name, part), (site, entries) in first.items():
            if (name, part) not in seen:
                entries = entries if site.scale is None or part == "jacobian" else entries * site.scale
                terms[name] = terms[name] + total(entries) if name in terms else total(entries)
        found = Tables(terms, {}, {}, {}, {})
        apart = _Apart.of(run, plan, [part for part in first if part in seen and not _is_in_turn(seen[part])])
        for labels in dict.fromkeys(seen[part] for part in first if part in seen):
            parts = [part for part in first if seen.get(part) == labels]
            for part in parts:
                shape = jnp.shape(first[part][1])
                names = [name for name, _ in labels]
                check_size([plan.size(name) for name in names], axes_of(shape, 0, ()), ordered(names))

            def of_values(*places: Any, labels: Any = labels, parts: Any = parts) -> list[jax.Array]:
                if not _is_in_turn(labels):
                    return apart(parts, dict(zip((name for name, _ in labels), places, strict=True)))
                there = run(_in_turn(labels, places, plan, base.layout))
                return [there[part][1] for part in parts]

            for number in reversed(range(len(labels))):
                of_values = jax.vmap(of_values, [0 if i == number else None for i in range(len(labels))])
            arrays = of_values(*(jnp.arange(plan.size(name), dtype=jnp.int32) for name, _ in labels))
            for part, array in zip(parts, arrays, strict=True):
                array = _by_lag(labels, array, plan)
                taken = {name: seen for (where, name), seen in plan.taken if where == part}
                found.tables[part] = _table(part, first[part][0], labels, array, taken, found)
    return found


def raised_of(tables: Tables) -> list[Table]:
    """Return tables of sites that are unknowns, each to the power of its scale. What is impossible stays so."""

    def raised(table: Table) -> Table:
        if table.scale is None:
            return table
        entries = jnp.where(table.entries == -jnp.inf, -jnp.inf, table.entries * table.scale)
        return replace(table, entries=entries.astype(table.entries.dtype), scale=None)

    return [*map(raised, tables.tables.values())]


def choices_of(places: Mapping[str, Place], tables: Tables) -> dict[str, EachAt]:
    """Make choices of places that each site has along its axes, of the shape of the sites."""
    found = {}
    for name, (axes, place) in places.items():
        shape = tables.shapes[name]
        place = Table((), axes, place).along((), sorted(axes, key=from_the_left)).reshape(shape)
        if name in tables.index:
            place = place.reshape(-1)[tables.index[name]]
        found[name] = EachAt(place)
    return found


def place_of(name: str, choice: EachAt, tables: Tables) -> Place:
    """Return the places of a site along its axes, from a choice; the inverse of `choices_of`."""
    place, missing = choice.index, tables.index.get(name)
    if missing is not None:  # of an entry that is observed there is the first value alone
        size = int(np.prod(tables.shapes[name]))
        place = jnp.zeros(size, jnp.int32).at[missing].set(place.reshape(-1))
    axes = tables.own[name]
    return axes, place.reshape([axis[2] for axis in axes])


@dataclass(frozen=True)
class _Apart:
    """Log probabilities as functions of one value for each discrete site, each with what it needs alone.

    To run a model of many sites for each set of them would take as long as the square of their number.
    """

    closed: ClosedJaxpr
    names: tuple[str, ...]
    parts: tuple[Part, ...]

    @staticmethod
    def of(run: Callable[..., Any], plan: Plan, parts: Sequence[Part]) -> "_Apart":
        """Trace a run of the model for these parts."""

        def entries(*places: Any) -> list[jax.Array]:
            there = run(dict(zip(plan.names, places, strict=True))) if parts else {}
            return [there[part][1] for part in parts]

        closed = jax.make_jaxpr(entries)(*[jax.ShapeDtypeStruct((), np.int32)] * len(plan.names))
        return _Apart(closed, plan.names, tuple(parts))

    def __call__(self, parts: Sequence[Part], places: Mapping[str, Any]) -> list[jax.Array]:
        """Evaluate some of them, with these values of sites; others have no effect."""
        wanted = only(self.closed, [part in parts for part in self.parts], keeps_effects=False)
        none = jnp.int32(0)
        found = jaxpr_as_fun(wanted)(*(places.get(name, none) for name in self.names))
        by_part = dict(zip((part for part in self.parts if part in parts), found, strict=True))
        return [by_part[part] for part in parts]


def _is_in_turn(labels: Sequence[Label]) -> bool:
    """Return whether several steps of one site are seen, so that its steps must have values in turn."""
    return len({name for name, _ in labels}) < len(labels)


def _in_turn(labels: Sequence[Label], places: Sequence[Any], plan: Plan, layout: Layout) -> dict[str, Any]:
    """Choose values of sites; where some steps are seen, the steps of a site have its values in turn."""
    found: dict[str, Any] = {}
    for name in ordered(name for name, _ in labels):
        own = [place for (each, _), place in zip(labels, places, strict=True) if each == name]
        if len(own) == 1:
            found[name] = own[0]
            continue
        entry = layout[name]
        turn = jnp.arange(entry.shape[0]) % len(own)
        steps = jnp.stack(own)[turn]
        # Its other axes may be shorter here than in the layout, where a part of the rows is evaluated.
        found[name] = steps.reshape((-1,) + (1,) * (len(entry.shape) - 1))
    return found


def _by_lag(labels: Sequence[Label], array: jax.Array, plan: Plan) -> jax.Array:
    """Turn axes of the values that steps have in turn into axes of the values that each step sees, by steps ago."""
    chains = dict(plan.chains)
    for name in ordered(name for name, _ in labels):
        axes = [number for number, (each, _) in enumerate(labels) if each == name]
        if len(axes) == 1:
            continue
        sign = 1 if chains[name] > 0 else -1
        at = len(labels)  # the axis of the steps
        turn = jnp.arange(array.shape[at]) % len(axes)
        result = array
        for first in range(len(axes)):
            order = list(range(array.ndim))
            for lag, axis in enumerate(axes):
                order[axis] = axes[(first - sign * lag) % len(axes)]
            is_here = (turn == first).reshape((-1,) + (1,) * (array.ndim - at - 1))
            result = jnp.where(is_here, jnp.transpose(array, order), result)
        array = result
    return array


def _table(
    part: Part,
    site: Site,
    labels: tuple[Label, ...],
    array: jax.Array,
    taken: Mapping[str, Taken],
    found: Tables,
) -> Table:
    name, kind = part
    first = len(labels)
    if (name, 0) in labels and kind == "entries":
        entries = site.distribution
        if isinstance(entries, AbstractEntries):
            array = _in_all_entries(entries, array, labels.index((name, 0)))
            found.index[name] = entries.index
        found.shapes[name] = array.shape[first:]
        found.own[name] = axes_of(array.shape[first:], len(site.steps), site.plates)
    shape = array.shape[first:]
    axes = axes_of(shape, len(site.steps), site.plates)
    if taken:
        axes = next(iter(taken.values())).axes
    array = array.reshape((*array.shape[:first], *(axis[2] for axis in axes)))
    scale = by = None if kind == "jacobian" else site.scale
    if scale is not None and jnp.ndim(scale):
        scale = jnp.broadcast_to(scale, shape).reshape([axis[2] for axis in axes])
    return Table(labels, axes, array, scale, (name,), taken, by)


def _in_all_entries(entries: AbstractEntries, array: jax.Array, number: int) -> jax.Array:
    """Put a table of missing entries in its place among all: an entry that is observed has its first value alone."""
    array = jnp.moveaxis(array, number, 0)
    size = int(np.prod(entries.shape))
    is_first = jnp.arange(array.shape[0]).reshape((-1,) + (1,) * (array.ndim - 1)) == 0
    whole = jnp.broadcast_to(jnp.where(is_first, 0.0, -jnp.inf), (*array.shape[:-1], size)).astype(
        array.dtype
    )
    whole = whole.at[..., entries.index].set(array)
    whole = jnp.moveaxis(whole, 0, number)
    return whole.reshape((*whole.shape[:-1], *entries.shape))
