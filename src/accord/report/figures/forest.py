"""Show intervals of many unknowns below each other."""

from collections.abc import Sequence

import numpy as np

from .chains import finite
from .marks import Axis, Line, Mark, Panel, Points, spanning
from .ticks import number

MOST_ROWS = 40
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_LETTERS = 18


def intervals(draws: Sequence[np.ndarray], labels: Sequence[str]) -> Panel:
    """Draw the intervals of draws of any shape, one row for each array; what is not finite is left out."""
    known = [finite(each) for each in draws]
    quantiles = [np.quantile(each, QUANTILES) if each.size else np.full(5, np.nan) for each in known]
    return forest(labels, np.array(quantiles).reshape(-1, 5).T)


def forest(labels: Sequence[str], quantiles: np.ndarray) -> Panel:
    """Draw the central 90% as a line, the central 50% as a thicker one, and the median as a dot, one row each.

    - `quantiles`: at 5%, 25%, 50%, 75% and 95%, shape `(5, row)`; at most 40 rows are shown.
    """
    labels, quantiles = list(labels)[:MOST_ROWS], quantiles[:, :MOST_ROWS]
    rows = np.arange(len(labels), dtype=float)[::-1]
    marks: list[Mark] = []
    for row, (low, first, _, third, high) in zip(rows, quantiles.T, strict=True):
        marks += [Line(np.array([low, high]), np.array([row, row]), 0, 1.2)]
        marks += [Line(np.array([first, third]), np.array([row, row]), 0, 4.0)]
    if len(rows):
        marks.append(Points(quantiles[2], rows, 1, 2.6, 1.0))
    shown = [label if len(label) <= _LETTERS else f"{label[: _LETTERS - 1]}\u2026" for label in labels]
    medians = quantiles[2][np.isfinite(quantiles[2])] if len(rows) else np.zeros(0)
    words = (
        f"medians from {number(medians.min())} to {number(medians.max())}" if medians.size else "no values"
    )
    return Panel(
        "Intervals",
        tuple(marks),
        spanning("value", quantiles),
        Axis("", -0.7, max(len(labels) - 0.3, 0.7), tuple(zip(rows.tolist(), shown, strict=True))),
        f"Central 90% and 50% intervals and medians of {len(labels)} unknowns: {words}.",
        height=int(max(120, 70 + 17 * len(labels))),
    )
