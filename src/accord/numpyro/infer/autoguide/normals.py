"""Give all unknowns together a normal: with a diagonal, dense, or low-rank covariance."""

from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp

from .... import bijectors
from .... import distributions as dist
from ....distributions import constraints
from ...distributions.transforms import Transform
from ...primitives import param
from ..initialization import init_to_uniform
from .continuous import AutoContinuous, check_scale, levels_of


class AbstractNormal(AutoContinuous):
    """A normal for the whole vector. **Arguments**: `init_scale`, the first standard deviation."""

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        prefix: str = "auto",
        init_loc_fn: Callable[..., Any] = init_to_uniform,
        init_scale: float = 0.1,
    ) -> None:
        super().__init__(model, prefix=prefix, init_loc_fn=init_loc_fn)
        self.init_scale = check_scale(type(self).__name__, init_scale)

    def median(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """See `AutoGuide.median`."""
        return self.constrained(self.unpacked(params[f"{self.prefix}_loc"]))

    def quantiles(self, params: Mapping[str, Any], quantiles: Any) -> dict[str, Any]:
        """See `AutoGuide.quantiles`."""
        law: Any = self.get_posterior(params)
        marginal = dist.Normal(params[f"{self.prefix}_loc"], jnp.sqrt(law.variance))
        return self.constrained(self.unpacked(marginal.icdf(levels_of(quantiles))))

    def _loc(self) -> Any:
        return param(f"{self.prefix}_loc", self.init_latent)

    def _scales(self) -> Any:
        first = jnp.full(self.latent_dim, self.init_scale)
        return param(f"{self.prefix}_scale", first, constraint=constraints.softplus_positive)


class AutoDiagonalNormal(AbstractNormal):
    """A normal with independent entries: parameters `auto_loc` and `auto_scale`.

    **Arguments**: as of `AutoGuide`; `init_scale`, the first standard deviation.
    """

    def posterior(self) -> dist.Independent:
        """See `AutoContinuous.posterior`."""
        return dist.Normal(self._loc(), self._scales()).to_event(1)

    def get_transform(self, params: Mapping[str, Any]) -> Transform:
        """See `AutoContinuous.get_transform`."""
        affine = bijectors.Affine(params[f"{self.prefix}_loc"], params[f"{self.prefix}_scale"])
        return Transform(bijectors.Independent(affine, 1), constraints.real_vector)


class AutoMultivariateNormal(AbstractNormal):
    """A normal with a dense covariance: parameters `auto_loc` and `auto_scale_tril`, a Cholesky factor.

    **Arguments**: as of `AutoGuide`; `init_scale`, the first standard deviation.
    """

    def posterior(self) -> dist.MultivariateNormal:
        """See `AutoContinuous.posterior`."""
        loc = self._loc()
        factor = param(
            f"{self.prefix}_scale_tril",
            jnp.identity(self.latent_dim) * self.init_scale,
            constraint=constraints.scaled_unit_lower_cholesky,
        )
        return dist.MultivariateNormal(loc, scale_tril=factor)

    def get_transform(self, params: Mapping[str, Any]) -> Transform:
        """See `AutoContinuous.get_transform`."""
        loc, factor = params[f"{self.prefix}_loc"], params[f"{self.prefix}_scale_tril"]
        return Transform(bijectors.LowerCholeskyAffine(loc, factor), constraints.real_vector)


class AutoLowRankMultivariateNormal(AbstractNormal):
    """A normal whose covariance is diagonal plus one of low rank: `auto_loc`, `auto_cov_factor`, `auto_scale`.

    **Arguments**: as of `AutoGuide`; `init_scale`, the first standard deviation; `rank`, None for about the square root
    of the number of unknowns.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        prefix: str = "auto",
        init_loc_fn: Callable[..., Any] = init_to_uniform,
        init_scale: float = 0.1,
        rank: int | None = None,
    ) -> None:
        super().__init__(model, prefix=prefix, init_loc_fn=init_loc_fn, init_scale=init_scale)
        self.rank = rank

    def posterior(self) -> dist.LowRankMultivariateNormal:
        """See `AutoContinuous.posterior`."""
        rank = round(self.latent_dim**0.5) if self.rank is None else self.rank
        loc = self._loc()
        factor = param(f"{self.prefix}_cov_factor", jnp.zeros((self.latent_dim, rank)))
        scale = self._scales()
        return dist.LowRankMultivariateNormal(loc, factor * scale[..., None], scale * scale)

    def get_transform(self, params: Mapping[str, Any]) -> Transform:
        """See `AutoContinuous.get_transform`."""
        scale = params[f"{self.prefix}_scale"]
        factor = params[f"{self.prefix}_cov_factor"] * scale[..., None]
        covariance = factor @ factor.T + jnp.diag(scale * scale)
        tril = jnp.linalg.cholesky(covariance)
        return Transform(
            bijectors.LowerCholeskyAffine(params[f"{self.prefix}_loc"], tril), constraints.real_vector
        )
