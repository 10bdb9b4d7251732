"""Learn a full matrix: the geometric mean of the covariance of draws and the inverse covariance of gradients."""

import numpy as np

from .fit import Fit

_RIDGE = 1e-5  # added to the sums (not means) of squares of whitened draws and gradients


def dense(x: np.ndarray, g: np.ndarray, scale: np.ndarray) -> Fit:
    """Fit a full matrix to draws and gradients, each `(..., draw, dim)`, and the scale of their coordinates."""
    return Fit(scale, *principal(x / scale[..., None, :], g * scale[..., None, :]))


def principal(x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute all orthonormal directions, as columns, and their stretch, from scaled draws and gradients.

    Of all matrices, the one they make up has the smallest Fisher divergence on these draws.
    """
    x, g = (rows - rows.mean(-2, keepdims=True) for rows in (x, g))
    ridge = _RIDGE * np.eye(x.shape[-1])
    squares = (np.swapaxes(rows, -1, -2) @ rows + ridge for rows in (x, g))
    values, vectors = np.linalg.eigh(_geometric_mean(*squares))
    return vectors, np.sqrt(np.maximum(values, 1e-20)) - 1


def _geometric_mean(covariance: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """Compute the matrix S with S `precision` S = `covariance`; all symmetric positive definite."""
    root, inverse_root = _roots(precision)
    middle, _ = _roots(root @ covariance @ root)
    mean = inverse_root @ middle @ inverse_root
    return (mean + np.swapaxes(mean, -1, -2)) / 2


def _roots(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = np.linalg.eigh(matrix)
    root = np.sqrt(np.maximum(values, values[..., -1:] * 1e-16))[..., None, :]
    transposed = np.swapaxes(vectors, -1, -2)
    return (vectors * root) @ transposed, (vectors / root) @ transposed
