"""Choose a kind of figure by its name, check the options of the call, and make a picture."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..core.errors import OptionError, suggest
from ..core.options import positive_count
from .figures.marks import Figure, Panel
from .figures.picture import Picture
from .selecting import picked_names

MOST_PANELS = 6

_TITLES = MappingProxyType({"rank_ecdf": "Rank ECDF", "ess": "ESS", "r_hat": "R-hat"})


@dataclass(frozen=True)
class Kind:
    """A kind of figure.

    **Fields**: `draw`, from names of sites and the most panels or rows to panels; `most`, of these by default; `shows`,
    what it shows in the place of sites, or nothing.
    """

    draw: Callable[[tuple[str, ...], int], Sequence[Panel]]
    most: int = MOST_PANELS
    shows: str = ""


def picture(kinds: Mapping[str, Kind], there: Iterable[str], kind: Any, sites: Any, most: Any) -> Picture:
    """Make the picture of a kind.

    **Arguments**: `kinds`, by name; `there`, names of all sites; `kind`, `sites`, `most`, as the user gave them.

    **Raises** `OptionError` for an unknown kind or site, another number, and options that a figure has no use for.
    """
    if not isinstance(kind, str) or kind not in kinds:
        listed = ", ".join(map(repr, kinds))
        raise OptionError(f"plot: kind is {kind!r}, but must be one of {listed}.{suggest(str(kind), kinds)}")
    chosen = kinds[kind]
    if chosen.shows and not (sites is None and most is None):
        raise OptionError(f"plot: {kind!r} shows {chosen.shows}, not sites. Leave out sites and most.")
    count = chosen.most if most is None else positive_count("most", most)
    panels = tuple(chosen.draw(tuple(picked_names(sites, there)), count))
    words = " ".join(panel.sentence for panel in panels)
    return Picture(kind, Figure(_TITLES.get(kind, kind.replace("_", " ").capitalize()), words, panels))
