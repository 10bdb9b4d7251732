"""Tune the moves of a population by its own particles: the metric by their spread, the step size by acceptance."""

import numpy as np

from ..adaptation.metric import Metric, rank_for
from ..adaptation.metric.choose import MAX_DENSE_DIM

_FEW_PER_DIM = 10  # effective particles for each dimension, from which on "auto" takes a full matrix
_ROUND = 4.0  # ratio of the largest eigenvalue of the correlations to the smallest, up to which it takes none
_LEAST = 1e-8  # eigenvalue of correlations
_GAIN = 2.0  # of the logarithm of a step size, by acceptance
_MOST = 1.0  # change of that logarithm from stage to stage


def metric_of(
    positions: np.ndarray, weights: np.ndarray, form: str, previous: Metric | None, dtype: np.dtype
) -> Metric:
    """Return the metric that whitens weighted particles: `positions`, shape `(particle, dim)`.

    `form` is the kernel's option. Scales are standard deviations; those of `previous` where all particles are alike.
    """
    has_weight = weights > 0
    x, w = positions[has_weight].astype(np.float64), weights[has_weight] / weights.sum()
    dim = x.shape[1]
    rank = rank_for(dim, form)
    centred = x - w @ x
    with np.errstate(over="ignore"):
        scale = np.sqrt(w @ centred**2)
    former = np.ones(dim) if previous is None else np.asarray(previous.scale, np.float64)
    is_known = np.isfinite(scale) & (scale > 0)
    scale = np.where(is_known, scale, former)
    effective = 1 / np.sum(w**2)
    is_rich = form in ("dense", "low_rank") or (
        form == "auto" and dim <= MAX_DENSE_DIM and effective >= _FEW_PER_DIM * dim
    )
    if not (is_rich and rank and is_known.all()):
        return Metric.diagonal(scale.astype(dtype), rank)
    whitened = centred / scale
    values, directions = np.linalg.eigh((whitened * w[:, None]).T @ whitened)
    values = np.maximum(values, _LEAST)
    if form == "auto" and values[-1] < _ROUND * values[0]:
        return Metric.diagonal(scale.astype(dtype), rank)
    widest = np.argsort(-np.abs(np.log(values)), kind="stable")[:rank]
    stretch = np.sqrt(values[widest]) - 1
    return Metric(
        scale.astype(dtype), directions[:, widest].astype(dtype), stretch.astype(dtype), np.bool_(False)
    )


def next_step_size(step_size: float, acceptance: float, target: float) -> float:
    """Return the step size of the next stage, from the mean acceptance of this one."""
    return float(step_size * np.exp(np.clip(_GAIN * (acceptance - target), -_MOST, _MOST)))
