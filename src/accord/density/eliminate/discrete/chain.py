"""Sum out sites whose steps depend on the steps before them, from the first step of their scan to the last.

What is known after a step is a table over the last values of these sites: the forward algorithm of hidden Markov
models. A site that sees two steps back has tables over two values, and so on.

**Source**: Rabiner (1989), Proceedings of the IEEE 77(2), section III.
"""

from collections.abc import Collection, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp

from ....core.errors import SiteError
from .sums import Reduce, summed_labels
from .table import Axis, Label, Table, ordered, product, quoted


@dataclass(frozen=True)
class Chain:
    """Record of a sum along a chain, from which its sites are drawn.

    **Fields**
    - `axis`: the steps. `is_reversed`: from the last step to the first.
    - `spans`: by site, how many steps ago are seen.
    - `tables`: of one step, in the order in which their first labels were summed out; each has the steps as its last
      axis.
    """

    axis: Axis
    is_reversed: bool
    spans: Mapping[str, int]
    tables: tuple[Table, ...]


def along_chain(
    tables: Sequence[Table],
    inner: Collection[str],
    spans: Mapping[str, int],
    reduce: Reduce,
    record: MutableSequence[Any] | None,
) -> Table:
    """Sum the `inner` sites out of tables of the same axes; return what is left, without the axis of the steps.

    **Arguments**: `spans`, by site of a chain, how many steps before it are seen; below zero for the steps after it.
    `record`, to which what was summed is added, or None.

    **Raises** `SiteError` where chains run in both directions.
    """
    is_reversed = any(span < 0 for span in spans.values())
    if is_reversed and any(span > 0 for span in spans.values()):
        raise SiteError(
            f"{quoted(spans)} cannot be summed out: some depend on the step before them and some on the step after, so "
            "that there is no first step to begin with. Write one scan."
        )
    lengths = {name: abs(span) for name, span in spans.items()}
    (axis,) = {axis for table in tables for axis in table.axes if axis[0] == "step" and axis[1] == 0}
    steps = [_steps_last(table, axis) for table in _merged(tables)]
    sizes = {label: size for table in tables for label, size in table.sizes.items()}
    state = [(name, lag) for name, length in lengths.items() for lag in range(1, length + 1)]
    outer = ordered(label for table in tables for label in table.labels if label[0] not in inner)
    axes = ordered(each for table in steps for each in table.axes)
    seen: list[tuple[tuple[Label, ...], tuple[Axis, ...]]] = []

    def step(known: jax.Array, entries: list[jax.Array]) -> tuple[jax.Array, list[jax.Array]]:
        there = [replace(table, entries=each) for table, each in zip(steps, entries, strict=True)]
        before = Table((*state, *outer), axes, known)
        found: list[Table] = []
        left = summed_labels(
            [*there, before],
            lambda label: label[0] in inner and label[1] == lengths.get(label[0], 0),
            reduce,
            found,
        )
        shifted = [(name, lag - 1) for name, lag in state]
        seen[:] = [(each.labels, each.axes) for each in found]
        kept = [] if record is None else [each.entries for each in found]
        return left.along((*shifted, *outer), axes), kept

    sizes_of = [*(sizes[name, 0] for name, _ in state), *(sizes[label] for label in outer)]
    start = _first_alone(
        [sizes[name, 0] for name, _ in state], sizes_of, [each[2] for each in axes], steps[0]
    )
    stacked = [jnp.moveaxis(table.entries, -1, 0) for table in steps]
    known, kept = jax.lax.scan(step, start, stacked, reverse=is_reversed)
    sites = ordered(site for table in tables for site in table.sites)
    last = Table(tuple((name, lag - 1) for name, lag in state) + outer, axes, known, tables[0].scale, sites)
    ends: list[Table] = []
    rest = summed_labels([last], lambda label: label[0] in inner, reduce, ends)
    if record is not None:
        of_steps = tuple(
            Table(labels, (*own, axis), jnp.moveaxis(entries, 0, -1), None, sites)
            for (labels, own), entries in zip(seen, kept, strict=True)
        )
        record += [Chain(axis, is_reversed, lengths, of_steps), *ends]
    return rest


def _merged(tables: Sequence[Table]) -> list[Table]:
    """Multiply tables into those that know all their sites, for all steps at once: the fewer are left to each step."""
    found: list[Table] = []
    for table in sorted(tables, key=lambda table: -len(table.labels)):
        known = next((each for each in found if set(table.labels) <= set(each.labels)), None)
        if known is None:
            found.append(table)
        else:
            found[found.index(known)] = product([known, table])
    return found


def _steps_last(table: Table, axis: Axis) -> Table:
    """Return a table of one step, whose entries have the steps as their last axis beyond its own."""
    axes = tuple(each for each in table.axes if each != axis)
    return replace(table, axes=axes, entries=table.along(table.labels, (*axes, axis)))


def _first_alone(state: Sequence[int], sizes: Sequence[int], axes: Sequence[int], like: Table) -> jax.Array:
    """Return what is known before the first step, which sees none: one state, whichever, has probability 1."""
    dtype = like.entries.dtype
    start = jnp.full(tuple(state), -jnp.inf, dtype).at[(0,) * len(state)].set(0)
    start = start.reshape((*state, *(1 for _ in range(len(sizes) - len(state) + len(axes)))))
    return jnp.broadcast_to(start, (*sizes, *axes))
