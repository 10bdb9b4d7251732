"""Draw one kind of figure of independent draws, by its name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import OptionError
from ..core.series import AbstractSeries
from .diagnostics import QUIETLY
from .document.draws_sections import Place, draws_of, label_of, pairs
from .figures.density import density
from .figures.forest import MOST_ROWS, intervals
from .figures.marks import Panel
from .figures.picture import Picture
from .labels import Coords, Dims
from .pictures import Kind, picture

_MOST_PAIRED = 40  # unknowns of which pairs are looked at


@dataclass(frozen=True, eq=False)
class Independent:
    """Independent draws as plots need them: by site, shape `(1, draw, *event)`.

    `noun`, the result that has their notices, for errors.
    """

    sites: AbstractSeries
    dims: Dims
    coords: Coords
    noun: str

    def kinds(self) -> dict[str, Kind]:
        """Return the kinds of figures that show draws, by name."""
        return {
            "density": Kind(self._densities),
            "forest": Kind(self._forest, MOST_ROWS),
            "pair": Kind(self._pairs),
        }

    def _densities(self, only: tuple[str, ...], most: int) -> Sequence[Panel]:
        with np.errstate(**QUIETLY):
            return [
                density(self._draws(place), self._label(place), (0,)) for place in self._places(only, most)
            ]

    def _forest(self, only: tuple[str, ...], most: int) -> Sequence[Panel]:
        places = self._places(only, most)
        return [intervals([*map(self._draws, places)], [*map(self._label, places)])]

    def _pairs(self, only: tuple[str, ...], most: int) -> Sequence[Panel]:
        with np.errstate(**QUIETLY):
            section = pairs(self.sites, {}, self._places(only, _MOST_PAIRED), self.dims, self.coords)
        if section is None:
            raise OptionError("plot: 'pair' needs two unknowns that vary and are finite.")
        return section.figures[0].panels[:most]

    def _places(self, only: tuple[str, ...], most: int) -> list[Place]:
        if not any(np.prod(self.sites.shape(name)[:2]) for name in self.sites):
            raise OptionError(f"plot: there are no draws to plot. See `{self.noun}.notices`.")
        every = [(name, scalar) for name in only for scalar in range(min(self.sites.width(name), most))]
        return every[:most]

    def _draws(self, place: Place) -> np.ndarray:
        return draws_of(self.sites, place)

    def _label(self, place: Place) -> str:
        return label_of(self.sites, place, self.dims, self.coords)


def plot(drawn: Independent, more: Mapping[str, Kind], kind: Any, sites: Any, most: Any) -> Picture:
    """See `GuideDraws.plot`; `more`, kinds beside those of draws."""
    return picture({**drawn.kinds(), **more}, drawn.sites, kind, sites, most)
