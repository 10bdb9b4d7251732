"""Describe how the sites of a model correspond to a vector of unconstrained numbers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import DataError, SiteError, suggest
from ..language import Site
from ..language.integrals import Integral

if TYPE_CHECKING:
    from numpy.typing import NDArray


DRAWN = ("latent", "whole", "collapsed", "deterministic")
"""Kinds of sites that a draw holds."""


@dataclass(frozen=True)
class Entry:
    """A site as the draws hold it.

    **Fields**
    - `name`, `kind` ("latent", "deterministic", "observed", "collapsed": integrated out, and drawn given the rest;
      "whole": latent, and sampled as whole numbers; "coordinate": a leaf of a function's position that draws do not
      show; or "constant": an array that a function holds).
    - `shape`, `dtype`, `dims`: of the value in the model's space; one dim name for each axis.
    - `start`, `stop`: the slice of the position that holds a latent site, of its whole numbers for a site of these; 0
      and 0 for the others.
    - `unconstrained_shape`: shape of that slice; `()` for the others.
    - `distribution`: name of the distribution's class, or empty.
    - `source`: name of the data that an observed site's value is, where it is one of them unchanged, or empty.
    - `auxiliary`: of a site that is reparameterised, the latent site from which its value follows, or empty.
    - `plates`: names of the plates around it, outermost first; each is one of `dims`.
    - `num_steps`, `num_event`: how many of the first axes are steps of scans, and of the last ones belong to an event.
    - `taken`: which entries of an event are values of an event too: `"any"` of them, `"all"` in another order,
      `"alike"` of rows and columns, or `"none"`, since the order is part of the value; those of a batch always are.
    - `low`, `high`: of discrete unknowns, the least and the largest of the support; None where there is none, or
      where the data or other unknowns decide.
    - `upto`: the largest value of its sum, where that is chosen.
    - `is_flat`: of a latent site, whether its prior is flat on an infinite set.

    **Example**

    >>> eight_schools(sigma, y).log_density().layout["theta"].dims
    ('school',)
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    dims: tuple[str, ...]
    start: int = 0
    stop: int = 0
    unconstrained_shape: tuple[int, ...] = ()
    distribution: str = ""
    source: str = ""
    auxiliary: str = ""
    plates: tuple[str, ...] = ()
    num_steps: int = 0
    num_event: int = 0
    taken: str = "any"
    low: int | None = None
    high: int | None = None
    upto: int | None = None
    is_flat: bool = False


@dataclass(frozen=True)
class Layout:
    """All sites in the model's order, with the labels of the dims that have any. Hashable, and equal by value.

    `chunked` names the plate of which not all entries are evaluated at once, with their number at a time; or is None.
    `to_collapse` names the latent sites that are to be integrated out, and have not been yet: see `marginal`.
    `by` is the approximation by which they are, or None where that is exact.

    **Example**

    >>> layout = eight_schools(sigma, y).log_density().layout
    >>> layout.dim, [entry.name for entry in layout.entries]
    (10, ['mu', 'tau', 'z'])
    >>> layout["z"].start, layout["z"].stop
    (2, 10)
    """

    sites: tuple[Entry, ...]
    labels: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    chunked: tuple[str, int] | None = None
    to_collapse: tuple[str, ...] = ()
    by: Integral | None = None

    @property
    def dim(self) -> int:
        """Number of free numbers in a position."""
        return max((entry.stop for entry in self.entries), default=0)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The latent sites, in the order of the position."""
        return tuple(entry for entry in self.sites if entry.kind in ("latent", "coordinate"))

    @property
    def whole(self) -> tuple[Entry, ...]:
        """The latent sites that are sampled as whole numbers, in the order of those of a position."""
        return tuple(entry for entry in self.sites if entry.kind == "whole")

    @property
    def num_whole(self) -> int:
        """Number of whole numbers in a position."""
        return max((entry.stop for entry in self.whole), default=0)

    @property
    def unknowns(self) -> tuple[Entry, ...]:
        """All latent sites that are sampled, in the model's order."""
        return tuple(entry for entry in self.sites if entry.kind in ("latent", "whole", "coordinate"))

    @property
    def deterministics(self) -> tuple[Entry, ...]:
        """The deterministic sites."""
        return tuple(entry for entry in self.sites if entry.kind == "deterministic")

    @property
    def observed(self) -> tuple[Entry, ...]:
        """The observed sites; they are not among the draws."""
        return tuple(entry for entry in self.sites if entry.kind == "observed")

    @property
    def drawn(self) -> tuple[Entry, ...]:
        """The sites that a draw holds: latent, collapsed and deterministic ones, in the model's order."""
        return tuple(entry for entry in self.sites if entry.kind in DRAWN)

    @property
    def collapsed(self) -> tuple[str, ...]:
        """The names of sites that have been integrated out."""
        return tuple(entry.name for entry in self.sites if entry.kind == "collapsed")

    @property
    def marginal(self) -> "Layout":
        """The layout of positions that lack the sites which are to be integrated out."""
        sites: list[Entry] = []
        start = 0
        for entry in self.sites:
            size = entry.stop - entry.start
            if entry.name in self.to_collapse:
                entry = replace(entry, kind="collapsed", start=0, stop=0, unconstrained_shape=())
            elif entry.kind == "latent":
                entry = replace(entry, start=start, stop=start + size)
                start += size
            sites.append(entry)
        return replace(self, sites=tuple(sites), to_collapse=())

    @property
    def labelled(self) -> tuple[str, ...]:
        """The dims to which the model gave labels, of those of the draws and of the observed sites."""
        there = {dim for entry in self._shown for dim in entry.dims}
        return tuple(dim for dim, _ in self.labels if dim in there)

    @property
    def coords(self) -> "dict[str, NDArray[Any]]":
        """Labels of every dim of the draws and of the observed sites; 0, 1, ... where the model gave none."""
        given = dict(self.labels)
        return {
            dim: np.array(given[dim]) if dim in given else np.arange(size) for dim, size in self.sizes.items()
        }

    @property
    def sizes(self) -> dict[str, int]:
        """Number of entries along each dim of the draws and of the observed sites."""
        return {dim: size for entry in self._shown for dim, size in zip(entry.dims, entry.shape, strict=True)}

    @property
    def _shown(self) -> tuple[Entry, ...]:
        """The sites of which a tree of results has arrays."""
        return (*self.drawn, *self.observed, *(entry for entry in self.sites if entry.kind == "constant"))

    @property
    def settable(self) -> dict[str, str]:
        """The latent site that each name settles: the site itself, or its auxiliary."""
        below = {entry.name: entry.auxiliary for entry in self.sites}
        found = {entry.name: entry.name for entry in self.unknowns}
        for name in below:
            end = name
            while below.get(end):
                end = below[end]
            if end in found:
                found[name] = end
        return found

    def latents_of(self, names: Iterable[str], word: str) -> dict[str, str]:
        """Find, for each latent site, the one of `names` that settles it.

        **Raises** `DataError`, which begins with `word`, for a name that settles none, and for two that settle one.
        """
        latents = self.settable
        collapsed = {entry.name for entry in self.sites if entry.kind == "collapsed"}
        found: dict[str, str] = {}
        for name in names:
            if name in collapsed:
                raise DataError(
                    f"{word}: site {name!r} is collapsed, so it has no value of its own: it is drawn from its "
                    "distribution given the others. Leave it out."
                )
            if name not in latents:
                raise DataError(f"{word}: there is no latent site {name!r}.{suggest(name, latents)}")
            other = found.setdefault(latents[name], name)
            if other != name:
                raise DataError(
                    f"{word}: {other!r} and {name!r} settle each other, and both are given. Give one."
                )
        return found

    def __getitem__(self, name: str) -> Entry:
        for entry in self.sites:
            if entry.name == name:
                return entry
        raise KeyError(name)


@dataclass(frozen=True)
class SiteTable:
    """The sites of a model as a table that prints.

    **Example**

    >>> table = coin(4, heads).sites()
    >>> [(site.name, site.kind) for site in table]
    [('p', 'latent'), ('y', 'observed')]
    """

    rows: tuple[Entry, ...]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        header = ("site", "kind", "shape", "dims", "distribution")
        cells = [(r.name, r.kind, str(r.shape), ", ".join(r.dims), r.distribution) for r in self.rows]
        widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
        lines = [
            "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
            for row in (header, *cells)
        ]
        return "\n".join(lines)

    __repr__ = __str__


def chunked_plate(sites: list[Site]) -> tuple[str, int] | None:
    """Find the plate that is evaluated in chunks, and the size of a chunk.

    **Raises** `SiteError` where there are two.
    """
    found: dict[tuple[str, int], Site] = {}
    for site in sites:
        for frame in site.plates:
            if frame.chunk is not None and frame.chunk < frame.size:
                found.setdefault((frame.name, frame.chunk), site)
    if len(found) > 1:
        (first, one), (second, other) = list(found)[:2]
        raise SiteError(
            f"site {found[second, other].name!r} (at {found[second, other].where}): the plate {second!r} has "
            f"chunk={other}, and the plate {first!r} chunk={one}. One plate of a model can have it, with one number: "
            "choose that of the largest data."
        )
    return next(iter(found), None)
