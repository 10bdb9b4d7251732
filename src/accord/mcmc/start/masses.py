"""Weigh the mode below a top by Laplace's approximation, from gradients beside it."""

from collections.abc import Sequence

import numpy as np

from .ascent import Place

SAME = 1.0  # nats between the ends of two climbs to one top

_LEFT = 3.0  # nats below its top, by its curvature, that a climb may have ended
_APART = {"float64": 1e-3, "float32": 1e-2}  # places whose gradients tell the curvature; models may be noisy


def around(position: np.ndarray) -> list[np.ndarray]:
    """Return points near a position, one per coordinate, whose gradients give the curvature."""
    return list(position + _APART[position.dtype.name] * np.eye(len(position), dtype=position.dtype))


def curvature(top: Place, beside: Sequence[Place]) -> np.ndarray:
    """Return the curvature at a top, shape `(dim, dim)`, from what is at the places of `around(top.position)`."""
    gradients = np.stack([place.gradient for place in beside]).astype(float)
    fall = (top.gradient - gradients) / _APART[top.position.dtype.name]
    return (fall + fall.T) / 2


def log_mass(top: Place, curved: np.ndarray) -> float:
    """Estimate the log mass of a mode by Laplace's approximation, up to a constant; NaN if it is no mode.

    `curved` is the curvature there. A place that a climb took for a top may lie in the neck of a funnel, or on a ridge:
    some direction is then not curved downwards, or promises much more.
    """
    widths = 1 / np.sqrt(np.abs(np.diag(curved)) + 1e-300)
    if not np.all(np.isfinite(curved)):
        return np.nan
    values, vectors = np.linalg.eigh(curved * widths * widths[:, None])
    if values[0] <= 0 or np.sum((vectors.T @ (widths * top.gradient)) ** 2 / values) / 2 > _LEFT:
        return np.nan
    return top.height + float(np.sum(np.log(widths)) - np.sum(np.log(values)) / 2)


def is_same_top(top: Place, curved: np.ndarray, other: Place) -> bool:
    """Return whether another place is within a nat of a top, in height and by the curvature there."""
    apart = other.position.astype(float) - top.position
    return abs(top.height - other.height) < SAME and float(apart @ curved @ apart) / 2 < SAME
