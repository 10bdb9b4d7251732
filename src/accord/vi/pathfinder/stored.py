"""Describe a search by paths for its manifest, and read its paths from their store."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import StorageError
from ...core.precision import float_dtype
from ...density import LogDensity
from ...mcmc.start.base import AbstractStart
from ...runs.stored import describe as runs
from ...runs.stored.checked import built_from
from ...storage import AbstractRun, Manifest, Segment
from .curvature import Curvature
from .path import BOUND, CLIMB, DRAW, GRADIENT, IS_OVER, LOG_DENSITY, POSITION, SITE, Trail
from .plan import KIND, Plan


@dataclass(frozen=True, eq=False)
class Ended:
    """A path as it is stored.

    **Fields**: `number`; `trail`; `is_over`, whether its climb has ended; `positions`, shape `(draw, dim)`,
    `log_density`, shape `(draw,)`, and `sites`, by name, of its draws.
    """

    number: int
    trail: Trail
    is_over: bool
    positions: np.ndarray
    log_density: np.ndarray
    sites: dict[str, np.ndarray]


def describe(density: LogDensity, plan: Plan, start: AbstractStart) -> Manifest:
    """Build the manifest of a search."""
    return runs.describe(
        density,
        KIND,
        plan.precision,
        {},
        {"init": start.described()},
        {
            "phases": [CLIMB, DRAW],
            "sampler": {"name": KIND, "guide": {"name": "Pathfinder"}},
            "seed": plan.seed,
            "lanes": 1,
            "chains": list(range(plan.num_paths)),
            "draws": plan.num_draws,
            "warmup": 0,
            "thinning": 1,
        },
    )


def blank_trail(manifest: Manifest) -> Trail:
    """Return the trail of a path before its first point."""
    epsilon = float(np.finfo(float_dtype(manifest["precision"])).eps)
    return Trail(Curvature.unknown(manifest["layout"]["dim"]), epsilon)


def ended(run: AbstractRun, number: int, spilled: Sequence[Segment] = ()) -> Ended:
    """Read one path; `spilled`, segments that the store could not write."""
    own = [*run.segments(number), *(each for each in spilled if each.chain == number)]
    climbed = [each for each in own if each.phase == CLIMB]
    drawn = [each for each in own if each.phase == DRAW]
    dim: int = run.manifest["layout"]["dim"]
    with built_from(f"the segments of path {number}"):
        trail = blank_trail(run.manifest)
        for each in climbed:
            trail, normals = trail.along(each.arrays[POSITION], each.arrays[GRADIENT])
            if normals:
                trail = trail.judged(normals, each.arrays[BOUND])
        is_over = bool(climbed) and bool(climbed[-1].end_state[IS_OVER])
        if not drawn:
            return Ended(number, trail, is_over, np.zeros((0, dim)), np.zeros(0), {})
        arrays: dict[str, Any] = {
            name: np.concatenate([each.arrays[name] for each in drawn]) for name in drawn[0].arrays
        }
        sites = {name.removeprefix(SITE): values for name, values in arrays.items() if name.startswith(SITE)}
        return Ended(number, trail, is_over, arrays[POSITION], arrays[LOG_DENSITY], sites)


def check_kind(manifest: Manifest) -> None:
    """Raise `StorageError` unless a manifest is of a search by paths."""
    if manifest.phases != [CLIMB, DRAW]:
        raise StorageError("manifest.json is not of a pathfinder that this version of accord wrote.")
