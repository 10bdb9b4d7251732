"""Show observations among predictions of them, and where each lies in its own."""

import numpy as np

from .marks import INK, Axis, Band, Line, Mark, Panel, Points, Rule, spanning
from .ticks import number

_BANDS = ((0.9, 0.14), (0.5, 0.24))  # share of the predictions, and opacity
_MOST_REPLICATES = 1000  # beyond, edges of the bands move by less than a line's width
_MOST_POINTS = 300
COVERAGE = 0.95


def predicted(replicates: np.ndarray, observed: np.ndarray | None, label: str) -> Panel:
    """Draw bands that hold 50% and 90% of predicted distribution functions, and the observed one.

    - `replicates`: shape `(draw, entry)`. `observed`: shape `(entry,)`, NaN where it is missing; None if not known.
    """
    some = np.linspace(0, len(replicates) - 1, min(len(replicates), _MOST_REPLICATES)).astype(int)
    replicates = np.asarray(replicates, np.float64)[some]
    data = None
    if observed is not None:
        is_seen = np.isfinite(observed)
        data, replicates = np.asarray(observed, np.float64)[is_seen], replicates[:, is_seen]
    known = replicates[np.isfinite(replicates)]
    pooled = np.concatenate([known, np.zeros(0) if data is None else data])
    points = np.unique(np.quantile(pooled, np.linspace(0.001, 0.999, _MOST_POINTS), method="nearest"))
    functions = distribution_functions(replicates, points)
    marks: list[Mark] = []
    for share, opacity in _BANDS:
        low, high = np.quantile(functions, [(1 - share) / 2, (1 + share) / 2], axis=0)
        marks.append(Band(points, low, high, INK, opacity, is_steps=True))
    words = "no observations"
    if data is not None and data.size:
        own = distribution_functions(data[None], points)[0]
        marks.append(Line(points, own, 0, 1.6, is_steps=True))
        low, high = np.quantile(functions, [0.05, 0.95], axis=0)
        words = f"the observed one leaves the band at {np.mean((own < low) | (own > high)):.0%} of the places"
    return Panel(
        f"Predictions of {label}",
        tuple(marks),
        Axis(label, float(points[0]), float(points[-1]) if points[-1] > points[0] else float(points[0]) + 1),
        Axis("share of values up to it", 0, 1.02),
        f"Distribution functions of predicted {label}, in bands of 50% and 90%: {words}.",
        ((0, "observed"),) if data is not None else (),
    )


def distribution_functions(values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Share of each row's values that are at most each point: shape `(row, point)`, of values of shape `(row, k)`."""
    rows = np.sort(values, axis=1)
    return np.array([np.searchsorted(row, points, side="right") for row in rows]) / values.shape[1]


def loo_pit(values: np.ndarray, label: str) -> Panel:
    """Draw the distribution function of probability integral transforms, less that of uniform numbers.

    If the model predicts well, they are uniform, and the line stays within the band in at least 95% of data sets
    (Kolmogorov 1933; as if they were independent). A hump first and a dip then: predictions too high; the other way
    round at the ends: too narrow.

    - `values`: for each observation the share of predictions from all others that are below it, shape `(entry,)`.
    """
    values = values[np.isfinite(values)]
    at = np.linspace(0, 1, 101)
    width = float(np.sqrt(np.log(2 / (1 - COVERAGE)) / (2 * max(values.size, 1))))
    line = np.searchsorted(np.sort(values), at, "right") / max(values.size, 1) - at
    line[[0, -1]] = 0.0
    far = float(np.abs(line).max())
    top = 1.15 * max(width, far)
    where = "leaves" if far > width else "stays within"
    return Panel(
        f"LOO-PIT of {label}",
        (Band(at, np.full(101, -width), np.full(101, width), INK, 0.12), Rule(0.0), Line(at, line)),
        Axis("probability integral transform", 0, 1),
        Axis("share below, less uniform", -top, top),
        f"Where {values.size} observations of {label} lie in their predictions from all others: the line {where} the "
        f"band of width {number(width)}.",
    )


def pareto_k(values: np.ndarray, good: float, label: str) -> Panel:
    """Draw Pareto k of each observation, shape `(entry,)`, with the limit up to which leave-one-out is sound."""
    bad = int(np.sum(~(values <= good)))
    return Panel(
        f"Pareto k of {label}",
        (Rule(good), Points(np.arange(values.size), values, 0, 2.0, 0.9)),
        Axis("observation", -0.5, max(values.size - 0.5, 0.5)),
        spanning("Pareto k", values, np.array([0.0, good, 0.8])),
        f"Pareto k of {values.size} observations of {label}: {bad} above {number(good)}, the dashed line.",
    )
