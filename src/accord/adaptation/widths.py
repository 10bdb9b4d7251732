"""Tune the widths of slices: for each coordinate, the mean size of its final brackets."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..core.stats import Info
from ..core.tree import node
from .base import AbstractChainAdaptation, Item, Window
from .settled import is_settled

_DECAY = 0.75  # of the weight of a new draw: what was seen on the way to the posterior is forgotten
_RANGE = (1e-10, 1e10)


@node
class WidthState:
    """Widths, shape `(dim,)`, unconstrained; and `count`, shape `()`, of the draws that they were learnt from."""

    width: Float[Array, " dim"]
    count: Float[Array, ""]


@dataclass(frozen=True)
class Widths(AbstractChainAdaptation):
    """Average the brackets that a slice sampler ends with, by coordinate, in warm-up; its tuning is the widths.

    `info.seen` has the brackets of a draw, shape `(dim,)`.

    **Source**: PyMC's `Slice`, whose mean weighs all draws alike.
    """

    def begin(self, dim: int, dtype: np.dtype) -> WidthState:
        """See `AbstractAdaptation.begin`."""
        width: Any = np.ones(dim, dtype)
        count: Any = np.zeros((), dtype)
        return WidthState(width, count)

    def tuning(self, learnt: WidthState, given: tuple[()], item: Item) -> Float[Array, " dim"]:
        """See `AbstractChainAdaptation.tuning`."""
        del given, item
        return learnt.width

    def update(self, learnt: WidthState, given: tuple[()], item: Item, info: Info) -> tuple[WidthState, bool]:
        """See `AbstractChainAdaptation.update`."""
        is_learning = item.is_draw & (item.draw < item.num_warmup)
        count = learnt.count + is_learning
        rate = jnp.where(is_learning, jnp.maximum(count, 1) ** -_DECAY, 0)
        width = learnt.width + rate * (jnp.clip(info.seen, *_RANGE) - learnt.width)
        return WidthState(width, count), True

    def is_settled(self, window: Window) -> bool:
        """See `AbstractAdaptation.is_settled`."""
        return is_settled(window.positions, window.log_density)

    def described(self, learnt: WidthState, fitted: tuple[()]) -> dict[str, Any]:
        """See `AbstractAdaptation.described`."""
        del fitted
        return {"width": learnt.width}
