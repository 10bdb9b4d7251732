"""Find out which site, which derivative and which line of a model is to blame where its log density is not finite."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core import precision as precision_scope
from ...core.position import Position
from ...core.tracebacks import entry_point
from ..eliminate.integrated import AbstractIntegrated
from ..layout import Layout
from ..logdensity import LogDensity
from ..quick import quickly
from ..unknowns import free_of
from .result import BadDerivative, BadTerm, Blame
from .rules import choose
from .search import Search
from .sites import judge
from .whole import Whole

_NUM_SHOWN = 3  # entries of a derivative


@entry_point
def blame(log_density: LogDensity, position: Any) -> Blame:
    """Explain what is not finite about a log density at `position`, shape `(dim,)`; for failures, not for loops.

    Where some unknowns are whole numbers, `position` is a `Position`.

    It compiles programs of its own, which takes a second or two. Of a density that is summed over blocks of rows, the
    whole model is looked at, with all rows in memory.

    **Example**

    >>> print(density.blame(coin(4, heads).log_density(), np.zeros(1)))
    log density -3.75342; everything is finite here, derivatives included.
    """
    precision = log_density.program.precision
    with precision_scope.scope(precision):
        collapsed = log_density.program.stage(AbstractIntegrated)
        if collapsed is not None:
            return _of_collapsed(log_density, collapsed, position)
        whole = Whole.of(log_density, position.whole if isinstance(position, Position) else None)
        position = free_of(position)
        position = np.asarray(position, precision_scope.float_dtype(precision))
        layout = log_density.layout
        sizes = {entry.name: int(np.prod(entry.shape)) for entry in layout.sites}
        found = _look(whole, layout, position)
        if not np.all(np.isfinite(position)):
            remedy = "every number of a position must be finite."
            return replace(found, cause="position_not_finite", remedy=remedy)
        if found.is_finite:
            return choose(found, sizes)
        search = Search.of(whole, position)
        if not all(map(np.isfinite, found.terms.values())):
            return choose(_of_values(found, search, whole, layout, position), sizes)
        return choose(_of_derivatives(found, search, whole, layout, position), sizes)


def _look(whole: Whole, layout: Layout, position: np.ndarray) -> Blame:
    """Evaluate everything in numbers, with the derivatives that are not finite."""

    def evaluate(position: Any, data: Any) -> Any:
        def total(position: Any) -> Any:
            terms = whole.program.terms(whole.at(position), data)
            return sum(terms.values(), start=jnp.zeros((), position.dtype)), terms

        (value, terms), gradient = jax.value_and_grad(total, has_aux=True)(position)
        return value, terms, gradient, whole.program.values(whole.at(position), data)

    value, terms, gradient, values = jax.tree.map(np.asarray, quickly(evaluate)(position, whole.data))
    order = dict.fromkeys([*(entry.name for entry in layout.sites if entry.name in terms), *terms])
    return Blame(
        log_density=float(value),
        terms={name: float(terms[name]) for name in order},
        values={entry.name: values[entry.name] for entry in layout.unknowns},
        bad_derivatives=_bad_derivatives(layout, gradient),
    )


def _of_collapsed(density: LogDensity, program: AbstractIntegrated, position: Any) -> Blame:
    """Explain a model whose sites are integrated out, by the whole model with these at their center, or at zero."""

    def completed(position: Any, data: Any) -> Any:
        center = program.center(position, data)
        return program.whole_position(
            position, jnp.where(jnp.isfinite(center), center, jnp.zeros_like(center))
        )

    position = np.asarray(position, precision_scope.float_dtype(program.precision))
    data = density.program.whole_data(density.data)
    found = _look(Whole(program, data), program.layout, position)
    sizes = {entry.name: int(np.prod(entry.shape)) for entry in program.layout.sites}
    if found.is_finite:
        return choose(found, sizes)
    whole = LogDensity(data, program.base, density.notices)
    of_whole = blame(whole, np.asarray(quickly(completed)(position, data)))
    if not of_whole.is_finite:
        return replace(of_whole, log_density=found.log_density)
    name = program.groups.names[0]
    volume = found.terms[program.term]
    return replace(
        found,
        bad_terms=() if np.isfinite(volume) else (BadTerm(name, "collapsed", volume),),
        cause="not_positive_definite",
        remedy=program.if_degenerate,
    )


def _of_values(found: Blame, search: Search, whole: Whole, layout: Layout, position: np.ndarray) -> Blame:
    """Explain why terms are not finite; their derivatives then have nothing to say."""
    bad = {name: term for name, term in found.terms.items() if not np.isfinite(term)}
    judged = judge(whole, layout, position, bad)
    first = judged.terms[0]
    is_outside = first.kind == "observed" and first.is_outside and not judged.parameters
    is_explained = is_outside or (first.kind == "function" and first.reason != "")
    operation, remarks = (None, ()) if is_explained else search.of_term(first.site, judged.written)
    return replace(
        found,
        bad_terms=judged.terms,
        bad_derivatives=(),
        bad_parameters=judged.parameters,
        operation=operation,
        remarks=remarks,
    )


def _of_derivatives(
    found: Blame, search: Search, whole: Whole, layout: Layout, position: np.ndarray
) -> Blame:
    """Explain why derivatives are not finite, and through which terms."""
    through = search.bad_rows()
    derivatives = tuple(
        replace(
            each, through=tuple(name for name, row in through.items() if _is_bad_by(row, layout, each.site))
        )
        for each in found.bad_derivatives
    )
    if not through:
        return replace(found, bad_derivatives=derivatives)
    judged = judge(whole, layout, position, {name: found.terms[name] for name in through})
    operation, remarks = search.of_derivative(next(iter(through)), judged.written)
    return replace(
        found,
        bad_derivatives=derivatives,
        bad_parameters=judged.parameters,
        operation=operation,
        remarks=remarks,
    )


def _bad_derivatives(layout: Layout, gradient: np.ndarray) -> tuple[BadDerivative, ...]:
    found = []
    for entry in layout.entries:
        is_bad = ~np.isfinite(gradient[entry.start : entry.stop].reshape(entry.unconstrained_shape))
        if is_bad.any():
            places = tuple(tuple(int(i) for i in place) for place in np.argwhere(is_bad)[:_NUM_SHOWN])
            found.append(BadDerivative(entry.name, places, int(is_bad.sum())))
    return tuple(found)


def _is_bad_by(row: np.ndarray, layout: Layout, site: str) -> bool:
    entry = layout[site]
    return not np.all(np.isfinite(row[entry.start : entry.stop]))
