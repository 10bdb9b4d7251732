"""Check that all traces of a model agree, and that it does not change Python state."""

import re
from collections.abc import Iterator
from typing import Any

import jax
import jax.extend.core
import numpy as np

from ...core import precision as precisions
from ...core.notice import Notice
from ...core.tree import shapes
from ...density import LogDensity
from ...density.leaks import check_leaks
from ...density.quick import quickly
from ...density.rows.conditions import listed
from ...density.rows.row_files import in_memory
from .base import Context
from .python_state import state_seen


def check_repeatable(density: LogDensity) -> Iterator[Notice]:
    """Trace the terms twice and compare the two, and what the function sees of Python before and after."""
    function = density.program.written
    before = state_seen(function)
    first, second = _traced(density), _traced(density)
    after = state_seen(function)
    changed = sorted(name for name in before if after.get(name, "") != before[name])
    if _text(first) != _text(second):
        yield _differs(density, first, second)
    if changed:
        yield Notice(
            "warning",
            "changes_state",
            f"The model changes {listed(changed)}, which belongs to Python around it. The model runs only while it is "
            "traced, once or a few times, and not for each evaluation.",
            "Keep what is computed in sites, by `ac.deterministic`, and let the model change nothing else.",
        )


def check_same_again(context: Context) -> Iterator[Notice]:
    """Evaluate twice at the same position: a Python callback may have a state."""
    position = context.points[0]
    (value, gradient), (value_again, gradient_again) = (
        context.whole.value_and_grad(position) for _ in range(2)
    )
    # Some devices add up in another order each time.
    slack = float(np.sqrt(np.finfo(position.dtype).eps))
    scale = float(np.max(np.abs(np.asarray(gradient)), initial=abs(float(value))))
    if np.allclose(value, value_again, slack, slack * scale) and np.allclose(
        gradient, gradient_again, slack, slack * scale
    ):
        return
    terms, again = context.whole.terms(position), context.whole.terms(position)
    sites = tuple(name for name in terms if not np.array_equal(terms[name], again[name]))
    where = f" in site {listed(sites)}" if sites else ""
    yield Notice(
        "error",
        "not_a_function",
        f"At the same position the log density is {float(value)!r} and, a moment later, {float(value_again)!r}"
        f"{where}: it depends on more than position and data.",
        "Look for a Python callback with a state, or with random numbers.",
        sites,
    )


def _traced(density: LogDensity) -> tuple[Any, tuple[str, ...]]:
    """Trace the terms, with their names."""
    names: list[str] = []

    def terms(position: Any, data: Any) -> list[jax.Array]:
        found = density.program.terms(position, data)
        names[:] = found
        return list(found.values())

    dtype = precisions.float_dtype(density.program.precision)
    with precisions.scope(density.program.precision):
        position = jax.ShapeDtypeStruct((density.dim,), dtype)
        closed = jax.make_jaxpr(terms)(position, shapes(density.data))
        check_leaks(density, position, closed.consts)
    return closed, tuple(names)


def _text(traced: tuple[Any, tuple[str, ...]]) -> tuple[str, ...]:
    """Convert a trace to text, without addresses, which differ between traces."""
    closed, names = traced
    consts = (f"{np.shape(each)} {np.asarray(each).tobytes()!r}" for each in closed.consts)
    return re.sub(r" at 0x[0-9a-f]+", "", str(closed.jaxpr)), *names, *consts


def _differs(density: LogDensity, *traces: tuple[Any, tuple[str, ...]]) -> Notice:
    """Return the sites whose terms differ between two traces at one position."""
    program = density.program
    position = (
        np.random.default_rng(20)
        .uniform(-1, 1, density.dim)
        .astype(precisions.float_dtype(program.precision))
    )
    with precisions.scope(program.precision):
        data = [each for _, each in sorted(in_memory(density.data).items())]
        found = [
            dict(zip(names, quickly(jax.extend.core.jaxpr_as_fun(closed))(position, *data), strict=True))
            for closed, names in traces
        ]
    one, other = ({name: float(term) for name, term in terms.items()} for terms in found)
    sites = tuple(
        name for name in one if not np.array_equal(one[name], other.get(name, np.inf), equal_nan=True)
    )
    if not sites:
        return Notice(
            "info",
            "traced_differently",
            "Two traces of the model have the same values and are written differently, so that a second run compiles "
            "again.",
            "Look for sets, whose order changes, and for functions that are created each time.",
        )
    name = sites[0]
    return Notice(
        "error",
        "not_repeatable",
        f"Two traces of the model are different models, in site {listed(sites)}: at the same position, the term of "
        f"{name!r} is {one[name]!r} in one and {other.get(name)!r} in the other.",
        "The model must not draw random numbers of its own (np.random, random), read the clock or count its calls: do "
        "that before, and pass the result as data.",
        sites,
    )
