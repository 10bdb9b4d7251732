"""Compute in NumPy what JAX's gather and scatter do: cut windows out of an array by indices, and put them there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Parameters = Mapping[str, Any]
Rule = Callable[..., Any]


def gather(parameters: Parameters, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Cut windows out of an array, at the places that indices give."""
    numbers, sizes = parameters["dimension_numbers"], parameters["slice_sizes"]
    window = _Window(
        numbers.offset_dims,
        (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims),
        numbers.start_index_map,
        dict(zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)),
    )
    places, is_outside = window.places(x.shape, indices, sizes)
    found = x[places]
    if "FILL" not in str(parameters["mode"]):
        return found
    fill = parameters["fill_value"]
    return np.where(is_outside, _blank(x.dtype) if fill is None else fill, found)


def _blank(dtype: np.dtype) -> Any:
    """Return what JAX puts where a window is outside of the array, unless it is told otherwise."""
    match dtype.kind:
        case "i":
            return np.iinfo(dtype).min
        case "u":
            return np.iinfo(dtype).max
        case "b":
            return True
        case _:
            return np.nan


def scatter(change: Callable[..., Any] | None) -> Rule:
    """Make the rule that puts windows into an array, or changes by a ufunc what is there."""

    def rule(parameters: Parameters, x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        numbers = parameters["dimension_numbers"]
        single = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
        window = _Window(
            numbers.update_window_dims,
            single,
            numbers.scatter_dims_to_operand_dims,
            dict(zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True)),
        )
        lengths = iter([updates.shape[axis] for axis in numbers.update_window_dims])
        sizes = [1 if axis in single else next(lengths) for axis in range(x.ndim)]
        places, is_outside = window.places(x.shape, indices, sizes)
        kept = np.broadcast_to(~is_outside if "FILL" in str(parameters["mode"]) else True, updates.shape)
        where = tuple(np.broadcast_to(place, updates.shape)[kept] for place in places)
        changed = np.array(x)
        if change is None:
            changed[where] = updates[kept]
        else:
            change.at(changed, where, updates[kept])  # pyright: ignore[reportFunctionMemberAccess]
        return changed

    return rule


@dataclass(frozen=True)
class _Window:
    """The axes of a result that hold windows of an array, and the axes of the array that its indices are for.

    **Fields**
    - `of_result`: axes of the result that run through a window. `single`: axes of the array that have none.
    - `indexed`: the axis for each number of an index. `batching`: axes that go with one of the indices.
    """

    of_result: Sequence[int]
    single: Sequence[int]
    indexed: Sequence[int]
    batching: Mapping[int, int]

    def places(
        self, shape: Sequence[int], indices: np.ndarray, sizes: Sequence[int]
    ) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """Find where each entry of the result is in the array, and whether its window had to be moved inside."""
        batch = indices.shape[:-1]
        rank = len(batch) + len(self.of_result)
        of_batch = [axis for axis in range(rank) if axis not in self.of_result]
        whole = [axis for axis in range(len(shape)) if axis not in self.single]
        is_outside = np.zeros([1] * rank, bool)
        places: list[np.ndarray] = []
        for axis, (size, length) in enumerate(zip(shape, sizes, strict=True)):
            place = np.zeros([1] * rank, int)
            if axis in self.indexed:
                start = indices[..., self.indexed.index(axis)].astype(int)
                inside = np.clip(start, 0, size - length)
                place = _along(inside, of_batch, rank)
                is_outside = is_outside | _along(inside != start, of_batch, rank)
            elif axis in self.batching:
                along = self.batching[axis]
                place = _along(np.arange(batch[along]), [of_batch[along]], rank)
            if axis in whole:
                place = place + _along(np.arange(length), [self.of_result[whole.index(axis)]], rank)
            places.append(place)
        return tuple(places), is_outside


def _along(values: np.ndarray, axes: list[int], rank: int) -> np.ndarray:
    """Reshape values so that their own axes become these of `rank`, the others of length one."""
    shape = [1] * rank
    for axis, size in zip(axes, values.shape, strict=True):
        shape[axis] = size
    return values.reshape(shape)
