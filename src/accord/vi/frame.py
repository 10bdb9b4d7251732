"""Give guides coordinates in which the posterior is roughly standard normal, and steps are of order one."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..core.tree import node

SCALE = 0.1
"""Standard deviation of a guide before anything is known, in unconstrained units."""


Scale = Float[Array, " dim"] | Float[Array, "dim dim"]
"""Scales of coordinates: of each, or a lower triangular matrix by which they are also turned."""


@node
class Frame:
    """Coordinates of a guide, shape `(dim,)`: a position is `location + scale * coordinates`, a product of matrices if
    `scale` is one.
    """

    location: Float[Array, " dim"]
    scale: Scale

    @staticmethod
    def at(location: np.ndarray) -> "Frame":
        """Return the coordinates before anything is known of scales, around a location."""
        scale: Any = np.full_like(location, SCALE)
        at: Any = location
        return Frame(at, scale)

    def position(self, coordinates: Any) -> Any:
        """Return positions at coordinates, shape `(..., dim)`."""
        if self.scale.ndim == 1:
            return self.location + self.scale * coordinates
        return self.location + jnp.matmul(coordinates, self.scale.T, precision="highest")

    def matrix(self) -> np.ndarray:
        """Return the scales as a matrix in float64; NumPy."""
        scale = np.asarray(self.scale, float)
        return scale if scale.ndim == 2 else np.diag(scale)

    def within(
        self, log_density: Callable[[Any], Any], is_point: Bool[np.ndarray, " dim"]
    ) -> Callable[[Any], Any]:
        """Return the log density of coordinates, from that of positions.

        Coordinates that are points, `is_point`, have no spread, and the density no units along them.
        """

        def of_coordinates(coordinates: Any) -> Any:
            return log_density(self.position(coordinates)) + self.log_volume(is_point)

        return of_coordinates

    def log_volume(self, is_point: Bool[np.ndarray, " dim"]) -> Any:
        """Return the log volume of the unit cube of coordinates that are no points, shape `()`; traced."""
        logs = jnp.log(self.scale if self.scale.ndim == 1 else jnp.diagonal(self.scale))
        return jnp.sum(logs[np.flatnonzero(~is_point)] if is_point.any() else logs)
