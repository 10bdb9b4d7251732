"""Define tables of log probabilities: by values of discrete sites, and by entries along axes of plates and scans."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from ....core.errors import SiteError

T = TypeVar("T")

Axis = tuple[str, int, int]
"""An axis of entries: "step" with its number from the left, or "batch" with that from the right; and its size."""

Label = tuple[str, int]
"""A discrete site whose values a table runs over, and how many steps of its scan ago: 0 for those of this step."""

MAX_ENTRIES = 2**26
"""Entries of a table, beyond which it is not made."""


@dataclass(frozen=True)
class Table:
    """Log probabilities.

    **Fields**
    - `entries`: an axis for each of `labels`, then one for each of `axes`.
    - `scale`: factor on the logarithm of what the table is summed to; None is 1. Of shape `()`, or of the axes'.
    - `sites`: those that it was made from, for messages.
    """

    labels: tuple[Label, ...]
    axes: tuple[Axis, ...]
    entries: jax.Array
    scale: Any = None
    sites: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The discrete sites."""
        return ordered(name for name, _ in self.labels)

    @property
    def sizes(self) -> dict[Label, int]:
        """By label, how many values it runs over."""
        return dict(zip(self.labels, self.entries.shape, strict=False))

    def along(self, labels: Sequence[Label], axes: Sequence[Axis]) -> jax.Array:
        """Return the entries with these axes, which include its own; of size 1 where it has none."""
        there: list[Any] = [*self.labels, *self.axes]
        wanted: list[Any] = [*labels, *axes]
        order = [there.index(each) for each in wanted if each in there]
        shape = [self.entries.shape[there.index(each)] if each in there else 1 for each in wanted]
        return jnp.transpose(self.entries, order).reshape(shape)


def axes_of(shape: Sequence[int], num_steps: int) -> tuple[Axis, ...]:
    """Name the axes of an array whose first ones are steps, and whose others are a batch; without those of size 1."""
    num_batch = len(shape) - num_steps
    named = [("step", axis, size) for axis, size in enumerate(shape[:num_steps])]
    named += [("batch", axis - num_batch, size) for axis, size in enumerate(shape[num_steps:])]
    return tuple(axis for axis in named if axis[2] != 1)


def product(tables: Sequence[Table], first: Label | None = None) -> Table:
    """Multiply tables: add their logarithms; the label `first` comes first.

    **Raises** `SiteError` where the result is too large.
    """
    labels = ordered(label for table in tables for label in table.labels)
    labels = tuple(sorted(labels, key=lambda label: label != first))
    axes = ordered(axis for table in tables for axis in table.axes)
    sizes = {label: size for table in tables for label, size in table.sizes.items()}
    check_size([sizes[label] for label in labels], axes, ordered(name for name, _ in labels))
    arrays = [table.along(labels, axes) for table in tables]
    sites = ordered(site for table in tables for site in table.sites)
    entries = sum(arrays[1:], start=arrays[0])
    entries = jnp.broadcast_to(entries, (*(sizes[label] for label in labels), *(axis[2] for axis in axes)))
    return Table(labels, axes, entries, tables[0].scale, sites)


def check_size(sizes: Iterable[int], axes: Iterable[Axis], names: Collection[str]) -> None:
    """Raise `SiteError` for a table that would be too large."""
    values, entries = prod(sizes), prod(axis[2] for axis in axes)
    if values * entries > MAX_ENTRIES:
        along = f" for each of {entries:,} entries" if entries > 1 else ""
        raise SiteError(
            f"summing out {quoted(names)} needs their values in all combinations: {values:,}{along}, and "
            f"{MAX_ENTRIES:,} numbers are the most that are kept. Make them depend on fewer others, or write the sum "
            "out where it has a closed form."
        )


def ordered(items: Iterable[T]) -> tuple[T, ...]:
    """Return each item once, in the order of their first appearance."""
    return tuple(dict.fromkeys(items))


def quoted(names: Iterable[str]) -> str:
    """List names for a message."""
    return ", ".join(map(repr, names))
