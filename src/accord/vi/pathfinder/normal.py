"""Describe a normal distribution whose covariance is a diagonal and a few directions."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular


@dataclass(frozen=True, eq=False)
class Normal:
    """A normal distribution over unconstrained numbers, without a matrix of `dim` by `dim`; NumPy, float64.

    Its covariance is `S (I + Q (F F' - I) Q') S`, for a diagonal matrix `S`.

    **Fields**: `mean`, shape `(dim,)`; `scale`, the diagonal of `S`, shape `(dim,)`; `basis`, `Q`, shape `(dim, rank)`,
    with orthonormal columns; `factor`, `F`, shape `(rank, rank)`, lower triangular.
    """

    mean: np.ndarray
    scale: np.ndarray
    basis: np.ndarray
    factor: np.ndarray

    def positions(self, noise: np.ndarray) -> np.ndarray:
        """Map standard normal noise, shape `(draw, dim)`, to draws of that shape."""
        inner = noise @ self.basis
        stretched = inner @ (self.factor - np.eye(len(self.factor))).T
        return self.mean + self.scale * (noise + stretched @ self.basis.T)

    def log_prob_of_noise(self, noise: np.ndarray) -> np.ndarray:
        """Return the log density, shape `(draw,)`, of the draws that this noise is mapped to."""
        log_det = np.sum(np.log(self.scale)) + np.sum(np.log(np.diagonal(self.factor)))
        return -0.5 * np.sum(noise**2, axis=1) - 0.5 * self.mean.size * math.log(2 * math.pi) - log_det

    def log_prob(self, positions: np.ndarray) -> np.ndarray:
        """Return the log density, shape `(draw,)`, at positions of shape `(draw, dim)`; -inf where it underflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.log_prob_of_noise(self.noise(positions))
        return np.where(np.isnan(found), -np.inf, found)

    def noise(self, positions: np.ndarray) -> np.ndarray:
        """Map draws, shape `(draw, dim)`, to the noise that they are made of."""
        scaled = (positions - self.mean) / self.scale
        inner = scaled @ self.basis
        # Over the other directions by itself: a difference of squares would cancel.
        rest = scaled - inner @ self.basis.T
        return rest + solve_triangular(self.factor, inner.T, lower=True, check_finite=False).T @ self.basis.T
