"""Describe a run of nested sampling for its manifest, and read its runs from their store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.errors import StorageError
from ..core.tree import kept
from ..density import LogDensity
from ..runs.stored import describe as runs
from ..runs.stored.checked import built_from
from ..storage import AbstractRun, Manifest, Segment
from .plan import KIND, Plan
from .points import DRAW, HEIGHT, POSITION, SHRINK, SITE, TIE

_RANK = "rank"
_OF_POINTS = (POSITION, HEIGHT, TIE, _RANK)


@dataclass(frozen=True, eq=False)
class Ended:
    """A run as it is stored.

    **Fields**: `number`; `rounds`, by name, shape `(round,)`: see `NestedDraws`; `ranks` of new points, shape
    `(point,)`; of all points by rising likelihood, replaced ones and then those that were left, `positions`, shape
    `(point, dim)`, `log_likelihood`, `tie` and `sites`, by name. These four are None where it did not come to its end.
    """

    number: int
    rounds: Mapping[str, np.ndarray]
    ranks: np.ndarray
    positions: np.ndarray | None
    log_likelihood: np.ndarray | None
    tie: np.ndarray | None
    sites: Mapping[str, np.ndarray] | None

    @property
    def is_complete(self) -> bool:
        """Return whether it came to its end."""
        return self.positions is not None


def describe(density: LogDensity, plan: Plan) -> Manifest:
    """Build the manifest of a run."""
    return runs.describe(
        density,
        KIND,
        plan.precision,
        {},
        {"batch": plan.batch, "steps": plan.steps, "tolerance": plan.tolerance},
        {
            "phases": [SHRINK, DRAW],
            "sampler": {"name": KIND, "guide": {"name": "run of nested sampling"}},
            "seed": plan.seed,
            "lanes": 1,
            "chains": list(range(plan.runs)),
            "draws": plan.live,
            "warmup": 0,
            "thinning": 1,
        },
    )


def ended(run: AbstractRun, number: int, spilled: Sequence[Segment] = ()) -> Ended:
    """Read one run; `spilled`, segments that the store could not write."""
    own = [*run.segments(number), *(each for each in spilled if each.chain == number)]
    rounds = [each.arrays for each in own if each.phase == SHRINK]
    left = [each.arrays for each in own if each.phase == DRAW]
    with built_from(f"the segments of run {number}"):
        names = [name for name in (rounds[0] if rounds else ()) if not _is_of_points(name)]
        rows = {name: kept(np.concatenate([each[name] for each in rounds])) for name in names}
        ranks = np.concatenate([np.zeros(0), *(each[_RANK][0] for each in rounds)])
        if not left:
            return Ended(number, rows, ranks, None, None, None, None)
        last = left[-1]

        def points(name: str) -> np.ndarray:
            return np.concatenate([*(each[name][0] for each in rounds), last[name]])

        sites = {name.removeprefix(SITE): points(name) for name in last if name.startswith(SITE)}
        return Ended(number, rows, ranks, points(POSITION), points(HEIGHT), points(TIE), sites)


def _is_of_points(name: str) -> bool:
    return name in _OF_POINTS or name.startswith(SITE)


def check_kind(manifest: Manifest) -> None:
    """Raise `StorageError` unless a manifest is of nested sampling."""
    if manifest.phases != [SHRINK, DRAW]:
        raise StorageError("manifest.json is not of nested sampling that this version of accord wrote.")
