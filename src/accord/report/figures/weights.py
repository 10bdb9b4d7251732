"""Show how unevenly draws weigh, and how near the approximations that they come from are to the posterior."""

from collections.abc import Mapping

import numpy as np

from ..words import count_of
from .marks import INK, Axis, Line, Panel, Points, spanning
from .ticks import number

_MOST_POINTS = 400
_MOST_TICKS = 12


def shares(log_weights: np.ndarray) -> Panel:
    """Draw which share of the weight the heaviest draws have, by their number; log weights of shape `(draw,)`.

    Weights that are all alike give a straight line, to the right of the curve on a logarithmic axis.
    """
    largest = log_weights.max(initial=-np.inf)
    weights = np.exp(log_weights - largest) if np.isfinite(largest) else np.zeros(len(log_weights))
    held = np.cumsum(np.sort(weights)[::-1]) / (weights.sum() or 1.0)
    size = max(len(held), 1)
    at = (
        np.unique(np.round(np.geomspace(1, size, _MOST_POINTS)).astype(int))
        if len(held)
        else np.zeros(0, int)
    )
    half = int(np.searchsorted(held, 0.5)) + 1 if weights.sum() > 0 else 0
    words = (
        f"{count_of(half, 'draw')} of {size} {'has' if half == 1 else 'have'} half of the weight"
        if half
        else "no draw has any weight"
    )
    return Panel(
        "Weights",
        (Line(at, at / size, INK, 1.0, is_dashed=True), Line(at, held[at - 1])),
        Axis("heaviest candidates", 1, max(size, 2), is_log=True),
        Axis("share of the weight", 0, 1.02),
        f"Share of the weight of the heaviest candidates, by their number: {words}. The dashed line is for equal "
        "weights.",
        ((0, "weighted"), (INK, "equal weights")),
    )


def bounds(values: Mapping[int, float], errors: Mapping[int, float]) -> Panel:
    """Draw the evidence lower bound of each path with two standard errors, by its number."""
    numbers = list(values)
    found = np.array([values[each] for each in numbers], float)
    aside = 2 * np.nan_to_num(np.array([errors.get(each, np.nan) for each in numbers], float))
    at = np.arange(len(numbers), dtype=float)
    by = max(1, len(numbers) // _MOST_TICKS)
    ticks = tuple((float(place), str(numbers[place])) for place in range(0, len(numbers), by))
    known = found[np.isfinite(found)]
    words = f"from {number(float(known.min()))} to {number(float(known.max()))}" if known.size else "unknown"
    bars = [
        Line(np.array([place, place]), np.array([value - gap, value + gap]), 0, 1.2)
        for place, value, gap in zip(at[:_MOST_POINTS], found, aside, strict=False)
    ]
    return Panel(
        "Bounds",
        (*bars, Points(at, found, 0, 2.6, 1.0)),
        Axis("path", -0.6, max(len(numbers) - 0.4, 0.6), ticks),
        spanning("evidence lower bound", found - aside, found + aside),
        f"Evidence lower bounds of the normals of {count_of(len(numbers), 'path')}, with two standard errors: {words}.",
    )
