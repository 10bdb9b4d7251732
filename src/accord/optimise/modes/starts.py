"""Climb from several starts, and return the end of each climb."""

from dataclasses import fields

import numpy as np

from ...core.precision import float_dtype
from ...density import LogDensity
from ...diagnose.explained_starts import explain_start
from ...mcmc.start.base import AbstractPoints
from ...mcmc.start.search import StartFailedError
from .surface import Climbs, Objective, climbing

_NUM_PLACES = 10  # of which a climb takes the best to begin with, like a chain


def climbs_from(
    density: LogDensity,
    objective: Objective,
    points: AbstractPoints,
    seed: int,
    count: int,
    max_steps: int,
) -> Climbs:
    """Climb from `count` starts, each from the best of the first ten of its places, or of the next ten, and so on.

    Starts that have the same places are one.

    **Raises** `InitializationError` where no place of any start is finite.
    """
    dtype = float_dtype(density.program.precision)

    def places(start: int, first: int) -> np.ndarray:
        last = points.num_tries(start) - 1
        tries = [min(first + place, last) for place in range(_NUM_PLACES)]
        return np.stack([points.position(seed, start, each, density.dim) for each in tries]).astype(dtype)

    candidates = np.stack([places(start, 0) for start in range(count)])
    if all(np.array_equal(each, candidates[0]) for each in candidates):
        candidates = candidates[:1]
    count = len(candidates)
    run = climbing(density, objective, candidates)
    found = run(candidates, max_steps)
    most = max(points.num_tries(start) for start in range(count))
    for first in range(_NUM_PLACES, most, _NUM_PLACES):
        missing = [s for s in range(count) if np.isnan(found.heights[s]) and first < points.num_tries(s)]
        if not missing:
            break
        # The others stay where they are: a climb without a finite place is over at once.
        candidates[:] = np.nan
        for start in missing:
            candidates[start] = places(start, first)
        found = _with(found, run(candidates, max_steps), missing)
    if np.all(np.isnan(found.heights)):
        tried = points.num_tries(0)
        failure = StartFailedError(0, places(0, 0)[0], tried, points.origin, "start")
        raise explain_start(density, failure)
    return found


def _with(old: Climbs, new: Climbs, rows: list[int]) -> Climbs:
    """The old ones, and new ones in some rows."""
    parts = {}
    for field in fields(Climbs):
        parts[field.name] = np.array(getattr(old, field.name))
        parts[field.name][rows] = getattr(new, field.name)[rows]
    return Climbs(**parts)
