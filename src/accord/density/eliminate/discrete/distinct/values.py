"""Hold an array by its distinct entries: those of axes along which all are alike once, and copies once.

In each of the three forms, an axis along which all entries are alike has length 1.
"""

from dataclasses import dataclass
from math import prod
from typing import Any

import jax
import numpy as np

from .taken import taken

MAX_COMPARED = 2**16
"""Entries of an array, up to which they are compared with each other, or moved by their numbers."""

FEW = 2**12
"""Entries of an array, up to which all are numbered as cells."""


@dataclass(frozen=True, eq=False)
class Known:
    """An array whose entries are known when the program is written."""

    value: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes, 1 where all entries are alike."""
        return self.value.shape


@dataclass(frozen=True, eq=False)
class Dense:
    """An array that the program computes."""

    array: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes, 1 where all entries are alike."""
        return self.array.shape


@dataclass(frozen=True, eq=False)
class Cells:
    """An array whose entries are found by known numbers in a vector that the program computes."""

    cells: Any
    index: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes, 1 where all entries are alike."""
        return self.index.shape


Value = Known | Dense | Cells


def spread(value: Value, shape: tuple[int, ...]) -> Any:
    """Write out an array of this shape, which is that of the value or has other lengths where it has 1."""
    match value:
        case Known(array):
            found = array.reshape(()) if array.size == 1 and array.ndim else array
        case Dense(array):
            found = array
        case Cells(cells, index):
            found = taken(cells, index)
    if found.shape == shape:
        return found
    axes = range(len(shape)) if found.ndim else ()
    return jax.lax.broadcast_in_dim(found, shape, tuple(axes))


def numbered(value: Value) -> Cells | None:
    """Return a value as cells; None where these are too many."""
    match value:
        case Cells():
            return value
        case Known(array) if array.size <= FEW:
            bits = np.ascontiguousarray(array)
            bits = bits if bits.dtype.kind in "biu" else bits.view(f"i{bits.dtype.itemsize}")
            _, first, index = np.unique(bits, return_index=True, return_inverse=True)
            return Cells(array.reshape(-1)[first], index.reshape(array.shape))
        case Dense(array) if prod(array.shape) <= FEW:
            return Cells(array.reshape(-1), np.arange(array.size).reshape(array.shape))
    return None


def joined(values: list[Cells]) -> tuple[Any, list[np.ndarray]]:
    """Put the cells of several values into one vector; return it, and the new numbers of each value."""
    cells: list[Any] = []
    starts: dict[int, int] = {}
    total, found = 0, []
    for value in values:
        if id(value.cells) not in starts:
            starts[id(value.cells)] = total
            cells.append(value.cells)
            total += value.cells.shape[0]
        found.append(value.index + starts[id(value.cells)])
    if len(cells) == 1:
        return cells[0], found
    is_known = all(isinstance(each, np.ndarray) for each in cells)
    return np.concatenate(cells) if is_known else jax.lax.concatenate(cells, 0), found


def cells_of(cells: Any, index: np.ndarray) -> Value:
    """Make a value of a vector and the numbers of its entries in it; of known ones, a known value."""
    index = shortened(index)
    return Known(cells[index]) if isinstance(cells, np.ndarray) else Cells(cells, index)


def shortened(array: np.ndarray) -> np.ndarray:
    """Shorten the axes along which all entries are alike to length 1."""
    for axis, size in enumerate(array.shape):
        if size <= 1:
            continue
        first = array[(slice(None),) * axis + (slice(0, 1),)]
        if array.strides[axis] == 0 or (array.size <= MAX_COMPARED and (array == first).all()):
            array = first
    return array
