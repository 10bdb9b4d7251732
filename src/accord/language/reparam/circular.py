"""Sample an angle as the direction of a point in the plane, which has no first and last angle."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import AbstractBijector
from ...core.errors import DistributionError
from ...core.options import checks_fields
from ...distributions import AbstractDistribution, constraints
from ...distributions.constraint import Constraint
from .base import AbstractReparam, Parts

# Shape of the gamma distribution of the squared radius, whose mean is 1. With 2, the tip of a narrow wedge at the
# origin makes trajectories diverge; with 8 and more, a thin ring asks for smaller steps than the angle does.
FIRMNESS = 4.0


@checks_fields
class Circular(AbstractReparam):
    """Sample an angle, as of VonMises, as the direction of a point in the plane.

    An angle from -pi to pi is cut where it comes round, and a posterior on both sides of the cut looks like two modes.
    The point has no such place. Its radius is near 1; its distribution does not depend on the angle, and it carries no
    information.

    **Source**: Mardia & Jupp (2000), Directional Statistics, section 3.5.1, for a distribution in the plane with
    given angles. The squared radius is gamma here, so that the density in the plane is smooth, and zero at the origin.

    **Example**

    >>> @ac.model
    ... def wind():
    ...     ac.sample("angle", dist.VonMises(3.0, 2.0))
    >>> print(handlers.reparam(wind(), {"angle": reparam.Circular()}).sites())
    site        kind           shape  dims              distribution
    angle       deterministic  ()                       VonMises
    angle_base  latent         (2,)   angle_base_dim_0  InPlane
    """

    keeps_axes: ClassVar[bool] = False

    def parts(self, distribution: AbstractDistribution) -> Parts | None:
        """Return the distribution of the point, and its direction."""
        if distribution.support != constraints.circular:
            raise DistributionError(
                f"{type(distribution).__name__} is not the distribution of one angle from -pi to pi, as VonMises "
                "is. For several independent angles write `.to_event(...)`."
            )
        return Parts(InPlane(distribution), Direction())


class InPlane(AbstractDistribution):
    """The distribution of a point with a given distribution of its angle; the squared radius is gamma with mean 1.

    **Fields**
    - `base`: the distribution of the angle.
    """

    base: AbstractDistribution

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.base.batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (2,)

    @property
    def dtype(self) -> np.dtype:
        return self.base.dtype

    @property
    def support(self) -> Constraint:
        return constraints.real_vector

    def log_prob(self, value: Any) -> jax.Array:
        angle, log_weight = Direction().forward_and_log_det(value)
        return self.base.log_prob(angle) + log_weight

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        key_angle, key_radius = jax.random.split(key)
        angle = self.base.sample(key_angle, sample_shape)
        square = jax.random.gamma(key_radius, FIRMNESS, angle.shape, angle.dtype) / FIRMNESS
        return jnp.sqrt(square)[..., None] * jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=-1)


class Direction(AbstractBijector):
    """Map points of the plane to their angles; the radius is forgotten, and is 1 where a point is asked for."""

    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 0

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x = jnp.asarray(x)
        square = (x * x).sum(axis=-1)
        # The origin has no angle; a point beside it stands in, where the density is next to nothing.
        is_point = square > 0
        first, second = jnp.where(is_point, x[..., 0], 1.0), jnp.where(is_point, x[..., 1], 0.0)
        square = jnp.where(is_point, square, jnp.finfo(x.dtype).tiny)
        log_weight = (FIRMNESS - 1) * jnp.log(square) - FIRMNESS * square + _LOG_CONSTANT
        return jnp.arctan2(second, first), log_weight

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y = jnp.asarray(y)
        x = jnp.stack([jnp.cos(y), jnp.sin(y)], axis=-1)
        return x, jnp.full(y.shape, FIRMNESS - _LOG_CONSTANT, y.dtype)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(shape[:-1])

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape, 2)


# With respect to area r dr d(angle): r has density 2 r g(r^2), so that it is 2 g(r^2) for each angle.
_LOG_CONSTANT = math.log(2.0) + FIRMNESS * math.log(FIRMNESS) - math.lgamma(FIRMNESS)
