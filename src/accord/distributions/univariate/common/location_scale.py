"""Define the base class of location-scale families `loc + scale * z`."""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...noise import open_uniform
from ...special import log, log1m, log_of, standardise


class AbstractLocationScale(AbstractDistribution):
    """Abstract base class of `loc + scale * z`: a family supplies functions of z and its other parameters.

    **Class variables**
    - `shapes`: names of the other parameters of z, in the order in which the functions take them.
    - `has_end`: whether z is bounded, so that its log density may be -inf.
    """

    loc: eqx.AbstractVar[Any]
    scale: eqx.AbstractVar[Any]
    shapes: ClassVar[tuple[str, ...]] = ()
    has_end: ClassVar[bool] = False
    parameters: ClassVar[dict[str, Constraint]] = {"loc": constraints.real, "scale": constraints.positive}

    @property
    def support(self) -> Constraint:
        return constraints.real

    @abstractmethod
    def _log_density(self, z: jax.Array, *shapes: Any) -> jax.Array:
        """Return the log density of z."""

    @abstractmethod
    def _cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        """Return the probability below z, exact where it is small, with the exact slope where it is nearly 1."""

    @abstractmethod
    def _icdf(self, q: jax.Array, *shapes: Any) -> jax.Array:
        """Return the inverse of `_cdf`."""

    def _log_cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        """Return the log probability below z."""
        return log_of(self._cdf(z, *shapes))

    def _log_survival(self, z: jax.Array, *shapes: Any) -> jax.Array:
        """Return the log probability above z."""
        return log1m(self._cdf(z, *shapes))

    def log_prob(self, value: Any) -> jax.Array:
        z, _, scale, *shapes = self._standardise(value)
        log_density = self._log_density(z, *shapes)
        log_prob = log_density - log(scale)
        # Outside the support the scale must not have a gradient either.
        return jnp.where(log_density == -jnp.inf, -jnp.inf, log_prob) if self.has_end else log_prob

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return self.icdf(open_uniform(key, self._shape(sample_shape), self.dtype))

    def cdf(self, value: Any) -> jax.Array:
        z, _, _, *shapes = self._standardise(value)
        return self._cdf(z, *shapes)

    def icdf(self, q: Any) -> jax.Array:
        q, loc, scale, *shapes = align(q, self.loc, self.scale, *self._shapes())
        return loc + scale * self._icdf(q, *shapes)

    def log_cdf(self, value: Any) -> jax.Array:
        z, _, _, *shapes = self._standardise(value)
        return self._log_cdf(z, *shapes)

    def log_survival(self, value: Any) -> jax.Array:
        z, _, _, *shapes = self._standardise(value)
        return self._log_survival(z, *shapes)

    def _shapes(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.shapes)

    def _standardise(self, value: Any) -> tuple[Any, ...]:
        """Return z, then all parameters, in one dtype and rank."""
        x, loc, scale, *shapes = align(value, self.loc, self.scale, *self._shapes())
        return (standardise(x, loc, scale), loc, scale, *shapes)

    def _place(self, z: Any) -> jax.Array:
        """Shift and scale a location summary of z."""
        loc, scale = self._arrays("loc", "scale")
        return loc + scale * z

    def _spread(self, variance: Any) -> jax.Array:
        """Return the variance from z's variance."""
        (scale,) = self._arrays("scale")
        return scale**2 * variance

    def _uncertainty(self, entropy: Any) -> jax.Array:
        """Return the entropy from z's entropy."""
        (scale,) = self._arrays("scale")
        return jnp.log(scale) + entropy
