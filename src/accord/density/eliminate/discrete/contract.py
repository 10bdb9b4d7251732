"""Sum a product of tables over the values of all discrete sites, plate by plate.

A site is summed out once all tables that know it have just its axes; what is left along a plate is then multiplied.

**Source**: tensor variable elimination, Obermeyer et al. (2019), ICML, algorithm 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ....core.errors import SiteError
from .chain import Chain, along_chain
from .sums import Reduce, summed
from .table import Axis, Table, from_the_left, interacting, ordered, quoted

Axes = frozenset[Axis]


@dataclass(frozen=True)
class Contracted:
    """Result of a sum over all discrete sites.

    **Fields**
    - `total`: the logarithm of the sum, shape `()`.
    - `record`: what sites were summed out of, in this order: tables of which the site is the first label, and chains.
    """

    total: jax.Array
    record: tuple[Table | Chain, ...]


def contract(
    tables: Iterable[Table],
    own: Mapping[str, Axes],
    chains: Mapping[str, int],
    reduce: Reduce,
    dtype: Any,
    *,
    recorded: bool,
) -> Contracted:
    """Sum all sites out of a product of tables.

    **Arguments**: `own`, by site, the axes of its entries; `chains`, by site whose steps depend on each other, how many
    steps ago is seen, below zero in a scan from the last step to the first; `recorded`, whether to keep what chains
    were summed out of.

    **Raises** `SiteError` where entries of a site meet in one number, where the sum has no such order, and where what
    is summed together is scaled differently.
    """
    left = list(tables)
    check_entries(left, own)
    total = jnp.zeros((), dtype)
    record: list[Table | Chain] = []
    while left:
        leaf = _leaf(left, own)
        here = [table for table in left if frozenset(table.axes) == leaf]
        left = [table for table in left if frozenset(table.axes) != leaf]
        inner = {name for name in own if own[name] == leaf}
        for component in _components(here, inner):
            _check_scales(component)
            linked = {name: chains[name] for table in component for name in table.names if name in chains}
            linked = {name: span for name, span in linked.items() if name in inner}
            if linked:
                elsewhere = [name for table in component for name in table.taken]
                if elsewhere:
                    raise interacting(ordered(elsewhere), ordered(s for t in component for s in t.sites))
                for table in component:
                    _check_one_scale(table)
                rest = along_chain(component, inner, linked, reduce, record if recorded else None)
            else:
                rest = summed(component, inner, reduce, record)
            if not rest.labels:
                total = total + _scaled(rest).sum()
                continue
            outer: Axes = frozenset().union(*(own[name] for name in rest.names))
            if outer == leaf:
                raise _intractable(rest, own)
            left.append(_put_in_place(rest, own) if rest.taken else _multiplied(rest, outer))
    return Contracted(total, tuple(record))


def _leaf(tables: Sequence[Table], own: Mapping[str, Axes]) -> Axes:
    """Find axes whose sites are known to no table of other axes; the most, and the same ones each time."""
    every = {frozenset(table.axes) for table in tables}
    known = {
        axes: {name for table in tables if frozenset(table.axes) != axes for name in table.names}
        for axes in every
    }
    free = [axes for axes in every if not any(own[name] == axes for name in known[axes])]
    if not free:
        sites = ordered(site for table in tables for site in table.sites)
        raise interacting(ordered(name for table in tables for name in table.taken), sites)
    return max(free, key=lambda axes: (len(axes), sorted(axes)))


def _components(tables: Sequence[Table], inner: set[str]) -> list[list[Table]]:
    """Split tables of the same axes into those that share sites which are summed out here."""
    components: list[tuple[set[str], list[Table]]] = []
    for table in tables:
        names = inner & set(table.names)
        joined = [each for each in components if each[0] & names]
        apart = [each for each in components if not each[0] & names]
        merged = (names.union(*(each[0] for each in joined)), [*(t for _, ts in joined for t in ts), table])
        components = [*apart, merged]
    return [found for _, found in components]


def _multiplied(table: Table, outer: Axes) -> Table:
    """Multiply along the axes that none of the sites left has."""
    gone = [i for i, axis in enumerate(table.axes) if axis not in outer]
    _check_one_scale(table)
    first = len(table.labels)
    return replace(
        table,
        axes=tuple(axis for axis in table.axes if axis in outer),
        entries=table.entries.sum(axis=tuple(first + i for i in gone)),
    )


def _check_one_scale(table: Table) -> None:
    if table.scale is not None and np.ndim(table.scale):
        raise SiteError(
            f"sites {quoted(table.sites)} are scaled by an array, and {quoted(table.names)}, which they depend on, is "
            "summed out: its sum has one scale. Scale the whole model by one number."
        )


def _put_in_place(table: Table, own: Mapping[str, Axes]) -> Table:
    """Multiply what sees the same entry of a site, where these are at other places: its axes are the site's."""
    first = next(iter(table.taken))
    axes = tuple(sorted(own[first], key=from_the_left))
    for name in table.names:
        is_alike = table.taken.get(name) == table.taken[first] and own[name] == own[first]
        if own[name] and not is_alike:
            raise _intractable(table, own)
    _check_one_scale(table)
    sizes = table.entries.shape[: len(table.labels)]
    index = table.taken[first].along(table.axes)
    flat = table.entries.reshape(*sizes, -1)
    if not np.array_equal(index, np.arange(prod(axis[2] for axis in axes))):
        flat = jnp.zeros((*sizes, prod(axis[2] for axis in axes)), flat.dtype).at[..., index].add(flat)
    return replace(table, axes=axes, entries=flat.reshape(*sizes, *(axis[2] for axis in axes)), taken={})


def _scaled(table: Table) -> jax.Array:
    return table.entries if table.scale is None else table.entries * table.scale


def _check_scales(tables: Sequence[Table]) -> None:
    first = tables[0]
    is_summed = any(table.labels for table in tables)
    for table in tables[1:]:
        if is_summed and not _are_scaled_alike(first, table):
            raise SiteError(
                f"sites {quoted(ordered((*first.sites, *table.sites)))} depend on the same discrete unknowns, which "
                "are summed out, and are scaled differently: the sum of scaled probabilities would be none of a "
                "model. Put the whole model into one `handlers.scale`, or leave it out. A plate with a "
                "`subsample_size` scales too: have all of these sites inside of it, or let it take all of its entries."
            )


def _are_scaled_alike(first: Table, table: Table) -> bool:
    one, other = first.scale, table.scale
    if one is other:
        return True
    if one is None or other is None:
        return False
    if isinstance(one, Tracer) or isinstance(other, Tracer):
        # Each was broadcast to axes of its own; where these are the same, so is one array of the data.
        return first.scaled_by is table.scaled_by and first.axes == table.axes
    return bool(np.array_equal(one, other))


def check_entries(tables: Iterable[Table], own: Mapping[str, Axes]) -> None:
    """Raise `SiteError` for a table that lacks an axis of a site that it depends on."""
    for table in tables:
        for name in table.names:
            if name not in table.taken and not own[name] <= set(table.axes):
                raise interacting((name,), table.sites)


def _intractable(table: Table, own: Mapping[str, Axes]) -> SiteError:
    along = " and ".join(
        f"{name!r} (axes {', '.join(f'{kind} {place}' for kind, place, _ in sorted(own[name]))})"
        for name in table.names
    )
    return SiteError(
        f"{along} cannot be summed out: {quoted(table.sites)} ties each entry of one to each entry of the other, so "
        "that all of them would have to be summed over together. Sum out one of them in the model, or observe it."
    )
