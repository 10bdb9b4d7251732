"""Compute something for each block of data where it lies, and collect the parts in the order of the blocks."""

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from .cutting import NUM_BLOCKS

AXIS = "data"
"""The axis of a mesh along which blocks are laid out."""


def collect(
    of_piece: Callable[..., tuple[Any, Any]], mesh: Mesh, shared: Any, own: Any, data: Any, common: Any
) -> Any:
    """Call `of_piece(shared, own[k, i], data[k, i], common)` for every piece i of every block k.

    The first part of what it returns is added up, over the pieces of a block in their order and over the blocks in
    theirs; the second is stacked as `own` is.

    **Arguments**
    - `mesh`: devices along `AXIS`. `shared`, `common`: pytrees of arrays.
    - `own`, `data`: pytrees of arrays with blocks and pieces along the first two axes; there may be as many blocks as
      `num_laid_out` says, of which the last ones do not count.
    """
    own, data = jax.tree.map(lambda leaf: laid_out(leaf, mesh), (own, data))
    count = num_laid_out(mesh) // mesh.shape[AXIS]
    num_pieces = jax.tree.leaves(data)[0].shape[1]
    first_piece = jax.tree.map(lambda leaf: leaf[0, 0], (own, data))
    shapes = jax.eval_shape(lambda own, data: of_piece(shared, own, data, common), *first_piece)
    dtype = jnp.result_type(*(leaf.dtype for leaf in jax.tree.leaves(shapes)))
    num_added, num_stacked = map(_size, shapes)

    def on_device(shared: Any, own: Any, data: Any, common: Any) -> jax.Array:
        # What is not data is everywhere. Were it spread too, XLA would spread what it is computed from, and add that up
        # in another order for another number of devices.
        own, data = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), (own, data))
        first = count * num_pieces * jax.lax.axis_index(AXIS)
        # XLA is not told how often: for a loop of two it may choose other steps than for one of sixteen.
        times = jax.lax.optimization_barrier(jnp.int32(count * num_pieces))

        def put(index: Any, parts: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            added, stacked = parts
            piece = _at(own, first + index), _at(data, index)
            one, two = (_flat(tree, dtype) for tree in of_piece(shared, *piece, common))
            block = index if num_pieces == 1 else index // num_pieces
            if num_pieces > 1:
                one = one + _at(added, block)
            return _put(added, one, block), _put(stacked, two, index)

        empty = jnp.zeros((count, num_added), dtype), jnp.zeros((count * num_pieces, num_stacked), dtype)
        added, stacked = jax.lax.fori_loop(0, times, put, empty)
        parts = jnp.concatenate([added, stacked.reshape(count, -1)], axis=1) if num_stacked else added
        return jax.lax.all_gather(parts, AXIS, axis=0, tiled=True)

    everywhere = PartitionSpec()
    specs = (everywhere, everywhere, PartitionSpec(AXIS), everywhere)
    run = jax.shard_map(on_device, mesh=mesh, in_specs=specs, out_specs=everywhere, check_vma=False)
    parts = run(shared, own, data, common)[:NUM_BLOCKS]
    total = functools.reduce(operator.add, [parts[k, :num_added] for k in range(NUM_BLOCKS)])
    stacked = parts[:, num_added:].reshape(NUM_BLOCKS, num_pieces, num_stacked)
    return _unflat(total, shapes[0]), _unflat(stacked, shapes[1])


def num_laid_out(mesh: Mesh) -> int:
    """Return how many blocks the devices of a mesh compute together, including those that do not count.

    Two at least on each, since XLA computes what is done once in other steps than what is done in a loop.
    """
    num_devices = mesh.shape[AXIS]
    return num_devices * max(2, -(-NUM_BLOCKS // num_devices))


def laid_out(blocks: Any, mesh: Mesh) -> Any:
    """Add copies of the first block, until there are as many blocks as the devices of a mesh compute."""
    more = num_laid_out(mesh) - len(blocks)
    if not more:
        return blocks
    xp: Any = np if isinstance(blocks, np.ndarray) else jnp
    return xp.concatenate([blocks, xp.broadcast_to(blocks[:1], (more, *blocks.shape[1:]))])


def _at(tree: Any, index: Any) -> Any:
    return jax.tree.map(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, index, keepdims=False), tree)


def _put(rows: jax.Array, row: jax.Array, index: Any) -> jax.Array:
    return jax.lax.dynamic_update_index_in_dim(rows, row, index, 0) if row.size else rows


def _size(shapes: Any) -> int:
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(shapes))


def _flat(tree: Any, dtype: Any) -> jax.Array:
    """Write a tree of arrays as one vector."""
    leaves = [jnp.ravel(leaf).astype(dtype) for leaf in jax.tree.leaves(tree)]
    return jnp.concatenate(leaves) if leaves else jnp.zeros(0, dtype)


def _unflat(vectors: jax.Array, shapes: Any) -> Any:
    """Read such a tree back, from vectors along the last axis."""
    leaves, structure = jax.tree.flatten(shapes)
    ends = np.cumsum([math.prod(leaf.shape) for leaf in leaves]).tolist()
    pieces = [
        vectors[..., end - math.prod(leaf.shape) : end]
        .reshape(*vectors.shape[:-1], *leaf.shape)
        .astype(leaf.dtype)
        for leaf, end in zip(leaves, ends, strict=True)
    ]
    return jax.tree.unflatten(structure, pieces)
