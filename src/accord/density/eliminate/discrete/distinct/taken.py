"""Take entries of a vector by numbers that are known, in operations whose derivatives are sums and slices.

The derivative of `vector[index]` adds numbers up one after the other.
"""

from math import prod
from typing import Any

import jax
import numpy as np

_MAX_RUNS = 8
"""Runs of equal slices along an axis, up to which they are put together from one slice each."""

_MAX_MASKED = 2**14
"""Products of the entries and the length of the vector, up to which each entry looks at the whole vector."""


def taken(vector: Any, index: np.ndarray) -> Any:
    """Return `vector[index]`; axes along which `index` is the same are broadcast."""
    if isinstance(vector, np.ndarray):
        return vector[index]
    for axis in range(index.ndim):
        found = _by_runs(vector, index, axis)
        if found is not None:
            return found
    in_order = _in_order(vector, index)
    if in_order is not None:
        return in_order
    used = np.unique(index)
    if len(used) == 1:
        return jax.lax.broadcast_in_dim(_part(vector, used[0], used[0] + 1), index.shape, ())
    if index.size * vector.shape[0] <= _MAX_MASKED:
        is_it = index[..., None] == np.arange(vector.shape[0])
        along = jax.lax.broadcast_in_dim(vector, is_it.shape, (index.ndim,))
        zeros = jax.lax.full(is_it.shape, 0, vector.dtype)
        return jax.lax.reduce_sum(jax.lax.select(is_it, along, zeros), (index.ndim,))
    return vector.at[index].get(mode="promise_in_bounds")


def _by_runs(vector: Any, index: np.ndarray, axis: int) -> Any:
    """Put runs along an axis together; None where there are as many as entries, or too many."""
    size = index.shape[axis]
    if size <= 2:
        return None
    along = np.moveaxis(index, axis, 0).reshape(size, -1)
    starts = np.flatnonzero(np.r_[True, (along[1:] != along[:-1]).any(axis=1)])
    if len(starts) > min(_MAX_RUNS, size // 2):
        return None
    parts = []
    for start, stop in zip(starts, [*starts[1:], size], strict=True):
        one = taken(vector, index[(slice(None),) * axis + (slice(start, start + 1),)])
        shape = (*one.shape[:axis], int(stop - start), *one.shape[axis + 1 :])
        parts.append(jax.lax.broadcast_in_dim(one, shape, tuple(range(one.ndim))))
    return parts[0] if len(parts) == 1 else jax.lax.concatenate(parts, axis)


def _in_order(vector: Any, index: np.ndarray) -> Any:
    """Take a slice of the vector, with its axes in another order; None where it is none."""
    if not index.size:
        return None
    first = int(index.flat[0])
    strides = []
    for axis, size in enumerate(index.shape):
        if size == 1:
            strides.append(0)
            continue
        second = tuple(1 if each == axis else 0 for each in range(index.ndim))
        strides.append(int(index[second]) - first)
    order = sorted(range(index.ndim), key=lambda axis: -strides[axis])
    sizes = [index.shape[axis] for axis in order]
    expected = np.transpose(np.arange(first, first + index.size).reshape(sizes), np.argsort(order))
    if not np.array_equal(expected, index):
        return None
    part = vector
    if index.size != vector.shape[0]:
        part = jax.lax.slice(vector, (first,), (first + prod(sizes),))
    part = part if part.shape == tuple(sizes) else jax.lax.reshape(part, sizes)
    back = tuple(int(each) for each in np.argsort(order))
    return part if back == tuple(range(index.ndim)) else jax.lax.transpose(part, back)


def _part(vector: Any, start: int, stop: int) -> Any:
    return jax.lax.squeeze(jax.lax.slice(vector, (int(start),), (int(stop),)), (0,))
