"""Scale steps along noisy gradients: each coordinate by the mean square of its gradient.

Where a part of the data gives the gradient, its mean square is 1 + V times the precision of a normal posterior, and V
is the variance of the noise where the posterior has scale 1. Steps in these units are the shorter the more noise there
is, so that a step size means the same bias whatever the part.
"""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..core.stats import Info
from ..core.tree import node
from .base import AbstractChainAdaptation, Item

_DECAY = 0.6  # of the weight of a new draw: what was seen on the way to the posterior is forgotten


@node
class SquaresState:
    """Mean squares of gradients, shape `(dim,)`, and `count`, shape `()`, of the draws that they were learnt from."""

    square: Float[Array, " dim"]
    count: Float[Array, ""]


@node
class Scales:
    """Tuning: `step_size`, shape `()`, and `inverse_square`, shape `(dim,)`: zeros until a gradient has been seen."""

    step_size: Float[Array, ""]
    inverse_square: Float[Array, " dim"]


@dataclass(frozen=True)
class Squares(AbstractChainAdaptation):
    """Average the squares of gradients in warm-up; `info.seen` has the mean square of a draw, shape `(dim,)`.

    **Fields**: `step_size`, the same for all draws.
    """

    step_size: float

    def begin(self, dim: int, dtype: np.dtype) -> SquaresState:
        """See `AbstractAdaptation.begin`."""
        square: Any = np.zeros(dim, dtype)
        count: Any = np.zeros((), dtype)
        return SquaresState(square, count)

    def at_start(self, gradient: np.ndarray) -> np.ndarray:
        """See `AbstractAdaptation.at_start`: the step size, so that another one compiles nothing."""
        return np.asarray(self.step_size, gradient.dtype)

    def tuning(self, learnt: SquaresState, given: Any, item: Item) -> Scales:
        """See `AbstractChainAdaptation.tuning`."""
        del item
        is_known = learnt.square > 0
        return Scales(given, jnp.where(is_known, 1 / jnp.where(is_known, learnt.square, 1), 0))

    def update(self, learnt: SquaresState, given: Any, item: Item, info: Info) -> tuple[SquaresState, bool]:
        """See `AbstractChainAdaptation.update`."""
        del given
        is_finite = jnp.all(jnp.isfinite(info.seen))
        is_learning = item.is_draw & ((item.draw < item.num_warmup) | (learnt.count == 0)) & is_finite
        count = learnt.count + is_learning
        rate = jnp.where(is_learning, jnp.maximum(count, 1) ** -_DECAY, 0)
        square = learnt.square + rate * (jnp.where(is_finite, info.seen, 0) - learnt.square)
        return SquaresState(square, count), True

    def described(self, learnt: SquaresState, fitted: Any) -> dict[str, Any]:
        """See `AbstractAdaptation.described`."""
        del fitted
        return {"gradient_square": learnt.square}
