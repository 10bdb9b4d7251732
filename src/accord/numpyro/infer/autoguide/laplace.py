"""Fit the mode in unconstrained space, and put a normal of its curvature around it."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from .... import bijectors
from .... import distributions as dist
from ....distributions import constraints
from ...distributions.transforms import Transform
from ...primitives import param
from ..initialization import init_to_uniform
from .continuous import AutoContinuous, levels_of


class AutoLaplaceApproximation(AutoContinuous):
    """A normal around the mode of the unconstrained density, which is the parameter `auto_loc`.

    **Arguments**: as of `AutoGuide`; `hessian_fn`, of a function and a point; None is `jax.hessian`.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        prefix: str = "auto",
        init_loc_fn: Callable[..., Any] = init_to_uniform,
        create_plates: Callable[..., Any] | None = None,
        hessian_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(model, prefix=prefix, init_loc_fn=init_loc_fn, create_plates=create_plates)
        self._hessian = hessian_fn or (lambda function, at: jax.hessian(function)(at))

    def posterior(self) -> dist.Delta:
        """See `AutoContinuous.posterior`."""
        return dist.Delta(param(f"{self.prefix}_loc", self.init_latent), event_dim=1)

    def get_transform(self, params: Mapping[str, Any]) -> Transform:
        """See `AutoContinuous.get_transform`; where the curvature is not that of a peak, the scale is 0."""
        loc = params[f"{self.prefix}_loc"]
        precision = self._hessian(lambda z: self.potential_fn(self.unpacked(z)), loc)
        factor = jnp.linalg.cholesky(jnp.linalg.inv(precision))
        factor = jnp.where(jnp.isnan(factor), 0.0, factor)
        return Transform(bijectors.LowerCholeskyAffine(loc, factor), constraints.real_vector)

    def get_posterior(self, params: Mapping[str, Any]) -> dist.MultivariateNormal:
        """See `AutoContinuous.get_posterior`."""
        map_: Any = self.get_transform(params).bijector
        return dist.MultivariateNormal(map_.loc, scale_tril=map_.scale_tril)

    def sample_posterior(
        self,
        rng_key: Any,
        params: Mapping[str, Any],
        *args: Any,
        sample_shape: tuple[int, ...] = (),
        **kwargs: Any,
    ) -> dict[str, Any]:
        """See `AutoGuide.sample_posterior`."""
        return self.constrained(self.unpacked(self.get_posterior(params).sample(rng_key, sample_shape)))

    def median(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """See `AutoGuide.median`."""
        return self.constrained(self.unpacked(params[f"{self.prefix}_loc"]))

    def quantiles(self, params: Mapping[str, Any], quantiles: Any) -> dict[str, Any]:
        """See `AutoGuide.quantiles`."""
        law = self.get_posterior(params)
        marginal = dist.Normal(law.mean, jnp.sqrt(law.variance))
        return self.constrained(self.unpacked(marginal.icdf(levels_of(quantiles))))
