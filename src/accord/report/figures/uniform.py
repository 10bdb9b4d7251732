"""Show whether the ranks of true values among draws are uniform, as they are where draws follow the posterior.

**Source**: Säilynoja, Bürkner & Vehtari (2022), Statistics and Computing 32:32, section 2.2, for differences of
distribution functions in a simultaneous band; Talts et al. (2018), arXiv:1804.06788, for histograms. Departure: our
band of a histogram holds all bars together, by Bonferroni's inequality.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..words import count_of
from .marks import INK, NUM_COLOURS, Axis, Band, Bars, Line, Mark, Panel, Rule, spanning
from .ticks import number

_LEAST_BARS, _MOST_BARS = 5, 20
_RANKS_OF_BAR = 5  # that a bar is to hold
_MOST_LINES = 200
COVERAGE = 0.95


@dataclass(frozen=True, eq=False)
class Ranked:
    """Ranks of one parameter, and what a test says of them.

    **Fields**
    - `label`; `ranks`, whole numbers from 0 to `num_ranks - 1`, shape `(simulation,)`; `verdict`, in words.
    - `cuts`, shape `(cut,)`, between 0 and `num_ranks`; `counts` of ranks below each.
    - `low`, `high`: counts that hold those of uniform ranks at all cuts together, with a chance of 95%.
    """

    label: str
    ranks: np.ndarray
    num_ranks: int
    verdict: str
    cuts: np.ndarray
    counts: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def at(self) -> np.ndarray:
        """Cuts as shares, with both ends; shape `(cut + 2,)`."""
        return np.concatenate([[0.0], self.cuts / self.num_ranks, [1.0]])

    def beside_uniform(self, counts: np.ndarray) -> np.ndarray:
        """Return the shares that these counts are, less those of uniform ranks; zero at both ends."""
        return np.concatenate([[0.0], counts / len(self.ranks) - self.cuts / self.num_ranks, [0.0]])


def rank_histogram(found: Ranked) -> Panel:
    """Draw a histogram of ranks, with a band that holds all bars of uniform ranks in at least 95% of calibrations."""
    from scipy.stats import binom  # half a second, which few commands need

    num_bars = _num_bars(len(found.ranks), found.num_ranks)
    bar_of = np.arange(found.num_ranks) * num_bars // found.num_ranks
    edges = np.append(np.searchsorted(bar_of, np.arange(num_bars)), found.num_ranks) / found.num_ranks
    size, chances = len(found.ranks), np.diff(edges)
    heights = np.bincount(bar_of[found.ranks], minlength=num_bars) / size / chances
    tail = (1 - COVERAGE) / (2 * num_bars)
    low, high = (binom.ppf(each, size, chances) / size / chances for each in (tail, 1 - tail))
    beyond = int(np.sum((heights < low - 1e-9) | (heights > high + 1e-9)))
    least, most = (np.append(each, each[-1]) for each in (low, high))
    top = float(max(heights.max(initial=0), high.max(initial=0)))
    return Panel(
        f"Ranks of {found.label}",
        (
            Band(edges, least, most, INK, 0.12, is_steps=True),
            Rule(1.0),
            Bars(edges[:-1], edges[1:], np.zeros(num_bars), heights),
        ),
        Axis("rank of the truth among draws", 0, 1),
        Axis("density", 0, 1.08 * max(top, 1.0)),
        f"Histogram of the ranks of {found.label} in {count_of(size, 'simulation')}: {beyond} of {num_bars} bars leave "
        f"the band that holds all bars of uniform ranks in at least 95% of calibrations. {found.verdict}",
    )


def _num_bars(size: int, num_ranks: int) -> int:
    """Return a number of bars that hold some ranks each, and equally many possible ones if that can be."""
    most = min(_MOST_BARS, num_ranks, max(_LEAST_BARS, size // _RANKS_OF_BAR))
    return next((count for count in range(most, 2 * most // 3, -1) if num_ranks % count == 0), most)


def rank_ecdf(found: Ranked) -> Panel:
    """Draw the distribution function of the ranks, less that of uniform ones, with the band of the test."""
    line, low, high = map(found.beside_uniform, (found.counts, found.low, found.high))
    outside = (line < low - 1e-9) | (line > high + 1e-9)
    words = "leaves" if outside.any() else "stays within"
    return Panel(
        f"Rank ECDF of {found.label}",
        (Band(found.at, low, high, INK, 0.12), Rule(0.0), Line(found.at, line)),
        Axis("rank of the truth among draws", 0, 1),
        spanning("share below, less uniform", line, low, high),
        f"Distribution function of the ranks of {found.label}, less that of uniform ranks: the line {words} the band "
        f"that holds uniform ranks with a chance of 95%. {found.verdict}",
    )


def overview(every: Sequence[Ranked], is_bad: Sequence[bool]) -> Panel:
    """Draw the lines of all parameters, with the band for one: those that are not uniform in colours, at most six."""
    some = sorted(range(len(every)), key=lambda place: not is_bad[place])[:_MOST_LINES]
    lines = [every[place].beside_uniform(every[place].counts) for place in some]
    low, high = (every[0].beside_uniform(each) for each in (every[0].low, every[0].high))
    named = [place for place in some if is_bad[place]][:NUM_COLOURS]
    marks: list[Mark] = [Band(every[0].at, low, high, INK, 0.12), Rule(0.0)]
    for place, line in reversed(list(zip(some, lines, strict=True))):
        marks.append(
            Line(every[0].at, line, named.index(place), 1.6)
            if place in named
            else Line(every[0].at, line, INK, 0.6)
        )
    bad = int(np.sum(is_bad))
    far = max((float(np.abs(line).max()) for line in lines), default=0.0)
    return Panel(
        "All parameters",
        tuple(marks),
        Axis("rank of the truth among draws", 0, 1),
        spanning("share below, less uniform", low, high, *lines),
        f"Distribution functions of the ranks of {count_of(len(every), 'parameter')}, less those of uniform ranks: "
        f"{bad} not uniform, and the farthest line goes {number(far)} from zero. The band is for one parameter.",
        tuple((colour, every[place].label) for colour, place in enumerate(named)),
    )
