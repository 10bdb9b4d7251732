"""Detect when a trajectory turns back: the whole tree, or a balanced part of a growing subtree.

**Source**: Hoffman & Gelman (2014) for the tree; Betancourt (2017), arXiv:1701.02434, for multinomial weights and the
criterion on summed momenta; Stan 2.21 for the two tests across subtrees. The checkpoints that replace recursion are
those of Phan, Pradhan & Jankowiak (2019), arXiv:1912.11554, with one more row array for Stan's tests.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..core.tree import node

# Up to this dimension all levels are tested at once and those that do not end are masked: a loop over the few that do
# would cost more than the arithmetic it saves.
_MAX_BATCHED_DIM = 64


def is_turning(first: Array, last: Array, total: Array) -> Array:
    """Return whether the summed momentum `total` (..., dim) no longer points along both ends, each (..., dim)."""
    if total.ndim == 1 and total.shape[0] > _MAX_BATCHED_DIM:
        along = jnp.minimum(jnp.dot(first, total), jnp.dot(last, total))
    else:
        along = jnp.minimum(jnp.sum(first * total, -1), jnp.sum(last * total, -1))
    return ~(along > 0)


@node
class Checkpoints:
    """Left edges of the balanced subtrees that are still growing, one row per level; each `(depth, dim)`.

    **Fields**
    - `first`: momentum of the leaf at the edge.
    - `total`: sum of momenta up to and including it.
    - `before`: momentum of the leaf before it.
    """

    first: Float[Array, "depth dim"]
    total: Float[Array, "depth dim"]
    before: Float[Array, "depth dim"]

    @staticmethod
    def empty(depth: int, dim: int, dtype: jnp.dtype) -> "Checkpoints":
        """Make empty checkpoints, with one more row than levels: leaves that are no edge write there."""
        rows: Any = np.zeros((depth + 1, dim), dtype)
        return Checkpoints(rows, rows, rows)

    def record(self, leaf: Int[Array, ""], momentum: Array, total: Array, before: Array) -> "Checkpoints":
        """Store leaf `leaf` if it is an edge, as every even leaf is."""
        spare = self.first.shape[0] - 1
        row = jnp.where(leaf % 2 == 0, jax.lax.population_count(leaf >> 1), spare)

        def put(rows: Array, value: Array) -> Array:
            return jax.lax.dynamic_update_slice_in_dim(rows, value[None], row, 0)

        return Checkpoints(put(self.first, momentum), put(self.total, total), put(self.before, before))

    def is_turning(self, leaf: Int[Array, ""], momentum: Array, total: Array) -> Bool[Array, ""]:
        """Return whether a balanced subtree that ends at odd leaf `leaf` turns back, in itself or across its halves."""
        last_level = jax.lax.population_count(leaf >> 1)
        first_level = last_level - jax.lax.population_count((~leaf & (leaf + 1)) - 1) + 1
        if self.first.shape[1] > _MAX_BATCHED_DIM:
            return self._is_turning_at_some(first_level, last_level, momentum, total)
        level = jnp.arange(self.first.shape[0] - 1)
        # The right half of the subtree at a level begins at the edge one level up.
        lower = Checkpoints(self.first[:-1], self.total[:-1], self.before[:-1])
        upper = Checkpoints(self.first[1:], self.total[1:], self.before[1:])
        turns = _turns(lower, upper, level < last_level, momentum, total)
        return jnp.any((level >= first_level) & (level <= last_level) & turns)

    def _is_turning_at_some(
        self, first_level: Array, last_level: Array, momentum: Array, total: Array
    ) -> Array:
        """Test one level after the other, from the smallest subtree, which was most likely tested before."""

        def edge(level: Array) -> Checkpoints:
            return jax.tree.map(lambda rows: jax.lax.dynamic_index_in_dim(rows, level, keepdims=False), self)

        def test(carry: tuple[Array, Array]) -> tuple[Array, Array]:
            level, _ = carry
            return level - 1, _turns(edge(level), edge(level + 1), level < last_level, momentum, total)

        def goes_on(carry: tuple[Array, Array]) -> Array:
            return (carry[0] >= first_level) & ~carry[1]

        return jax.lax.while_loop(goes_on, test, (last_level, jnp.zeros((), bool)))[1]


def _turns(lower: Checkpoints, upper: Checkpoints, has_halves: Array, momentum: Array, total: Array) -> Array:
    """Return whether the subtree from the edge `lower` to now turns; `upper` begins its right half, if it has one."""
    whole = total - lower.total + lower.first
    right = total - upper.total + upper.first
    turns = is_turning(lower.first, momentum, whole)
    turns_left = is_turning(lower.first, upper.first, whole - right + upper.first)
    turns_right = is_turning(upper.before, momentum, right + upper.before)
    return turns | has_halves & (turns_left | turns_right)
