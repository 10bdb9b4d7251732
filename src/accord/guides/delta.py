"""Approximate a posterior by one point."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ..core.options import checks_fields
from .base import AbstractGuide, Params


@checks_fields
class Delta(AbstractGuide):
    """One point without spread: the fit climbs to the mode of the posterior density in the model's space.

    There, as in `infer.find_mode`, the density has no Jacobian. `find_mode` tells standard errors too, and is the
    better choice unless the data come in parts.

    **Example**

    >>> fit = infer.fit(coin(4, heads), infer.guides.Delta(), quiet=True)
    >>> print(f"{fit.draw(1)['p'][0, 0]:.2f}")
    0.67
    """

    is_point: ClassVar[bool] = True

    def num_noise(self, dim: int) -> int:
        """See `AbstractGuide.num_noise`: none."""
        del dim
        return 0

    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.start`."""
        del key
        return {"loc": np.zeros(dim, dtype)}

    def draw(
        self, params: Params, noise: Float[Array, " 0"]
    ) -> tuple[Float[Array, " dim"], Float[Array, ""]]:
        """See `AbstractGuide.draw`; its log density is left out, as zero."""
        del noise
        return params["loc"], jnp.zeros((), params["loc"].dtype)

    def log_prob(self, params: Params, position: Float[Array, " dim"]) -> Float[Array, ""]:
        """See `AbstractGuide.log_prob`; left out, as zero."""
        del position
        return jnp.zeros((), params["loc"].dtype)
