"""Define a point mass, and a log weight without a value."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from .. import constraint as c
from .. import constraints
from ..base import AbstractDistribution, Shape


class Delta(AbstractDistribution):
    """Point mass: all probability on one value.

    **Fields**
    - `v`: the point, any shape.
    - `log_density`: log weight of the point, 0 by default; broadcasts to the batch shape.
    - `event_dim`: how many trailing axes of `v` form one event.

    **Density**: `exp(log_density)` at v, 0 elsewhere.

    **Source**: Feller (1971), An Introduction to Probability Theory and Its Applications 2, section I.1.
    """

    v: Any = 0.0
    log_density: Any = 0.0
    event_dim: int = eqx.field(default=0, static=True)  # pyright: ignore[reportIncompatibleMethodOverride]
    parameters: ClassVar[dict[str, c.Constraint]] = {"log_density": constraints.real}

    def __check_init__(self) -> None:
        if not 0 <= self.event_dim <= np.ndim(self.v):
            raise self.refuse(
                f"v has shape {np.shape(self.v)}, which has no {self.event_dim} event axes",
                f"Give an event_dim from 0 to {np.ndim(self.v)}.",
            )

    @property
    def batch_shape(self) -> Shape:
        shape = np.shape(self.v)
        return np.broadcast_shapes(shape[: len(shape) - self.event_dim], np.shape(self.log_density))

    @property
    def event_shape(self) -> Shape:
        shape = np.shape(self.v)
        return shape[len(shape) - self.event_dim :]

    @property
    def dtype(self) -> np.dtype:
        return float_type(self.v, self.log_density)

    @property
    def support(self) -> c.Constraint:
        # No bijector covers a point; an interval of zero width says where the value is.
        here = c.Interval(self.v, self.v)
        return c.Independent(here, self.event_dim) if self.event_dim else here

    @property
    def mean(self) -> jax.Array:
        return self._points(self._shape())

    @property
    def variance(self) -> jax.Array:
        return self._full(0.0)

    @property
    def mode(self) -> jax.Array:
        return self.mean

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        dtype = float_type(value, self.v, self.log_density)
        shape = np.broadcast_shapes(value.shape, self._shape())
        is_there = jnp.broadcast_to(value, shape) == self._points(shape).astype(value.dtype)
        if self.event_dim:
            is_there = is_there.all(axis=tuple(range(-self.event_dim, 0)))
        weight = jnp.broadcast_to(jnp.asarray(self.log_density, dtype), is_there.shape)
        is_missing = (
            jnp.isnan(value) if jnp.issubdtype(value.dtype, jnp.floating) else jnp.zeros(value.shape, bool)
        )
        is_missing = jnp.broadcast_to(is_missing, shape)
        if self.event_dim:
            is_missing = is_missing.any(axis=tuple(range(-self.event_dim, 0)))
        return jnp.where(is_missing, jnp.nan, jnp.where(is_there, weight, -jnp.inf))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        del key
        return self._points(self._shape(sample_shape))

    def cdf(self, value: Any) -> jax.Array:
        if self.event_dim:
            raise self._undefined("cdf")
        value = jnp.asarray(value, float_type(value, self.v))
        shape = np.broadcast_shapes(value.shape, self.batch_shape)
        is_past = jnp.broadcast_to(value, shape) >= self._points(shape).astype(value.dtype)
        return jnp.where(is_past, jnp.ones(shape, value.dtype), 0.0)

    def icdf(self, q: Any) -> jax.Array:
        if self.event_dim:
            raise self._undefined("icdf")
        return self._points(np.broadcast_shapes(np.shape(q), self.batch_shape))

    def _points(self, shape: Shape) -> jax.Array:
        """Broadcast the point to a whole shape; `log_density` alone may add batch axes."""
        return jnp.broadcast_to(jnp.asarray(self.v), shape)


class Unit(AbstractDistribution):
    """Log weight without a value: its only event is empty, and its log density is the weight.

    **Fields**
    - `log_factor`: log weight, of the batch shape.

    **Density**: `exp(log_factor)` at the empty event.

    **Source**: Phan, Pradhan & Jankowiak (2019), arXiv:1912.11554.
    """

    log_factor: Any
    parameters: ClassVar[dict[str, c.Constraint]] = {"log_factor": constraints.real}

    @property
    def event_shape(self) -> Shape:
        return (0,)

    @property
    def support(self) -> c.Constraint:
        return constraints.real_vector

    @property
    def mean(self) -> jax.Array:
        return self._full(0.0)

    @property
    def variance(self) -> jax.Array:
        return self._full(0.0)

    def log_prob(self, value: Any) -> jax.Array:
        shape = np.broadcast_shapes(np.shape(value)[:-1], self.batch_shape)
        return jnp.broadcast_to(jnp.asarray(self.log_factor, self.dtype), shape)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        del key
        return jnp.zeros(self._shape(sample_shape), self.dtype)
