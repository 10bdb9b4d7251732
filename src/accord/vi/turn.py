"""Tell the correlations of the posterior by gradients around a mean field, for guides to begin with them.

A mean field is as wide as the posterior is along each unknown when the others are held. Where unknowns depend on each
other, the posterior is far wider along some directions, and a guide that begins as wide as the mean field takes
thousands of steps to get there. Around a normal distribution, gradients of the log density fall along straight lines,
whose slopes are its precision matrix.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import keys
from .given import TURN, key_of

MAX_DIM = 300
"""Unknowns up to which correlations are told: with coordinates that are turned, a step has a product with a matrix."""

_FEWEST, _PER_DIM = 64, 4  # gradients, an even number
_FLOORS = (0.01, 1e-8)  # of a precision beside the largest one: what is below is not known, or so small


def roots(
    scores_at: Callable[[np.ndarray], np.ndarray],
    location: np.ndarray,
    scale: np.ndarray,
    seed: int,
    restart: int,
) -> list[np.ndarray]:
    """Return roots of what may be the covariance, in units of the mean field; none where gradients are no numbers.

    **Arguments**: `scores_at`, gradients at positions of shape `(n, dim)`; `location` and `scale` of the mean field,
    shape `(dim,)`; `seed` of the fit, and number of its restart.

    **Returns** lower triangular matrices, with the less daring one first: a posterior that is not normal may be flat,
    or bend upwards, where the mean field is.
    """
    dim = len(location)
    half = max(_FEWEST, _PER_DIM * dim) // 2
    noise = keys.generator_of(key_of(seed, restart, TURN)).standard_normal((half, dim))
    noise = np.concatenate([noise, -noise])
    scores = np.asarray(scores_at(location + scale * noise), float) * np.asarray(scale, float)
    is_known = np.isfinite(scores).all(axis=1)
    if is_known.sum() <= 2 * dim:
        return []
    noise, scores = noise[is_known], scores[is_known]
    slopes: Any = np.linalg.lstsq(noise - noise.mean(axis=0), scores - scores.mean(axis=0), rcond=None)[0]
    values, vectors = np.linalg.eigh(-(slopes + slopes.T) / 2)
    found = []
    for floor in _FLOORS:
        widths = np.maximum(np.abs(values), floor * np.abs(values).max()) ** -0.5
        if not np.isfinite(widths).all():
            return []
        upper: Any = np.linalg.qr((vectors * widths).T, mode="r")
        found.append(upper.T * np.sign(np.diag(upper)))
    return found
