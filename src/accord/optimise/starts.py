"""Climb from several starts, and return the end of each climb."""

from collections.abc import Iterable
from dataclasses import fields

import numpy as np

from ..core.precision import float_dtype
from ..density import LogDensity
from .surface import Climbs, Objective, climbing


def climbs_from(
    density: LogDensity, objective: Objective, rounds: Iterable[np.ndarray], max_steps: int
) -> Climbs:
    """Climb from each start, beginning at the best candidate of the first round that has a finite one.

    Heights are NaN for a start without a finite candidate.

    **Arguments**
    - `rounds`: candidates, each of shape `(start, candidate, dim)`; NaN for a start that has no more. Later rounds are
      taken only if they are needed. Starts with the same candidates in the first round are one.
    """
    dtype, later = float_dtype(density.program.precision), iter(rounds)
    first = next(later).astype(dtype)
    if all(np.array_equal(each, first[0]) for each in first):
        first = first[:1]
    run = climbing(density, objective, first)
    found = run(first, max_steps)
    while np.any(missing := np.isnan(found.heights)):
        candidates = next(later, None)
        if candidates is None:
            break
        # The others stay where they are: a climb without a finite candidate is over at once, and its height is NaN.
        candidates = np.where(missing[:, None, None], candidates[: len(first)], np.nan)
        found = _joined(found, run(candidates.astype(dtype), max_steps))
    return found


def _joined(old: Climbs, new: Climbs) -> Climbs:
    """Take new climbs where there are some."""
    parts, is_new = {}, ~np.isnan(new.heights)
    for field in fields(Climbs):
        parts[field.name] = np.array(getattr(old, field.name))
        parts[field.name][is_new] = getattr(new, field.name)[is_new]
    return Climbs(**parts)
