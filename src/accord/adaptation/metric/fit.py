"""Hold a metric while it is learnt."""

from typing import NamedTuple

import numpy as np

from .metric import Metric


class Fit(NamedTuple):
    """Fitted metric: scales, shape `(dim,)`, orthonormal columns, `(dim, any)`, and their stretch; all float64.

    As in `Metric`; a direction with a stretch of zero is none. Several fits may be one, along axes in front.
    """

    scale: np.ndarray
    factor: np.ndarray
    stretch: np.ndarray

    def residual(self, x: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Compute draw plus gradient, each `(draw, dim)` and whitened: constant over draws of a normal that it fits.

        Of several fits, `(fit, draw, dim)`.
        """
        scale, stretch = self.scale[..., None, :], self.stretch[..., None, :]
        x, g = x / scale, g * scale
        along = (x @ self.factor) * (1 / (1 + stretch) - 1) + (g @ self.factor) * stretch
        return x + g + along @ np.swapaxes(self.factor, -1, -2)

    def whitened(self, x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whiten draws and gradients, each `(draw, dim)`, by one fit."""
        x, g = x / self.scale, g * self.scale
        along = (x @ self.factor) * (1 / (1 + self.stretch) - 1)
        return x + along @ self.factor.T, g + ((g @ self.factor) * self.stretch) @ self.factor.T

    def metric(self, rank: int, dtype: np.dtype) -> Metric:
        """Convert the fit to a metric padded to `rank` directions; diagonal without any."""
        spare = rank - len(self.stretch)
        factor, stretch = np.pad(self.factor, ((0, 0), (0, spare))), np.pad(self.stretch, (0, spare))
        return Metric(
            self.scale.astype(dtype),
            factor.astype(dtype),
            stretch.astype(dtype),
            np.bool_(not self.stretch.any()),
        )
