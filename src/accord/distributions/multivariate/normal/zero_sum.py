"""Define the zero-sum normal distribution of real arrays."""

import functools
import math
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special import HALF_LOG_TWO_PI, log


class ZeroSumNormal(AbstractDistribution):
    """Zero-sum normal distribution: arrays that sum to zero along each axis, for deviations from a common mean.

    **Fields**
    - `scale`: standard deviation before conditioning, > 0; every one of n elements has variance `scale^2 (1 - 1/n)`.
    - `event_shape`: shape of one event, a tuple of one or more lengths, each at least 2.

    **Density**: `exp(-sum(x^2) / (2 scale^2)) / (scale sqrt(2 pi))^m`, m the product of `n - 1` over the axes, with
    respect to volume within the subspace of zero sums.

    **Source**: Kotz, Balakrishnan & Johnson (2000), Continuous Multivariate Distributions 1, ch. 45, singular normal.
    """

    scale: Any
    # The default is needed only because the abstract class has a property of this name.
    event_shape: Shape = eqx.field(static=True, default=())  # pyright: ignore[reportIncompatibleMethodOverride]
    parameters: ClassVar[dict[str, Constraint]] = {"scale": constraints.positive}

    def __check_init__(self) -> None:
        shape: Any = self.event_shape
        is_shape = isinstance(shape, tuple) and all(isinstance(size, (int, np.integer)) for size in shape)
        if not is_shape or not shape or min(shape) < 2:
            raise self.refuse(f"event_shape is {shape!r}", "Give a tuple of lengths, each at least 2.")

    @property
    def support(self) -> Constraint:
        return constraints.zero_sum(len(self.event_shape))

    @property
    def mean(self) -> jax.Array:
        return self._full(0.0)

    @property
    def mode(self) -> jax.Array:
        return self.mean

    @property
    def variance(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        left = math.prod(1 - 1 / size for size in self.event_shape)
        return self._full(jnp.expand_dims(scale**2 * left, range(scale.ndim, scale.ndim + self.event_dim)))

    def log_prob(self, value: Any) -> jax.Array:
        x, scale = align(value, self._spread_scale())
        is_inside = self._sums_are_zero(x) | jnp.isnan(x).any(self._axes)
        x = jnp.where(jnp.expand_dims(is_inside, self._axes), x, 0.0)
        z = x / scale
        squares, scale = align((z * z).sum(self._axes), self.scale)
        result = -0.5 * squares - self._freedom * (log(scale) + HALF_LOG_TWO_PI)
        return jnp.where(is_inside, result, -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise = jax.random.normal(key, self._shape(sample_shape), self.dtype)
        # Subtract twice: elements that nearly agree keep the rounding of the first subtraction.
        for axis in (*self._axes, *self._axes):
            noise = noise - noise.mean(axis, keepdims=True)
        noise, scale = align(noise, self._spread_scale())
        return noise * scale

    def entropy(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return self._freedom * (jnp.log(scale) + (HALF_LOG_TWO_PI + 0.5))

    @property
    def _axes(self) -> tuple[int, ...]:
        """Return the axes of one event."""
        return tuple(range(-self.event_dim, 0))

    @property
    def _freedom(self) -> int:
        """Return the dimension of the space of zero sums."""
        return math.prod(size - 1 for size in self.event_shape)

    def _sums_are_zero(self, x: jax.Array) -> jax.Array:
        """Return whether every sum is zero within the rounding of a float32 sum of parts as large as the largest."""
        top = jnp.abs(x).max(self._axes, keepdims=True)
        sums = (jnp.abs(x.sum(axis, keepdims=True)) <= 1e-6 * x.shape[axis] * top for axis in self._axes)
        inside = functools.reduce(jnp.logical_and, (within.all(self._axes) for within in sums))
        return inside & (top < jnp.inf).squeeze(self._axes)

    def _spread_scale(self) -> Any:
        """Return the scale with an axis of length 1 for every event axis."""
        rank = np.ndim(self.scale)
        return (
            jnp.expand_dims(jnp.asarray(self.scale), range(rank, rank + self.event_dim))
            if rank
            else self.scale
        )
