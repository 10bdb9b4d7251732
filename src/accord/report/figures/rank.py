"""Show whether chains agree, by the ranks of their draws among those of all chains.

**Source**: Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis 16(2), section 4.2, for histograms
of ranks; Säilynoja, Bürkner & Vehtari (2022), Statistics and Computing 32:32, for differences of distribution
functions. Departure: our band has one width, from Kolmogorov's limit, and counts effective draws, since draws of a
chain depend on each other.
"""

from collections.abc import Sequence

import numpy as np

from ..diagnostics import ess_bulk
from ..words import count_of
from .chains import finite, has_lines, left_out, legend
from .marks import INK, NUM_COLOURS, Axis, Band, Line, Mark, Panel, Rule, spanning
from .ticks import number

_BINS = 20
_POINTS = 101
COVERAGE = 0.95


def ranks_of(draws: np.ndarray) -> list[np.ndarray]:
    """Return ranks of finite draws of each chain among all, sorted, as shares in (0, 1).

    Equal draws of a chain, as of counts, are spread evenly over the ranks that all such draws take: so ranks are
    uniform if chains agree, without random numbers.
    """
    each = [finite(row) for row in draws]
    pooled = np.sort(np.concatenate(each))
    size = max(pooled.size, 1)
    found: list[np.ndarray] = []
    for row in map(np.sort, each):
        first, last = np.searchsorted(row, row), np.searchsorted(row, row, "right")
        below, upto = np.searchsorted(pooled, row), np.searchsorted(pooled, row, "right")
        share = (np.arange(row.size) - first + 0.5) / (last - first)
        found.append((below + share * (upto - below)) / size)
    return found


def rank(draws: np.ndarray, label: str, chains: Sequence[int]) -> Panel:
    """Draw histograms of the ranks of each chain; flat ones if chains agree. `draws` has shape `(chain, draw)`."""
    edges = np.linspace(0, 1, _BINS + 1)
    heights = np.array(
        [np.histogram(row, edges)[0] * _BINS / max(row.size, 1) for row in ranks_of(draws)]
    ).reshape(len(draws), _BINS)
    marks: list[Mark] = [Rule(1.0)]
    if has_lines(len(draws)):
        marks += [
            Line(edges, np.append(row, row[-1]), colour, is_steps=True) for colour, row in enumerate(heights)
        ]
    else:
        low, middle, high = np.quantile(heights, (0.05, 0.5, 0.95), axis=0)
        low, middle, high = (np.append(each, each[-1]) for each in (low, middle, high))
        marks += [Band(edges, low, high, is_steps=True), Line(edges, middle, is_steps=True)]
    far = np.abs(heights - 1).max() if heights.size else 0.0
    return Panel(
        f"Ranks of {label}",
        tuple(marks),
        Axis("rank among all chains", 0, 1),
        Axis("density", 0, max(2.0, 1.05 * float(heights.max(initial=0)))),
        f"Histograms of the ranks of {label} in {count_of(len(draws), 'chain')}: flat where chains agree. The highest "
        f"or lowest bar is {number(float(far))} away from 1.{left_out(draws)}",
        legend(chains),
    )


def rank_difference(draws: np.ndarray, label: str, chains: Sequence[int]) -> Panel:
    """Draw how the distribution function of each chain's ranks differs from that of all, with a band for all chains.

    If chains agree, all their lines stay within the band in at least 95% of runs. Of more than six chains, those that
    go farthest are shown. `draws` has shape `(chain, draw)`.
    """
    at = np.linspace(0, 1, _POINTS)
    ranks = ranks_of(draws)
    lines = np.array([np.searchsorted(row, at, "right") / max(row.size, 1) - at for row in ranks])
    lines[:, [0, -1]] = 0.0  # shares of none and of all
    width = band_width(draws)
    far = np.abs(lines).max(axis=1, initial=0)
    shown = np.sort(np.argsort(-far, kind="stable")[:NUM_COLOURS])
    marks: list[Mark] = [Rule(0.0)]
    if np.isfinite(width):
        marks.insert(0, Band(at, np.full(_POINTS, -width), np.full(_POINTS, width), INK, 0.12))
    marks += [Line(at, lines[chain], colour) for colour, chain in enumerate(shown)]
    beyond = int(np.sum(far > width))
    verdict = (
        f"{beyond} of {count_of(len(draws), 'chain')} leave the band of width {number(width)} that holds all in 95% "
        "of runs whose chains agree."
        if np.isfinite(width)
        else "No band: too few draws, or draws that do not vary."
    )
    return Panel(
        f"Rank ECDF of {label}",
        tuple(marks),
        Axis("rank among all chains", 0, 1),
        spanning("share below, less rank", lines, np.array([-width, width, -0.02, 0.02])),
        f"Distribution functions of the ranks of {label}, less those of equal chains. {verdict}",
        legend([list(chains)[chain] for chain in shown]),
    )


def band_width(draws: np.ndarray) -> float:
    """Return half the width of the band of `rank_difference`; NaN for one chain, and without an effective size.

    The difference between the distribution function of one of m chains and that of all is (1 - 1/m) times that between
    the chain and the others: sqrt((1 - 1/m) / n) times a Brownian bridge, for n effective draws of a chain. Its largest
    value is beyond x with a chance of at most 2 exp(-2 x^2) (Kolmogorov 1933), here shared among the chains. The
    effective draws are those within chains, of the median chain, since those of all vanish where chains disagree.
    """
    num_chains = len(draws)
    own = np.array([float(ess_bulk(row[None, :, None])[0]) for row in draws])
    if num_chains < 2 or not np.isfinite(own).any():
        return float("nan")
    effective = float(np.median(own[np.isfinite(own)]))
    limit = np.sqrt(np.log(2 * num_chains / (1 - COVERAGE)) / 2)
    return float(limit * np.sqrt((1 - 1 / num_chains) / max(effective, 1.0)))
