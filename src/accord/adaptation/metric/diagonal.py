"""Learn a scale for each coordinate."""

import numpy as np

from .fit import Fit
from .metric import Metric

_SCALE_RANGE = (1e-10, 1e10)


def initial_metric(gradient: np.ndarray, rank: int) -> Metric:
    """Guess a diagonal metric from one gradient, shape `(dim,)`: the scale at which it would be typical."""
    with np.errstate(divide="ignore"):
        scale = 1 / np.sqrt(np.abs(np.asarray(gradient, np.float64)))
    scale = np.where(np.isfinite(scale), np.clip(scale, *_SCALE_RANGE), 1.0)
    return Metric.diagonal(scale.astype(gradient.dtype), rank)


def diagonal(x: np.ndarray, g: np.ndarray, previous: np.ndarray) -> Fit:
    """Fit the scale at which draws and gradients, each `(..., draw, dim)`, vary alike; `previous` if undefined."""
    return Fit(scale_of(x, g, previous), np.zeros((x.shape[-1], 0)), np.zeros(0))


def scale_of(x: np.ndarray, g: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Return this scale as an array."""
    with np.errstate(all="ignore"):
        scale = (x.var(-2) / g.var(-2)) ** 0.25
    return np.where(np.isfinite(scale) & (scale > 0), np.clip(scale, *_SCALE_RANGE), previous)
