"""Describe a run of populations for its manifest, and read its populations from their store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import StorageError
from ..core.tree import kept
from ..density import LogDensity
from ..resampling import AbstractResampling
from ..runs.stored import describe as runs
from ..runs.stored.checked import built_from
from ..storage import AbstractRun, Manifest, Segment
from .plan import KIND, Plan
from .population import DRAW, POSITION, SITE, TEMPER

UNKNOWNS = "unknowns"
"""Name in the settings of a manifest of where each unknown lies in a position."""


@dataclass(frozen=True, eq=False)
class Ended:
    """A population as it is stored.

    **Fields**: `number`; `stages`, by name, shape `(stage, ...)`: see `SMCDraws`; `positions`, shape
    `(particle, dim)`, and `sites`, by name, of its draws; None and empty where it did not come to its end.
    """

    number: int
    stages: Mapping[str, np.ndarray]
    positions: np.ndarray | None
    sites: Mapping[str, np.ndarray]

    @property
    def log_evidence(self) -> float:
        """Estimate of this population: the ratios of all stages, added up."""
        return float(np.sum(self.stages["log_ratio"]))

    @property
    def variance(self) -> float:
        """Variance of that estimate, as the particles tell it."""
        return float(np.sum(self.stages["variance"]))


def describe(density: LogDensity, plan: Plan) -> Manifest:
    """Build the manifest of a run."""
    return runs.describe(
        density,
        KIND,
        plan.precision,
        {},
        {
            "moves": plan.moves,
            "ess": plan.ess,
            "resampling": described(plan.resampling),
            UNKNOWNS: {each.name: [each.start, each.stop] for each in density.layout.entries},
        },
        {
            "phases": [TEMPER, DRAW],
            "sampler": {
                "name": KIND,
                "guide": {"name": "population of SMC"},
                "kernel": plan.kernel.described(),
            },
            "seed": plan.seed,
            "lanes": 1,
            "chains": list(range(plan.populations)),
            "draws": plan.particles,
            "warmup": 0,
            "thinning": 1,
        },
    )


def described(resampling: AbstractResampling) -> dict[str, Any]:
    """Describe a scheme of resampling: its name and fields."""
    return {"name": type(resampling).__name__, **vars(resampling)}


def ended(run: AbstractRun, number: int, spilled: Sequence[Segment] = ()) -> Ended:
    """Read one population; `spilled`, segments that the store could not write."""
    own = [*run.segments(number), *(each for each in spilled if each.chain == number)]
    stages = [each for each in own if each.phase == TEMPER]
    drawn = [each for each in own if each.phase == DRAW]
    with built_from(f"the segments of population {number}"):
        rows = {
            name: kept(np.concatenate([each.arrays[name] for each in stages]))
            for name in (stages[0].arrays if stages else ())
        }
        if not drawn:
            return Ended(number, rows, None, {})
        arrays = drawn[-1].arrays
        sites = {
            name.removeprefix(SITE): np.asarray(arrays[name]) for name in arrays if name.startswith(SITE)
        }
        return Ended(number, rows, np.asarray(arrays[POSITION]), sites)


def check_kind(manifest: Manifest) -> None:
    """Raise `StorageError` unless a manifest is of populations."""
    if manifest.phases != [TEMPER, DRAW]:
        raise StorageError("manifest.json is not of populations that this version of accord wrote.")
