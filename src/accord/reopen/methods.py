"""List what a stored run may carry out, and how each is taken up again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..calibration import resumed as calibrations
from ..calibration import stored as simulations
from ..core.errors import StorageError
from ..mcmc import resumed as chains
from ..mcmc.plan import KIND
from ..mcmc.stored import record as draws
from ..runs.interrupts import Interrupts
from ..smc import resumed as populations
from ..smc.draw import WORDS as OF_POPULATIONS
from ..smc.plan import KIND as SMC
from ..storage import AbstractRun
from ..vi import resumed as fits
from ..vi.fit import WORDS
from ..vi.pathfinder import resumed as paths
from ..vi.pathfinder.find import WORDS as OF_PATHS
from ..vi.pathfinder.plan import KIND as PATHFINDER
from ..vi.plan import KIND as FIT


@dataclass(frozen=True)
class Reopening:
    """How the runs of one method are reopened.

    **Fields**
    - `read`: a run without its model.
    - `take_up`: a run with its target, which returns what carries it to its end: see `mcmc.resumed.take_up`.
    - `is_fit`: whether that takes an optimiser and a guide too.
    - `is_of_chains`: whether it shares its work out among accelerators, if there are several.
    - `words`: for a unit, and for what is done in it.
    """

    read: Callable[[AbstractRun], Any]
    take_up: Callable[..., Callable[[Interrupts], Any]]
    is_fit: bool = False
    is_of_chains: bool = True
    words: tuple[str, str] = ("chain", "draws")


_METHODS = {
    KIND: Reopening(draws.read, chains.take_up),
    simulations.KIND: Reopening(simulations.read, calibrations.take_up),
    FIT: Reopening(fits.read, fits.take_up, is_fit=True, is_of_chains=False, words=WORDS),
    PATHFINDER: Reopening(paths.read, paths.take_up, is_of_chains=False, words=OF_PATHS),
    SMC: Reopening(populations.read, populations.take_up, is_of_chains=False, words=OF_POPULATIONS),
}


def reopening_of(run: AbstractRun) -> Reopening:
    """Return how a run is reopened. **Raises** `StorageError` for one whose method is unknown."""
    method = run.manifest.get("method")
    if method not in _METHODS:
        raise StorageError(
            f"manifest.json has the method {method!r}, and this version of accord knows {', '.join(_METHODS)}: no run "
            "of this version wrote it."
        )
    return _METHODS[method]
