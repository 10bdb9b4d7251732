"""The evidence lower bound of independent normals over a set of draws that stays the same."""

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ...core import keys
from ...core.options import checks_fields, positive_count
from ...guides.base import AbstractGuide, Params
from .base import AbstractObjective, Each, LogDensityAt

_FEWEST, _MOST = 30, 128


@checks_fields
class FixedDraws(AbstractObjective):
    """The evidence lower bound of a `MeanField` over the same draws at each step: a function, with an exact maximum.

    So the fit needs no step size, and ends by itself. The draws come in pairs with opposite noise, so that means are
    exact for any normal posterior; where there are at least two draws for each unknown, their covariance is the unit
    matrix, and standard deviations are exact too.

    **Fields**: `draws`, an even number >= 2; None is two for each unknown, at least 30 and at most 128.

    **Raises** `OptionError` for other values; (when the fit begins) for another guide, and for minibatches.

    **Source**: Giordano, Ingram & Broderick (2024), "Black box variational inference with a deterministic objective",
    JMLR 25(18).

    **Example**

    >>> fit = infer.fit(coin(4, heads), objective=infer.FixedDraws(draws=30), quiet=True)
    >>> fit.converged
    True
    """

    is_fixed = True

    draws: int | None = eqx.field(static=True, default=None, kw_only=True)

    def __check_init__(self) -> None:
        if self.draws is not None:
            positive_count("FixedDraws: half of draws", self.draws / 2 if self.draws % 2 else self.draws // 2)

    def num_draws(self, dim: int) -> int:
        """See `AbstractObjective.num_draws`."""
        return min(max(_FEWEST, 2 * dim), _MOST) if self.draws is None else self.draws

    def fixed_noise(
        self, key: UInt32[np.ndarray, " 2"], dim: int, num_noise: int, dtype: np.dtype
    ) -> Float[np.ndarray, "draw noise"]:
        """See `AbstractObjective.fixed_noise`: pairs, whitened as far as their number allows."""
        half = self.num_draws(dim) // 2
        noise = keys.generator_of(key).standard_normal((half, num_noise))
        if half >= num_noise:
            left, _, right = np.linalg.svd(noise, full_matrices=False)
            noise = np.sqrt(half) * left @ right  # the nearest draws whose covariance is the unit matrix
        else:
            noise = noise / np.sqrt(np.mean(noise**2, axis=0))
        return np.concatenate([noise, -noise]).astype(dtype)

    def loss(
        self,
        guide: AbstractGuide,
        params: Params,
        noise: Float[Array, "draw noise"],
        each: Each,
    ) -> Float[Array, ""]:
        """See `AbstractObjective.loss`: minus the bound, with the entropy in closed form."""

        def height_at(log_density: LogDensityAt, own: Array) -> Array:
            return log_density(guide.draw(params, own)[0])

        height = jnp.mean(each(height_at, noise))
        dim = noise.shape[1]
        return -height - jnp.sum(params["log_scale"]) - 0.5 * dim * (1 + math.log(2 * math.pi))
