"""Define the projected normal distribution: the direction of a normal vector."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..special import HALF_LOG_TWO_PI
from .arc_mass import NODES, WEIGHTS


class ProjectedNormal(AbstractDistribution):
    """Projected normal distribution: the direction (a unit vector) of a normal vector with unit covariance.

    Its constants are easy to compute and its draws depend smoothly on the parameter, so it suits directions of latent
    vectors in any dimension. `mode` is NaN where the concentration is 0, because all directions are equally likely.

    **Fields**
    - `concentration`: mean of the normal vector, shape `(..., n)`, n >= 2; a longer vector is more concentrated.

    **Density**, with respect to area on the sphere, c the concentration and t = x . c: the integral over r > 0 of
    `r**(n - 1) * exp(-|r * x - c|**2 / 2) / (2 * pi)**(n / 2)`.

    **Source**: Hernandez-Stumpfhauser, Breidt & van der Woerd (2017), Bayesian Analysis 12(1), 113-133, section 2.
    """

    concentration: Any
    parameters: ClassVar[dict[str, Constraint]] = {"concentration": constraints.real_vector}

    def __check_init__(self) -> None:
        if np.ndim(self.concentration) and np.shape(self.concentration)[-1] < 2:
            raise self.refuse(
                f"concentration has shape {np.shape(self.concentration)}",
                "A direction needs 2 dimensions or more.",
            )

    @property
    def event_shape(self) -> Shape:
        return np.shape(self.concentration)[-1:]

    @property
    def support(self) -> Constraint:
        return constraints.sphere

    @property
    def mean(self) -> jax.Array:
        c = jnp.asarray(self.concentration, self.dtype)
        # The mean over the angle, c times the integral below, comes from Kummer's function 1F1(1/2; n/2 + 1; -|c|^2/2).
        length = length_of(jax.lax.stop_gradient(c))
        reach = jnp.where(length > 9.0, jnp.arcsin(9.0 / jnp.maximum(length, 9.0)), 0.5 * math.pi)
        angle = reach[..., None] * jax.lax.expand_dims(jnp.asarray(NODES, c.dtype), range(length.ndim))
        weights = jax.lax.expand_dims(jnp.asarray(WEIGHTS, c.dtype), range(length.ndim))
        square = (c * c).sum(axis=-1, keepdims=True)
        heights = jnp.exp(-0.5 * square * jnp.sin(angle) ** 2) * jnp.cos(angle) ** c.shape[-1]
        return math.sqrt(2 / math.pi) * c * (reach * (weights * heights).sum(axis=-1))[..., None]

    @property
    def mode(self) -> jax.Array:
        c = jnp.asarray(self.concentration, self.dtype)
        return c / length_of(c)[..., None]

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, self.concentration)
        value, c = jnp.broadcast_arrays(jnp.asarray(value, dtype), jnp.asarray(self.concentration, dtype))
        is_outside = ~constraints.sphere(value) & ~jnp.isnan(value).any(axis=-1)
        shown = is_outside[..., None]
        x, c = jnp.where(shown, self.support.feasible_like(value), value), jnp.where(shown, 0.0, c)
        x = x / length_of(x)[..., None]
        along = (x * c).sum(axis=-1)
        across = c - along[..., None] * x
        n = c.shape[-1]
        inside = _log_radial(along, n) - 0.5 * (across * across).sum(axis=-1) - n * HALF_LOG_TWO_PI
        return jnp.where(is_outside, -jnp.inf, inside)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape = self._shape(sample_shape)
        centre = jnp.broadcast_to(jnp.asarray(self.concentration, self.dtype), shape)
        drawn = centre + jax.random.normal(key, shape, self.dtype)
        return drawn / length_of(drawn)[..., None]


def _log_radial(t: jax.Array, n: int) -> jax.Array:
    """Compute log of the integral of r^(n-1) exp(-(r - t)^2 / 2) over r > 0, for n >= 2, by a Gauss-Legendre rule.

    The integrand is followed from its peak to where it has fallen by exp(-40): its logarithm bends downwards at least
    as much as that of a normal density, and as that of a gamma density of shape n.
    """
    root = jnp.sqrt(t * t + 4.0 * (n - 1))
    peak = jnp.where(t > 0, 0.5 * (t + root), 2.0 * (n - 1) / jnp.where(t > 0, 1.0, root - t))
    fall = 40.0 / (n - 1)
    still = jax.lax.stop_gradient(peak)
    left = jnp.minimum(math.sqrt(80.0), still)
    right = jnp.minimum(math.sqrt(80.0), still * (fall + math.sqrt(fall * fall + 2 * fall)))
    nodes = jax.lax.expand_dims(jnp.asarray(NODES, t.dtype), range(t.ndim))
    weights = jax.lax.expand_dims(jnp.asarray(WEIGHTS, t.dtype), range(t.ndim))
    total = jnp.zeros_like(t)
    for width in (-left, right):
        # The nodes move in proportion to the peak, so that no slope is lost at r = 0.
        ratio = (width / still)[..., None] * nodes
        step = peak[..., None] * ratio
        exponent = (n - 1) * (jnp.log1p(ratio) - ratio) - 0.5 * step * step
        total = total + peak * (jnp.abs(width) / still) * (weights * jnp.exp(exponent)).sum(axis=-1)
    # (n - 1) / peak is the distance from t to the peak.
    return (n - 1) * jnp.log(peak) - 0.5 * ((n - 1) / peak) ** 2 + jnp.log(total)


def length_of(x: jax.Array) -> jax.Array:
    """Euclidean length along the last axis, without overflow."""
    size = jax.lax.stop_gradient(jnp.abs(x).max(axis=-1, keepdims=True))
    size = jnp.where(size > 0, size, 1.0)
    return size[..., 0] * jnp.sqrt(((x / size) ** 2).sum(axis=-1))
