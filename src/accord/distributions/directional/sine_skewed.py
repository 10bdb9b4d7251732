"""Define the sine-skewed distribution: a symmetric distribution of angles, skewed."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..special import log1m
from .arc_mass import wrap


class SineSkewed(AbstractDistribution):
    """Sine-skewed distribution of angles: a symmetric distribution, tilted to one side by a sine of each angle.

    **Fields**
    - `base_dist`: a distribution of vectors of angles that is symmetric about its `mean`, such as
      `SineBivariateVonMises` or `VonMises(loc, concentration).to_event(1)`.
    - `skewness`: shape `(..., n)`, n the number of angles; the absolute values sum to at most 1. Where one is positive,
      larger angles become more frequent.

    **Density**: `base(x) * (1 + sum(skewness * sin(x - mean)))`.

    **Source**: Ameijeiras-Alonso & Ley (2022), Biostatistics 23(3), 685-704.
    """

    base_dist: AbstractDistribution
    skewness: Any
    parameters: ClassVar[dict[str, Constraint]] = {"skewness": constraints.l1_ball}

    def __check_init__(self) -> None:
        if self.base_dist.event_shape != np.shape(self.skewness)[-1:]:
            raise self.refuse(
                f"base_dist has event shape {self.base_dist.event_shape}, but skewness has shape "
                f"{np.shape(self.skewness)}",
                "Give one skewness for each angle, and a base of vectors: make one from a scalar distribution by "
                "`.expand((n,)).to_event(1)`.",
            )

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(self.base_dist.batch_shape, np.shape(self.skewness)[:-1])

    @property
    def event_shape(self) -> Shape:
        return self.base_dist.event_shape

    @property
    def dtype(self) -> np.dtype:
        return float_type(self.skewness, self.base_dist.dtype.type(0))

    @property
    def support(self) -> Constraint:
        return self.base_dist.support

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, self.dtype.type(0))
        value = jnp.asarray(value, dtype)
        log_base = self.base_dist.log_prob(value)
        is_outside = log_base == -jnp.inf
        shape = np.broadcast_shapes(log_base.shape, self.batch_shape)
        value, centre, skewness = (
            jnp.broadcast_to(jnp.asarray(a, dtype), shape + self.event_shape)
            for a in (value, self.base_dist.mean, self.skewness)
        )
        lean = (skewness * jnp.sin(value - centre)).sum(axis=-1)
        is_outside = jnp.broadcast_to(is_outside, shape)
        return jnp.where(is_outside, -jnp.inf, log_base + log1m(-jnp.where(is_outside, 0.0, lean)))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_base, key_side = jax.random.split(key)
        base = self.base_dist
        if base.batch_shape != self.batch_shape:
            base = base.expand(self.batch_shape)
        drawn = base.sample(key_base, sample_shape).astype(self.dtype)
        centre, skewness = (
            jnp.broadcast_to(jnp.asarray(a, self.dtype), drawn.shape) for a in (base.mean, self.skewness)
        )
        turn = drawn - centre
        # A draw and its mirror image are equally likely under the base: keep the one that the skewness favours.
        keep = 0.5 * (1 + (skewness * jnp.sin(turn)).sum(axis=-1))
        is_kept = jax.random.uniform(key_side, keep.shape, self.dtype) < keep
        mirrored = jnp.clip(wrap(centre - turn), -math.pi, math.pi)
        return jnp.where(is_kept[..., None], drawn, mirrored)
