"""Apply operations that treat every entry alone, once for each distinct combination of entries."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from .equation import by_entry, on_host
from .taken import taken
from .values import (
    FEW,
    MAX_COMPARED,
    Cells,
    Dense,
    Known,
    Value,
    cells_of,
    joined,
    numbered,
    shortened,
    spread,
)

_MAX_CODES = 2**40
"""Numbers of combinations, beyond which those that occur are numbered again."""


_FEW_CHOSEN = 8
"""Entries, up to which a choice between cells is made by their numbers in any case."""


def of_entries(equation: Any, values: Sequence[Value]) -> Value:
    """Apply an operation to arrays of the same shape, or of none."""
    known = [value.value for value in values if isinstance(value, Known)]
    is_few = prod(np.broadcast_shapes(*(value.shape for value in values))) <= MAX_COMPARED
    if len(known) == len(values) and is_few:
        found = on_host(equation, known)
        if found is not None:
            return Known(shortened(found[0]))
    if equation.primitive.name == "select_n":
        chosen = _chosen(values)
        if chosen is not None:
            return chosen
    few = distinct(values)
    if few is not None:
        arrays, index = few
        return Cells(by_entry(equation, arrays), index)
    return Dense(by_entry(equation, [spread(value, value.shape) for value in values]))


def distinct(values: Sequence[Value]) -> tuple[list[Any], np.ndarray] | None:
    """Find the distinct combinations of entries; None where they are hardly fewer than the entries.

    Returns entries of each value, a vector or a single number, and by entry the number of its combination.
    """
    shape = np.broadcast_shapes(*(value.shape for value in values))
    size = prod(shape)
    if not any(isinstance(value, Cells) for value in values) or not 0 < size <= MAX_COMPARED:
        return None
    found = [numbered(value) for value in values]
    all_cells = [cells for cells in found if cells is not None]
    if len(all_cells) < len(values):
        return None
    codes = np.zeros(shape, np.int64)
    count = 1
    for cells in all_cells:
        codes = codes * cells.cells.shape[0] + cells.index
        count *= cells.cells.shape[0]
        if count > _MAX_CODES:
            first, codes = combinations(codes)
            count = len(first)
    first, index = combinations(codes)
    if 2 * len(first) > size:
        return None
    arrays: list[Any] = []
    for value, cells in zip(values, all_cells, strict=True):
        if isinstance(value, Known) and value.value.size == 1:
            arrays.append(value.value.reshape(()))
        elif not value.shape:
            arrays.append(spread(value, ()))
        else:
            arrays.append(taken(cells.cells, np.broadcast_to(cells.index, shape).reshape(-1)[first]))
    return arrays, index


def combinations(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find where each of some numbers is first, and number all entries by them."""
    flat = codes.reshape(-1)
    count = int(flat.max()) + 1
    if count > 4 * flat.size + FEW:
        _, first, index = np.unique(flat, return_index=True, return_inverse=True)
        return first, index.reshape(codes.shape)
    places = np.full(count, -1)
    places[flat[::-1]] = np.arange(flat.size)[::-1]
    used = np.flatnonzero(places >= 0)
    numbers = np.zeros(count, np.int64)
    numbers[used] = np.arange(used.size)
    return places[used], numbers[codes]


def _chosen(values: Sequence[Value]) -> Value | None:
    """Choose between cells where it is known which; None where they are not, or are hardly fewer than the entries."""
    which, cases = values[0], values[1:]
    if not isinstance(which, Known):
        return None
    number = which.value.astype(int)
    if number.size and (number == number.flat[0]).all():
        return cases[number.flat[0]]
    shape = np.broadcast_shapes(*(value.shape for value in values))
    size = prod(shape)
    found = [numbered(case) for case in cases]
    all_cells = [cells for cells in found if cells is not None]
    if not 0 < size <= MAX_COMPARED or len(all_cells) < len(cases):
        return None
    together, indices = joined(all_cells)
    index = np.choose(np.broadcast_to(number, shape), [np.broadcast_to(each, shape) for each in indices])
    first, numbers = combinations(index)
    if 2 * len(first) > size > _FEW_CHOSEN:
        return None
    return cells_of(taken(together, index.reshape(-1)[first]), numbers)
