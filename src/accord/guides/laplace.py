"""Approximate a posterior by a normal that matches it at its peak."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from ..core.options import checks_fields
from .base import AbstractGuide, Params, standard_normal
from .places import Places


@checks_fields
class Laplace(AbstractGuide):
    """The normal around the peak of the unconstrained density whose covariance is that of the curvature there.

    No bound is raised: a climb finds where the density of unconstrained numbers, Jacobian included, is highest;
    Newton's method refines that, and the inverse of minus the second derivatives is the covariance. It is judged by
    Pareto k as any guide, and takes no objective or optimiser. The last of `fit.losses` is minus Laplace's estimate of
    the log evidence.

    `infer.find_mode(model).laplace()` begins at the mode of the values instead, and keeps draws alone.

    **Fields**: `places` of the sites; `infer.fit` sets it.

    **Raises** (when it is fitted) `SamplingError` where the density does not curve down in all directions at its peak,
    with the sites of the direction that it does not; `OptionError` with more than 1000 unconstrained numbers.

    **Source**: Tierney & Kadane (1986), JASA 81(393), 82-86.

    **Example**

    >>> fit = infer.fit(coin(4, heads), infer.guides.Laplace(), quiet=True)
    >>> print(f"{-fit.losses[0][-1]:.2f}")
    -2.90
    """

    places: Places | None = eqx.field(static=True, default=None, kw_only=True, repr=False)

    def placed(self, places: Places) -> "Laplace":
        """See `AbstractGuide.placed`."""
        return Laplace(places=places)

    def start(self, key: UInt32[np.ndarray, " 2"], dim: int, dtype: np.dtype) -> Params:
        """See `AbstractGuide.start`: `factor` is the Cholesky factor of the inverse covariance."""
        del key
        return {"loc": np.zeros(dim, dtype), "factor": np.eye(dim, dtype=dtype)}

    def draw(
        self, params: Params, noise: Float[Array, " dim"]
    ) -> tuple[Float[Array, " dim"], Float[Array, ""]]:
        """See `AbstractGuide.draw`."""
        spread = jax.scipy.linalg.solve_triangular(params["factor"], noise, trans=1, lower=True)
        return params["loc"] + spread, standard_normal(noise) + _log_det(params)

    def log_prob(self, params: Params, position: Float[Array, " dim"]) -> Float[Array, ""]:
        """See `AbstractGuide.log_prob`."""
        noise = jnp.tril(params["factor"]).T @ (position - params["loc"])
        return standard_normal(noise) + _log_det(params)


def _log_det(params: Params) -> Any:
    return jnp.sum(jnp.log(jnp.abs(jnp.diagonal(params["factor"]))))
