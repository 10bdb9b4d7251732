"""Learn a full matrix: the geometric mean of the covariance of draws and the inverse covariance of gradients."""

import numpy as np

from .fit import Fit

_RIDGE = 1e-5  # added to the sums (not means) of squares of whitened draws and gradients


def dense(x: np.ndarray, g: np.ndarray, scale: np.ndarray) -> Fit:
    """Fit a full matrix to draws and gradients, each `(..., draw, dim)`, and the scale of their coordinates."""
    return Fit(scale, *principal(x / scale[..., None, :], g * scale[..., None, :]))


def dense_residual(
    of_seen: tuple[np.ndarray, np.ndarray], scale: np.ndarray, x: np.ndarray, g: np.ndarray
) -> np.ndarray:
    """Compute `dense(*of_seen, scale).residual(x, g)` but for a rotation, which leaves its length, in half of the time.

    Where `of_seen` are several windows, the result is `(window, draw, dim)`.
    """
    scale = scale[..., None, :]
    root, inverse = _roots(of_seen[0] / scale, of_seen[1] * scale)
    return (x / scale) @ inverse + (g * scale) @ root


def principal(x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute all orthonormal directions, as columns, and their stretch, from scaled draws and gradients.

    Of all matrices, the one they make up has the smallest Fisher divergence on these draws.
    """
    root, _ = _roots(x, g)
    values, vectors = np.linalg.eigh(root @ _transposed(root))
    return vectors, np.sqrt(np.maximum(values, 1e-20)) - 1


def _roots(x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute A and the inverse of its transpose, for A A' = S with S P S = C.

    C and P are the sums of squares of draws and gradients about their means: with P = L L', the root of L' C L is
    L' S L.
    """
    x, g = (rows - rows.mean(-2, keepdims=True) for rows in (x, g))
    ridge = _RIDGE * np.eye(x.shape[-1])
    covariance, precision = (_transposed(rows) @ rows + ridge for rows in (x, g))
    factor, inverse = _factor(precision)
    values, vectors = np.linalg.eigh(_transposed(factor) @ covariance @ factor)
    fourth = np.maximum(values, values[..., -1:] * 1e-16)[..., None, :] ** 0.25
    return (_transposed(inverse) @ vectors) * fourth, (factor @ vectors) / fourth


def _factor(precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute L and its inverse, for L L' = `precision`."""
    try:
        factor = np.linalg.cholesky(precision)
        return factor, np.linalg.inv(factor)
    except np.linalg.LinAlgError:  # rounding left no positive matrix
        values, vectors = np.linalg.eigh(precision)
        root = np.sqrt(np.maximum(values, values[..., -1:] * 1e-16))[..., None, :]
        return vectors * root, _transposed(vectors / root)


def _transposed(matrix: np.ndarray) -> np.ndarray:
    return np.swapaxes(matrix, -1, -2)
