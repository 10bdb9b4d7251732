"""Operate on whole pytrees."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

import jax
import jax.numpy as jnp
import numpy as np

from .errors import StorageError

T = TypeVar("T")

_ALIGNMENT = 64  # bytes


@dataclass_transform(frozen_default=True, eq_default=False)
def node(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass and a pytree whose children are the fields.

    Use it for inputs and outputs of programs. An `equinox.Module` does the same and more, but takes microseconds to
    make, flatten and inspect, and the host does this for the states of thousands of chains between two blocks.
    """
    return jax.tree_util.register_dataclass(dataclass(frozen=True, eq=False)(cls))


def where(condition: Any, new: T, old: T) -> T:
    """Choose, leaf by leaf, `new` where the scalar `condition` holds, else `old`."""
    return jax.tree.map(lambda a, b: jax.lax.select(condition, jnp.asarray(a), jnp.asarray(b)), new, old)


def change_if(predicate: Any, change: Callable[[T], T], old: T) -> T:
    """Return `change(old)` where the scalar `predicate` holds, else `old`: by a loop of at most one turn.

    XLA for CPUs passes on what a loop carries in place, but copies the operands of a branch. And it computes what a
    loop returns once, where it would compute other numbers again in each place that uses them.
    """

    def turn(carry: tuple[Any, T]) -> tuple[Any, T]:
        return jnp.zeros((), bool), change(carry[1])

    return jax.lax.while_loop(lambda carry: carry[0], turn, (predicate, old))[1]


def to_numpy(tree: T) -> T:
    """Return the tree with every array on the host; copies from a device run side by side."""
    leaves, structure = jax.tree.flatten(tree)
    arrays = [leaf for leaf in leaves if isinstance(leaf, jax.Array)]
    # On the host nothing is copied, and to ask for it takes longer than the rest of this.
    if arrays and any(device.platform != "cpu" for device in arrays[0].devices()):
        for leaf in arrays:
            leaf.copy_to_host_async()
    return jax.tree.unflatten(structure, [np.asarray(leaf) for leaf in leaves])


def flatten(tree: Any) -> dict[str, np.ndarray]:
    """Return the leaves of a tree by path, such as `"learnt.step_size"`; that of a tree which is one leaf is empty."""
    leaves, structure = jax.tree.flatten(tree)
    return dict(zip(_paths(structure), map(np.asarray, leaves), strict=True))


def filled(tree: T, arrays: Mapping[str, Any], is_needed: Callable[[str], bool] = lambda path: True) -> T:
    """Return the tree with stored arrays, by path, in place of its leaves; of which some may not be needed.

    **Raises** `StorageError` where an array that is needed is not there, or is not of the leaf's shape and dtype.
    """
    leaves, structure = jax.tree.flatten(tree)
    values = []
    for path, leaf in zip(_paths(structure), map(np.asarray, leaves), strict=True):
        stored = arrays.get(path)
        is_right = stored is not None and (stored.shape, stored.dtype) == (leaf.shape, leaf.dtype)
        if not is_right and is_needed(path):
            raise StorageError(f"there is no {path!r} of shape {leaf.shape} and dtype {leaf.dtype}")
        values.append(stored if is_right else leaf)
    return jax.tree.unflatten(structure, values)


@functools.lru_cache(maxsize=8)
def _paths(structure: Any) -> tuple[str, ...]:
    """Return the paths of the leaves of trees with one structure."""
    places = jax.tree_util.tree_flatten_with_path(structure.unflatten(range(structure.num_leaves)))[0]
    return tuple(jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in places)


def shapes(tree: T) -> T:
    """Return the tree with every array replaced by its shape and dtype."""
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(np.shape(leaf), leaf.dtype), tree)


def aligned(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Return a copy in row-major order whose memory the CPU device of JAX uses as it is.

    JAX copies an array that does not begin at a multiple of 64 bytes, and NumPy makes arrays that begin 16 bytes later.
    So data would lie in memory once more for every run.
    """
    dtype = np.dtype(dtype)
    size = array.size * dtype.itemsize
    room = np.empty(size + _ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    copy = room[start : start + size].view(dtype).reshape(array.shape)
    copy[...] = array
    return copy


def kept(array: Any) -> np.ndarray:
    """Return a read-only copy on the host."""
    array = np.array(array)
    array.setflags(write=False)
    return array
