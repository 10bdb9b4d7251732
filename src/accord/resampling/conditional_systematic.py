"""Resample at points of equal distance, given one ancestor."""

from typing import Any

import jax.numpy as jnp

from ..core.options import checks_fields
from .base import by_inverse_cdf
from .conditional import AbstractConditionalResampling
from .prefix import total


@checks_fields
class ConditionalSystematic(AbstractConditionalResampling):
    """Systematic resampling given the ancestor of the reference, the default: it adds least noise.

    The offset of the points is drawn given that one of them is in the share of the reference's ancestor, and the points
    are then turned around, so that any of those in its share may be the reference's own.

    **Source**: Chopin & Singh (2015), "On particle Gibbs sampling", Bernoulli 21(3), 1855-1883, section 5.

    **Example**

    >>> infer.ParticleGibbs(particles=10).resampling
    ConditionalSystematic()
    """

    def ancestors(self, weights: Any, first: Any, generator: Any) -> Any:
        """See `AbstractConditionalResampling.ancestors`."""
        # n: particles, w: weight of the given one, first in order. It has floor(n w) copies, or one more.
        n = len(weights)
        turned = jnp.roll(weights, -first)
        due = turned[0] / total(turned) * n
        copies = jnp.floor(due)
        rest = due - copies
        which, place, turn = generator.random(3)
        # An offset below `rest` gives one more copy, and is as much more probable given that the reference is one.
        has_more = which * due < rest * (copies + 1)
        offset = jnp.where(has_more, rest * place, rest + (1 - rest) * place)
        points = (jnp.arange(n, dtype=weights.dtype) + offset) / n
        found = by_inverse_cdf(turned, points)
        own = jnp.maximum(jnp.sum(found == 0), 1)
        begin = jnp.floor(turn * own.astype(weights.dtype)).astype(found.dtype)
        found = jnp.roll(found, -jnp.minimum(begin, own - 1))
        found = jnp.where(jnp.arange(n) == 0, 0, found)
        return (found + first.astype(found.dtype)) % n
