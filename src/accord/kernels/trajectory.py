"""Detect when a trajectory turns back: the whole tree, or a balanced part of a growing subtree.

**Source**: Hoffman & Gelman (2014) for the tree; Betancourt (2017), arXiv:1701.02434, for multinomial weights and the
criterion on summed momenta; Stan 2.21 for the two tests across subtrees. The checkpoints that replace recursion are
those of Phan, Pradhan & Jankowiak (2019), arXiv:1912.11554, with one more row array for Stan's tests.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from ..adaptation.metric.metric import Metric
from ..core.tree import node
from .momentum import Momentum, product
from .rarely import Rarely

# Up to this dimension all levels are tested at once and those that do not end are masked: a loop over the few that do
# would cost more than the arithmetic it saves.
_MAX_BATCHED_DIM = 64


def is_turning(metric: Metric, first: Momentum, last: Momentum, total: Momentum) -> Array:
    """Return whether the summed momentum `total` (..., dim) no longer points along both ends, each (..., dim)."""
    return ~(jnp.minimum(product(metric, first, total), product(metric, last, total)) > 0)


@node
class Checkpoints:
    """Left edges of the balanced subtrees that are still growing, one row per level; each `(depth, dim)`.

    **Fields**
    - `first`: momentum of the leaf at the edge.
    - `total`: sum of momenta up to and including it.
    - `before`: momentum of the leaf before it; not used in row 0.
    """

    first: Momentum
    total: Momentum
    before: Momentum

    @staticmethod
    def empty(depth: int, momentum: Momentum) -> "Checkpoints":
        """Make empty checkpoints for such momenta, with one more row than levels, the spare row of `Rarely.put`."""
        rows = jax.tree.map(lambda leaf: np.zeros((depth + 1, *leaf.shape), leaf.dtype), momentum)
        return Checkpoints(rows, rows, rows)

    def record(
        self, leaf: Int[Array, ""], momentum: Momentum, total: Momentum, rarely: Rarely
    ) -> "Checkpoints":
        """Store leaf `leaf` if it is an edge, as every even leaf is."""
        row = jax.lax.population_count(leaf >> 1)
        first, sums = rarely.put(leaf % 2 == 0, (self.first, self.total), row, (momentum, total))
        return Checkpoints(first, sums, self.before)

    def precede(
        self, leaf: Int[Array, ""], momentum: Momentum, is_needed: Bool[Array, ""], rarely: Rarely
    ) -> "Checkpoints":
        """Store the momentum of odd leaf `leaf` for the next edge, which is the leaf after it, if needed.

        The test of this leaf comes first, since it may need what is replaced.
        """
        row = jax.lax.population_count((leaf + 1) >> 1)
        (before,) = rarely.put(is_needed, (self.before,), row, (momentum,))
        return Checkpoints(self.first, self.total, before)

    def is_turning(
        self, metric: Metric, leaf: Int[Array, ""], momentum: Momentum, total: Momentum
    ) -> Bool[Array, ""]:
        """Return whether a balanced subtree that ends at odd leaf `leaf` turns back, in itself or across its halves."""
        last_level = jax.lax.population_count(leaf >> 1)
        first_level = last_level - jax.lax.population_count((~leaf & (leaf + 1)) - 1) + 1
        if self.first.vector.shape[1] > _MAX_BATCHED_DIM:
            return self._is_turning_at_some(metric, first_level, last_level, momentum, total)
        level = jnp.arange(self.first.vector.shape[0] - 1)
        # The right half of the subtree at a level begins at the edge one level up.
        lower = jax.tree.map(lambda rows: rows[:-1], self)
        upper = jax.tree.map(lambda rows: rows[1:], self)
        turns = _turns_whole(metric, lower, momentum, total)
        turns |= (level < last_level) & _turns_across(metric, lower, upper, momentum, total)
        return jnp.any((level >= first_level) & (level <= last_level) & turns)

    def _is_turning_at_some(
        self, metric: Metric, first_level: Array, last_level: Array, momentum: Momentum, total: Momentum
    ) -> Array:
        """Test one level after the other, from the smallest subtree, which was most likely tested before."""

        def edge(level: Array) -> Checkpoints:
            return jax.tree.map(lambda rows: jax.lax.dynamic_index_in_dim(rows, level, keepdims=False), self)

        def test(carry: tuple[Array, Array]) -> tuple[Array, Array]:
            level, _ = carry
            lower = edge(level)
            turns = _turns_whole(metric, lower, momentum, total)

            def across() -> Array:
                return _turns_across(metric, lower, edge(level + 1), momentum, total)

            # Every other test is one of the smallest subtree, which has no halves.
            halves_turn = jax.lax.cond(level < last_level, across, lambda: jnp.zeros((), bool))
            return level - 1, turns | halves_turn

        def goes_on(carry: tuple[Array, Array]) -> Array:
            return (carry[0] >= first_level) & ~carry[1]

        return jax.lax.while_loop(goes_on, test, (last_level, jnp.zeros((), bool)))[1]


def _turns_whole(metric: Metric, lower: Checkpoints, momentum: Momentum, total: Momentum) -> Array:
    """Return whether the subtree from the edge `lower` to now turns."""
    return is_turning(metric, lower.first, momentum, total - lower.total + lower.first)


def _turns_across(
    metric: Metric, lower: Checkpoints, upper: Checkpoints, momentum: Momentum, total: Momentum
) -> Array:
    """Return whether one of its halves turns, with the nearest leaf of the other; `upper` begins the right half."""
    whole = total - lower.total + lower.first
    right = total - upper.total + upper.first
    turns_left = is_turning(metric, lower.first, upper.first, whole - right + upper.first)
    turns_right = is_turning(metric, upper.before, momentum, right + upper.before)
    return turns_left | turns_right
