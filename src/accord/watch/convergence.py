"""Judge how far chains agree, at fixed numbers of draws: R-hat and effective sample sizes of some unknowns.

They are those of the summary, computed from all draws while these are few. Of many, every n-th draw is kept: then
effective sample sizes are of these, which is no more than of all.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..report import ess_bulk, ess_tail, nested_r_hat, r_hat
from ..report.evidence import quotas
from ..report.labels import read_written, scalar_labels
from ..report.many_chains import MANY
from ..runs.stopping.sights import drawn_sites, superchains_of
from ..storage import Segment
from .thinned import ThinnedRows, together

_NUMBERS = 2**21  # that are kept in all
_MOST_SCALARS = 200
_FEWEST_ROWS = 512  # of a chain, before fewer scalars are followed
_FIRST = 50  # draws of a chain at the first look, and rows that a look needs
_GROWTH = 1.2  # from one look to the next
_MOST_WORST = 10
_MOST_TRACES = 5
_TRACE_CHAINS = 8
_TRACE_POINTS = 150


@dataclass(frozen=True)
class Look:
    """Agreement of chains after `draws` draws each.

    **Fields**: `r_hat`, `bulk` and `tail`, by followed scalar, NaN where there is none; `stride` of the draws.
    """

    draws: int
    r_hat: np.ndarray
    bulk: np.ndarray
    tail: np.ndarray
    stride: int


@dataclass
class Convergence:
    """Draws of some scalars of a run, and what they say of its convergence.

    **Arguments**: `manifest`; `chains`, those that are followed.
    """

    manifest: Mapping[str, Any]
    chains: Sequence[int]
    looks: list[Look] = field(init=False, default_factory=list)
    _picked: dict[str, tuple[str, np.ndarray]] = field(init=False)

    def __post_init__(self) -> None:
        sites = {
            name: (stored, int(np.prod(shape)))
            for name, (stored, shape, dtype) in self._sites().items()
            if not dtype.startswith("complex")
        }
        widths = {name: width for name, (_, width) in sites.items() if width}
        self.num_scalars = sum(widths.values())
        most = max(_NUMBERS // (len(self.chains) * _FEWEST_ROWS), _MOST_WORST)
        share = quotas(widths, min(most, _MOST_SCALARS))
        self._picked = {
            name: (sites[name][0], np.linspace(0, widths[name] - 1, count).round().astype(int))
            for name, count in share.items()
        }
        self._labels: list[str] | None = None
        self.width = sum(len(scalars) for _, scalars in self._picked.values())
        self._most = max(_NUMBERS // (len(self.chains) * max(self.width, 1)), 2 * _FIRST)
        self._rows = {number: self._empty() for number in self.chains}
        self._lost: frozenset[int] = frozenset()

    def _sites(self) -> dict[str, tuple[str, tuple[int, ...], str]]:
        return drawn_sites(self.manifest) if "layout" in self.manifest else {}

    def _empty(self) -> ThinnedRows:
        return ThinnedRows(self.width, self._most)

    def restart(self, chain: int) -> None:
        """Forget a chain, and what was said of it."""
        self._rows[chain] = self._empty()
        self.looks = []

    def take(self, segment: Segment) -> None:
        """Add the draws of a segment, if it holds sites."""
        if not self._picked or next(iter(self._picked.values()))[0] not in segment.arrays:
            return
        size = len(segment)
        columns = [
            np.asarray(segment.arrays[stored], np.float64).reshape(size, -1)[:, scalars]
            for stored, scalars in self._picked.values()
        ]
        self._rows[segment.chain].add(np.concatenate(columns, axis=1))

    def leave_out(self, chains: Collection[int]) -> None:
        """Leave out chains that make no more draws, unless there are no others."""
        self._lost = frozenset(chains)

    @property
    def _counted(self) -> dict[int, ThinnedRows]:
        counted = {number: rows for number, rows in self._rows.items() if number not in self._lost}
        return counted or self._rows

    @property
    def num_draws(self) -> int:
        """Draws that all chains have."""
        return min(rows.num_seen for rows in self._counted.values())

    def due(self, is_ended: bool) -> int | None:
        """Return the number of draws of the next look, if all chains have as many; the last ones once it has ended."""
        seen, last = self.num_draws, self.looks[-1].draws if self.looks else 0
        num_chains = len(self._counted)
        at = _next_look(last, num_chains)
        if at <= seen:
            return at
        is_enough = num_chains * seen >= _FIRST if num_chains >= MANY else seen >= 4
        return seen if is_ended and is_enough and seen > last else None

    def look(self, draws: int) -> None:
        """Judge the first draws of all chains."""
        counted = self._counted
        rows, stride = together(counted.values(), draws)
        if len(counted) < MANY and rows.shape[1] < min(_FIRST, draws):
            # Of so early a moment, too little is left.
            blank = np.full(self.width, np.nan)
            self.looks.append(Look(draws, blank, blank, blank, stride))
            return
        if len(counted) >= MANY:
            found = nested_r_hat(rows, superchains_of(self.manifest, list(counted)))
        else:
            found = r_hat(rows)
        self.looks.append(Look(draws, found, ess_bulk(rows), ess_tail(rows), stride))

    def worst(self) -> list[dict[str, Any]]:
        """Return the scalars with the smallest effective sample sizes at the last look, as rows of a table."""
        places = self._worst_places()
        if not places:
            return []
        last = self.looks[-1]
        # Of these columns alone, since a display asks each second.
        rows, _ = together(self._counted.values(), last.draws, places)
        flat = rows.reshape(-1, len(places))
        means, spreads = flat.mean(axis=0), flat.std(axis=0, ddof=1)
        return [
            {
                "name": self._all_labels()[place],
                "ess_bulk": last.bulk[place],
                "ess_tail": last.tail[place],
                "r_hat": last.r_hat[place],
                "mean": mean,
                "sd": spread,
            }
            for place, mean, spread in zip(places, means, spreads, strict=True)
        ]

    def _worst_places(self) -> list[int]:
        if not self.looks:
            return []
        least = np.fmin(self.looks[-1].bulk, self.looks[-1].tail)
        order = [int(place) for place in np.argsort(least, kind="stable") if np.isfinite(least[place])]
        return order[:_MOST_WORST]

    def history(self) -> list[dict[str, Any]]:
        """Return, by look, the smallest effective sample size and the largest R-hat."""
        return [
            {
                "draws": look.draws,
                "ess": _least(np.fmin(look.bulk, look.tail)),
                "r_hat": -_least(-look.r_hat),
            }
            for look in self.looks
            if np.isfinite(look.bulk).any()
        ]

    def traces(self) -> list[dict[str, Any]]:
        """Return draws of the worst scalars, thinned to what can be seen, by chain."""
        shown = dict(list(self._counted.items())[:_TRACE_CHAINS])
        places = (self._worst_places() or range(self.width))[:_MOST_TRACES]
        rows, stride = together(shown.values(), columns=places)
        if not rows.shape[1]:
            return []
        step = -(-rows.shape[1] // _TRACE_POINTS)
        return [
            {
                "name": self._all_labels()[place],
                "every": step * stride,
                "chains": [
                    {"chain": chain, "values": part[::step, column]}
                    for chain, part in zip(shown, rows, strict=True)
                ],
            }
            for column, place in enumerate(places)
        ]

    def _all_labels(self) -> list[str]:
        if self._labels is None:
            layout = self.manifest["layout"]
            coords = {name: read_written(labels) for name, labels in layout["coords"].items()}
            by_name = {site["name"]: site for site in layout["sites"]}
            self._labels = [
                label
                for name, (_, scalars) in self._picked.items()
                for labels in [scalar_labels(name, by_name[name]["shape"], by_name[name]["dims"], coords)]
                for label in (labels[scalar] for scalar in scalars)
            ]
        return self._labels


def _next_look(draws: int, num_chains: int) -> int:
    first = max(4, -(-400 // num_chains)) if num_chains >= MANY else _FIRST
    return first if draws < first else int(draws * _GROWTH) + 1


def _least(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.min()) if finite.size else np.nan
