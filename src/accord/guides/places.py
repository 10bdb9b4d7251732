"""Say where the sites of a model lie in a position, for guides that treat sites differently."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Int

from ..core.errors import OptionError


@dataclass(frozen=True)
class Place:
    """A latent site in a position.

    **Fields**: `name`; `start`, its first coordinate; `shape` of its coordinates; `plate`, the outermost plate around
    it, or empty, and `axis`, that of `shape` along it; `names` of sites that settle it too, where it is
    reparameterised.
    """

    name: str
    start: int
    shape: tuple[int, ...]
    plate: str = ""
    axis: int = 0
    names: tuple[str, ...] = ()

    @property
    def coordinates(self) -> Int[np.ndarray, " coordinate"]:
        """Its coordinates in the position."""
        return self.start + np.arange(int(np.prod(self.shape)))

    @property
    def by_entry(self) -> Int[np.ndarray, "entry coordinate"]:
        """Its coordinates, a row for each entry of its plate."""
        return np.moveaxis(self.coordinates.reshape(self.shape), self.axis, 0).reshape(
            self.shape[self.axis], -1
        )


@dataclass(frozen=True)
class Places:
    """All latent sites of a model, in the order of a position. **Fields**: `sites`."""

    sites: tuple[Place, ...]

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return sum(len(site.coordinates) for site in self.sites)

    def of(self, names: Collection[str]) -> "Places":
        """Return those of some sites, which follow each other in a shorter position."""
        kept: list[Place] = []
        start = 0
        for site in self.sites:
            if site.name in names:
                kept.append(replace(site, start=start))
                start += len(site.coordinates)
        return Places(tuple(kept))

    def coordinates(self, names: Collection[str]) -> Int[np.ndarray, " coordinate"]:
        """Return the coordinates of some sites, in the order of the position."""
        return joined(site.coordinates for site in self.sites if site.name in names)

    def names_at(self, is_in: Iterable[Any]) -> tuple[str, ...]:
        """Return the names of sites with any of the coordinates for which `is_in`, shape `(dim,)`, is true."""
        mask = np.asarray(is_in, bool)
        return tuple(site.name for site in self.sites if mask[site.coordinates].any())

    def described(self) -> list[Any]:
        """Return it for a manifest, in plain JSON."""
        return [
            [each.name, each.start, list(each.shape), each.plate, each.axis, list(each.names)]
            for each in self.sites
        ]

    @staticmethod
    def from_described(record: Any) -> "Places":
        """Return what `described` wrote."""
        return Places(
            tuple(
                Place(name, start, tuple(shape), plate, axis, tuple(names))
                for name, start, shape, plate, axis, names in record
            )
        )


def joined(arrays: Iterable[np.ndarray]) -> np.ndarray:
    """Return arrays of coordinates in one; also where there is none."""
    return np.concatenate([np.zeros(0, int), *arrays])


def given(places: Places | None, guide: str) -> Places:
    """Return the places that a guide was told of. **Raises** `OptionError` where it was not."""
    if places is None:
        raise OptionError(
            f"{guide}: it does not know the sites of a model yet. infer.fit(model, guide) tells it; by hand, call "
            "`guide.placed(places)` first."
        )
    return places
