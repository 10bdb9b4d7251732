"""Test that ranks are uniform by their empirical distribution function, exactly.

The count of ranks below a cut is binomial. The statistic is the smallest tail probability of these counts over up to a
hundred cuts, so that a departure anywhere counts; its distribution follows from the counts at successive cuts, which
are a Markov chain. The band that holds all counts together belongs to the same statistic.

**Source**: Säilynoja, Bürkner & Vehtari (2022), Statistics and Computing 32:32, section 2.2, "Graphical test for
discrete uniformity and its applications in goodness-of-fit evaluation and multiple sample comparison". They find the
band by simulation or by this recursion; here are the p-values too.
"""

# N: ranks in the sample, z: chance to be below a cut, g: the tail probability that is the limit.

from dataclasses import dataclass

import numpy as np

_MAX_CUTS = 100
_NEGLIGIBLE = 1e-13  # the recursion's rounding; below it a bound is as good


@dataclass(frozen=True)
class Uniformity:
    """The test for `num` ranks of `num_ranks` possible values 0, 1, ...

    **Fields**: `cuts`, increasing; a rank is below a cut or not.
    """

    num: int
    num_ranks: int

    @property
    def cuts(self) -> np.ndarray:
        """Shape `(cut,)`."""
        count = min(self.num_ranks - 1, _MAX_CUTS)
        return np.unique(np.round(np.linspace(1, self.num_ranks - 1, count)).astype(int))

    def counts(self, ranks: np.ndarray) -> np.ndarray:
        """Count the ranks, shape `(num,)`, below each cut; shape `(cut,)`."""
        return np.searchsorted(np.sort(ranks), self.cuts, side="left")

    def p_value(self, ranks: np.ndarray) -> float:
        """The chance that uniform ranks lie as far out somewhere as these do."""
        below, above = self._tails()
        places = np.arange(len(self.cuts)), self.counts(ranks)
        limit = float(min(below[places].min(), above[places].min()))
        return self._chance_beyond(limit)

    def band(self, coverage: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest counts, shape `(cut,)` each, that hold all of uniform ranks with this chance."""
        low, high = np.log((1 - coverage) / (4 * len(self.cuts))), np.log(1 - coverage)
        for _ in range(25):
            middle = (low + high) / 2
            if self._chance_beyond(float(np.exp(middle))) <= 1 - coverage:
                low = middle
            else:
                high = middle
        inside = self._inside(float(np.exp(low)))
        return inside.argmax(axis=1), self.num - inside[:, ::-1].argmax(axis=1)

    def _tails(self) -> tuple[np.ndarray, np.ndarray]:
        """The chances of a count as low and as high as 0, 1, ..., N; shape `(cut, N + 1)` each."""
        numbers = np.arange(self.num + 1)
        mass = _binomial(self.num, numbers, self.cuts[:, None] / self.num_ranks, _log_factorials(self.num))
        return np.cumsum(mass, axis=1), np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]

    def _inside(self, limit: float) -> np.ndarray:
        below, above = self._tails()
        return np.minimum(below, above) > limit * (1 + 1e-9)

    def _chance_beyond(self, limit: float) -> float:
        """The chance that at some cut the smaller tail probability is at most `limit`."""
        bound = min(2 * len(self.cuts) * limit, 1.0)
        if bound < _NEGLIGIBLE:
            return bound
        factorials = _log_factorials(self.num)
        states, mass, z_before = np.zeros(1, int), np.ones(1), 0.0
        for cut, inside in zip(self.cuts, self._inside(limit), strict=True):
            z = cut / self.num_ranks
            reached = np.flatnonzero(inside)
            left = self.num - states[:, None]
            step = _binomial(left, reached - states[:, None], (z - z_before) / (1 - z_before), factorials)
            states, mass, z_before = reached, mass @ step, z
        return float(np.clip(1 - mass.sum(), limit, bound))


def holm(p_values: np.ndarray) -> np.ndarray:
    """Adjust p-values, shape `(k,)`, so that the least of them errs as rarely as it says. Source: Holm (1979)."""
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return adjusted


def shape_of(ranks: np.ndarray, num_ranks: int) -> str:
    """Name how the draws differ from the posterior if the ranks are not uniform."""
    u = (ranks + 0.5) / num_ranks - 0.5
    # In standard errors, of a uniform number and of its square.
    aside, apart = np.mean(u) * np.sqrt(12), (np.mean(u**2) - 1 / 12) * np.sqrt(180)
    if abs(aside) > abs(apart):
        return "too low" if aside > 0 else "too high"
    return "too narrow" if apart > 0 else "too wide"


def _log_factorials(count: int) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])


def _binomial(
    num: np.ndarray | int, count: np.ndarray, chance: np.ndarray | float, factorials: np.ndarray
) -> np.ndarray:
    """The probability of `count` among `num`, zero where that is none; chances are inside of (0, 1)."""
    is_count = (count >= 0) & (count <= num)
    k = np.where(is_count, count, 0)
    log = (
        factorials[num]
        - factorials[k]
        - factorials[num - k]
        + k * np.log(chance)
        + (num - k) * np.log1p(-chance)
    )
    return np.where(is_count, np.exp(log), 0.0)
