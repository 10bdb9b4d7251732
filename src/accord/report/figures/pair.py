"""Show how two unknowns depend on each other, and where draws diverged."""

import numpy as np

from ..words import count_of
from .marks import Mark, Panel, Points, spanning
from .ticks import number

MOST_POINTS = 1000


def pair(x: np.ndarray, y: np.ndarray, labels: tuple[str, str], diverging: np.ndarray | None = None) -> Panel:
    """Draw draws of two unknowns as dots, at most 1000 of them, and divergent ones as crosses.

    - `x`, `y`, `diverging`: shape `(chain, draw)`.
    """
    across, up = (np.asarray(each, np.float64).ravel() for each in (x, y))
    bad = np.zeros(across.size, bool) if diverging is None else np.asarray(diverging, bool).ravel()
    good = _some(np.flatnonzero(~bad), MOST_POINTS)
    marks: list[Mark] = [Points(across[good], up[good], 0, 1.3, 0.45)]
    crosses = _some(np.flatnonzero(bad), MOST_POINTS // 4)
    if crosses.size:
        marks.append(Points(across[crosses], up[crosses], 1, 2.5, is_cross=True))
    shown = np.concatenate([good, crosses])
    known = np.isfinite(across) & np.isfinite(up)
    varies = known.sum() > 1 and np.ptp(across[known]) > 0 and np.ptp(up[known]) > 0
    with np.errstate(over="ignore", invalid="ignore"):
        r = float(np.corrcoef(across[known], up[known])[0, 1]) if varies else np.nan
    words = f"correlation {number(round(r, 2))}" if np.isfinite(r) else "correlation unknown"
    if diverging is not None:
        words += f", {count_of(int(bad.sum()), 'divergent draw')}"
    return Panel(
        f"{labels[1]} by {labels[0]}",
        tuple(marks),
        spanning(labels[0], across[shown]),
        spanning(labels[1], up[shown]),
        f"Draws of {labels[1]} by {labels[0]}: {words}.",
        ((1, "divergent"),) if crosses.size else (),
        height=260,
    )


def _some(places: np.ndarray, most: int) -> np.ndarray:
    """Return at most so many of these, evenly."""
    if places.size <= most:
        return places
    return places[np.linspace(0, places.size - 1, most).astype(int)]
