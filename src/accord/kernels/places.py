"""Say where the sites of a model lie in the vectors of a position, and cut parts out of them.

Kernels that treat sites apart are placed before a run: this is all that they are told of a model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.errors import OptionError, suggest
from ..core.position import Position
from .point import Point

Bounds = tuple[int | None, int | None]
"""Least and largest value of a whole number; None where there is none, or where other unknowns decide."""

Spans = tuple[tuple[int, int], ...]
"""Ranges of a vector, each from its first number up to the one before its second."""


@dataclass(frozen=True)
class Place:
    """Where a site lies: `start` to `stop` of the free or, if `is_whole`, of the whole numbers of a position.

    `bounds`: of whole numbers, those of each; None for a site whose values are bound to each other, as counts with a
    given sum, so that none can change alone.
    """

    name: str
    start: int
    stop: int
    is_whole: bool = False
    bounds: tuple[Bounds, ...] | None = ()


@dataclass(frozen=True)
class AtOnce:
    """Discrete sites that can be drawn at once, given all others. **Fields**: `names`; `redraw`, as of `Tabled`."""

    names: tuple[str, ...]
    redraw: Any = field(compare=False, repr=False)


@dataclass(frozen=True)
class Part:
    """Some numbers of a position: spans of the free and of the whole ones, as a position of their own.

    **Fields**: `free` and `whole`, spans in increasing order; `num_free` and `num_whole`, how many numbers the whole
    position has.
    """

    free: Spans
    whole: Spans
    num_free: int
    num_whole: int

    @property
    def dim(self) -> int:
        """Number of free numbers of the part."""
        return _length(self.free)

    @property
    def has_all_free(self) -> bool:
        """Return whether it has all free numbers of a position."""
        return self.dim == self.num_free

    def columns(self) -> np.ndarray:
        """Return the indices of its free numbers, shape `(dim,)`."""
        return np.concatenate([np.zeros(0, int), *(np.arange(*span) for span in self.free)])

    def position(self, position: Position) -> Position:
        """Cut the part out of a position; NumPy or JAX."""
        free = _cut(position.free, self.free, self.num_free)
        if not self.whole:
            return Position(free)
        assert position.whole is not None
        return Position(free, _cut(position.whole, self.whole, self.num_whole))

    def point(self, point: Point) -> Point:
        """Cut the part out of a point: its gradient is that by the free numbers of the part."""
        gradient = _cut(point.gradient, self.free, self.num_free)
        return Point(self.position(point.position), point.log_density, gradient)

    def put(self, position: Position, new: Position) -> Position:
        """Return a position with another part."""
        free = _put(position.free, self.free, new.free, self.num_free)
        if not self.whole:
            return replace(position, free=free)
        return Position(free, _put(position.whole, self.whole, new.whole, self.num_whole))

    def put_point(self, point: Point, new: Point) -> Point:
        """Return a point with another part; its gradient is as of before where the part has none."""
        gradient = _put(point.gradient, self.free, new.gradient, self.num_free)
        return Point(self.put(point.position, new.position), new.log_density, gradient)


@dataclass(frozen=True)
class Places:
    """All unknowns of a target, in the order of a position. Hashable.

    **Fields**: `sites`; `known_as`, other names that settle one of them, such as that of a site which is
    reparameterised, each with the site; `tabled`, sets of discrete sites that are better drawn at once; `series`, names
    of the states of a series and of the sites where it begins, for a kernel that `needs_series`.
    """

    sites: tuple[Place, ...]
    known_as: tuple[tuple[str, str], ...] = ()
    tabled: tuple[AtOnce, ...] = ()
    series: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Place]:
        return iter(self.sites)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the sites."""
        return tuple(each.name for each in self.sites)

    @property
    def free(self) -> tuple[Place, ...]:
        """Sites of free numbers."""
        return tuple(each for each in self.sites if not each.is_whole)

    @property
    def whole(self) -> tuple[Place, ...]:
        """Sites of whole numbers."""
        return tuple(each for each in self.sites if each.is_whole)

    @property
    def tabled_numbers(self) -> tuple[int, ...]:
        """Which whole numbers of a position are drawn at once."""
        names = {name for each in self.tabled for name in each.names}
        return tuple(n for each in self.whole if each.name in names for n in range(each.start, each.stop))

    def resolved(self, owner: str, name: str) -> str:
        """Return the site that a name settles. Raises `OptionError`, which begins with `owner`, where it is none."""
        known: Mapping[str, str] = {**dict(self.known_as), **{each: each for each in self.names}}
        if name not in known:
            raise OptionError(
                f"{owner}: there is no site {name!r} to move.{suggest(name, known)} The unknowns of the model are "
                f"{listed(self.names)}."
            )
        return known[name]

    def part(self, names: Sequence[str]) -> tuple["Places", Part]:
        """Return the places of some sites in a position of theirs, and how it is cut out of the whole one."""
        starts, sites = [0, 0], []
        mine = [each for each in self.sites if each.name in names]
        for each in mine:
            size, start = each.stop - each.start, starts[each.is_whole]
            sites.append(replace(each, start=start, stop=start + size))
            starts[each.is_whole] += size
        known_as = tuple((name, site) for name, site in self.known_as if site in names)
        free, whole = (
            _joined([(each.start, each.stop) for each in mine if each.is_whole == is_whole])
            for is_whole in (False, True)
        )
        sizes = [max((each.stop for each in some), default=0) for some in (self.free, self.whole)]
        tabled = tuple(each for each in self.tabled if set(each.names) <= set(names))
        return Places(tuple(sites), known_as, tabled), Part(free, whole, *sizes)


def listed(names: Sequence[str]) -> str:
    """Write names for an error."""
    return ", ".join(map(repr, names)) or "none"


def _joined(spans: Sequence[tuple[int, int]]) -> Spans:
    """Return spans in increasing order, with those joined that touch."""
    found: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], stop)
        elif stop > start:
            found.append((start, stop))
    return tuple(found)


def _length(spans: Spans) -> int:
    return sum(stop - start for start, stop in spans)


def _cut(vector: Any, spans: Spans, size: int) -> Any:
    """Return the numbers of spans. By slices: a gather would keep the loop from being one piece of code."""
    if spans == ((0, size),):
        return vector
    pieces = [vector[start:stop] for start, stop in spans]
    if len(pieces) == 1:
        return pieces[0]
    if not pieces:
        return vector[:0]
    return (np if isinstance(vector, np.ndarray) else jnp).concatenate(pieces)


def _put(vector: Any, spans: Spans, new: Any, size: int) -> Any:
    """Return a vector with new numbers at spans, by slices."""
    if spans == ((0, size),):
        return new
    if not spans:
        return vector
    pieces, at, taken = [], 0, 0
    for start, stop in spans:
        pieces += [vector[at:start], new[taken : taken + stop - start]]
        at, taken = stop, taken + stop - start
    pieces.append(vector[at:])
    return jnp.concatenate([piece for piece in pieces if piece.shape[0]])
