"""Show draws in the order in which they were made."""

from collections.abc import Sequence

import numpy as np

from ..words import count_of
from .chains import finite, has_lines, left_out, legend, span_in_words
from .marks import INK, Axis, Band, Line, Mark, Panel, Points, spanning

_BINS = 150
_MOST_CROSSES = 200


def trace(draws: np.ndarray, label: str, chains: Sequence[int], diverging: np.ndarray | None = None) -> Panel:
    """Draw the values of one unknown by draw, a line per chain; of many chains, their quantiles.

    - `draws`: shape `(chain, draw)`. `chains`: their numbers. `diverging`: bool of that shape; crosses at the bottom.
    """
    num_chains, num_draws = draws.shape
    values = np.asarray(draws, np.float64)
    at = np.arange(num_draws)
    y = spanning(label, values)
    marks: list[Mark] = []
    if has_lines(num_chains):
        marks += [Line(at, row, colour, width=0.8, is_thin=True) for colour, row in enumerate(values)]
    elif num_draws:
        marks += _quantiles(values)
    flags = np.zeros(draws.shape, bool) if diverging is None else np.asarray(diverging, bool)
    places = np.flatnonzero(flags.any(axis=0))
    if places.size:
        some = places[np.linspace(0, places.size - 1, min(places.size, _MOST_CROSSES)).astype(int)]
        marks.append(Points(some, np.full(some.size, y.low), INK, size=2.5, is_cross=True))
    what = f"{count_of(num_chains, 'chain')} of {count_of(num_draws, 'draw')}"
    crosses = f" Crosses mark {count_of(int(flags.sum()), 'divergent draw')}." if places.size else ""
    return Panel(
        f"Trace of {label}",
        tuple(marks),
        Axis("draw", 0, max(num_draws - 1, 1)),
        y,
        f"Trace of {label}: {what}, {span_in_words(finite(values))}.{crosses}{left_out(values)}",
        legend(chains),
    )


def _quantiles(values: np.ndarray) -> list[Mark]:
    """Draw bands that hold 90% and 50% of the chains, and their median."""
    starts = np.unique(np.linspace(0, values.shape[1] - 1, min(values.shape[1], _BINS)).astype(int))
    parts = [finite(part) for part in np.split(values, starts[1:], axis=1)]
    lines = np.array(
        [
            np.quantile(part, (0.05, 0.25, 0.5, 0.75, 0.95)) if part.size else np.full(5, np.nan)
            for part in parts
        ]
    )
    return [
        Band(starts, lines[:, 0], lines[:, 4], 0, 0.2),
        Band(starts, lines[:, 1], lines[:, 3], 0, 0.4),
        Line(starts, lines[:, 2], 0),
    ]
