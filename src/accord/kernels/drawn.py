"""Draw a block given all other unknowns, without a proposal that could be refused: what such kernels share."""

from abc import abstractmethod
from dataclasses import replace
from types import EllipsisType
from typing import Any, ClassVar, Self

import equinox as eqx
import jax.numpy as jnp

from ..adaptation.fixed import Fixed
from ..core import keys
from ..core.position import Position
from ..core.stats import Ending, Info
from .base import AbstractKernel, Standing, ending_of, stats_of
from .formula import Draw
from .places import Places
from .point import Point
from .rarely import Rarely

_DRAW = 0  # stream of random numbers


class AbstractDrawn(AbstractKernel):
    """A kernel whose moves are draws from the distribution of its block given all else, so that each is taken.

    **Fields**: `places` of the block; `draw`, from a position and two words of a key to the position after it.
    """

    needs_gradient: ClassVar[bool] = False
    whole_if_discrete: ClassVar[tuple[str, ...] | EllipsisType] = ...

    places: Places | None = eqx.field(static=True, default=None, kw_only=True)
    draw: Draw | None = eqx.field(static=True, default=None, kw_only=True)

    @abstractmethod
    def measured(self, old: Position, new: Position, is_good: Any, dtype: Any) -> Any:
        """Return the one statistic of a draw, shape `()`, by where the block was and is; traced."""

    def placed(self, places: Places) -> Self:
        """See `AbstractKernel.placed`."""
        return replace(self, places=places)

    def bound(self, draws: tuple[Draw, ...]) -> Self:
        """See `AbstractKernel.bound`."""
        (draw,) = draws
        return replace(self, draw=draw)

    @property
    def adaptation(self) -> Fixed:
        """See `AbstractKernel.adaptation`."""
        return Fixed()

    def init(self, point: Point) -> Standing:
        """See `AbstractKernel.init`."""
        return Standing.at(point)

    def ask(self, key: Any, state: Standing, tuning: None, rarely: Rarely) -> tuple[Position, None]:
        """See `AbstractKernel.ask`: at the draw."""
        draw = self.draw
        assert draw is not None, "a kernel that draws is bound to its draws"
        words = keys.fold(key, jnp.uint32(_DRAW))
        # In a turn of another block, nothing is computed.
        return rarely(state.is_fresh, lambda at: draw(at, words), state.point.position), None

    def tell(
        self, key: Any, state: Standing, point: Point, pending: None, tuning: None, rarely: Rarely
    ) -> tuple[Standing, Info]:
        """See `AbstractKernel.tell`: the draw is taken."""
        found = ending_of(point)
        # Each draw is possible; where the log density says otherwise, rounding has led out of the support.
        ending = jnp.where(point.log_density == -jnp.inf, Ending.LOG_DENSITY, found).astype(jnp.int32)
        is_good = ending == Ending.GOOD
        taken = rarely(is_good, lambda _: point, state.point)
        measured = self.measured(state.point.position, taken.position, is_good, point.log_density.dtype)
        yes = jnp.ones((), bool)
        return Standing(taken, yes, point.position), Info(yes, measured, ending, stats_of(measured))
