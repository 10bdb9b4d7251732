"""Compute what is rarely needed, and change long vectors that rarely change, in one lane or in several.

In one lane all is done by loops of at most one turn. What a loop carries stays in place if there is no turn, whereas
XLA copies the operands of a branch, and a select reads both sides and writes all of the result. To stay in place, a
vector must not be read by anything that XLA could compute after the change. So what reads the old vector is either
needed for the new one, or part of the same loop.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, UInt32

from ..core import keys
from ..core.tree import change_if, where
from .vectors import put_row

T = TypeVar("T")


class Rarely(Protocol):
    """A condition that is rarely true, and differs between lanes."""

    def __call__(self, predicate: Any, branch: Callable[[T], T], otherwise: T) -> T:
        """Return `branch(otherwise)` if the predicate holds, else `otherwise`; evaluated only if some lane needs it."""
        ...

    def replace(self, predicate: Any, new: T, old: T) -> T:
        """Return `new`, which is known anyway, if the predicate holds, else `old`."""
        ...

    def put(self, predicate: Any, tables: T, index: Any, values: T) -> T:
        """Return tables of shape `(rows, dim)` with a value each at row `index` if the predicate holds.

        The last row of a table is spare: several lanes write there what is not needed.
        """
        ...


class _InOneLane:
    def __call__(self, predicate: Any, branch: Callable[[T], T], otherwise: T) -> T:
        return change_if(predicate, branch, otherwise)

    def replace(self, predicate: Any, new: T, old: T) -> T:
        return change_if(predicate, lambda _: new, old)

    def put(self, predicate: Any, tables: T, index: Any, values: T) -> T:
        def put(tables: T) -> T:
            return jax.tree.map(lambda rows, value: put_row(rows, index, value), tables, values)

        return change_if(predicate, put, tables)


rarely: Rarely = _InOneLane()
"""The condition for one lane."""


class _InLanes:
    def __init__(self, axis: str):
        self._axis = axis

    def __call__(self, predicate: Any, branch: Callable[[T], T], otherwise: T) -> T:
        # A sum over the axis gives one predicate for all lanes. A loop or branch with a batched one would always
        # evaluate both sides.
        is_needed = jax.lax.psum(predicate.astype(jnp.int32), self._axis) > 0
        return change_if(is_needed, lambda old: where(predicate, branch(old), old), otherwise)

    def replace(self, predicate: Any, new: T, old: T) -> T:
        return where(predicate, new, old)

    def put(self, predicate: Any, tables: T, index: Any, values: T) -> T:
        def put(rows: Array, value: Array) -> Array:
            return put_row(rows, jnp.where(predicate, index, rows.shape[0] - 1), value)

        return jax.tree.map(put, tables, values)


def rarely_in_lanes(axis: str) -> Rarely:
    """Return the condition for several lanes, under a `vmap` that names its axis."""
    return _InLanes(axis)


def refreshed(
    is_fresh: Bool[Array, ""],
    key: UInt32[Array, " 2"],
    stream: int,
    momentum: Float[Array, " dim"],
    rarely: Rarely,
) -> Float[Array, " dim"]:
    """Return a new standard normal momentum, at stream `stream` of a key, for a fresh trajectory; else the old one.

    It takes two steps, since XLA would compute random numbers again wherever it needs them, if it saw both as one.
    """
    dim, dtype = momentum.shape[0], momentum.dtype
    uniform = rarely(is_fresh, lambda _: keys.uniforms_for_normal(key, dim, stream, dtype), momentum)
    return rarely(is_fresh, keys.normal_from, uniform)
