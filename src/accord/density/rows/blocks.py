"""Sum a function over blocks of data that lie on several devices, with derivatives that never cross a collective.

The data is cut into a fixed number of blocks, whatever the number of devices. Every block is computed by the same
program, the parts of all blocks are gathered, and are added in the order of the blocks: the sum has the same bits on
any number of devices up to that of blocks. (At one position, also on one device. XLA takes other steps for a program of
one device, and where several positions are evaluated at once, last bits were seen to differ from those of two.)

Differentiating a sum over devices is where such programs go wrong elsewhere. Here value, gradient and the product of
the Hessian with a vector are each a sum over blocks of what one block gives, found by automatic differentiation within
the block. The rules below say so to JAX, for every kind of differentiation up to second derivatives. A block may be
computed in pieces, one after the other, so that only one of them needs memory for its derivatives.
"""

import contextlib
import contextvars
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh

from ...core.errors import ModelError
from .collect import AXIS, collect

Summand = Callable[[Any, Any, Any, Any], jax.Array]
"""From unknowns that all pieces share, a piece's own ones, a piece's data and common data, to a number, shape `()`."""


_devices: contextvars.ContextVar[tuple[Any, ...] | None] = contextvars.ContextVar("devices", default=None)


@contextlib.contextmanager
def using(devices: Sequence[Any]) -> Iterator[None]:
    """Let what is traced here lie on these devices, unless it says otherwise."""
    token = _devices.set(tuple(devices))
    try:
        yield
    finally:
        _devices.reset(token)


def devices_in_use() -> tuple[Any, ...]:
    """Return the devices of the run that is being traced, or all local ones."""
    return _devices.get() or tuple(jax.local_devices())


def mesh_of(devices: Sequence[Any]) -> Mesh:
    """Make a mesh of some devices along `AXIS`."""
    return Mesh(np.array(devices), (AXIS,))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def sum_over_blocks(summand: Summand, mesh: Mesh, shared: Any, own: Any, data: Any, common: Any) -> jax.Array:
    """Sum `summand(shared, own[k, i], data[k, i], common)` over the pieces i of the `NUM_BLOCKS` blocks k; shape `()`.

    **Arguments**
    - `summand`: pure, and the same for every piece.
    - `mesh`, `shared`, `own`, `data`, `common`: see `collect`; `shared` and `own` are real.

    There are derivatives by `shared` and `own`.

    **Raises** `ModelError` for a derivative by `data` or `common`, and for a third derivative.
    """
    total, _ = collect(lambda s, o, d, c: (summand(s, o, d, c), ()), mesh, shared, own, data, common)
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
    """Compute the sum, and its gradient by `shared` and by `own`."""

    def of_piece(*arguments: Any) -> tuple[Any, Any]:
        value, (by_shared, by_own) = jax.value_and_grad(summand, (0, 1))(*arguments)
        return (value, by_shared), by_own

    (total, by_shared), by_own = collect(of_piece, mesh, shared, own, data, common)
    return total, (by_shared, by_own)


def _slopes_jvp(
    summand: Summand, mesh: Mesh, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    shared, own, data, common = primals
    total, slopes = _value_and_slopes(summand, mesh, *primals)
    directions = _directions(tangents)
    direction, unravel = ravel_pytree(directions)

    def hessian_times(_: Any, vector: jax.Array) -> jax.Array:
        def of_piece(both: Any, own: Any, data: Any, common: Any) -> tuple[Any, Any]:
            (shared, shared_dot), (own, own_dot) = both, own
            gradient = jax.grad(lambda s, o: summand(s, o, data, common), (0, 1))
            return jax.jvp(lambda s, o: gradient(s, o), (shared, own), (shared_dot, own_dot))[1]

        shared_dot, own_dot = unravel(vector)
        both = (shared, shared_dot), (own, own_dot)
        return ravel_pytree(collect(of_piece, mesh, *both, data, common))[0]

    # A Hessian is symmetric: as the solution of a symmetric system, its product is its own transpose. The system is
    # never looked at but by a third derivative, which is refused there.
    held = _no_third_derivative(ravel_pytree((shared, own))[0])
    product = jax.lax.custom_linear_solve(
        lambda x: x + 0 * held, direction, hessian_times, transpose_solve=hessian_times, symmetric=True
    )
    return (total, slopes), (_product(slopes, directions), unravel(product))


_value_and_slopes.defjvp(_slopes_jvp, symbolic_zeros=True)


def _directions(tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the tangents of what there are derivatives by, as arrays. Raises where the data moves too."""
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


def _product(slopes: Any, direction: Any) -> jax.Array:
    pairs = zip(jax.tree.leaves(slopes), jax.tree.leaves(direction), strict=True)
    return sum((jnp.sum(slope * step) for slope, step in pairs), start=jnp.zeros(()))
