"""Find what sets some draws of a run apart from others: one scalar, or an extreme element of a site.

**Source**: Mann & Whitney (1947). A score is the probability that a flagged draw exceeds another one, less a half; its
sign says whether flagged draws are large.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from .evidence import Evidence
from .ranks import average_ranks

_BLOCK = 2**18  # elements ranked at once
_MARGIN = 1e-9  # keeps the first of two sites that say the same, as `tau` and `log_tau`


@dataclass(frozen=True)
class Groups:
    """Two groups of draws that share none; each of shape `(chain, draw)`, bool. Scores need draws in both."""

    flagged: np.ndarray
    others: np.ndarray

    @property
    def smallest(self) -> int:
        """Number of draws in the smaller group."""
        return min(self._sizes)

    @property
    def chance(self) -> float:
        """Standard deviation of a score if nothing sets independent draws apart."""
        num_flagged, num_others = self._sizes
        return float(np.sqrt((num_flagged + num_others + 1) / (12 * num_flagged * num_others)))

    def scores(self, draws: np.ndarray) -> np.ndarray:
        """Return the score of each scalar of `draws`, shape `(chain, draw, n)`."""
        flagged, others = draws[self.flagged].T, draws[self.others].T
        pooled = np.concatenate([flagged, others], axis=1).astype(np.float64)
        num_flagged, num_others = self._sizes
        ranks = average_ranks(np.where(np.isfinite(pooled), pooled, 0.0))[:, :num_flagged].mean(axis=1)
        return (ranks - 0.5 * (num_flagged + 1)) / num_others - 0.5

    @property
    def _sizes(self) -> tuple[int, int]:
        return int(np.count_nonzero(self.flagged)), int(np.count_nonzero(self.others))


def best_scalar(
    run: Evidence, groups: Groups, among: Collection[str] | None = None
) -> tuple[float, str, int]:
    """Return the largest score, with its site and scalar; `among`: the sites to look at, None is all."""
    best = (0.0, "", 0)
    step = max(1, _BLOCK // groups.flagged.size)
    for name, scalars, draws in run.picked():
        if among is not None and name not in among:
            continue
        for start in range(0, len(scalars), step):
            scores = groups.scores(draws[:, :, start : start + step])
            winner = int(np.argmax(np.abs(scores)))
            if abs(scores[winner]) > abs(best[0]) + _MARGIN:
                best = (float(scores[winner]), name, int(scalars[start + winner]))
    return best


def best_extreme(run: Evidence, groups: Groups) -> tuple[float, str]:
    """Return the site whose largest element, or smallest, sets flagged draws apart: its score and its name.

    The score is positive where the largest element is larger, and negative where the smallest is smaller. So a site is
    found also if another of its elements is extreme each time, as where any of many scales may be the steep one.
    """
    ends: dict[str, np.ndarray] = {}
    for name, scalars, draws in run.picked():
        if run.sites.width(name) > 1 and len(scalars):
            low, high = draws.min(axis=2), draws.max(axis=2)
            if name in ends:
                low, high = np.minimum(low, ends[name][..., 0]), np.maximum(high, ends[name][..., 1])
            ends[name] = np.stack([low, high], axis=2)
    best = (0.0, "")
    for name, both in ends.items():
        smallest, largest = groups.scores(both)
        score = float(largest if largest > -smallest else min(smallest, 0.0))
        if abs(score) > abs(best[0]) + _MARGIN:
            best = (score, name)
    return best
