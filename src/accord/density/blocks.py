"""Sum a function over blocks of data that lie on several devices, with derivatives that never cross a collective.

The data is cut into a fixed number of blocks, whatever the number of devices. Every block is computed by the same
program, the parts of all blocks are gathered, and are added in the order of the blocks: the sum has the same bits on
any number of devices up to that of blocks. (At one position, also on one device. XLA takes other steps for a program of
one device, and where several positions are evaluated at once, last bits were seen to differ from those of two.)

Differentiating a sum over devices is where such programs go wrong elsewhere. Here value, gradient and the product of
the Hessian with a vector are each a sum over blocks of what one block gives, found by automatic differentiation within
the block. The rules below say so to JAX, for every kind of differentiation up to second derivatives.
"""

import contextlib
import contextvars
import functools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, PartitionSpec

from ..core.errors import ModelError
from .cutting import NUM_BLOCKS

AXIS = "data"
"""The axis of a mesh along which blocks are laid out."""

Summand = Callable[[Any, Any, Any, Any], jax.Array]
"""From unknowns that all blocks share, a block's own ones, a block's data and common data, to a number, shape `()`."""


_devices: contextvars.ContextVar[tuple[Any, ...] | None] = contextvars.ContextVar("devices", default=None)


@contextlib.contextmanager
def using(devices: Sequence[Any]) -> Iterator[None]:
    """Have what is traced here lie on these devices, unless it says otherwise."""
    token = _devices.set(tuple(devices))
    try:
        yield
    finally:
        _devices.reset(token)


def devices_in_use() -> tuple[Any, ...]:
    """Those of the run that is being traced, or all local ones."""
    return _devices.get() or tuple(jax.local_devices())


def mesh_of(devices: Sequence[Any]) -> Mesh:
    """A mesh of some devices along `AXIS`."""
    return Mesh(np.array(devices), (AXIS,))


def num_laid_out(mesh: Mesh) -> int:
    """How many blocks the devices of a mesh compute together, those that do not count included.

    Two at least on each, since XLA computes what is done once in other steps than what is done in a loop.
    """
    num_devices = mesh.shape[AXIS]
    return num_devices * max(2, -(-NUM_BLOCKS // num_devices))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def sum_over_blocks(summand: Summand, mesh: Mesh, shared: Any, own: Any, data: Any, common: Any) -> jax.Array:
    """Sum `summand(shared, own[k], data[k], common)` over the `NUM_BLOCKS` blocks k; shape `()`.

    **Arguments**
    - `summand`: pure, and the same for every block.
    - `mesh`: devices along `AXIS`; one will do.
    - `shared`: pytree of real arrays.
    - `own`, `data`: pytrees of arrays with the blocks along the first axis, those of `own` real. There may be as many
      as `num_laid_out` says, of which the last ones do not count.
    - `common`: pytree of arrays.

    There are derivatives by `shared` and `own`.

    **Raises** `ModelError` for a derivative by `data` or `common`, and for a third derivative.
    """
    total, _ = _collect(lambda s, o, d, c: (summand(s, o, d, c), ()), mesh, shared, own, data, common)
    return total


def _sum_jvp(
    summand: Summand, mesh: Mesh, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[jax.Array, jax.Array]:
    total, slopes = _value_and_slopes(summand, mesh, *primals)
    return total, _product(slopes, _directions(tangents))


sum_over_blocks.defjvp(_sum_jvp, symbolic_zeros=True)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _value_and_slopes(
    summand: Summand, mesh: Mesh, shared: Any, own: Any, data: Any, common: Any
) -> tuple[Any, Any]:
    """The sum, and its gradient by `shared` and by `own`."""

    def of_block(*arguments: Any) -> tuple[Any, Any]:
        value, (by_shared, by_own) = jax.value_and_grad(summand, (0, 1))(*arguments)
        return (value, by_shared), by_own

    (total, by_shared), by_own = _collect(of_block, mesh, shared, own, data, common)
    return total, (by_shared, by_own)


def _slopes_jvp(
    summand: Summand, mesh: Mesh, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    shared, own, data, common = primals
    total, slopes = _value_and_slopes(summand, mesh, *primals)
    directions = _directions(tangents)
    direction, unravel = ravel_pytree(directions)

    def hessian_times(_: Any, vector: jax.Array) -> jax.Array:
        def of_block(both: Any, own: Any, data: Any, common: Any) -> tuple[Any, Any]:
            (shared, shared_dot), (own, own_dot) = both, own
            gradient = jax.grad(lambda s, o: summand(s, o, data, common), (0, 1))
            return jax.jvp(lambda s, o: gradient(s, o), (shared, own), (shared_dot, own_dot))[1]

        shared_dot, own_dot = unravel(vector)
        both = (shared, shared_dot), (own, own_dot)
        return ravel_pytree(_collect(of_block, mesh, *both, data, common))[0]

    # A Hessian is symmetric: as the solution of a symmetric system, its product is its own transpose. The system is
    # never looked at but by a third derivative, which is refused there.
    held = _no_third_derivative(ravel_pytree((shared, own))[0])
    product = jax.lax.custom_linear_solve(
        lambda x: x + 0 * held, direction, hessian_times, transpose_solve=hessian_times, symmetric=True
    )
    return (total, slopes), (_product(slopes, directions), unravel(product))


_value_and_slopes.defjvp(_slopes_jvp, symbolic_zeros=True)


def _directions(tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """Tangents of what there are derivatives by, as arrays. Raises where the data moves too."""
    if not all(_is_zero(leaf) for leaf in jax.tree.leaves(tangents[2:], is_leaf=_is_zero)):
        raise ModelError(
            "the data of a sum over sharded data depends on what is differentiated by. Compute that within the "
            "function that is summed, from parameters."
        )

    def as_array(leaf: Any) -> Any:
        return jnp.zeros(leaf.shape, leaf.dtype) if _is_zero(leaf) else leaf

    shared, own = jax.tree.map(as_array, tangents[:2], is_leaf=_is_zero)
    return shared, own


def _is_zero(leaf: Any) -> bool:
    return isinstance(leaf, SymbolicZero)


@jax.custom_jvp
def _no_third_derivative(x: jax.Array) -> jax.Array:
    return x


@_no_third_derivative.defjvp
def _no_third_derivative_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    raise ModelError(
        "a third derivative of a sum over sharded data was asked for; there are first and second ones. Take it of the "
        "model without `shard`, or of the sum written by `jax.vmap`."
    )


def _collect(
    of_block: Callable[..., tuple[Any, Any]], mesh: Mesh, shared: Any, own: Any, data: Any, common: Any
) -> Any:
    """Compute every block where it lies: the first part of what `of_block` gives is added up, the second stacked."""
    own, data = jax.tree.map(lambda leaf: laid_out(leaf, mesh), (own, data))
    count = num_laid_out(mesh) // mesh.shape[AXIS]
    first_block = jax.tree.map(lambda leaf: leaf[0], (own, data))
    shapes = jax.eval_shape(lambda own, data: of_block(shared, own, data, common), *first_block)
    size, unravel = _raveller(shapes)
    dtype = jnp.result_type(*(leaf.dtype for leaf in jax.tree.leaves(shapes)))

    def on_device(shared: Any, own: Any, data: Any, common: Any) -> jax.Array:
        # What is not data is everywhere. Were it spread too, XLA would spread what it is computed from, and add that up
        # in another order for another number of devices.
        first = count * jax.lax.axis_index(AXIS)
        # XLA is not told how often: for a loop of two it may choose other steps than for one of sixteen.
        times = jax.lax.optimization_barrier(jnp.int32(count))

        def put(index: Any, parts: jax.Array) -> jax.Array:
            block = _at(own, first + index), _at(data, index)
            part = ravel_pytree(of_block(shared, *block, common))[0]
            return jax.lax.dynamic_update_index_in_dim(parts, part, index, 0)

        parts = jax.lax.fori_loop(0, times, put, jnp.zeros((count, size), dtype))
        return jax.lax.all_gather(parts, AXIS, axis=0, tiled=True)

    everywhere = PartitionSpec()
    specs = (everywhere, everywhere, PartitionSpec(AXIS), everywhere)
    run = jax.shard_map(on_device, mesh=mesh, in_specs=specs, out_specs=everywhere, check_vma=False)
    parts = run(shared, own, data, common)
    blocks = [unravel(parts[k]) for k in range(NUM_BLOCKS)]
    added = functools.reduce(
        lambda total, part: jax.tree.map(operator.add, total, part), [one for one, _ in blocks]
    )
    return added, jax.tree.map(lambda *each: jnp.stack(each), *(two for _, two in blocks))


def _at(blocks: Any, index: Any) -> Any:
    return jax.tree.map(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, index, keepdims=False), blocks)


def _raveller(shapes: Any) -> tuple[int, Callable[[jax.Array], Any]]:
    """The length of a tree of such arrays as one vector, and how to get it back."""
    leaves, structure = jax.tree.flatten(shapes)
    ends = np.cumsum([math.prod(leaf.shape) for leaf in leaves])

    def unravel(vector: jax.Array) -> Any:
        pieces = [
            vector[end - math.prod(leaf.shape) : end].reshape(leaf.shape).astype(leaf.dtype)
            for leaf, end in zip(leaves, ends.tolist(), strict=True)
        ]
        return jax.tree.unflatten(structure, pieces)

    return int(ends[-1]), unravel


def laid_out(blocks: Any, mesh: Mesh) -> Any:
    """Blocks with as many more, copies of the first one, as the devices of a mesh compute."""
    more = num_laid_out(mesh) - len(blocks)
    if not more:
        return blocks
    xp: Any = np if isinstance(blocks, np.ndarray) else jnp
    return xp.concatenate([blocks, xp.broadcast_to(blocks[:1], (more, *blocks.shape[1:]))])


def _product(slopes: Any, direction: Any) -> jax.Array:
    pairs = zip(jax.tree.leaves(slopes), jax.tree.leaves(direction), strict=True)
    return sum((jnp.sum(slope * step) for slope, step in pairs), start=jnp.zeros(()))
