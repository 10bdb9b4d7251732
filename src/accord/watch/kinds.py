"""List what a run folder may hold, and how each is shown while it grows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..calibration.stored import KIND as CALIBRATION
from ..core.errors import StorageError
from ..mcmc.plan import KIND as CHAINS
from ..smc.draw import WORDS as OF_POPULATIONS
from ..smc.plan import KIND as POPULATIONS
from ..vi.fit import WORDS as OF_FITS
from ..vi.pathfinder.find import WORDS as OF_PATHS
from ..vi.pathfinder.plan import KIND as PATHS
from ..vi.plan import KIND as FIT
from ..vi.restart import LOSS


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


_KINDS = {
    CHAINS: Kind("chain", "draws", True, first_trace=("warmup", "stat/lp", "log density in warm-up")),
    FIT: Kind(*OF_FITS, first_trace=("fit", LOSS, "loss")),
    PATHS: Kind(*OF_PATHS),
    POPULATIONS: Kind(*OF_POPULATIONS),
    CALIBRATION: Kind("simulation", "simulations", is_counted_alone=True),
}


def kind_of(manifest: Mapping[str, Any]) -> Kind:
    """Return how a run is shown. **Raises** `StorageError` for one whose method is unknown."""
    method = manifest.get("method")
    if method not in _KINDS:
        raise StorageError(
            f"manifest.json has the method {method!r}, and accord watches {', '.join(_KINDS)}: no run of this version "
            "wrote it."
        )
    return _KINDS[method]
