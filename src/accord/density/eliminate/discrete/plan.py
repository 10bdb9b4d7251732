"""Find by tracing which discrete sites each log probability of a model depends on, and how many values these have."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ....core import precision as precision_scope
from ....core.errors import SiteError
from ....distributions.wrappers.entries import AbstractEntries
from ....language import Site
from ...dependence.provenance import arguments_seen
from ...latent import concrete
from ...program import ModelProgram, every_site
from ...quick import quickly
from ...support import AllAt, bounds_of, num_values
from .elsewhere import Facts, taken_of
from .lags import spans_of
from .plan_parts import Part, parts_of
from .table import Label, Taken, axes_of, check_size
from .trying import Trials


@dataclass(frozen=True)
class Plan:
    """How to sum the discrete sites out of a model.

    **Fields**
    - `sizes`: the discrete sites in the model's order, each with the largest number of its values.
    - `seen`: parts of sites that depend on any of them, each with those, at how many steps ago.
    - `chains`: sites whose steps depend on each other: how many steps ago are seen, below zero for steps to come.
    - `taken`: by part and discrete site that it does not see at its own place, which of its entries it sees.
    - `cost`: how many log probabilities of these parts the model has, and how many their tables have.
    """

    sizes: tuple[tuple[str, int], ...]
    seen: tuple[tuple[Part, tuple[Label, ...]], ...]
    chains: tuple[tuple[str, int], ...]
    taken: tuple[tuple[tuple[Part, str], Taken], ...]
    cost: tuple[int, int]

    @property
    def names(self) -> tuple[str, ...]:
        """The discrete sites."""
        return tuple(name for name, _ in self.sizes)

    def size(self, name: str) -> int:
        """The largest number of values of a site."""
        return dict(self.sizes)[name]


def plan_of(base: ModelProgram, names: tuple[str, ...], data: Mapping[str, Any], in_doubt: bool) -> Plan:
    """Plan for a model with its data, which are in memory.

    **Arguments**: `in_doubt`, whether to look for entries taken by an index where each could see that at its own place.

    **Raises** `SiteError` where the number of values is not known, is too large, or is zero.
    """
    seen, facts, fixed = _seen(base, names, data)
    sizes: dict[str, int] = {}
    for name in names:
        sizes[name] = fixed[name] if name in fixed else _size(base, name, names, sizes, data)
        if sizes[name] < 1:
            raise SiteError(
                f"site {name!r} has no value up to {base.layout[name].upto}, up to which `handlers.collapse` is to sum "
                "it. Sum further."
            )
    trials = Trials(base, names, data)
    spans = spans_of(base, sizes, seen, trials)
    taken = taken_of(sizes, seen, facts, set(spans), trials, in_doubt=in_doubt)
    labels = {
        part: tuple((name, lag) for name in there for lag in range(abs(spans.get((part, name), 0)) + 1))
        for part, there in seen.items()
    }
    chains: dict[str, int] = {}
    for (_, name), span in spans.items():
        chains[name] = max(chains.get(name, 0), span, key=abs)
    entries = {part: prod(axis[2] for axis in facts[part].axes) for part in seen}
    tables = {part: prod(sizes[name] for name, _ in labels[part]) * entries[part] for part in seen}
    return Plan(
        tuple(sizes.items()),
        tuple(labels.items()),
        tuple(chains.items()),
        tuple(taken.items()),
        (sum(entries.values()), sum(tables.values())),
    )


def _seen(
    base: ModelProgram, names: tuple[str, ...], data: Mapping[str, Any]
) -> tuple[dict[Part, tuple[str, ...]], dict[Part, Facts], dict[str, int]]:
    """Find the discrete sites that each part depends on, the axes of parts, and numbers of values that are fixed."""
    keys: list[Part] = []
    facts: dict[Part, Facts] = {}
    fixed: dict[str, int] = {}

    def look(given: Any, places: Mapping[str, Any]) -> dict[str, jax.Array]:
        with concrete(base.constants):
            sites = base.sites({**given[0], **{name: AllAt(places[name]) for name in names}}, given[1])
            found = [*parts_of(sites, every_site, places)]
            sizes = {name: _fixed_size(sites[name]) for name in names}
        fixed.update((name, size) for name, size in sizes.items() if size is not None)
        keys[:] = [part for part, _, _ in found]
        facts.update((part, _facts(part, site, entries)) for part, site, entries in found)
        return {str(number): entries for number, (_, _, entries) in enumerate(found)}

    with precision_scope.scope(base.precision):
        places = {name: jax.ShapeDtypeStruct((), np.dtype(np.int32)) for name in names}
        found = arguments_seen(look, (_unknowns(base), _shapes(data)), places)
    seen = {
        keys[int(number)]: tuple(n for n in names if n in there) for number, there in found.items() if there
    }
    return seen, facts, fixed


def _fixed_size(site: Site) -> int | None:
    """Count the values of a site where nothing has to be computed for that; else None."""
    low, high = bounds_of(site)
    if isinstance(low, Tracer) or isinstance(high, Tracer):
        return None
    return int(np.max(np.asarray(high) - np.asarray(low))) + 1


def _facts(part: Part, site: Site, entries: Any) -> Facts:
    own, shape, missing = site.distribution, jnp.shape(entries), None
    if isinstance(own, AbstractEntries) and part[1] == "entries":
        shape, missing = own.shape, np.asarray(own.index)
    return Facts(axes_of(shape, len(site.steps), site.plates), missing)


def _size(
    base: ModelProgram,
    name: str,
    names: tuple[str, ...],
    known: Mapping[str, int],
    data: Mapping[str, Any],
) -> int:
    """Count the values of a site, which depend on the data or on discrete sites before it."""

    def count(given: Any, places: Mapping[str, Any]) -> dict[str, jax.Array]:
        with concrete(base.constants):
            every = {other: AllAt(places.get(other, 0)) for other in names}
            others = jax.tree.map(jnp.asarray, given[0])
            sites = base.sites({**others, **every}, given[1])
            return {"count": jnp.max(num_values(sites[name]))}

    zeros = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), _unknowns(base))
    with precision_scope.scope(base.precision):
        free = {f"/{key}": each for key, each in _unknowns(base).items()}
        free |= {other: jax.ShapeDtypeStruct((), np.dtype(np.int32)) for other in known}

        def counted(rest: Any, free: Mapping[str, Any]) -> dict[str, jax.Array]:
            unknowns = {key[1:]: each for key, each in free.items() if key.startswith("/")}
            return count((unknowns, rest), {key: free[key] for key in known})

        seen = arguments_seen(counted, _shapes(data), free)["count"]
        if any(key.startswith("/") for key in seen):
            others = ", ".join(repr(key[1:]) for key in seen if key.startswith("/"))
            raise SiteError(
                f"site {name!r} cannot be summed out: how many values it has depends on {others}, which is "
                "sampled. Give it a support with fixed bounds, of which those outside have probability zero."
            )
        check_size([known[other] for other in seen], (), (name, *seen))
        places = [np.arange(known[other], dtype=np.int32) for other in seen]
        grid = [np.ravel(each) for each in np.meshgrid(*places, indexing="ij")]
        run = quickly(
            lambda data, grid: (
                jax.lax.map(
                    lambda each: count((zeros, data), dict(zip(seen, each, strict=True)))["count"], grid
                )
                if seen
                else count((zeros, data), {})["count"]
            )
        )
        return int(np.max(np.asarray(run(dict(data), tuple(grid)))))


def _unknowns(base: ModelProgram) -> dict[str, jax.ShapeDtypeStruct]:
    dtype = precision_scope.float_dtype(base.precision)
    kinds = [(base.layout.entries, dtype), (base.layout.whole, np.dtype(np.int32))]
    return {
        entry.name: jax.ShapeDtypeStruct(entry.unconstrained_shape, kind)
        for entries, kind in kinds
        for entry in entries
    }


def _shapes(data: Mapping[str, Any]) -> dict[str, jax.ShapeDtypeStruct]:
    return {name: jax.ShapeDtypeStruct(np.shape(each), each.dtype) for name, each in data.items()}
