"""Take most of the noise out of estimates from a part of the data, by what the part and all data say at one place.

Near an anchor, the log density of a part is nearly its tangent there. The tangent of all data is known, so that only
what the tangent of a part leaves over has to be estimated. The estimate stays unbiased wherever the anchor is.

**Source**: Johnson & Zhang (2013), "Accelerating stochastic gradient descent using predictive variance reduction",
NeurIPS; the share of a control variate, Owen (2013), "Monte Carlo theory, methods and examples", section 8.9.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..core.tree import node
from .objectives.base import LogDensityAt

NUM_PAIRS = 16
"""Pairs of parts that are compared to choose the share."""


@node
class Anchor:
    """A place at which the tangent of the log density of all data is known.

    **Fields**: `position` and `gradient`, shape `(dim,)`; `value`, shape `()`; `share`, shape `()`, from 0 to 1, of the
    tangent of a part that is replaced by that of all.
    """

    position: Float[Array, " dim"]
    value: Float[Array, ""]
    gradient: Float[Array, " dim"]
    share: Float[Array, ""]

    @staticmethod
    def unknown(dim: int, dtype: np.dtype) -> "Anchor":
        """Return one of which nothing is taken; traced."""
        none, zero = jnp.zeros(dim, dtype), jnp.zeros((), dtype)
        return Anchor(none, zero, none, zero)

    def controlled(self, part: LogDensityAt) -> LogDensityAt:
        """Return the log density of a part with this share of its tangent replaced; traced."""
        value, gradient = jax.value_and_grad(part)(self.position)
        lift, turn = self.value - value, self.gradient - gradient
        is_known = (self.share > 0) & jnp.isfinite(lift) & jnp.all(jnp.isfinite(turn))
        lift, turn = (self.share * jnp.where(is_known, each, jnp.zeros_like(each)) for each in (lift, turn))
        return lambda at: part(at) + lift + jnp.sum(turn * (at - self.position))


def anchored(
    whole: LogDensityAt,
    part_at: Callable[[Int[Array, ""]], LogDensityAt],
    position: Float[Array, " dim"],
    scale: Float[Array, " dim"],
    noise: Float[Array, "pair dim"],
) -> Anchor:
    """Return an anchor at a position, with the share by which gradients nearby have the least noise; traced.

    `whole`, the log density of all data; `part_at`, that of a part by its number; `scale`, of the posterior, shape
    `(dim,)`; `noise`, standard normal, of places nearby. At each of them two parts are compared, whose difference is
    noise; the share is what explains it best by their difference at the anchor.
    """
    value, gradient = jax.value_and_grad(whole)(position)

    def compared(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        own, number = pair
        first, second = (jax.grad(part_at(2 * number + place)) for place in (0, 1))
        nearby = position + scale * own
        here = scale * (first(nearby) - second(nearby))
        there = scale * (first(position) - second(position))
        return jnp.sum(here * there), jnp.sum(there**2)

    numbers = jnp.arange(noise.shape[0], dtype=jnp.int32)
    common, own = jax.lax.map(compared, (noise, numbers))
    share = jnp.clip(jnp.sum(common) / jnp.sum(own), 0.0, 1.0)
    is_known = jnp.isfinite(share) & jnp.isfinite(value) & jnp.all(jnp.isfinite(gradient))
    share = jnp.where(is_known, share, 0.0).astype(position.dtype)
    position, value, gradient = (
        jnp.where(is_known, each, jnp.zeros_like(each)) for each in (position, value, gradient)
    )
    return Anchor(position, value, gradient, share)
