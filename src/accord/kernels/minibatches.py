"""Draw by stochastic gradients: steps along estimates from a part of the data, with noise and without acceptance."""

import abc
from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.squares import Scales, Squares
from ..core import keys
from ..core.errors import OptionError
from ..core.options import positive_count
from ..core.position import Position
from ..core.stats import Ending, Info, Stat
from ..core.tree import node, where
from .base import NUM_STEPS, STEP_SIZE, AbstractKernel, AbstractState, ending_of, stats_of
from .point import Point

_MOMENTUM = 0  # items of the key of a draw, beside its steps
_NOISE, _BATCH = 1, 2  # streams of random numbers, and items, of the key of a step


@node
class WalkState(AbstractState):
    """A chain within a draw: `end` is where its last gradient was estimated, with the `momentum` that led there.

    `square`, shape `(dim,)`, is the sum of the squared gradients of the draw so far, and `count` their number.
    """

    point: Point
    is_fresh: Bool[Array, ""]
    end: Point
    momentum: Float[Array, " dim"]
    square: Float[Array, " dim"]
    count: Int[Array, ""]

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return self.end.position


@node
class _Pending:
    """A step whose gradient was asked for: the `momentum` that leads there, and the `words` of its part of the data.

    `square` and `count` are those of the draw before it.
    """

    momentum: Float[Array, " dim"]
    words: UInt32[Array, " 2"]
    square: Float[Array, " dim"]
    count: Int[Array, ""]


class AbstractMinibatches(AbstractKernel):
    """A kernel whose steps follow gradients of a part of the data, and which keeps every `num_steps`-th place.

    In units in which the squared gradient has mean 1, a step is `momentum <- (1 - a) momentum + h gradient + noise`
    with noise of variance `2 a h`, where `a` is the friction and `h` half of `step_size` times `a`. A draw begins with
    a new momentum, of the distribution that such steps give it where they begin: its mean is `-h gradient / (2 - a)`,
    its variance `2 h / (2 - a)`.
    """

    needs_minibatch: ClassVar[bool] = True
    of_adaptation: ClassVar[tuple[str, ...]] = ("step_size",)
    stats: ClassVar[tuple[Stat, ...]] = (STEP_SIZE, NUM_STEPS)

    step_size: eqx.AbstractVar[float]
    num_steps: eqx.AbstractVar[int]
    control_variates: eqx.AbstractVar[bool]

    @property
    @abc.abstractmethod
    def lost(self) -> float:
        """The share of the momentum that a step loses, in (0, 1]."""

    def __check_init__(self) -> None:
        name = type(self).__name__
        for option, value in (("step_size", self.step_size), ("friction", self.lost)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
                raise OptionError(f"{name}: {option} must be a number in (0, 1], got {value!r}.")
        positive_count(f"{name}: num_steps", self.num_steps, maximum=1_000_000)
        if not isinstance(self.control_variates, bool):
            raise OptionError(
                f"{name}: control_variates must be True or False, got {self.control_variates!r}."
            )

    @property
    def needs_reference(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether gradients have control variates."""
        return self.control_variates

    @property
    def adaptation(self) -> Squares:
        """See `AbstractKernel.adaptation`."""
        return Squares(float(self.step_size), is_near=self.control_variates)

    def init(self, point: Point) -> WalkState:
        """See `AbstractKernel.init`."""
        nothing: Any = np.zeros_like(point.position.free)
        is_fresh: Any = np.ones((), bool)
        count: Any = np.zeros((), np.int32)
        return WalkState(point, is_fresh, point, nothing, nothing, count)

    def blank_info(self, point: Point) -> Info:
        """See `AbstractKernel.blank_info`."""
        return replace(super().blank_info(point), seen=np.zeros_like(point.position.free))

    def batch_of(self, pending: _Pending) -> UInt32[Array, "..."]:
        """See `AbstractKernel.batch_of`."""
        return self.batch_at(pending.words)

    def batch_at(self, key: UInt32[Array, " 2"]) -> UInt32[Array, "..."]:
        """See `AbstractKernel.batch_at`: two words, or those of one part of several for control variates."""
        return key[None] if self.control_variates else key

    def ask(
        self, key: UInt32[Array, " 2"], state: WalkState, tuning: Scales, rarely: Any
    ) -> tuple[Position, _Pending]:
        """See `AbstractKernel.ask`: the end of the next step."""
        del rarely
        friction = self.lost
        begin, is_fresh = where(state.is_fresh, state.point, state.end), state.is_fresh
        free, dtype = begin.position.free, begin.position.free.dtype
        count = jnp.where(is_fresh, 0, state.count).astype(jnp.int32)
        of_step = keys.fold(key, count.astype(jnp.uint32))
        rate = 0.5 * friction * tuning.step_size * tuning.inverse_square
        of_momentum = keys.item(key, jnp.uint32(_MOMENTUM), jnp.uint32(0))
        # Among steps that go on for ever, place and momentum are correlated, since a step turns the momentum first and
        # then moves by it. A new momentum that knew nothing of the place would make variances too small: of short
        # draws with little friction by a third.
        start = jnp.sqrt(2 * rate / (2 - friction)) * keys.normal(of_momentum, free.shape[0], 0, dtype)
        start = start - rate / (2 - friction) * begin.gradient
        momentum = jnp.where(is_fresh, start, state.momentum)
        noise = jnp.sqrt(2 * friction * rate) * keys.normal(of_step, free.shape[0], _NOISE, dtype)
        momentum = (1 - friction) * momentum + rate * begin.gradient + noise
        square = jnp.where(is_fresh, 0, state.square)
        words = keys.item(of_step, jnp.uint32(_BATCH), jnp.uint32(0))
        is_on_the_way = tuning.speed > 0
        # A step on the way has no noise, and leaves no momentum.
        straight = tuning.speed * jnp.sqrt(tuning.inverse_square) * begin.gradient
        momentum = jnp.where(is_on_the_way, 0, momentum)
        asked = replace(begin.position, free=free + jnp.where(is_on_the_way, straight, momentum))
        return asked, _Pending(momentum, words, square, count)

    def tell(
        self,
        key: UInt32[Array, " 2"],
        state: WalkState,
        point: Point,
        pending: _Pending,
        tuning: Scales,
        rarely: Any,
    ) -> tuple[WalkState, Info]:
        """See `AbstractKernel.tell`; a draw that fails stays where the last one was."""
        del key, rarely
        told, point = point.control, replace(point, control=None)
        ending = ending_of(point)
        is_good = (ending == Ending.GOOD) & (point.log_density > -jnp.inf)
        ending = jnp.where((ending == Ending.GOOD) & ~is_good, Ending.DIVERGENCE, ending).astype(jnp.int32)
        count, square = pending.count + 1, pending.square + point.gradient**2
        is_complete = (count >= self.num_steps) | ~is_good
        taken = where(is_complete & is_good, point, state.point)
        seen = square / count
        if told is not None:
            # With next to no noise, a chain that begins close to the mode would take its scales for large.
            seen = jnp.maximum(seen, told.curvature)
        info = Info(
            is_complete,
            is_good.astype(square.dtype),
            ending,
            stats_of(tuning.step_size, count),
            seen=seen,
        )
        return WalkState(taken, is_complete, point, pending.momentum, square, count), info
