"""Sample a direction as the direction of a normal vector."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ...bijectors import AbstractBijector
from ...core.errors import DistributionError
from ...core.options import checks_fields
from ...distributions import AbstractDistribution
from ...distributions.directional import projected_normal
from ...distributions.univariate.real.real_line import Normal
from .base import AbstractReparam, Parts


@checks_fields
class ProjectedNormal(AbstractReparam):
    """Sample the normal vector whose direction a ProjectedNormal site is.

    No smooth map of numbers covers a sphere, so that such a site is latent in this form only.

    **Source**: Hernandez-Stumpfhauser, Breidt & van der Woerd (2017), Bayesian Analysis 12(1), 113-133, section 2.

    **Example**

    >>> @ac.model
    ... def star():
    ...     ac.sample("direction", dist.ProjectedNormal(np.array([1.0, 0.0, 0.0])))
    >>> print(handlers.reparam(star(), {"direction": reparam.ProjectedNormal()}).sites())
    site            kind           shape  dims                  distribution
    direction       deterministic  (3,)   direction_dim_0       ProjectedNormal
    direction_base  latent         (3,)   direction_base_dim_0  Independent
    """

    keeps_axes: ClassVar[bool] = False

    def parts(self, distribution: AbstractDistribution) -> Parts | None:
        """Return the distribution of the vector, and its direction."""
        if not isinstance(distribution, projected_normal.ProjectedNormal):
            raise DistributionError(
                f"{type(distribution).__name__} is not the distribution of the direction of a normal vector. "
                "Give the site a "
                "dist.ProjectedNormal; for one angle there is Circular()."
            )
        vector = Normal(distribution.concentration, 1.0)
        if not vector.batch_shape:
            raise DistributionError("its concentration has no axis. Give a vector.")
        return Parts(vector.to_event(1), UnitVector(distribution))


class UnitVector(AbstractBijector):
    """Map vectors to their directions; the length is forgotten.

    **Fields**
    - `distribution`: the distribution of the direction.
    """

    distribution: projected_normal.ProjectedNormal
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward(self, x: Any) -> jax.Array:
        x = jnp.asarray(x)
        # The origin has no direction; the first axis stands in.
        is_vector = (x != 0).any(axis=-1, keepdims=True)
        first = jnp.zeros_like(x).at[..., 0].set(1.0)
        x = jnp.where(is_vector, x, first)
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        y = self.forward(x)
        vector = Normal(self.distribution.concentration, 1.0).log_prob(x).sum(axis=-1)
        return y, vector - self.distribution.log_prob(y)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        x = math.sqrt(jnp.shape(y)[-1]) * jnp.asarray(y)
        return x, -self.forward_and_log_det(x)[1]
