"""Schedule updates of the metric: the warm-up draws at which it is learnt, and the draws used.

Each update uses the latter half of the draws made so far: the chain's way in from its start is forgotten, and the
window grows as fast as the run. Early updates come often, because the first metrics are the worst and their
trajectories the longest. Later ones cost a few milliseconds of the host, as much as a thousand steps of a quick
posterior: a third fewer would save a tenth of the seconds there, and lose a tenth of the effective draws in hundreds of
dimensions. All indices are fixed before the run, so that adaptation does not depend on how the run is cut into blocks.
A chain that has not settled at the end of its warm-up is given half as many draws again, and so on: the new length is
fixed at that draw.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

_EARLY_SPACING = 10
_GROWTH = 1.15
EARLY_PART = 3  # the first third of warm-up has short trajectories: its metrics are guesses
_SETTLE = 0.15  # last part of warm-up, in which only the step size is tuned


@dataclass(frozen=True)
class Update:
    """Learn when draw `at` begins, from draws `start` to `at - 1` (zero-based).

    `is_first`: nothing of use was learnt before, or only far away. `is_late`: half of warm-up is over.
    """

    at: int
    start: int
    is_first: bool = False
    is_late: bool = field(default=False, kw_only=True)


@functools.lru_cache(maxsize=64)
def metric_updates(num_warmup: int) -> tuple[Update, ...]:
    """Return the updates of a warm-up of `num_warmup` draws; none below 20."""
    if num_warmup < 20:
        return ()
    last = num_warmup - max(int(_SETTLE * num_warmup), 5)
    indices, at = [], _EARLY_SPACING
    while at < last:
        indices.append(at)
        at = max(at + _EARLY_SPACING, int(at * _GROWTH))
    # An update just before the last one would be thrown away at once.
    if indices and last - indices[-1] < _EARLY_SPACING // 2:
        indices.pop()
    indices.append(last)
    return updates_at(indices, num_warmup)


def updates_at(indices: Sequence[int], num_warmup: int) -> tuple[Update, ...]:
    """Return updates at these draws of a warm-up, each from the latter half of the draws before it."""
    return tuple(
        Update(at, at // 2, number == 0, is_late=2 * at >= num_warmup) for number, at in enumerate(indices)
    )


def longer(num_warmup: int, max_warmup: int) -> int:
    """Return the longer warm-up of a chain that has not settled after `num_warmup` draws."""
    return min(num_warmup + num_warmup // 2, max_warmup)
