"""The height of a posterior at a point, and how it curves there: for guides that no bound is raised for."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ...guides.base import AbstractGuide, Params
from ...optimise.view import differences, products
from ..steppers.base import AbstractStepper
from ..steppers.newton import Newton, Seen
from .base import AbstractMeasured, AbstractObjective, Each, LogDensityAt


class _AtPoint(AbstractObjective):
    """Objective at the location of a guide, without draws."""

    is_fixed = True

    def num_draws(self, dim: int) -> int:
        """See `AbstractObjective.num_draws`: one, of which only the density is of use."""
        del dim
        return 1

    def fixed_noise(
        self, key: UInt32[np.ndarray, " 2"], dim: int, num_noise: int, dtype: np.dtype
    ) -> Float[np.ndarray, "1 noise"]:
        """See `AbstractObjective.fixed_noise`: none."""
        del key, dim
        return np.zeros((1, num_noise), dtype)


class Height(_AtPoint):
    """The log density of unconstrained numbers at the location of a guide."""

    def loss(
        self,
        guide: AbstractGuide,
        params: Params,
        noise: Float[Array, "1 noise"],
        each: Each,
    ) -> Float[Array, ""]:
        """See `AbstractObjective.loss`: minus the height."""
        del guide
        return -each(lambda log_density, own: log_density(params["loc"]), noise)[0]


class Curvature(AbstractMeasured, _AtPoint):
    """Laplace's estimate of the log evidence: by height and curvature at the location of a guide.

    Where the density does not curve down in all directions, it is the height alone.
    """

    def stepper(self, like: Params) -> AbstractStepper:
        """See `AbstractObjective.stepper`."""
        return Newton(epsilon=float(jnp.finfo(like["loc"].dtype).eps))

    def measured(
        self,
        guide: AbstractGuide,
        params: Params,
        noise: Float[Array, "1 noise"],
        each: Each,
    ) -> tuple[Float[Array, ""], Seen]:
        """See `AbstractObjective.measured`: minus the estimate, and what a Newton step needs."""
        del guide
        location = params["loc"]

        def look_around(log_density: LogDensityAt, own: Array) -> Seen:
            del own
            look = jax.value_and_grad(log_density)
            try:
                (height, gradient), (_, turns) = products(look, location)
            except TypeError as error:
                if "custom_vjp" not in str(error):
                    raise
                (height, gradient), (_, turns) = differences(look, location)
            return Seen(height, gradient, -(turns + turns.T) / 2)

        seen = jax.tree.map(lambda row: row[0], each(look_around, noise))
        half_log_det = jnp.sum(jnp.log(jnp.diagonal(jnp.linalg.cholesky(seen.information))))
        volume = 0.5 * location.size * math.log(2 * math.pi) - half_log_det
        return -seen.height - jnp.where(jnp.isfinite(volume), volume, 0.0), seen
