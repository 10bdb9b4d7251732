"""Learn a metric from draws and their gradients together, by minimising the Fisher divergence to a normal.

If the posterior is normal, its gradients say as much as its draws do: the affine map that whitens both is found exactly
from one draw more than it has dimensions, where a covariance needs hundreds. Runs on the host in float64, whatever the
run's precision, since the dense estimate loses definiteness in float32.

**Source**: Seyboldt, Carlson & Carpenter (2026), "Preconditioning Hamiltonian Monte Carlo by minimizing Fisher
divergence", arXiv:2603.18845. The choice between forms by held-out draws is our own.
"""

import numpy as np

from ..kernels import Metric

MAX_DENSE_DIM = 64
"""Up to this dimension a full-rank metric is estimated; above it the metric is diagonal."""

_RIDGE = 1e-5  # added to the sums (not means) of squares of whitened draws and gradients
_GAIN = 0.75  # held-out divergence, as a fraction of the diagonal's, below which the dense form is taken
_SCALE_RANGE = (1e-10, 1e10)
_LARGEST = 1e60  # the geometric mean multiplies up to four of them


def rank_for(dim: int) -> int:
    """How many directions beside the axes a compiled program leaves room for."""
    return dim if 1 < dim <= MAX_DENSE_DIM else 0


def initial_metric(gradient: np.ndarray) -> Metric:
    """A diagonal guess from one gradient, shape `(dim,)`: the scale at which it would be a typical one."""
    with np.errstate(divide="ignore"):
        scale = 1 / np.sqrt(np.abs(np.asarray(gradient, np.float64)))
    scale = np.where(np.isfinite(scale), np.clip(scale, *_SCALE_RANGE), 1.0)
    return Metric.diagonal(scale.astype(gradient.dtype), rank_for(gradient.shape[0]))


def learn_metric(positions: np.ndarray, gradients: np.ndarray, previous: Metric) -> Metric:
    """The metric for draws and their gradients, each `(draw, dim)`, unconstrained; `previous` fills what they leave.

    Draws that repeat their predecessor (the chain did not move) carry no news of their own and are left out. The dense
    form is taken only when it whitens draws it has not seen better than the diagonal one does.
    """
    dtype = positions.dtype
    x, g = np.asarray(positions, np.float64), np.asarray(gradients, np.float64)
    has_moved = np.concatenate([[True], np.any(x[1:] != x[:-1], axis=1)])
    x, g = x[has_moved], g[has_moved]
    if len(x) < 3:
        return previous
    scale = _diagonal(x, g, np.asarray(previous.scale, np.float64))
    rank = previous.factor.shape[1]
    if rank and _can_be_squared(x / scale, g * scale) and _dense_is_better(x, g, scale):
        factor, stretch = _dense(x / scale, g * scale)
        return Metric(scale.astype(dtype), factor.astype(dtype), stretch.astype(dtype), np.bool_(False))
    return Metric.diagonal(scale.astype(dtype), rank)


def _can_be_squared(x: np.ndarray, g: np.ndarray) -> bool:
    """Whether sums of products of whitened draws and gradients stay finite; far from the posterior they may not."""
    return bool(np.all(np.abs(x) < _LARGEST) and np.all(np.abs(g) < _LARGEST))


def _diagonal(x: np.ndarray, g: np.ndarray, previous: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        scale = (x.var(0) / g.var(0)) ** 0.25
    return np.where(np.isfinite(scale) & (scale > 0), np.clip(scale, *_SCALE_RANGE), previous)


def _dense(x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal directions and their stretch, from draws and gradients whitened by the diagonal.

    The inverse mass matrix is the geometric mean of the covariance of draws and the inverse covariance of gradients.
    """
    x, g = x - x.mean(0), g - g.mean(0)
    ridge = _RIDGE * np.eye(x.shape[1])
    inverse_mass = _geometric_mean(x.T @ x + ridge, g.T @ g + ridge)
    values, vectors = np.linalg.eigh(inverse_mass)
    return vectors, np.sqrt(np.maximum(values, 1e-20)) - 1


def _geometric_mean(covariance: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """The matrix S with S `precision` S = `covariance`; all symmetric positive definite."""
    root, inverse_root = _roots(precision)
    middle, _ = _roots(root @ covariance @ root)
    mean = inverse_root @ middle @ inverse_root
    return (mean + mean.T) / 2


def _roots(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = np.linalg.eigh(matrix)
    root = np.sqrt(np.maximum(values, values[-1] * 1e-16))
    return (vectors * root) @ vectors.T, (vectors / root) @ vectors.T


def _dense_is_better(x: np.ndarray, g: np.ndarray, scale: np.ndarray) -> bool:
    """Fit on one half of the window, judge on the other; both ways round.

    Halves in time, not every other draw: neighbours resemble each other, and would let the dense form look better than
    it is.
    """
    half = len(x) // 2
    if half < 3:
        return False
    losses = np.zeros(2)
    for fold in range(2):
        halves = (slice(None, half), slice(half, None))
        seen, unseen = halves[fold], halves[1 - fold]
        fitted = _diagonal(x[seen], g[seen], scale)
        losses[0] += _divergence(x[unseen] / fitted, g[unseen] * fitted)
        factor, stretch = _dense(x[seen] / fitted, g[seen] * fitted)
        whitened = (x[unseen] / fitted) @ factor / (1 + stretch)
        losses[1] += _divergence(whitened, (g[unseen] * fitted) @ factor * (1 + stretch))
    return bool(losses[1] < _GAIN * losses[0])


def _divergence(x: np.ndarray, g: np.ndarray) -> float:
    """Fisher divergence to a standard normal of whitened draws and gradients, about the centre that fits them best."""
    residual = x + g
    return float(np.sum((residual - residual.mean(0)) ** 2))
