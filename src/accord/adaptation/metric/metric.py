"""Measure momentum in whitened space, where the posterior is as near to a standard normal as was learnt.

Positions stay in unconstrained space; momenta and the gradients that push them live in whitened space, where the mass
matrix is the identity. The metric is an affine map x = A y with A = diag(scale) B, B symmetric. It enters a compiled
program as data, so that learning it, or choosing between its forms, compiles nothing.
"""

from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...core.tree import node

MetricForm = Literal["auto", "diagonal", "low_rank", "dense", "marginal"]

METRICS: tuple[MetricForm, ...] = get_args(MetricForm)
"""Valid values of a sampler's `metric`."""

_MAX_SUMMED_DIM = 63  # beyond, a full factor has more numbers than XLA adds up within a piece of machine code
_ROWS = 65_536  # of a factor that are squared at a time


@node
class Metric:
    """The map from whitened to unconstrained space.

    **Fields**
    - `scale`: positive, shape `(dim,)`: unconstrained units per whitened unit.
    - `factor`: directions that are not of unit size after scaling, orthonormal columns, shape `(dim, rank)`.
    - `stretch`: how much longer each direction is than one, minus one; shape `(rank,)`, > -1.
    - `is_diagonal`: shape `()`; True if `factor` and `stretch` are not used.

    B = I + factor diag(stretch) factor'. The inverse mass matrix is A A'.
    """

    scale: Any
    factor: Any
    stretch: Any
    is_diagonal: Any

    @staticmethod
    def diagonal(scale: np.ndarray, rank: int) -> "Metric":
        """A diagonal metric padded to `rank` unused directions; host-side, NumPy."""
        scale = np.asarray(scale)
        dim = scale.shape[0]
        return Metric(scale, np.zeros((dim, rank), scale.dtype), np.zeros(rank, scale.dtype), np.bool_(True))

    def inverse_mass(self) -> np.ndarray:
        """Compute the diagonal of the inverse mass matrix, shape `(dim,)`; host-side, NumPy."""
        weights, found = (1 + np.asarray(self.stretch)) ** 2 - 1, np.asarray(self.scale) ** 2
        factor = np.asarray(self.factor)
        if not np.any(weights):
            return found
        for start in range(
            0, len(found), _ROWS
        ):  # the squares of all rows would take as much memory as the factor
            rows = slice(start, start + _ROWS)
            found[rows] *= 1 + (factor[rows] ** 2) @ weights
        return found

    def push(self, y: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """Map a whitened direction to unconstrained space: A y."""
        return self.scale * self._stretch(y)

    def pull(self, gradient: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """Map an unconstrained gradient to whitened space: A' g."""
        return self._stretch(self.scale * gradient)

    @staticmethod
    def splits(dim: int, rank: int) -> bool:
        """Return whether momenta are worth keeping with their components along the directions: `kernels/momentum.py`.

        In few dimensions reading the directions costs little.
        """
        return rank > 0 and dim > _MAX_SUMMED_DIM

    @property
    def excess(self) -> Float[Array, " rank"]:
        """Excess of B squared over the identity along each direction: B B = I + factor diag(excess) factor'."""
        return self.stretch * (2 + self.stretch)

    def components(self, vector: Float[Array, " dim"]) -> Float[Array, " rank"]:
        """Compute the components of a scaled vector along the directions, zeros if they are not used."""
        none = jnp.zeros_like(self.stretch)
        return jax.lax.cond(self.is_diagonal, lambda _: none, lambda v: jnp.dot(v, self.factor), vector)

    def push_split(self, vector: Float[Array, " dim"], along: Float[Array, " rank"]) -> Float[Array, " dim"]:
        """Map a scaled direction with its components to unconstrained space: A B r, where `push` takes y = B r."""

        def squared(vector: Array) -> Array:
            return vector + jnp.dot(self.factor, self.excess * along)

        return self.scale * jax.lax.cond(self.is_diagonal, lambda v: v, squared, vector)

    def unstretch(self, y: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """Map a whitened direction to scaled space: B^-1 y."""
        shrink = -self.stretch / (1 + self.stretch)

        def along(y: Array) -> Array:
            return y + jnp.dot(self.factor, shrink * jnp.dot(y, self.factor))

        return jax.lax.cond(self.is_diagonal, lambda y: y, along, y)

    def _stretch(self, y: Float[Array, " dim"]) -> Float[Array, " dim"]:
        if self.factor.shape[-1] == 0:
            return y

        def along(y: Array) -> Array:
            # Sums of products take twice the time, but products of small matrices would be library calls.
            if y.shape[0] > _MAX_SUMMED_DIM:
                return y + jnp.dot(self.factor, self.stretch * jnp.dot(y, self.factor))
            return y + jnp.sum(self.factor * (self.stretch * jnp.sum(self.factor * y[:, None], 0)), 1)

        return jax.lax.cond(self.is_diagonal, lambda y: y, along, y)
