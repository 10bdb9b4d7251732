"""Define tables of log probabilities: by values of discrete sites, and by entries along axes of plates and scans."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from ....core.errors import SiteError
from ....language.site import Frame

T = TypeVar("T")

Axis = tuple[str, int, int]
"""An axis of entries: "step" with its number from the left, or a plate (or "batch") with that from the right; size."""

Label = tuple[str, int]
"""A discrete site whose values a table runs over, and how many steps of its scan ago: 0 for those of this step."""

Place = tuple[tuple[Axis, ...], jax.Array]
"""The axes of a site, and the number of its value in the support for each entry along them."""

MAX_ENTRIES = 2**26
"""Entries of a table, beyond which it is not made."""


@dataclass(frozen=True)
class Taken:
    """Which entry of a site each entry of a table sees, where it is not the one at its own place.

    **Fields**: `index`, by entry along `axes`, the number of the site's entry.
    """

    axes: tuple[Axis, ...]
    index: np.ndarray

    def along(self, axes: Sequence[Axis]) -> np.ndarray:
        """Return the numbers along these axes, flat."""
        sizes = [axis[2] for axis in axes]
        order = [self.axes.index(axis) for axis in axes if axis in self.axes]
        shape = [size if axis in self.axes else 1 for axis, size in zip(axes, sizes, strict=True)]
        return np.broadcast_to(np.transpose(self.index, order).reshape(shape), sizes).reshape(-1)

    def __eq__(self, other: object) -> bool:
        """Return whether the entries are the same."""
        return (
            isinstance(other, Taken) and self.axes == other.axes and np.array_equal(self.index, other.index)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Table:
    """Log probabilities.

    **Fields**
    - `entries`: an axis for each of `labels`, then one for each of `axes`.
    - `scale`: factor on the logarithm of what the table is summed to; None is 1. Of shape `()`, or of the axes'.
    - `sites`: those that it was made from, for messages.
    - `taken`: by discrete site that is not seen at its own place, which entries of it.
    - `scaled_by`: the scale as the model has it, by which tables that are scaled alike are recognised while traced.
    """

    labels: tuple[Label, ...]
    axes: tuple[Axis, ...]
    entries: jax.Array
    scale: Any = None
    sites: tuple[str, ...] = ()
    taken: Mapping[str, Taken] = field(default_factory=dict)
    scaled_by: Any = None

    @property
    def names(self) -> tuple[str, ...]:
        """The discrete sites."""
        return ordered(name for name, _ in self.labels)

    @property
    def sizes(self) -> dict[Label, int]:
        """Number of values, by label."""
        return dict(zip(self.labels, self.entries.shape, strict=False))

    def along(self, labels: Sequence[Label], axes: Sequence[Axis]) -> jax.Array:
        """Return the entries with these axes, which include its own; of size 1 where it has none."""
        there: list[Any] = [*self.labels, *self.axes]
        wanted: list[Any] = [*labels, *axes]
        order = [there.index(each) for each in wanted if each in there]
        shape = [self.entries.shape[there.index(each)] if each in there else 1 for each in wanted]
        return jnp.transpose(self.entries, order).reshape(shape)


def axes_of(shape: Sequence[int], num_steps: int, plates: Iterable[Frame]) -> tuple[Axis, ...]:
    """Name the axes of an array whose first ones are steps, and whose others are a batch; without those of size 1."""
    num_batch = len(shape) - num_steps
    kinds = {frame.dim: f"plate {frame.name!r}" for frame in plates if frame.dim}
    named = [("step", axis, size) for axis, size in enumerate(shape[:num_steps])]
    for axis, size in enumerate(shape[num_steps:]):
        named.append((kinds.get(axis - num_batch, "batch"), axis - num_batch, size))
    return tuple(axis for axis in named if axis[2] != 1)


def from_the_left(axis: Axis) -> tuple[bool, int]:
    """Sort axes in the order in which an array has them."""
    kind, place, _ = axis
    return kind != "step", place


def product(tables: Sequence[Table], first: Label | None = None) -> Table:
    """Multiply tables: add their logarithms; the label `first` comes first.

    **Raises** `SiteError` where the result is too large, or where one sees a site at other places than another.
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
    taken = {name: found for table in tables for name, found in table.taken.items()}
    for table in tables:
        for name in taken.keys() & set(table.names):
            if table.taken.get(name) != taken[name]:
                raise interacting((name,), sites)
    return Table(labels, axes, entries, tables[0].scale, sites, taken, tables[0].scaled_by)


def interacting(names: Sequence[str], sites: Sequence[str]) -> SiteError:
    """Build the error for sites of which several entries meet in one log probability."""
    return SiteError(
        f"{quoted(names)} cannot be summed out: a log probability of {quoted(sites)} changes with several entries of "
        f"it, so that entries would have to be summed over together. Each entry of {quoted(sites)} may see one entry "
        "of it: that at its own place of the plates, or one that is taken by an index from the data; no sum, sort or "
        "cumulative sum over them."
    )


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
