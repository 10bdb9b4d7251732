"""Find the first step size by single steps that are not taken."""

import numpy as np

from ..adaptation.metric import Metric
from ..core import keys
from .moves import Moves

_MOST_CHANGES, _HALVINGS = 40, 4


def step_size_by_probes(
    moves: Moves, starts: np.ndarray, key: np.ndarray, power: float, metric: Metric, target: float
) -> float:
    """Return the step size, in whitened units, at which one step from each start has the acceptance aimed at.

    It is doubled or halved until the mean acceptance passes the target, and then found between the last two.

    **Arguments**: `starts`, shape `(chain, dim)`; `key` of these probes; `target`, in (0, 1).
    """

    def accepts(number: int, step_size: float) -> bool:
        words = keys.words(key, number, len(starts))
        probed = moves(starts, words, power, step_size, metric, 1, True)
        return float(np.mean(probed.acceptance[:, 0], dtype=np.float64)) >= target

    step_size, number = 1.0, 0
    is_small = accepts(number, step_size)
    for number in range(1, _MOST_CHANGES):
        other = step_size * 2 if is_small else step_size / 2
        is_passed = accepts(number, other) != is_small
        low, high = sorted((step_size, other))
        step_size = other
        if is_passed:
            break
    else:
        return step_size
    for more in range(1, _HALVINGS + 1):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if accepts(number + more, middle) else (low, middle)
    return low
