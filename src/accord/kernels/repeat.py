"""Repeat a kernel: a draw is what several of its draws lead to."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.base import AbstractChainAdaptation
from ..core import keys
from ..core.options import checks_fields, positive_count
from ..core.position import Position
from ..core.stats import Ending, Info, Stat
from ..core.tree import node, where
from .base import AbstractKernel, AbstractState
from .blocks import AbstractHolder, chain_adaptation, check_block
from .formula import Draw
from .places import Places
from .point import Point
from .rarely import Rarely


@node
class RepeatState(AbstractState):
    """A chain within a draw: `inner`, the state of the kernel; `count`, how many of its draws are complete.

    `ending`, how this draw first failed, and `tried`, where; or where it was evaluated last. `acceptance`, summed.
    """

    point: Point
    is_fresh: Bool[Array, ""]
    tried: Position
    ending: Int[Array, ""]
    count: Int[Array, ""]
    acceptance: Float[Array, ""]
    inner: Any

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return self.tried


@checks_fields
class Repeat(AbstractHolder):
    """A kernel several times for each draw: its draws between are not kept.

    For a block of `Gibbs` that mixes more slowly than the others, or costs less. For one kernel alone, `thinning=`
    keeps less as well. Statistics are those of the last repetition; the step size is tuned once a draw, to the mean
    acceptance of all.

    **Fields**
    - `kernel`: what is repeated.
    - `count`: how often, >= 1.

    **Raises** `OptionError` for a kernel whose chains learn from each other, and a count that is no whole number.

    **Example**

    >>> infer.sample(eight_schools(sigma, y), infer.Repeat(infer.RandomWalk(), 20), draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    kernel: AbstractKernel = eqx.field(static=True)
    count: int = eqx.field(static=True)

    def __check_init__(self) -> None:
        check_block("Repeat", self.kernel)
        positive_count("Repeat: count", self.count, maximum=2**31 - 1)

    @property
    def stats(self) -> tuple[Stat, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Statistics of the kernel."""
        return self.kernel.stats

    @property
    def held(self) -> tuple[AbstractKernel, ...]:
        """See `AbstractHolder.held`."""
        return (self.kernel,)

    def bound(self, draws: tuple[Draw, ...]) -> "Repeat":
        """See `AbstractKernel.bound`."""
        return replace(self, kernel=self.kernel.bound(draws))

    @property
    def adaptation(self) -> AbstractChainAdaptation:
        """See `AbstractKernel.adaptation`."""
        return chain_adaptation(self.kernel)

    @property
    def compiled(self) -> "Repeat":
        """See `AbstractKernel.compiled`."""
        return replace(self, kernel=self.kernel.compiled)

    def placed(self, places: Places) -> "Repeat":
        """See `AbstractKernel.placed`."""
        return replace(self, kernel=self.kernel.placed(places))

    def described(self) -> dict[str, Any]:
        """See `AbstractKernel.described`."""
        return {"name": type(self).__name__, "kernel": self.kernel.described(), "count": self.count}

    @classmethod
    def from_described(cls, options: dict[str, Any], build: Callable[[Any], AbstractKernel]) -> "Repeat":
        """See `AbstractKernel.from_described`."""
        return cls(build(options["kernel"]), options["count"])

    def init(self, point: Point) -> RepeatState:
        """See `AbstractKernel.init`."""
        is_fresh: Any = np.ones((), bool)
        count: Any = np.int32(0)
        zero: Any = np.zeros((), point.position.free.dtype)
        return RepeatState(point, is_fresh, point.position, count, count, zero, self.kernel.init(point))

    def blank_info(self, point: Point) -> Info:
        """See `AbstractKernel.blank_info`."""
        return self.kernel.blank_info(point)

    def ask(
        self, key: UInt32[Array, " 2"], state: RepeatState, tuning: Any, rarely: Rarely
    ) -> tuple[Position, Any]:
        """See `AbstractKernel.ask`: where the kernel asks."""
        count = jnp.where(state.is_fresh, 0, state.count)
        at = rarely(state.is_fresh, lambda _: state.point, state.inner.point)
        inner = replace(state.inner, point=at, is_fresh=state.is_fresh | state.inner.is_fresh)
        position, pending = self.kernel.ask(_key(key, count), inner, tuning, rarely)
        return position, (count, inner, pending)

    def tell(
        self,
        key: UInt32[Array, " 2"],
        state: RepeatState,
        point: Point,
        pending: Any,
        tuning: Any,
        rarely: Rarely,
    ) -> tuple[RepeatState, Info]:
        """See `AbstractKernel.tell`."""
        count, old, asked = pending
        inner, info = self.kernel.tell(_key(key, count), old, point, asked, tuning, rarely)
        count = count + info.is_complete
        is_complete = info.is_complete & ((count == self.count) | _is_probe(tuning))
        summed = jnp.where(state.is_fresh, 0, state.acceptance)
        summed = summed + jnp.where(info.is_complete, info.acceptance, 0)
        before = jnp.where(state.is_fresh, Ending.GOOD, state.ending).astype(jnp.int32)
        ending = jnp.where(info.is_complete, info.ending, Ending.GOOD).astype(jnp.int32)
        worst = jnp.where(before == Ending.GOOD, ending, before)
        tried = where(before == Ending.GOOD, inner.last_evaluated, state.tried)
        new = RepeatState(inner.point, is_complete, tried, worst, count, summed, inner)
        mean = summed / jnp.maximum(count, 1).astype(summed.dtype)
        return new, replace(info, is_complete=is_complete, acceptance=mean, ending=worst)


def _is_probe(tuning: Any) -> Any:
    return jnp.asarray(getattr(tuning, "is_probe", False))


def _key(key: UInt32[Array, " 2"], count: Int[Array, ""]) -> UInt32[Array, " 2"]:
    return keys.fold(key, count.astype(jnp.uint32))
