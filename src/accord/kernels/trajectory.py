"""Tell when a trajectory turns back, for the tree as a whole and for every balanced part of a growing subtree.

**Source**: Hoffman & Gelman (2014) for the tree; Betancourt (2017), arXiv:1701.02434, for multinomial weights and the
criterion on summed momenta; Stan 2.21 for the two tests across subtrees. The checkpoints that replace recursion are
those of Phan, Pradhan & Jankowiak (2019), arXiv:1912.11554, with one more row array for Stan's tests.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


def is_turning(first: Array, last: Array, total: Array) -> Array:
    """Whether the summed momentum `total` (..., dim) no longer points along both ends, each (..., dim)."""
    along = jnp.minimum(jnp.sum(first * total, -1), jnp.sum(last * total, -1))
    return ~(along > 0)


class Checkpoints(eqx.Module):
    """The left edges of the balanced subtrees that are still growing, one row a level; each `(depth, dim)`.

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
        """No edges yet. One row more than levels: leaves that are no edge write there."""
        rows = jnp.zeros((depth + 1, dim), dtype)
        return Checkpoints(rows, rows, rows)

    def record(self, leaf: Int[Array, ""], momentum: Array, total: Array, before: Array) -> "Checkpoints":
        """Keep leaf `leaf` if it is an edge, which the even ones are."""
        spare = self.first.shape[0] - 1
        row = jnp.where(leaf % 2 == 0, jax.lax.population_count(leaf >> 1), spare)

        def put(rows: Array, value: Array) -> Array:
            return jax.lax.dynamic_update_slice_in_dim(rows, value[None], row, 0)

        return Checkpoints(put(self.first, momentum), put(self.total, total), put(self.before, before))

    def is_turning(self, leaf: Int[Array, ""], momentum: Array, total: Array) -> Bool[Array, ""]:
        """Whether any balanced subtree that ends at odd leaf `leaf` turns back, in itself or across its halves.

        All levels are tested at once and those that do not end here are masked, because a loop over the few that do
        costs more than the arithmetic it saves.
        """
        last_level = jax.lax.population_count(leaf >> 1)
        num_levels = jax.lax.population_count((~leaf & (leaf + 1)) - 1)
        level = jnp.arange(self.first.shape[0] - 1)
        is_ending = (level > last_level - num_levels) & (level <= last_level)
        first, up_to, before = self.first[:-1], self.total[:-1], self.before[1:]
        whole = total - up_to + first
        turns = is_turning(first, momentum, whole)
        # The right half of the subtree at a level begins at the edge one level up.
        middle, up_to_middle = self.first[1:], self.total[1:]
        right = total - up_to_middle + middle
        turns_left = is_turning(first, middle, whole - right + middle)
        turns_right = is_turning(before, momentum, right + before)
        has_halves = level < last_level
        return jnp.any(is_ending & (turns | has_halves & (turns_left | turns_right)))
