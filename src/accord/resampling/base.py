"""Define resampling: particles are chosen as often, on average, as their weights say.

Schemes are written once for the host and for compiled programs: weights are arrays of NumPy or of JAX.
"""

import abc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.modules import Module
from .prefix import running_sum


class AbstractResampling(Module):
    """A scheme of resampling: it chooses ancestors by weights, without bias.

    **Contract**: particle `i` is chosen `count * weights[i] / weights.sum()` times on average, and never if its weight
    is zero. All randomness comes from the generator. The class has no options, or fields of plain JSON.
    """

    @abc.abstractmethod
    def ancestors(self, weights: Any, count: int, generator: Any) -> Any:
        """Return the places of `count` ancestors in increasing order, shape `(count,)`.

        **Arguments**
        - `weights`: shape `(particle,)`, finite and not negative, one of them positive: a NumPy array of float64, for
          `infer.smc`; within the program of a particle filter, a JAX array.
        - `generator`: `generator.random(size)` gives uniform numbers of [0, 1), and `generator.random()` one: a
          `numpy.random.Generator`, or `Uniforms` within a program.
        """


def numpy_of(weights: Any) -> Any:
    """Return the module of functions for such arrays: `jax.numpy` for those of JAX, else `numpy`."""
    return jnp if isinstance(weights, jax.Array) else np


def by_inverse_cdf(weights: Any, points: Any) -> Any:
    """Return the particles in whose shares of the total weight increasing points of [0, 1) lie.

    A particle of weight zero has no share, also where a point rounds to the end of one.
    """
    xp = numpy_of(weights)
    ends = running_sum(weights)
    found = xp.searchsorted(ends, points * ends[-1], side="right")
    if xp is np:
        return np.minimum(found, np.flatnonzero(weights)[-1])
    # The sums of a program are rounded in another order for each particle, so that a share of zero may seem to be one.
    places = jnp.arange(len(weights))
    last = jnp.max(jnp.where(weights > 0, places, 0))
    following = jax.lax.cummin(jnp.where(weights > 0, places, last), reverse=True)
    return following[jnp.minimum(found.astype(places.dtype), last)]
