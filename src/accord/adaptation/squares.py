"""Scale steps along noisy gradients: each coordinate by the mean square of its gradient.

In the first half of warm-up, a chain travels: each coordinate moves by its gradient over the root of its mean square, a
step that gets shorter and shorter, since far away a gradient says where to go and nothing of how wide a posterior is.

Where a part of the data gives the gradient, its mean square is 1 + V times the precision of a normal posterior, and V
is the variance of the noise where the posterior has scale 1. Steps in these units are the shorter the more noise there
is, so that a step size means the same bias whatever the part.
"""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..core.stats import Info
from ..core.tree import node
from .base import AbstractChainAdaptation, Item, Window
from .settled import is_settled

_DECAY = 0.6  # of the weight of a new draw: what was seen at first is forgotten
_FORGET = 0.2  # of the mean squares in each draw on the way
_GROWTH, _MOST_GROWTH = (
    4.0,
    60,
)  # of the largest variance of steps after the way, from draw to draw; most such factors
_FAST, _SLOW = 0.1, 0.001  # unconstrained units of a step at the beginning of the way, and at its end


@node
class SquaresState:
    """Mean squares of gradients, shape `(dim,)`, and `count`, shape `()`, of the draws that they were learnt from."""

    square: Float[Array, " dim"]
    count: Float[Array, ""]


@node
class Scales:
    """Tuning: `step_size`, shape `()`, and `inverse_square`, shape `(dim,)`: zeros until a gradient has been seen.

    `speed`, shape `()`, is the length of a step on the way to the posterior; 0 where that is over.
    """

    step_size: Float[Array, ""]
    inverse_square: Float[Array, " dim"]
    speed: Float[Array, ""]


@dataclass(frozen=True)
class Squares(AbstractChainAdaptation):
    """Average the squares of gradients in warm-up; `info.seen` has the mean square of a draw, shape `(dim,)`.

    **Fields**: `step_size`, the same for all draws; `is_near`, whether chains begin where the posterior is, and do not
    travel.
    """

    step_size: float
    is_near: bool = False

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
        is_known = learnt.square > 0
        inverse = jnp.where(is_known, 1 / jnp.where(is_known, learnt.square, 1), 0)
        if self.is_near:
            return Scales(given, inverse, jnp.zeros((), inverse.dtype))
        share = item.draw / jnp.maximum(item.num_warmup // 2, 1)
        speed = jnp.where(_is_on_the_way(item), _FAST * (_SLOW / _FAST) ** share, 0)
        # At the end of the way a gradient may be next to nothing, which says nothing of scales: noise grows from there.
        num_since = jnp.clip(item.draw - item.num_warmup // 2, 0, _MOST_GROWTH)
        largest = jnp.asarray(_SLOW**2, inverse.dtype) * jnp.asarray(_GROWTH, inverse.dtype) ** num_since
        inverse = jnp.where(_is_on_the_way(item), inverse, jnp.minimum(inverse, largest))
        return Scales(given, inverse, speed.astype(inverse.dtype))

    def update(self, learnt: SquaresState, given: Any, item: Item, info: Info) -> tuple[SquaresState, bool]:
        """See `AbstractChainAdaptation.update`."""
        del given
        is_finite = jnp.all(jnp.isfinite(info.seen))
        is_learning = item.is_draw & ((item.draw < item.num_warmup) | (learnt.count == 0)) & is_finite
        before = learnt.count if self.is_near else jnp.where(_is_on_the_way(item), 0, learnt.count)
        count = before + is_learning
        rate = jnp.maximum(count, 1) ** -_DECAY
        if not self.is_near:
            forgets = jnp.where(learnt.square > 0, _FORGET, 1)
            rate = jnp.where(_is_on_the_way(item), forgets, rate)
        rate = jnp.where(is_learning, rate, 0)
        square = learnt.square + rate * (jnp.where(is_finite, info.seen, 0) - learnt.square)
        return SquaresState(square, count), True

    def is_settled(self, window: Window) -> bool:
        """See `AbstractAdaptation.is_settled`."""
        return is_settled(window.positions, window.log_density)

    def described(self, learnt: SquaresState, fitted: Any) -> dict[str, Any]:
        """See `AbstractAdaptation.described`."""
        del fitted
        return {"gradient_square": learnt.square}


def _is_on_the_way(item: Item) -> Bool[Array, ""]:
    return item.draw < item.num_warmup // 2
