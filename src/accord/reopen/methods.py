"""List what a stored run may carry out, and how each is taken up again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..core.errors import StorageError
from ..mcmc.plan import KIND as MCMC
from ..runs.interrupts import Interrupts
from ..storage import AbstractRun


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


# Each loads its method when a run of it is reopened: all together take a second, for which most have no use.


def _chains() -> Reopening:
    from ..mcmc import resumed
    from ..mcmc.stored import record

    return Reopening(record.read, resumed.take_up)


def _simulations() -> Reopening:
    from ..calibration import resumed, stored

    return Reopening(stored.read, resumed.take_up)


def _fits() -> Reopening:
    from ..vi import resumed
    from ..vi.fit import WORDS

    return Reopening(resumed.read, resumed.take_up, is_fit=True, is_of_chains=False, words=WORDS)


def _paths() -> Reopening:
    from ..vi.pathfinder import resumed
    from ..vi.pathfinder.find import WORDS

    return Reopening(resumed.read, resumed.take_up, is_of_chains=False, words=WORDS)


def _populations() -> Reopening:
    from ..smc import resumed
    from ..smc.draw import WORDS

    return Reopening(resumed.read, resumed.take_up, is_of_chains=False, words=WORDS)


def _nested() -> Reopening:
    from ..nested import resumed
    from ..nested.draw import WORDS

    return Reopening(resumed.read, resumed.take_up, is_of_chains=False, words=WORDS)


METHODS: Mapping[str, Callable[[], Reopening]] = MappingProxyType(
    {
        MCMC: _chains,
        "calibration": _simulations,
        "fit": _fits,
        "pathfinder": _paths,
        "smc": _populations,
        "nested": _nested,
    }
)
"""How to reopen, by what manifests say that a run carries out."""


def reopening_of(run: AbstractRun) -> Reopening:
    """Return how a run is reopened. **Raises** `StorageError` for one whose method is unknown."""
    method = run.manifest.get("method")
    if method is None or method not in METHODS:
        raise StorageError(
            f"manifest.json has the method {method!r}, and this version of accord knows {', '.join(METHODS)}: no run "
            "of this version wrote it."
        )
    return METHODS[method]()
