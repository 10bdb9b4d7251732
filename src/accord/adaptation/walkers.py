"""Tune an ensemble of walkers: the size of its slices, and how many walkers a draw moves."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..core.stats import Info
from ..core.tree import node
from .base import AbstractChainAdaptation, Item, Window
from .settled import is_settled

_FIRST = 2.0  # between two walkers of a normal distribution lies about as much
_DECAY = 0.6  # of the weight of a new draw


@node
class WalkersTuning:
    """How walkers move, each of shape `()`.

    **Fields**: `size`, width of a slice in distances between two walkers; `is_warmup`, whether a draw moves them all.
    """

    size: Float[Array, ""]
    is_warmup: Bool[Array, ""]


@node
class WalkersState:
    """Logarithm of the size of slices, and `count`, of the draws that it was learnt from; shape `()`."""

    log_size: Float[Array, ""]
    count: Float[Array, ""]


@dataclass(frozen=True)
class Walkers(AbstractChainAdaptation):
    """Make slices take as many steps out as points that are refused. Its tuning is a `WalkersTuning`.

    `info.seen` has the numbers of both in a draw.

    **Fields**: `has_slices`, whether walkers move by slices.

    **Source**: Karamanis & Beutler (2021), Statistics and Computing 31(5), 61, which changes the size by the ratio of
    both after each sweep. Here its logarithm takes steps that become shorter, so that its last value is no accident.
    """

    has_slices: bool

    def begin(self, dim: int, dtype: np.dtype) -> WalkersState:
        """See `AbstractAdaptation.begin`."""
        del dim
        log_size: Any = np.asarray(np.log(_FIRST), dtype)
        count: Any = np.zeros((), dtype)
        return WalkersState(log_size, count)

    def tuning(self, learnt: WalkersState, given: tuple[()], item: Item) -> WalkersTuning:
        """See `AbstractChainAdaptation.tuning`."""
        del given
        return WalkersTuning(jnp.exp(learnt.log_size), item.draw < item.num_warmup)

    def update(
        self, learnt: WalkersState, given: tuple[()], item: Item, info: Info
    ) -> tuple[WalkersState, bool]:
        """See `AbstractChainAdaptation.update`."""
        del given
        is_learning = item.is_draw & (item.draw < item.num_warmup)
        num_steps, num_refused = info.seen
        excess = (num_steps - num_refused) / jnp.maximum(num_steps + num_refused, 1)
        count = learnt.count + is_learning
        rate = jnp.where(is_learning, jnp.maximum(count, 1) ** -_DECAY, 0)
        return WalkersState(learnt.log_size + rate * excess.astype(rate.dtype), count), True

    def is_settled(self, window: Window) -> bool:
        """See `AbstractAdaptation.is_settled`."""
        return is_settled(window.positions, window.log_density)

    def described(self, learnt: WalkersState, fitted: tuple[()]) -> dict[str, Any]:
        """See `AbstractAdaptation.described`."""
        del fitted
        return {"slice_size": np.exp(learnt.log_size)} if self.has_slices else {}
