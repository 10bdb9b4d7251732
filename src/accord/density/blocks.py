"""Sum a function over blocks of data that lie on several devices, with derivatives that never cross a collective.

The data is cut into a fixed number of blocks, whatever the number of devices. Every block is computed by the same
program, the parts of all blocks are gathered, and are added in the order of the blocks: the sum has the same bits on
any number of devices up to that of blocks.

Differentiating a sum over devices is where such programs go wrong elsewhere. Here value, gradient and the product of
the Hessian with a vector are each a sum over blocks of what one block gives, found by automatic differentiation within
the block. The rules below say so to JAX, for every kind of differentiation up to second derivatives.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, PartitionSpec

AXIS = "data"
"""The axis of a mesh along which blocks are laid out."""

Summand = Callable[[Any, Any, Any], jax.Array]
"""From what all blocks share, a block's own unknowns, and a block's data, to a number, shape `()`."""


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def sum_over_blocks(summand: Summand, mesh: Mesh, shared: Any, own: Any, data: Any) -> jax.Array:
    """Sum `summand(shared, own[k], data[k])` over blocks k; shape `()`.

    **Arguments**
    - `summand`: pure, and the same for every block.
    - `mesh`: devices along `AXIS`; one will do.
    - `shared`: pytree of real arrays.
    - `own`, `data`: pytrees of arrays with the blocks along the first axis, those of `own` real.

    There are derivatives by `shared` and `own`.

    **Raises** `NotImplementedError` for a derivative by `data`, and for third derivatives.
    """
    (total, _) = _collect(lambda s, o, d: (summand(s, o, d), ()), mesh, shared, own, data)
    return total


def _sum_jvp(
    summand: Summand, mesh: Mesh, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[jax.Array, jax.Array]:
    total, slopes = _value_and_slopes(summand, mesh, *primals)
    return total, _product(slopes, _directions(tangents))


sum_over_blocks.defjvp(_sum_jvp, symbolic_zeros=True)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _value_and_slopes(summand: Summand, mesh: Mesh, shared: Any, own: Any, data: Any) -> tuple[Any, Any]:
    """The sum, and its gradient by `shared` and by `own`."""

    def of_block(shared: Any, own: Any, data: Any) -> tuple[Any, Any]:
        value, (by_shared, by_own) = jax.value_and_grad(summand, (0, 1))(shared, own, data)
        return (value, by_shared), by_own

    (total, by_shared), by_own = _collect(of_block, mesh, shared, own, data)
    return total, (by_shared, by_own)


def _slopes_jvp(
    summand: Summand, mesh: Mesh, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    shared, own, data = primals
    total, slopes = _value_and_slopes(summand, mesh, *primals)
    directions = _directions(tangents)
    direction, unravel = ravel_pytree(directions)

    def hessian_times(_: Any, vector: jax.Array) -> jax.Array:
        def of_block(both: Any, own: Any, data: Any) -> tuple[Any, Any]:
            (shared, shared_dot), (own, own_dot) = both, own
            gradient = jax.grad(lambda s, o: summand(s, o, data), (0, 1))
            _, (by_shared, by_own) = jax.jvp(
                lambda s, o: gradient(s, o), (shared, own), (shared_dot, own_dot)
            )
            return by_shared, by_own

        shared_dot, own_dot = unravel(vector)
        return ravel_pytree(_collect(of_block, mesh, (shared, shared_dot), (own, own_dot), data))[0]

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
    *free, data = tangents
    if not all(isinstance(leaf, SymbolicZero) for leaf in jax.tree.leaves(data, is_leaf=_is_zero)):
        raise NotImplementedError(
            "the data of a sum over sharded data depends on what is differentiated by. Compute that within the "
            "function that is summed, from parameters."
        )
    shared, own = jax.tree.map(
        lambda leaf: jnp.zeros(leaf.shape, leaf.dtype) if _is_zero(leaf) else leaf,
        tuple(free),
        is_leaf=_is_zero,
    )
    return shared, own


def _is_zero(leaf: Any) -> bool:
    return isinstance(leaf, SymbolicZero)


@jax.custom_jvp
def _no_third_derivative(x: jax.Array) -> jax.Array:
    return x


@_no_third_derivative.defjvp
def _no_third_derivative_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    raise NotImplementedError("a sum over sharded data has first and second derivatives only.")


def _collect(of_block: Callable[..., tuple[Any, Any]], mesh: Mesh, shared: Any, own: Any, data: Any) -> Any:
    """Compute every block where it lies. The first part of what `of_block` gives is added up, the second one stacked."""
    (num_blocks,) = {len(leaf) for leaf in jax.tree.leaves((own, data))}
    num_devices = mesh.shape[AXIS]
    # Two at least on each device, since XLA computes what is done once in other steps than what is done in a loop.
    # Spare ones are dropped.
    spare = num_devices * max(2, -(-num_blocks // num_devices)) - num_blocks
    blocks = jax.tree.map(lambda leaf: _with_spare(leaf, spare), (own, data))

    def on_device(shared: Any, blocks: Any) -> Any:
        parts = jax.lax.map(lambda block: of_block(shared, *block), blocks)
        return jax.tree.map(lambda part: jax.lax.all_gather(part, AXIS, axis=0, tiled=True), parts)

    everywhere = PartitionSpec()
    parts, stacked = jax.shard_map(
        on_device,
        mesh=mesh,
        in_specs=(everywhere, PartitionSpec(AXIS)),
        out_specs=everywhere,
        check_vma=False,
    )(shared, blocks)
    added = jax.tree.map(
        lambda part: functools.reduce(operator.add, [part[k] for k in range(num_blocks)]), parts
    )
    return added, jax.tree.map(lambda part: part[:num_blocks], stacked)


def _with_spare(leaf: Any, spare: int) -> Any:
    return (
        leaf if not spare else jnp.concatenate([leaf, jnp.broadcast_to(leaf[:1], (spare, *leaf.shape[1:]))])
    )


def _product(slopes: Any, direction: Any) -> jax.Array:
    pairs = zip(jax.tree.leaves(slopes), jax.tree.leaves(direction), strict=True)
    return sum((jnp.sum(slope * step) for slope, step in pairs), start=jnp.zeros(()))


def mesh_of(devices: Any) -> Mesh:
    """A mesh of some devices along `AXIS`."""
    return Mesh(np.array(devices), (AXIS,))
