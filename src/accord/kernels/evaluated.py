"""Advance a kernel by one evaluation of a target."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, UInt32

from ..core.errors import OptionError
from ..core.position import Position
from ..core.stats import Info
from ..core.tree import where
from .base import AbstractKernel
from .point import Control, Halves, Point, Target
from .rarely import Rarely, rarely


def advanced(
    kernel: AbstractKernel,
    key: UInt32[Array, " 2"],
    target: Target,
    state: Any,
    tuning: Any,
    is_evaluation: Bool[Array, ""] | bool = False,
    rarely: Rarely = rarely,
    part: UInt32[Array, " 2"] | None = None,
) -> tuple[Any, Info, Point]:
    """Evaluate the target once; return the next state, a report, and the point that was evaluated.

    `is_evaluation`: evaluate where the state stands, and not where the kernel asks. This is complete, whatever the
    kernel says. The caller then puts the point into the state, which is fresh. `part` is a key for the part of the
    data for that, if the kernel needs minibatches.
    """
    position, pending = kernel.ask(key, state, tuning, rarely)
    _check_asked(kernel, position, state.point.position)
    position = where(is_evaluation, state.point.position, position)
    words = _words(kernel, pending, is_evaluation, part)
    log_density, gradient, *more = target(position, *words)
    told = point = Point(position, log_density, gradient)
    if kernel.needs_reference:
        told = replace(point, control=Control(*more))
    elif more:
        told = replace(point, halves=Halves(*more))
    state, info = kernel.tell(key, state, told, pending, tuning, rarely)
    state = replace(state, is_fresh=state.is_fresh | is_evaluation)
    if words:
        state = where(is_evaluation, kernel.standing_on(state, *words), state)
    return state, replace(info, is_complete=info.is_complete | is_evaluation), point


def _words(
    kernel: AbstractKernel, pending: Any, is_evaluation: Any, part: UInt32[Array, " 2"] | None
) -> tuple[UInt32[Array, "..."], ...]:
    """Return the words of the part of the data to evaluate on; none for a kernel that takes all."""
    if not kernel.needs_minibatch:
        return ()
    words = kernel.batch_of(pending)
    return (words if part is None else jnp.where(is_evaluation, kernel.batch_at(part), words),)


def _check_asked(kernel: AbstractKernel, position: Any, here: Any) -> None:
    """Raise `OptionError` where a kernel asks for what is no position of its chain, such as of another dtype."""
    found, wanted = (
        [f"{jnp.result_type(leaf)}{list(jnp.shape(leaf))}" for leaf in jax.tree.leaves(each)]
        for each in (position, here)
    )
    if found != wanted or not isinstance(position, Position):
        raise OptionError(
            f"{type(kernel).__name__}.ask returns {type(position).__name__}({', '.join(found)}), and positions of the "
            f"chain are Position({', '.join(wanted)})."
        )
