"""Smooth the largest importance weights: by quantiles of the generalised Pareto distribution that is fitted to them.

Own NumPy code, for the reasons of `diagnostics`, and because it is needed in the first seconds of a fit: to import
`arviz-stats` takes 1.5 s. Equal to that to 1e-10 (tested).

**Source**: Vehtari, Simpson, Gelman, Yao & Gabry (2024), "Pareto smoothed importance sampling", JMLR 25(72), sections
2.4 and 3 and appendix C; the fit is that of Zhang & Stephens (2009), Technometrics 51(3), 316-325.
"""

import numpy as np

from .diagnostics import QUIETLY

_LONG = 225  # effective draws, from which on the tail grows with the square root
_SHAPE, _DRAWS = 0.5, 10  # a prior of the shape: this one, with the weight of so many draws
_PRIOR_SCALE = 3  # of the fit, in first quartiles


def smoothed_tail(log_weights: np.ndarray, relative_ess: float) -> tuple[np.ndarray, float]:
    """Return log weights with a smoothed tail, none above the largest one given, and the shape of the tail.

    Weights whose tail is flat have the shape 0, and those without a fit infinity; both are returned as they are.

    **Arguments**: `log_weights`, finite, at least 25; `relative_ess`, effective draws for each draw.
    """
    count, order = len(log_weights), np.argsort(log_weights)
    long = count * relative_ess > _LONG
    size = int(3 * np.sqrt(count / relative_ess)) if long else count // 5
    largest = log_weights[order[-1]]
    tail, cutoff = (np.exp(log_weights[each] - largest) for each in (order[-size:], order[-size - 1]))
    if log_weights[order[-size]] == largest:
        return log_weights, 0.0
    with np.errstate(**QUIETLY):
        shape, scale = _fit(tail - cutoff)
        if not np.isfinite(shape):
            return log_weights, float("inf")
        log_above = np.log1p(-(np.arange(size) + 0.5) / size)
        excesses = -scale * log_above if shape == 0 else scale * np.expm1(-shape * log_above) / shape
        found = log_weights.copy()
        found[order[-size:]] = largest + np.minimum(np.log(cutoff + excesses), 0)
    return found, shape


def _fit(excesses: np.ndarray) -> tuple[float, float]:
    """Return shape and scale of the distribution; `excesses` over the cutoff rise."""
    count = len(excesses)
    points = 30 + int(np.sqrt(count))
    # The ratio of shape and scale, negative: its mean over a grid, by the likelihood at the best shape for each.
    grid = 1 - np.sqrt(points / (np.arange(points) + 0.5))
    grid = grid / (_PRIOR_SCALE * excesses[int(count / 4 + 0.5) - 1]) + 1 / excesses[-1]
    shapes = np.log1p(-grid[:, None] * excesses).mean(axis=1)
    heights = count * (np.log(-grid / shapes) - shapes - 1)
    weights = np.exp(heights - heights.max())
    ratio = np.sum(grid * weights) / np.sum(weights)
    shape = np.log1p(-ratio * excesses).mean()
    shrunk = (count * shape + _DRAWS * _SHAPE) / (count + _DRAWS)
    return float(shrunk), float(-shape / ratio)
