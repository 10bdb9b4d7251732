"""Compute in NumPy with arrays of which only some entries are known, because the others follow from unknowns.

What takes an operation without a rule is not known. That is no error: the program judges it instead, where it is
judged at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..flat import Flat, Step, aval_of
from .evaluate import interpret, is_computable, results_of
from .rules import MOVES
from .unevaluable import UnevaluableError


@dataclass(frozen=True)
class HostArray:
    """An array on the host. `entries`, of its shape, marks its known entries; None marks all of them."""

    value: np.ndarray
    entries: np.ndarray | None = None

    def marks(self) -> np.ndarray:
        """Return `entries`, with an array for None."""
        return np.ones(self.value.shape, bool) if self.entries is None else self.entries


def on_host(array: Any) -> HostArray | None:
    """Read an array; None for one that JAX is tracing, that other processes hold, or that holds random keys."""
    if array is None or isinstance(array, Tracer):
        return None
    if isinstance(array, jax.Array) and not array.is_fully_addressable:
        return None
    is_key = jnp.issubdtype(jnp.result_type(array), jax.dtypes.extended)
    return None if is_key else HostArray(np.asarray(array))


def computed(flat: Flat, given: Sequence[HostArray | None]) -> list[HostArray | None]:
    """Compute the results of a flat program as far as they follow from the inputs that are known.

    **Arguments**: `given`: the inputs; None for one of which nothing is known, as in the results.
    """
    return interpret(flat, given, on_host, _results)


def _results(step: Step, given: Sequence[HostArray | None]) -> list[HostArray | None]:
    """Compute the results of one operation."""
    nothing: list[HostArray | None] = [None] * len(step.outputs)
    avals = [aval_of(variable) for variable in step.eqn.outvars]
    if not is_computable(step, exactly=False) or any(map(_is_no_number, avals)):
        return nothing
    whole = [each.value for each in given if each is not None and each.entries is None]
    try:
        if len(whole) == len(given):
            values, marks = results_of(step, whole), [None] * len(avals)
        elif step.name in MOVES and any(each is not None for each in given):
            values, marks = _moved(step, given)
        else:
            return nothing
    except UnevaluableError:
        return nothing
    return [
        HostArray(value, entries) if value.shape == aval.shape else None
        for value, entries, aval in zip(values, marks, avals, strict=True)
    ]


def _moved(step: Step, given: Sequence[HostArray | None]) -> tuple[list[np.ndarray], list[np.ndarray | None]]:
    """Move the entries of arrays, and in the same way the marks of those that are known."""
    indices = MOVES[step.name]
    values: list[np.ndarray] = []
    marks: list[np.ndarray] = []
    for number, (each, variable) in enumerate(zip(given, step.eqn.invars, strict=True)):
        aval = aval_of(variable)
        if number in indices:
            if each is None or each.entries is not None:
                raise UnevaluableError  # where an entry goes is not known
            values.append(each.value)
            marks.append(each.value)
        elif each is None:
            if _is_no_number(aval):
                raise UnevaluableError
            values.append(np.zeros(aval.shape, aval.dtype))
            marks.append(np.zeros(aval.shape, bool))
        else:
            values.append(each.value)
            marks.append(each.marks())
    entries = [each.astype(bool) for each in results_of(step, marks)]
    return results_of(step, values), [None if each.all() else each for each in entries]


def _is_no_number(aval: Any) -> bool:
    return not hasattr(aval, "dtype") or jnp.issubdtype(aval.dtype, jax.dtypes.extended)
