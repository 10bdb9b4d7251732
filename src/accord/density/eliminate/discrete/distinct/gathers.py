"""Take entries of arrays by an index."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from .equation import numbers_moved, on_host, repeated
from .moves import MAX_MOVED, whole_of
from .values import FEW, Dense, Known, Value, cells_of, numbered, shortened, spread


def gathered(equation: Any, values: Sequence[Value]) -> Value:
    """Apply JAX's gather: by a known index, only the numbers of entries move."""
    operand, index = values
    given, by = equation.invars
    numbers = equation.params["dimension_numbers"]
    along = {*numbers.start_index_map, *numbers.operand_batching_dims}
    is_alike = all(operand.shape[axis] == 1 for axis in along)
    if is_alike and "FILL" not in str(equation.params["mode"]):
        # The same wherever it is taken.
        index = Known(np.zeros((*(1 for _ in by.aval.shape[:-1]), by.aval.shape[-1]), by.aval.dtype))
    if isinstance(index, Known) and prod(given.aval.shape) <= MAX_MOVED:
        places = _places(index.value, by.aval.shape, () if is_alike else numbers.start_indices_batching_dims)
        if isinstance(operand, Known):
            found = on_host(equation, [whole_of(operand.value, given), places])
            if found is not None:
                return Known(shortened(found[0]))
        cells = numbered(operand)
        size = prod(equation.outvars[0].aval.shape)
        if cells is not None and size:
            # Without the value for entries outside of the array, which is none for their numbers.
            of_numbers = equation.replace(params=equation.params | {"fill_value": None})
            found = numbers_moved(of_numbers, [whole_of(cells.index, given), places])
            if found is not None and found[0].min() >= 0:  # below are those outside of the array
                taken = shortened(found[0])
                if taken.size <= FEW or 2 * len(np.unique(taken)) <= taken.size:
                    return cells_of(cells.cells, taken)
    return Dense(repeated(equation, [spread(operand, given.aval.shape), spread(index, by.aval.shape)])[0])


def _places(index: np.ndarray, shape: tuple[int, ...], batching: Sequence[int]) -> np.ndarray:
    """Return an index with its axes of length 1 where it is the same, but for those that go with the array's own."""
    kept = {*batching, len(shape) - 1}
    return np.broadcast_to(
        index, [size if axis in kept else index.shape[axis] for axis, size in enumerate(shape)]
    )
