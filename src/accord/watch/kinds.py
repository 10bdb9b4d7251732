"""List what a run folder may hold, and how each is shown while it grows."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..core.errors import StorageError


@dataclass(frozen=True)
class Kind:
    """How runs of one method are shown.

    **Fields**
    - `noun`, `counted`: words for a unit, and for what is done in it.
    - `has_length`: whether each unit makes a number of draws that is known, so that the time left can be told.
    - `is_counted_alone`: whether a unit is done or not, and nothing between.
    - `first_trace`: phase, array and words of a trace to show before there are draws, or instead of draws.
    """

    noun: str
    counted: str
    has_length: bool = False
    is_counted_alone: bool = False
    first_trace: tuple[str, str, str] | None = None

    def totals(self, manifest: Mapping[str, Any], phases: list[str]) -> dict[str, int]:
        """Return how much each unit has to do, by phase; at most, where it ends by itself."""
        if self.is_counted_alone:
            return dict.fromkeys(phases, 1)
        return {phase: manifest["warmup"] if phase == "warmup" else manifest["draws"] for phase in phases}


# By what manifests say that a run carries out. Words are those of the methods, which take a second to load.
KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "mcmc": Kind("chain", "draws", True, first_trace=("warmup", "stat/lp", "log density in warm-up")),
        "fit": Kind("restart", "steps", first_trace=("fit", "loss", "loss")),
        "pathfinder": Kind("path", "points and draws"),
        "smc": Kind("population", "stages and draws"),
        "nested": Kind("run", "rounds and points"),
        "calibration": Kind("simulation", "simulations", is_counted_alone=True),
    }
)


def kind_of(manifest: Mapping[str, Any]) -> Kind:
    """Return how a run is shown. **Raises** `StorageError` for one whose method is unknown."""
    method = manifest.get("method")
    if method is None or method not in KINDS:
        raise StorageError(
            f"manifest.json has the method {method!r}, and accord watches {', '.join(KINDS)}: no run of this version "
            "wrote it."
        )
    return KINDS[method]
