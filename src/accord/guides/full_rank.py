"""Approximate a posterior by a multivariate normal distribution."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ..core.options import checks_fields
from .base import AbstractGuide, Params, standard_normal


@checks_fields
class FullRank(AbstractGuide):
    """A multivariate normal distribution of all unconstrained numbers, with any covariance.

    It has `dim * (dim + 1) / 2` parameters beside the means: for more than some hundred unknowns, `LowRank` is quicker.

    **Source**: Kucukelbir, Tran, Ranganath, Gelman & Blei (2017), JMLR 18(14). The factor is a scale times a unit
    triangular matrix, which keeps gradients of scales and correlations apart.

    **Example**

    >>> infer.fit(coin(4, heads), infer.guides.FullRank(), quiet=True).guide
    FullRank()
    """

    is_affine: ClassVar[bool] = True

    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.start`."""
        del key
        return {
            "loc": np.zeros(dim, dtype),
            "log_scale": np.zeros(dim, dtype),
            "lower": np.zeros(dim * (dim - 1) // 2, dtype),
        }

    def draw(
        self, params: Params, noise: Float[Array, " dim"]
    ) -> tuple[Float[Array, " dim"], Float[Array, ""]]:
        """See `AbstractGuide.draw`."""
        position = params["loc"] + jnp.exp(params["log_scale"]) * (_unit_lower(params) @ noise)
        return position, standard_normal(noise) - jnp.sum(params["log_scale"])

    def log_prob(self, params: Params, position: Float[Array, " dim"]) -> Float[Array, ""]:
        """See `AbstractGuide.log_prob`."""
        scaled = (position - params["loc"]) * jnp.exp(-params["log_scale"])
        noise = jax.scipy.linalg.solve_triangular(_unit_lower(params), scaled, lower=True, unit_diagonal=True)
        return standard_normal(noise) - jnp.sum(params["log_scale"])


def _unit_lower(params: Params) -> Array:
    dim = params["loc"].size
    rows: Any = np.tril_indices(dim, -1)
    return jnp.eye(dim, dtype=params["lower"].dtype).at[rows].set(params["lower"])
