"""Tell of which axis of an argument a traced function takes entries, by an index that others alone decide.

Like `entrywise`, only what is known of an operation counts.
"""

from collections.abc import Sequence
from typing import Any

from jax.extend.core import Literal

from .entrywise import MIXED, Axis, called_by, through_one
from .provenance import Sources, through


def takes_along(jaxpr: Any, place: int, axis: int, deciding: Sources) -> bool:
    """Return whether no result depends on the argument at this place but by entries that are taken along this axis.

    `deciding`: places of the arguments of which alone the indices may be made.
    """
    width = len(jaxpr.invars)
    axes: list[Axis] = [axis if each == place else None for each in range(width)]
    found, _, has_taken = _seen(jaxpr, axes, [{each} for each in range(width)], deciding)
    return has_taken and all(each is None for each in found)


def _seen(
    jaxpr: Any, given: Sequence[Axis], sources: Sequence[Sources], deciding: Sources
) -> tuple[list[Axis], list[Sources], bool]:
    """Find the axis of each result, None where entries are taken of it, with its sources, and whether any are."""
    axes: dict[Any, Axis] = dict(zip(jaxpr.invars, given, strict=True))
    known: dict[Any, Sources] = dict(zip(jaxpr.invars, sources, strict=True))
    has_taken = False
    for equation in jaxpr.eqns:
        own = [None if isinstance(v, Literal) else axes.get(v) for v in equation.invars]
        made_of = [set() if isinstance(v, Literal) else known.get(v, set()) for v in equation.invars]
        inner = called_by(equation)
        if inner is not None and any(each is not None for each in own):
            found, seen, takes = _seen(inner, own, made_of, deciding)
        else:
            takes = _is_taking(equation, own, made_of, deciding)
            found = [None] if takes else through_one(equation, own)
            seen = through(equation, made_of)
        has_taken |= takes
        axes.update(zip(equation.outvars, found, strict=True))
        known.update(zip(equation.outvars, seen, strict=True))

    def of(variable: Any) -> tuple[Axis, Sources]:
        if isinstance(variable, Literal):
            return None, set()
        return axes.get(variable), known.get(variable, set())

    results = [of(variable) for variable in jaxpr.outvars]
    return [axis for axis, _ in results], [seen for _, seen in results], has_taken


def _is_taking(equation: Any, own: list[Axis], made_of: list[Sources], deciding: Sources) -> bool:
    """Return whether an operation takes entries along the axis of a table, by an index made of what decides alone."""
    if equation.primitive.name != "gather" or own[0] in (None, MIXED) or own[1] is not None:
        return False
    numbers, axis = equation.params["dimension_numbers"], own[0]
    is_along = tuple(numbers.start_index_map) == (axis,) and axis in numbers.collapsed_slice_dims
    return is_along and bool(made_of[1]) and made_of[1] <= deciding
