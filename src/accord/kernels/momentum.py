"""Keep momenta so that a step reads the directions of a metric twice, and not four times.

In many dimensions a step of a low-rank metric costs what it takes to read its directions. With momentum and force in
whitened space, each half of a step multiplies by them and by their transpose. Here they stay in scaled space, where a
force is the scaled gradient, beside their components along the directions. A kick changes both alike, so a step needs
only the components of one gradient, and the velocity half way.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..adaptation.metric.metric import Metric
from ..core.tree import node
from .vectors import inner


@node
class Momentum:
    """A momentum, or a force, which changes it.

    **Fields**
    - `vector`: shape `(..., dim)`; whitened if there is no `along`, else in scaled space: r = B^-1 m of a whitened m.
    - `along`: components of `vector` along the directions of the metric, shape `(..., rank)`; None: not kept.
    """

    vector: Float[Array, "... dim"]
    along: Float[Array, "... rank"] | None = None

    @staticmethod
    def at_rest(dim: int, rank: int, dtype: np.dtype) -> "Momentum":
        """Make zeros, kept as is best with a metric of `rank` directions; host-side, NumPy."""
        along = np.zeros(rank, dtype) if Metric.splits(dim, rank) else None
        return Momentum(np.zeros(dim, dtype), along)  # pyright: ignore[reportArgumentType]

    def __add__(self, other: "Momentum") -> "Momentum":
        return jax.tree.map(jnp.add, self, other)

    def __sub__(self, other: "Momentum") -> "Momentum":
        return jax.tree.map(jnp.subtract, self, other)

    def times(self, number: Array) -> "Momentum":
        """Multiply by a scalar."""
        return jax.tree.map(lambda leaf: number * leaf, self)


def thrown(metric: Metric, noise: Momentum) -> Momentum:
    """Return a new momentum, given one whose vector is standard normal noise."""
    return noise if noise.along is None else _split(metric, metric.unstretch(noise.vector))


def force_at(metric: Metric, gradient: Float[Array, " dim"], like: Momentum) -> Momentum:
    """Return the force of a gradient in unconstrained space, kept like another momentum."""
    if like.along is None:
        return Momentum(metric.pull(gradient))
    return _split(metric, metric.scale * gradient)


def _split(metric: Metric, vector: Array) -> Momentum:
    return Momentum(vector, metric.components(vector))


def velocity(metric: Metric, momentum: Momentum) -> Float[Array, " dim"]:
    """Return the change per unit of time of a position in unconstrained space."""
    if momentum.along is None:
        return metric.push(momentum.vector)
    return metric.push_split(momentum.vector, momentum.along)


def product(metric: Metric, left: Momentum, right: Momentum) -> Float[Array, "..."]:
    """Return the inner product of two momenta in whitened space."""
    found = inner(left.vector, right.vector)
    if left.along is None or right.along is None:
        return found
    return found + jnp.sum(metric.excess * left.along * right.along, -1)


def kinetic_energy(metric: Metric, momentum: Momentum) -> Float[Array, ""]:
    """Return half the square of a momentum in whitened space."""
    return 0.5 * product(metric, momentum, momentum)
