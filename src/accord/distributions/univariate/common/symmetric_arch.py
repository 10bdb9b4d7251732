"""Define the base class of symmetric distributions on an interval whose density is 0 at both ends."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import log1m, log_of, solve_increasing
from .location_scale import AbstractLocationScale


class AbstractSymmetricArch(AbstractLocationScale):
    """Abstract base class of distributions on (loc - scale, loc + scale), given by the lower half from the low end.

    **Class variables**
    - `unit_variance`, `unit_entropy`: those at scale 1.
    """

    has_end: ClassVar[bool] = True
    unit_variance: ClassVar[float]
    unit_entropy: ClassVar[float]

    @property
    def support(self) -> Constraint:
        return constraints.interval(*self._ends())

    @property
    def mean(self) -> jax.Array:
        return self._full(self.loc)

    @property
    def variance(self) -> jax.Array:
        return self._spread(self.unit_variance)

    @property
    def mode(self) -> jax.Array:
        return self._full(self.loc)

    def entropy(self) -> jax.Array:
        return self._uncertainty(self.unit_entropy)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return keep_inside(super().sample(key, sample_shape), *self._ends())

    @abstractmethod
    def _inner_log_density(self, z: jax.Array) -> jax.Array:
        """Return the log density of z, strictly between -1 and 1."""

    @abstractmethod
    def _tail(self, u: jax.Array) -> jax.Array:
        """Return the probability within a distance u, in [0, 1], of the low end."""

    @abstractmethod
    def _tail_distance(self, p: jax.Array) -> jax.Array:
        """Return the inverse of `_tail`, for p in [0, 1/2]; 0, with any finite slope, at 0."""

    def _log_density(self, z: jax.Array, *_: Any) -> jax.Array:
        is_outside = (z <= -1) | (z >= 1)
        return jnp.where(is_outside, -jnp.inf, self._inner_log_density(jnp.where(is_outside, 0.0, z)))

    def _cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        is_lower = z < 0
        # Beyond the ends the slope is 0 too.
        near = jnp.where(is_lower, 1 + z, 1 - z)
        near = self._tail(jnp.where(near < 0, 0.0, near))
        return jnp.where(is_lower, near, 1 - near)

    def _log_cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        is_lower = z < 0
        near = jnp.where(is_lower, 1 + z, 1 - z)
        near = self._tail(jnp.where(near < 0, 0.0, near))
        return jnp.where(is_lower, log_of(near), log1m(near))

    def _log_survival(self, z: jax.Array, *_: Any) -> jax.Array:
        return self._log_cdf(-z)

    def _icdf(self, q: jax.Array, *_: Any) -> jax.Array:
        is_lower = q < 0.5
        distance = self._tail_distance(jnp.where(is_lower, q, 1 - q))
        return jnp.where(is_lower, distance - 1, 1 - distance)

    def _ends(self) -> tuple[Any, Any]:
        """Return both ends of the support."""
        loc, scale = align(self.loc, self.scale)
        return loc - scale, loc + scale


def invert_tail(
    tail: Callable[[jax.Array], jax.Array], p: jax.Array, most: float, start: jax.Array
) -> jax.Array:
    """Find the point in [0, most] where a tail is p, from a near start; 0, with slope 0, for p = 0."""
    is_end = p == 0
    inside = jnp.where(is_end, 0.5, p)
    return jnp.where(is_end, 0.0, solve_increasing(tail, inside, 0.0, most, start))
