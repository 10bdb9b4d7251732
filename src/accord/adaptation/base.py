"""Define adaptation: what warm-up learns of a posterior, and how it tunes a kernel.

It has two halves. In the program, after each item (a draw or a probe), it updates what the chain carries with it: the
*learnt*. On the host, between blocks and at draws fixed before the run, it looks at the draws of warm-up and makes what
the program takes as an argument: the *fitted*, of which `given` is what the program sees. Both depend on the draws of
the chain alone, or on those of all chains of a population, and not on where blocks end.
"""

import abc
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..core.tree import node
from .metric import Choice, Metric
from .schedule import Update
from .tuning import Tuning

Learnt = Any
"""A `node` of arrays that a chain carries; `step_size`, shape `()`, is the scale of its moves, shown and stored."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Result of what the host learns. **Fields**: `metric`; `choice`, why it has its form."""

    metric: Metric
    choice: Choice


@node
class Given:
    """Part of a `Fitted` that the program takes as an argument.

    **Fields**: `metric`; of shape `()`, `target_accept` of step sizes, and `has_short_draws`, whether some draws after
    warm-up take shorter steps.
    """

    metric: Metric
    target_accept: Float[Array, ""] | Any
    has_short_draws: Bool[Array, ""] | Any = np.bool_(False)


@node
class Item:
    """Kind and number of what a chain is doing: a draw, a probe of its step size, or the evaluation of a point.

    **Fields**, all of shape `()`: `is_draw` and `is_probe`, both false for the evaluation of a point; `draw`, the
    number of the current draw, warm-up included; `num_warmup`, draws.
    """

    is_draw: Bool[Array, ""]
    is_probe: Bool[Array, ""]
    draw: Int[Array, ""]
    num_warmup: Int[Array, ""]


@dataclass(frozen=True)
class Window:
    """Draws of warm-up; NumPy.

    **Fields**: `positions` and `gradients`, shape `(draw, dim)`, unconstrained, `log_density`, shape `(draw,)`, and
    `stats`, the kernel's by name, each of shape `(draw,)`. Of a population, positions and gradients have an axis of
    chains in front, `log_density` is that of its newest draws, shape `(chain,)`, and there are no `stats`.
    """

    positions: np.ndarray
    gradients: np.ndarray
    log_density: np.ndarray
    stats: Mapping[str, np.ndarray]


class AbstractAdaptation(abc.ABC):
    """How warm-up tunes a kernel: the half of the host, the same for all kernels. Frozen and cheap to make."""

    @abc.abstractmethod
    def begin(self, dtype: np.dtype) -> Learnt:
        """Return what a chain has learnt before its first item; NumPy."""

    def check(self, dim: int) -> None:
        """Raise `OptionError` if a posterior has too many dimensions for it; none has by default."""
        del dim

    @abc.abstractmethod
    def at_start(self, gradient: np.ndarray) -> Fitted:
        """Return what is known at a starting point, of its gradient, shape `(dim,)`; zeros say nothing."""

    @abc.abstractmethod
    def given(self, fitted: Fitted) -> Given:
        """Return what the program takes of it; NumPy."""

    @abc.abstractmethod
    def due(self, num_warmup: int) -> tuple[Update, ...]:
        """Return the updates of a warm-up of so many draws."""

    @abc.abstractmethod
    def learn(
        self, window: Window, learnt: Learnt, fitted: Fitted, *, is_first: bool
    ) -> tuple[Learnt, Fitted, bool]:
        """Learn from the draws of an update; also say whether a step size is to be searched for anew.

        `is_first`: nothing of use was learnt before, or only far away.
        """

    @abc.abstractmethod
    def is_settled(self, window: Window) -> bool:
        """Return whether warm-up may end, from all of its draws."""

    def as_of(self, learnt: Learnt, given: Given, step_size: Any, draw: Any, num_warmup: int) -> Learnt:
        """Return what a chain had learnt before a draw that took this step, known at a later one; NumPy.

        By default, that is this step size.
        """
        del given, draw, num_warmup
        return replace(learnt, step_size=step_size)


class AbstractChainAdaptation(AbstractAdaptation):
    """How the warm-up of one chain tunes its kernel: the half of the program too."""

    @abc.abstractmethod
    def tuning(self, learnt: Learnt, given: Given, item: Item) -> Tuning:
        """Return the tuning of an item."""

    @abc.abstractmethod
    def update(
        self, learnt: Learnt, given: Given, item: Item, acceptance: Float[Array, ""], ending: Int[Array, ""]
    ) -> tuple[Learnt, Bool[Array, ""]]:
        """Learn from an item that is complete; also say whether the next one is a draw."""


class AbstractPopulationAdaptation(AbstractAdaptation):
    """How the warm-up of a population tunes all of its chains. Its windows have an axis of chains in front."""

    @abc.abstractmethod
    def at_starts(self, positions: np.ndarray, gradients: np.ndarray, log_densities: np.ndarray) -> Fitted:
        """Return what is known at the starting points of all chains: `(chain, dim)` twice, and `(chain,)`."""

    @abc.abstractmethod
    def tuning(self, learnt: Learnt, given: Given, item: Item) -> tuple[Tuning, Bool[Array, ""]]:
        """Return the tuning of an item of all chains, and whether it is the usual one, from which is learnt."""

    @abc.abstractmethod
    def update(
        self, learnt: Learnt, given: Given, item: Item, seen: Any, is_usual: Bool[Array, ""]
    ) -> tuple[Learnt, Bool[Array, ""]]:
        """Learn from an item of all chains, as the kernel has `seen` it; also say whether the next one is a draw."""
