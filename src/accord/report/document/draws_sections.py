"""Show the unknowns that the draws tell least of, and pairs of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...core.series import AbstractSeries
from ..figures.density import density
from ..figures.marks import Figure
from ..figures.pair import MOST_POINTS, pair
from ..figures.rank import rank, rank_difference
from ..figures.trace import trace
from ..labels import Coords, Dims, scalar_labels
from ..ranks import average_ranks
from .base import Section

WORST = 5
_CANDIDATES = 40  # unknowns of which pairs are looked at
_LOOKED_AT = 2000  # draws that correlations are computed from
_PAIRS = 3
_WIDTH = 272  # four panels fit beside each other

Place = tuple[str, int]


def label_of(sites: AbstractSeries, place: Place, dims: Dims, coords: Coords) -> str:
    """Return the label of a scalar."""
    name, scalar = place
    return scalar_labels(name, sites.shape(name)[2:], dims.get(name, ()), coords)[scalar]


def draws_of(sites: AbstractSeries, place: Place) -> np.ndarray:
    """Return the draws of a scalar, shape `(chain, draw)`."""
    name, scalar = place
    return sites.columns(name, np.array([scalar]))[:, :, 0]


def worst(
    sites: AbstractSeries,
    stats: AbstractSeries,
    order: Sequence[Place],
    chains: Sequence[int],
    dims: Dims,
    coords: Coords,
) -> Section | None:
    """Draw traces, ranks and distributions of the five unknowns that come first in `order`; None without draws."""
    diverging = stats.get("diverging")
    figures: list[Figure] = []
    for place in order[:WORST]:
        draws, label = draws_of(sites, place), label_of(sites, place, dims, coords)
        if not draws.size:
            return None
        panels = [trace(draws, label, chains, diverging), density(draws, label, chains)]
        panels += [each(draws, label, chains) for each in (rank, rank_difference) if len(chains) > 1]
        titles = ("Trace", "Distribution", "Ranks", "Rank ECDF")  # the label is above them
        narrow = tuple(
            replace(panel, width=_WIDTH, title=title) for panel, title in zip(panels, titles, strict=False)
        )
        figures.append(Figure(label, panels[0].sentence, narrow, columns=4))
    words = (
        "The unknowns with the highest R-hat or the fewest effective draws, worst first. Good traces look alike in all "
        "chains and wander nowhere; good ranks are flat, and their differences stay within the grey band."
    )
    return Section("worst", "Unknowns to look at first", words, tuple(figures)) if figures else None


def pairs(
    sites: AbstractSeries, stats: Mapping[str, np.ndarray], order: Sequence[Place], dims: Dims, coords: Coords
) -> Section | None:
    """Draw three pairs: with what separates divergent draws best, if any, or that depend most on each other."""
    places = list(order[:_CANDIDATES])
    if len(places) < 2 or not draws_of(sites, places[0]).size:
        return None
    diverging = np.asarray(stats["diverging"], bool) if "diverging" in stats else None
    table = np.stack([np.asarray(draws_of(sites, place), np.float64).ravel() for place in places])
    varies = np.isfinite(table).all(axis=1) & (np.ptp(np.nan_to_num(table), axis=1) > 0)
    places = [place for place, is_good in zip(places, varies, strict=True) if is_good]
    if len(places) < 2:
        return None
    ranks = average_ranks(table[varies])
    chosen = _chosen(ranks, None if diverging is None else diverging.ravel())
    panels = [
        pair(
            draws_of(sites, places[one]),
            draws_of(sites, places[other]),
            (label_of(sites, places[one], dims, coords), label_of(sites, places[other], dims, coords)),
            diverging,
        )
        for one, other in chosen
    ]
    words = (
        "Pairs that depend most on each other, and on what tells divergent draws from others. Crosses that gather in a "
        "corner mark a place that the sampler does not reach, such as the neck of a funnel."
    )
    shown = f"Dots are draws, at most {MOST_POINTS} of them; crosses are divergent draws."
    return Section("pairs", "Pairs", words, (Figure("Pairs of unknowns", shown, tuple(panels)),))


def _chosen(ranks: np.ndarray, diverging: np.ndarray | None) -> list[tuple[int, int]]:
    """Return pairs of rows, from ranks of shape `(row, draw)`."""
    some = np.linspace(0, ranks.shape[1] - 1, min(ranks.shape[1], _LOOKED_AT)).astype(int)
    with np.errstate(invalid="ignore", divide="ignore"):
        together = np.abs(np.nan_to_num(np.corrcoef(ranks[:, some])))
    # Equal unknowns, such as a matrix and its transpose, show nothing.
    together = np.where(together > 1 - 1e-9, 0.0, np.round(together, 9))
    one, other = np.triu_indices(len(ranks), 1)
    by_strength = np.argsort(-together[one, other], kind="stable")
    chosen: list[tuple[int, int]] = []
    if diverging is not None and 3 <= diverging.sum() < diverging.size:
        apart = ranks[:, diverging].mean(axis=1) - ranks[:, ~diverging].mean(axis=1)
        blamed = int(np.argmax(np.abs(apart)))
        partners = np.argsort(-together[blamed], kind="stable")
        chosen = [(int(each), blamed) for each in partners if each != blamed][: _PAIRS - 1]
    for row in by_strength:
        both = (int(one[row]), int(other[row]))
        if len(chosen) < _PAIRS and both not in chosen and both[::-1] not in chosen:
            chosen.append(both)
    return chosen
