"""Apply operations that go along some axes: along the others, what is alike stays so."""

from collections.abc import Sequence
from math import prod
from typing import Any

import jax
import numpy as np

from .equation import on_host, repeated
from .moves import whole_of
from .taken import taken
from .values import MAX_COMPARED, Cells, Dense, Known, Value, shortened, spread

REDUCTIONS = frozenset(
    {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or", "argmax", "argmin"}
)
_PASSES = {
    "cumsum": "axis",
    "cumprod": "axis",
    "cummax": "axis",
    "cummin": "axis",
    "cumlogsumexp": "axis",
    "sort": "dimension",
}
_OF_MATRICES = ("cholesky", "triangular_solve")
NAMES = REDUCTIONS | _PASSES.keys() | {*_OF_MATRICES}


def along_axes(equation: Any, values: Sequence[Value]) -> list[Value]:
    """Apply an operation that goes along some axes."""
    name, variables = equation.primitive.name, equation.invars
    if all(isinstance(value, Known) for value in values):
        whole = [whole_of(v.value, x) for v, x in zip(values, variables, strict=True) if isinstance(v, Known)]
        found = on_host(equation, whole) if prod(variables[0].aval.shape) <= MAX_COMPARED else None
        if found is not None:
            return [Known(shortened(each)) for each in found]
    rank = len(variables[0].aval.shape)
    if name in REDUCTIONS:
        axes = tuple(equation.params["axes"])
        if isinstance(values[0], Cells):
            few = _of_rows(equation, values[0], axes)
            if few is not None:
                return [few]
    elif name in _PASSES:
        axes = (equation.params[_PASSES[name]],)
    else:
        axes = (rank - 2, rank - 1)
    joint = np.broadcast_shapes(*(value.shape for value in values))
    wide = [
        [whole if axis in axes else joint[axis] for axis, whole in enumerate(variable.aval.shape)]
        for variable in variables
    ]
    arrays = [spread(value, tuple(shape)) for value, shape in zip(values, wide, strict=True)]
    return [Dense(each) for each in repeated(equation, arrays)]


def _of_rows(equation: Any, value: Cells, axes: tuple[int, ...]) -> Value | None:
    """Reduce each distinct combination of entries along axes once; None where these are hardly fewer than all."""
    shape = equation.invars[0].aval.shape
    rest = [axis for axis in range(len(shape)) if axis not in axes]
    whole = np.broadcast_to(
        value.index, [size if axis in axes else value.shape[axis] for axis, size in enumerate(shape)]
    )
    if not rest or not 0 < whole.size <= MAX_COMPARED:
        return None
    rows = np.transpose(whole, (*rest, *axes)).reshape(prod(whole.shape[axis] for axis in rest), -1)
    first, index = np.unique(rows, axis=0, return_inverse=True)
    if 2 * len(first) > len(rows):
        return None
    # The combinations lie along the first of the other axes.
    sizes = [
        size if axis in axes else len(first) if axis == rest[0] else 1 for axis, size in enumerate(shape)
    ]
    order = np.argsort([rest[0], *rest[1:], *axes])
    stacked = first.reshape(len(first), *(1 for _ in rest[1:]), *(shape[axis] for axis in axes))
    (found,) = repeated(equation, [taken(value.cells, np.transpose(stacked, order).reshape(sizes))])
    return Cells(jax.lax.reshape(found, (len(first),)), index.reshape([whole.shape[axis] for axis in rest]))
