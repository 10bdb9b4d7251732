"""Hold kernels within a kernel of one chain: what all that do so have in common."""

import abc
from collections.abc import Iterable
from dataclasses import replace
from types import EllipsisType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..adaptation.base import AbstractChainAdaptation
from ..adaptation.each_block import Turns
from ..core.errors import OptionError
from ..core.stats import Info, Stat
from .base import AbstractKernel
from .formula import Needed
from .places import Part
from .point import Point
from .rarely import Rarely


class AbstractHolder(AbstractKernel):
    """A kernel that moves a chain by others, and is what they are."""

    @property
    @abc.abstractmethod
    def held(self) -> tuple[AbstractKernel, ...]:
        """Return the kernels that it holds."""

    @property
    def whole(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Names of discrete sites that some kernel moves."""
        return tuple(dict.fromkeys(name for kernel in self.held for name in kernel.whole))

    @property
    def whole_if_discrete(self) -> tuple[str, ...] | EllipsisType:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Names of sites that some kernel moves where they are discrete."""
        found = [kernel.whole_if_discrete for kernel in self.held]
        return ... if ... in found else tuple(name for names in found if names is not ... for name in names)

    @property
    def is_discrete(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether all kernels move whole numbers and nothing else."""
        return all(kernel.is_discrete for kernel in self.held)

    @property
    def is_plain(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether all kernels are plain arithmetic."""
        return all(kernel.is_plain for kernel in self.held)

    @property
    def at_once(self) -> tuple[tuple[str, ...], ...]:
        """See `AbstractKernel.at_once`: those of all kernels."""
        return tuple(names for kernel in self.held for names in kernel.at_once)

    @property
    def formulas(self) -> tuple[Needed, ...]:
        """See `AbstractKernel.formulas`: those of all kernels."""
        return tuple(formula for kernel in self.held for formula in kernel.formulas)


def check_block(owner: str, kernel: Any) -> None:
    """Raise `OptionError` for what cannot move a block of one chain."""
    if not isinstance(kernel, AbstractKernel):
        hint = " Build it first, with its parentheses." if isinstance(kernel, type) else ""
        raise OptionError(f"{owner}: {kernel!r} is no kernel, such as infer.NUTS().{hint}")
    name = type(kernel).__name__
    if kernel.is_ensemble or kernel.adaptation_kind is not AbstractChainAdaptation:
        raise OptionError(
            f"{owner}: chains of {name} learn from each other, and so it cannot be one of several kernels of a chain. "
            "Use infer.NUTS()."
        )
    if kernel.needs_halves:
        raise OptionError(
            f"{owner}: {name} moves all unknowns between the prior and the posterior, and so it cannot be one of "
            f"several kernels of a chain. Give it the others: infer.{name}(infer.{owner}(...))."
        )
    if kernel.needs_minibatch:
        raise OptionError(
            f"{owner}: {name} estimates gradients of all unknowns from a part of the data, and so it cannot be one of "
            "several kernels of a chain. Use it alone, or infer.NUTS() on all of the data."
        )
    if kernel.has_memory:
        raise OptionError(
            f"{owner}: {name} goes on with more than the point where its last draw ended, and so it cannot be one of "
            "several kernels of a chain. Use it alone, or infer.Slice()."
        )


def chain_adaptation(kernel: AbstractKernel) -> AbstractChainAdaptation:
    """Return the adaptation of a kernel of one chain. Raises `OptionError` for another."""
    found = kernel.adaptation
    if not isinstance(found, AbstractChainAdaptation):
        raise OptionError(
            f"{type(kernel).__name__}: its adaptation must be an AbstractChainAdaptation, got {found!r}."
        )
    return found


def stats_of_blocks(blocks: Iterable[tuple[str, AbstractKernel]]) -> tuple[Stat, ...]:
    """Return the statistics of several kernels, with labels in front of their names."""
    return tuple(
        replace(stat, name=f"{label}.{stat.name}") for label, kernel in blocks for stat in kernel.stats
    )


def begun(old: Any, is_turn: Any, is_beginning: Any, part: Part, point: Point, rarely: Rarely) -> Any:
    """Return the state of a block in this evaluation: fresh, at the chain's point, if its turn begins."""
    at = rarely(is_turn & is_beginning, lambda _: part.point(point), old.point)
    # One that has no turn is not fresh: nothing that is rarely needed is computed for it.
    return replace(old, point=at, is_fresh=is_turn & (is_beginning | old.is_fresh))


def told(
    kernel: AbstractKernel,
    is_turn: Any,
    key: Any,
    state: Any,
    info: Info,
    point: Point,
    pending: Any,
    tuning: Any,
    rarely: Rarely,
) -> tuple[Any, Info]:
    """Return the state and the report of a block that is told of a point in its turn, else those before."""

    def tell(old: tuple[Any, Info]) -> tuple[Any, Info]:
        new, report = kernel.tell(key, old[0], point, pending, tuning, rarely)
        if jax.tree.structure(report.seen) != jax.tree.structure(info.seen):
            raise OptionError(
                f"{type(kernel).__name__} reports to its adaptation more than its `blank_info` has (`Info.seen`). To "
                "be one of several kernels of a chain, its blank report must be of the form of the others."
            )
        return new, report

    return rarely(is_turn, tell, (state, info))


def blank_of_blocks(info: Info, infos: tuple[Info, ...]) -> Info:
    """Return the blank report of a kernel of several, from one without theirs."""
    is_turn: Any = np.zeros(len(infos), bool)
    return replace(info, seen=Turns(infos, is_turn))


def info_of_blocks(infos: Any, is_complete: Any, ending: Any, is_turn: Any) -> Info:
    """Return the report of several kernels, with the mean of the acceptance of those that had a turn."""
    acceptances = jnp.stack([each.acceptance for each in infos])
    mean = jnp.sum(jnp.where(is_turn, acceptances, 0)) / jnp.sum(is_turn).astype(acceptances.dtype)
    stats = jnp.concatenate([each.stats for each in infos])
    return Info(is_complete, mean, ending, stats, Turns(tuple(infos), is_turn))
