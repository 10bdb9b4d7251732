"""Define adaptation: what warm-up learns of a posterior, and how it tunes a kernel.

It has two halves. In the program, after each item (a draw or a probe), it updates what the chain carries with it: the
*learnt*. On the host, between blocks and at draws fixed before the run, it looks at the draws of warm-up and makes what
the program takes as an argument: the *fitted*, of which `given` is what the program sees. Both depend on the draws of
the chain alone, or on those of all chains of a population, and not on where blocks end.

What these are is the adaptation's own affair, and so is the tuning that it makes of them: a step size and a metric, a
scale for each coordinate, a covariance, or nothing. It also says what is shown of them, and stored.
"""

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Bool, Int

from ..core.stats import Info
from ..core.tree import filled, flatten, node
from .schedule import Update

Learnt = Any
"""Arrays that a chain carries: a `node`, a tuple of nodes, or `()`; their shapes never change."""

Fitted = Any
"""Result of what the host learns; anything that can be pickled."""

Given = Any
"""Part of a `Fitted` that the program takes as an argument; arrays as for a `Learnt`, and of constant shapes too."""


@node
class Item:
    """Kind and number of what a chain is doing: a draw, a probe of its tuning, or the evaluation of a point.

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
    `stats` by name, those of the kernel and whether a draw is `diverging`, each of shape `(draw,)`. Of a population,
    positions and gradients have an axis of chains in front, `log_density` is that of its newest draws, shape
    `(chain,)`, and there are no `stats`.
    """

    positions: np.ndarray
    gradients: np.ndarray
    log_density: np.ndarray
    stats: Mapping[str, np.ndarray]


class AbstractAdaptation(abc.ABC):
    """How warm-up tunes a kernel: the half of the host, the same for all kernels. Frozen and cheap to make.

    By default the host learns nothing: the fitted is `()`, and warm-up has the length that was asked for.
    """

    @abc.abstractmethod
    def begin(self, dim: int, dtype: np.dtype) -> Learnt:
        """Return what a chain in `dim` dimensions has learnt before its first item; NumPy."""

    def check(self, dim: int) -> None:
        """Raise `OptionError` if a posterior has too many dimensions for it; none has by default."""
        del dim

    def at_start(self, gradient: np.ndarray) -> Fitted:
        """Return what is known at a starting point, of its gradient, shape `(dim,)`; zeros say nothing."""
        del gradient
        return ()

    def given(self, fitted: Fitted) -> Given:
        """Return what the program takes of it; NumPy. All of it by default."""
        return fitted

    def due(self, num_warmup: int) -> tuple[Update, ...]:
        """Return the updates of a warm-up of so many draws; none by default."""
        del num_warmup
        return ()

    def learn(
        self, window: Window, learnt: Learnt, fitted: Fitted, update: Update
    ) -> tuple[Learnt, Fitted, bool]:
        """Learn from the draws of an update; also say whether the next items are probes."""
        del window, update
        return learnt, fitted, False

    def is_settled(self, window: Window) -> bool:
        """Return whether warm-up may end, from all of its draws."""
        del window
        return True

    def as_of(
        self, learnt: Learnt, given: Given, stats: Mapping[str, Any], draw: Any, num_warmup: int
    ) -> Learnt | None:
        """Return what a chain had learnt before a draw with these `stats`, from what it has learnt since; NumPy.

        None if that cannot be told: the draws up to there are then repeated. By default it is told of draws after
        warm-up, which change nothing.
        """
        del given, stats
        return learnt if draw >= num_warmup else None

    # What is shown and stored

    @abc.abstractmethod
    def described(self, learnt: Learnt, fitted: Fitted) -> dict[str, Any]:
        """Return what is shown of it in `draws.tuning`, by name: numbers, texts, and arrays of constant shapes; NumPy.

        Some names have a meaning to notices: `target_accept`, the acceptance aimed at, and `step_size` beside
        `inverse_mass`, in units in which the posterior is about as wide as 1.
        """

    def shown(self, learnt: Learnt, fitted: Fitted) -> tuple[tuple[str, float], ...]:
        """Return what a display of progress shows, each with its heading; nothing by default."""
        del learnt, fitted
        return ()

    def stored(self, fitted: Fitted) -> dict[str, np.ndarray]:
        """Return the arrays that a store keeps of the fitted; all of a tree of arrays by default.

        The learnt is stored without it.
        """
        return flatten(fitted)

    def restored(self, arrays: Mapping[str, np.ndarray], dim: int, dtype: np.dtype) -> Fitted:
        """Make the fitted of a chain in `dim` dimensions of what `stored` returned.

        **Raises** `StorageError` for arrays that `stored` does not return for so many dimensions.
        """
        return filled(self.at_start(np.zeros(dim, dtype)), arrays)


class AbstractChainAdaptation(AbstractAdaptation):
    """How the warm-up of one chain tunes its kernel: the half of the program too."""

    @abc.abstractmethod
    def tuning(self, learnt: Learnt, given: Given, item: Item) -> Any:
        """Return the tuning of an item, as the kernel takes it."""

    @abc.abstractmethod
    def update(
        self, learnt: Learnt, given: Given, item: Item, info: Info
    ) -> tuple[Learnt, Bool[Array, ""] | bool]:
        """Learn from an item that is complete; also say whether the next one is a draw, and not a probe."""


class AbstractPopulationAdaptation(AbstractAdaptation):
    """How the warm-up of a population tunes all of its chains. Its windows have an axis of chains in front."""

    @abc.abstractmethod
    def at_starts(self, positions: np.ndarray, gradients: np.ndarray, log_densities: np.ndarray) -> Fitted:
        """Return what is known at the starting points of all chains: `(chain, dim)` twice, and `(chain,)`."""

    @abc.abstractmethod
    def tuning(self, learnt: Learnt, given: Given, item: Item) -> tuple[Any, Bool[Array, ""]]:
        """Return the tuning of an item of all chains, and whether it is the usual one, from which is learnt."""

    @abc.abstractmethod
    def update(
        self, learnt: Learnt, given: Given, item: Item, seen: Any, is_usual: Bool[Array, ""]
    ) -> tuple[Learnt, Bool[Array, ""]]:
        """Learn from an item of all chains, as the kernel has `seen` it; also say whether the next one is a draw."""
