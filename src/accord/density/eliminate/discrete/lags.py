"""Find how many steps before its own a log probability of a scan sees a discrete site, by trying.

At assignments taken at random, one step of the site is changed: the steps that change with it tell. That no other does
is verified with all others, at each data (`assignment`).
"""

from collections.abc import Mapping

import numpy as np

from ....core.errors import SiteError
from ...program import ModelProgram
from .plan_parts import Part
from .table import quoted
from .trying import Assigned, Trials, differ

NUM_TRIALS = 12
MAX_SPAN = 4
"""Steps before its own that a log probability may see."""


def spans_of(
    base: ModelProgram, sizes: Mapping[str, int], seen: Mapping[Part, tuple[str, ...]], trials: Trials
) -> dict[tuple[Part, str], int]:
    """Find, for each part of a site and each discrete site that it sees, how many steps ago it sees it at most.

    Below zero for steps after its own; parts that see the same step alone are left out.

    **Raises** `SiteError` where steps far apart depend on each other, or in both directions.
    """
    random = np.random.default_rng(1)
    found: dict[tuple[Part, str], set[int]] = {}
    for name in sizes:
        if not base.layout[name].num_steps:
            continue
        tried = [_trial(name, trials.shapes, sizes, random) for _ in range(NUM_TRIALS)]
        positions = [trials.position(random) for _ in tried]
        before, after = (
            trials.at(positions, assigned) for assigned in zip(*(t[:2] for t in tried), strict=True)
        )
        for part, names in seen.items():
            if name not in names or not base.layout[part[0]].num_steps:
                continue
            for number, (_, _, step) in enumerate(tried):
                is_other = differ(before.of(part)[number], after.of(part)[number])
                steps = np.nonzero(is_other.reshape(is_other.shape[0], -1).any(axis=1))[0]
                found.setdefault((part, name), set()).update((steps - step).tolist())
    return {key: span for key, lags in found.items() if (span := _span(*key, lags))}


def _trial(
    name: str, shapes: Mapping[str, tuple[int, ...]], sizes: Mapping[str, int], random: np.random.Generator
) -> tuple[Assigned, Assigned, int]:
    before = {n: random.integers(0, sizes[n], shape).astype(np.int32) for n, shape in shapes.items()}
    step = int(random.integers(0, shapes[name][0]))
    changed = before[name].copy()
    shift = random.integers(1, max(sizes[name], 2), changed[step].shape)
    changed[step] = (changed[step] + shift) % sizes[name]
    return before, {**before, name: changed}, step


def _span(part: Part, name: str, lags: set[int]) -> int:
    if all(lag == 0 for lag in lags):
        return 0
    if min(lags) < 0 < max(lags):
        raise SiteError(
            f"{name!r} cannot be summed out: the log probability of {part[0]!r} at a step of its scan depends on steps "
            f"of {name!r} before it and after it. Let each step depend on those before it alone."
        )
    span = max(lags, key=abs)
    if abs(span) > MAX_SPAN:
        raise SiteError(
            f"{name!r} cannot be summed out: the log probability of {part[0]!r} at a step of its scan depends on "
            f"{name!r} {abs(span)} steps away, so that something which depends on {quoted([name])} is carried on from "
            f"step to step. Carry its value itself, and of at most {MAX_SPAN} steps."
        )
    return span
