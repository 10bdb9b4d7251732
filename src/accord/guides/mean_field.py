"""Approximate a posterior by an independent normal for each unconstrained number."""

from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ..core.options import checks_fields
from .base import AbstractGuide, Params, standard_normal


@checks_fields
class MeanField(AbstractGuide):
    """An independent normal distribution for each unconstrained number: fast, and too narrow where they are dependent.

    Its means are mostly good. Its standard deviations are those of each unknown *given the others*, so that they are
    too small where unknowns are correlated; `fit.summary()` has linear-response standard deviations beside them, which
    are right for any normal posterior.

    **Source**: Kucukelbir, Tran, Ranganath, Gelman & Blei (2017), JMLR 18(14).

    **Example**

    >>> infer.fit(coin(4, heads), infer.guides.MeanField(), quiet=True).guide
    MeanField()
    """

    is_factorised: ClassVar[bool] = True

    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.start`."""
        del key
        return {"loc": np.zeros(dim, dtype), "log_scale": np.zeros(dim, dtype)}

    def draw(
        self, params: Params, noise: Float[Array, " dim"]
    ) -> tuple[Float[Array, " dim"], Float[Array, ""]]:
        """See `AbstractGuide.draw`."""
        position = params["loc"] + jnp.exp(params["log_scale"]) * noise
        return position, standard_normal(noise) - jnp.sum(params["log_scale"])

    def log_prob(self, params: Params, position: Float[Array, " dim"]) -> Float[Array, ""]:
        """See `AbstractGuide.log_prob`."""
        noise: Any = (position - params["loc"]) * jnp.exp(-params["log_scale"])
        return standard_normal(noise) - jnp.sum(params["log_scale"])
