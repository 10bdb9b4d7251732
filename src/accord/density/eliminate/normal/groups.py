"""Put the entries of some sites into groups that share nothing once all other unknowns are known."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from ...layout import Entry


@dataclass(frozen=True)
class Groups:
    """The entries of some sites as an array of shape `(num, size)`: as many groups, of as many entries each.

    **Fields**
    - `sites`: names and shapes.
    - `axes`: by site, the axes along which the groups are, such as those of a plate that all sites are in; none of
      them make one group. None in place of all is each entry by itself.
    """

    sites: tuple[tuple[str, tuple[int, ...]], ...]
    axes: tuple[tuple[int, ...], ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sites."""
        return tuple(name for name, _ in self.sites)

    @property
    def num_entries(self) -> int:
        """The number of entries of all sites together."""
        return sum(math.prod(shape) for _, shape in self.sites)

    @property
    def num(self) -> int:
        """The number of groups."""
        if self.axes is None:
            return self.num_entries
        return math.prod(self._shape_of_groups)

    @property
    def size(self) -> int:
        """The number of entries of a group."""
        return self.num_entries // max(self.num, 1)

    def part(self, shapes: Mapping[str, tuple[int, ...]]) -> "Groups":
        """Return the groups of some of the sites, which may have fewer rows."""
        which = [place for place, name in enumerate(self.names) if name in shapes]
        axes = None if self.axes is None else tuple(self.axes[place] for place in which)
        return Groups(tuple((self.names[place], shapes[self.names[place]]) for place in which), axes)

    def are_along(self, rows: Mapping[str, int]) -> bool:
        """Return whether no group has entries of two rows, which are along these axes of some sites."""
        every = {} if self.axes is None else dict(zip(self.names, self.axes, strict=True))
        return all(rows[name] in axes for name, axes in every.items() if name in rows)

    def stack(self, arrays: Mapping[str, jax.Array]) -> jax.Array:
        """Put the sites' arrays into one, shape `(num, size)`."""
        if self.axes is None:
            return jnp.concatenate([jnp.ravel(arrays[name]) for name in self.names])[:, None]
        ahead = range(len(self._shape_of_groups))
        rows = [
            jnp.moveaxis(arrays[name], axes, ahead).reshape(self.num, -1)
            for name, axes in zip(self.names, self.axes, strict=True)
        ]
        return jnp.concatenate(rows, axis=1)

    def unstack(self, stacked: jax.Array) -> dict[str, jax.Array]:
        """Split that array into the sites' arrays by name."""
        ends = list(itertools.accumulate(math.prod(shape) for _, shape in self.sites))
        starts = [0, *ends[:-1]]
        if self.axes is None:
            flat = stacked.reshape(-1)
            parts = map(lambda start, end: jax.lax.slice_in_dim(flat, start, end), starts, ends)
            return {name: part.reshape(shape) for (name, shape), part in zip(self.sites, parts, strict=True)}
        groups = self._shape_of_groups
        found: dict[str, jax.Array] = {}
        for (name, shape), axes, start, end in zip(self.sites, self.axes, starts, ends, strict=True):
            part = jax.lax.slice_in_dim(stacked, start // self.num, end // self.num, axis=1)
            rest = tuple(size for axis, size in enumerate(shape) if axis not in axes)
            found[name] = jnp.moveaxis(part.reshape(*groups, *rest), range(len(groups)), axes)
        return found

    @property
    def _shape_of_groups(self) -> tuple[int, ...]:
        if self.axes is None:
            return (self.num_entries,)
        (_, shape), axes = self.sites[0], self.axes[0]
        return tuple(shape[axis] for axis in axes)


def possible_groups(entries: Sequence[Entry]) -> list[Groups]:
    """List all ways to group sites by dims that they share, from small groups to one of all entries."""
    sites = tuple((entry.name, entry.unconstrained_shape) for entry in entries)

    def sizes(entry: Entry) -> dict[str, int]:
        return dict(zip(entry.dims, entry.shape, strict=True))

    first, *others = map(sizes, entries)
    common = [dim for dim, size in first.items() if all(other.get(dim) == size for other in others)]
    found = [Groups(sites)]
    for count in range(len(common) + 1):
        for dims in itertools.combinations(common, count):
            found.append(Groups(sites, tuple(tuple(map(entry.dims.index, dims)) for entry in entries)))
    # Of those with entries by themselves, the first does.
    return sorted((each for each in found if each is found[0] or each.size > 1), key=lambda each: each.size)
