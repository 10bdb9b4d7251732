"""Trace the draws by formulas, by tables and by particles for the program that moves chains."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.extend.core
import numpy as np
from jax.extend.core import ClosedJaxpr

from ..core.needed import only
from ..core.position import Position
from ..density import LogDensity
from ..density.ahead import split
from ..density.conditional import ExactConditional
from ..kernels import AbstractKernel
from ..kernels.formula import Draw, Estimate, Formula, Marginal, Needed, Tabled, Trajectory
from ..programs.callbacks import without_raising

OWNER = "Conditional"
"""Name with which errors about formulas begin."""


def exact_conditional(density: LogDensity, formula: Formula) -> ExactConditional:
    """Return the distribution that a formula gives to its sites of a density."""
    assert formula.function is not None, "a kernel for a compiled program has no functions left"
    return ExactConditional.of(density, formula.function, formula.names, OWNER)


def traced_draws(target: LogDensity, kernel: AbstractKernel, position: Any, data: Any) -> list[ClosedJaxpr]:
    """Trace the draw of each formula of a kernel, a function of data, position and the words of a key."""
    words = jax.ShapeDtypeStruct((2,), np.uint32)
    found = []
    for formula in kernel.formulas:
        drawn = _drawn(target, formula)

        def draw(data: Any, position: Any, words: Any, drawn: Callable[..., Any] = drawn) -> Any:
            return drawn(target.with_data(data), position, words)

        traced = without_raising(jax.make_jaxpr(draw)(data, position, words))
        found.append(only(traced, [True] * len(traced.jaxpr.outvars), keeps_effects=False))
    return found


def _drawn(target: LogDensity, formula: Needed) -> Callable[..., Any]:
    if isinstance(formula, Tabled):
        return partial(formula.redraw.drawn, is_metropolised=formula.is_metropolised)
    if isinstance(formula, Trajectory | Marginal):
        return _drawn_by_particles(target, formula)
    return exact_conditional(target, formula).drawn


def _drawn_by_particles(target: LogDensity, formula: Trajectory | Marginal) -> Callable[..., Any]:
    from .by_particles import marginal_of, trajectory_of  # loads filters, which few runs need

    if isinstance(formula, Trajectory):
        return trajectory_of(target, formula).drawn
    marginal = marginal_of(target, formula)
    return lambda *at: Estimate(*marginal.estimated(*at))


def bound_draws(
    formulas: Sequence[Needed],
    closed: Sequence[ClosedJaxpr],
    consts: Sequence[Any],
    data: Any,
    like: Position,
    *,
    is_split: bool,
) -> tuple[Draw, ...]:
    """Return traced draws for some constants and data. What these alone decide is computed here if it is split off."""
    return tuple(
        _bound(each, own, data, _result_of(formula, like), is_split)
        for formula, each, own in zip(formulas, closed, consts, strict=True)
    )


def _result_of(formula: Needed, like: Position) -> Any:
    """Return the tree that a draw returns, whatever its leaves are."""
    nothing: Any = 0
    return Estimate(like, nothing, nothing) if isinstance(formula, Marginal) else like


def _bound(closed: ClosedJaxpr, consts: Any, data: Any, result: Any, is_split: bool) -> Draw:
    leaves = jax.tree.leaves(data)
    parts = split(closed, len(leaves)) if is_split else None
    if parts is None:
        call = partial(jax.extend.core.jaxpr_as_fun(ClosedJaxpr(closed.jaxpr, consts)), *leaves)
    else:
        call = parts.bound(consts, leaves)

    def draw(position: Position, words: Any) -> Any:
        return jax.tree.unflatten(jax.tree.structure(result), call(*jax.tree.leaves(position), words))

    return draw
