"""Draw with the No-U-Turn sampler, one leapfrog step at a time."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_fields
from ..core.tree import node, where
from .base import (
    DRAW,
    EVALUATE,
    AbstractKernel,
    AbstractState,
    Info,
    MetricForm,
    Point,
    Rarely,
    Tuning,
    acceptance_of,
    rarely,
    weight_of_step,
)
from .integrator import Target, leapfrog
from .options import check_tuning
from .trajectory import Checkpoints, is_turning

# Streams of random numbers within one draw. The directions of its doublings are a word of its key.
_MOMENTUM, _CHOICE = 0, 1

_EARLY_DEPTH = 7  # while the metric is a guess, longer trajectories cost more than all later draws


@node
class Tree:
    """Trajectory that is being doubled. Vectors have shape `(dim,)`, pairs `(2, dim)` with the left end first.

    Momenta are whitened and in forward time, whichever way the tree grows.
    """

    position: Float[Array, "2 dim"]
    momentum: Float[Array, "2 dim"]
    force: Float[Array, "2 dim"]
    total: Float[Array, " dim"]  # sum of momenta, without the subtree that is growing
    log_weight: Float[Array, ""]  # log of the summed weights, likewise
    energy: Float[Array, ""]  # at the start
    depth: Int[Array, ""]
    directions: UInt32[Array, ""]  # one random bit a doubling
    num_steps: Int[Array, ""]
    acceptance: Float[Array, ""]  # summed over steps


@node
class Subtree:
    """Half that is being added; vectors have shape `(dim,)`."""

    leaf: Int[Array, ""]  # how many leaves it has
    proposal: Point
    log_weight: Float[Array, ""]
    total: Float[Array, " dim"]
    first: Float[Array, " dim"]  # momentum of its first leaf
    last: Float[Array, " dim"]  # momentum of its newest leaf
    joint: Float[Array, " dim"]  # momentum of the leaf of the old tree that it grows from
    checkpoints: Checkpoints


@node
class NUTSState(AbstractState):
    """A chain between two gradients."""

    point: Point
    is_fresh: Bool[Array, ""]
    tree: Tree
    subtree: Subtree

    @property
    def last_evaluated(self) -> Float[Array, " dim"]:
        """See `AbstractState.last_evaluated`."""
        return self.tree.position[_growing_end(self.tree)]


@checks_fields
class NUTS(AbstractKernel):
    """No-U-Turn sampler with multinomial weights and biased progressive sampling.

    The default for continuous posteriors. Trajectories are doubled until they turn back; the step size and the metric
    are learnt in warm-up.

    **Fields**
    - `target_accept`: target of step size adaptation: the mean acceptance statistic; in (0, 1). Raise it towards 0.99
      if draws diverge: steps become smaller and draws more expensive. None: 0.8, or under `metric="auto"` 0.95 for a
      chain that finds its posterior curved. `draws.tuning` has what was used.
    - `metric`: the form of the metric (inverse mass matrix): `"diagonal"`, a scale for each coordinate; `"low_rank"`,
      with 16 more directions; `"dense"`, a full matrix, in up to 500 dimensions; `"marginal"`, scales as wide as the
      marginals, for curved posteriors; or `"auto"`. That takes the form of the first three (dense in up to 64
      dimensions) that fits held-out draws best, or the fourth if the posterior is curved, or if that is expected to
      save a third of the gradients.
      `draws.tuning` has the choice and its reason.
    - `max_tree_depth`: maximal number of doublings of a trajectory: at most 2**depth - 1 gradients per draw; in 1 to
      20.

    **Source**: Hoffman & Gelman (2014), JMLR 15, 1593-1623; Betancourt (2017), arXiv:1701.02434; the order of tests and
    the checks across subtrees are Stan's (2.21 and later). As a machine of one gradient an advance: Dance, Glaser,
    Orbanz & Adams (2025), "Efficiently vectorized MCMC on modern accelerators".

    **Example**

    >>> careful = infer.NUTS(target_accept=0.95)
    >>> infer.sample(eight_schools(sigma, y), careful, draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    target_accept: float | None = eqx.field(static=True, default=None, kw_only=True)
    metric: MetricForm = eqx.field(static=True, default="auto", kw_only=True)
    max_tree_depth: int = eqx.field(static=True, default=10, kw_only=True)

    def __check_init__(self) -> None:
        check_tuning("NUTS", self.metric, self.target_accept)
        if isinstance(self.max_tree_depth, bool) or self.max_tree_depth not in range(1, 21):
            raise OptionError(
                f"NUTS: max_tree_depth must be an integer in 1 to 20, got {self.max_tree_depth!r}."
            )

    def init(self, position: Float[Array, " dim"]) -> NUTSState:
        """See `AbstractKernel.init`."""
        dim, dtype = position.shape[0], position.dtype
        # Zeros of NumPy: a starting point is made on the host, and nothing is to be compiled for it.
        zero: Any = np.zeros((), dtype)
        count: Any = np.zeros((), np.int32)
        row: Any = np.zeros(dim, dtype)
        pair: Any = np.zeros((2, dim), dtype)
        bits: Any = np.zeros((), np.uint32)
        is_fresh: Any = np.ones((), bool)
        point = Point(position, zero, row)
        tree = Tree(pair, pair, pair, row, zero, zero, count, bits, count, zero)
        edges = Checkpoints.empty(self.max_tree_depth, dim, dtype)
        subtree = Subtree(count, point, zero, row, row, row, row, edges)
        return NUTSState(point, is_fresh, tree, subtree)

    def advance(
        self,
        key: UInt32[Array, " 2"],
        target: Target,
        state: NUTSState,
        tuning: Tuning,
        mode: Int[Array, ""],
        rarely: Rarely = rarely,
    ) -> tuple[NUTSState, Info]:
        """See `AbstractKernel.advance`."""
        tree = _begin(key, state, tuning, rarely)
        old = state.subtree
        dtype = tree.energy.dtype

        # Step outwards from the end that the subtree grows at.
        end = _growing_end(tree)
        position, momentum, force = (_row(pair, end) for pair in (tree.position, tree.momentum, tree.force))
        sign = jnp.where(end == 1, tuning.step_size, -tuning.step_size)
        new = leapfrog(target, tuning.metric, jnp.where(mode == EVALUATE, 0, sign), position, momentum, force)
        weight, is_divergent, is_non_finite = weight_of_step(tree.energy, new.momentum, new.log_density)
        is_invalid = is_divergent | is_non_finite
        num_steps = tree.num_steps + 1
        acceptance = tree.acceptance + acceptance_of(weight)

        # Add the leaf to the subtree; within it, every leaf is chosen in proportion to its weight.
        is_first = old.leaf == 0
        u_leaf, u_subtree = keys.uniforms(key, num_steps.astype(jnp.uint32), jnp.uint32(_CHOICE), dtype)
        total = jnp.where(is_first, new.momentum, old.total + new.momentum)
        log_weight = jnp.where(is_first, weight, jnp.logaddexp(old.log_weight, weight))
        is_chosen = is_first | (jnp.log(u_leaf) < weight - log_weight)
        leaf_point = Point(new.position, new.log_density, new.gradient)
        proposal = where(is_chosen, leaf_point, old.proposal)
        first = jnp.where(is_first, new.momentum, old.first)
        joint = jnp.where(is_first, momentum, old.joint)
        edges = old.checkpoints.record(old.leaf, new.momentum, total, old.last)
        turns_inside = rarely(
            old.leaf % 2 == 1, lambda: edges.is_turning(old.leaf, new.momentum, total), jnp.zeros((), bool)
        )
        leaf = old.leaf + 1
        is_full = (leaf == 1 << tree.depth) & ~turns_inside & ~is_invalid & (mode == DRAW)

        # Join a full subtree to the tree; between the two, the new one is favoured.
        is_swapped = is_full & (jnp.log(u_subtree) < log_weight - tree.log_weight)
        point = where(
            is_swapped | (mode == EVALUATE), where(mode == EVALUATE, leaf_point, proposal), state.point
        )
        far = _row(tree.momentum, 1 - end)

        def turns_as_a_whole() -> Array:
            return (
                is_turning(far, new.momentum, tree.total + total)
                | is_turning(far, first, tree.total + first)
                | is_turning(joint, new.momentum, total + joint)
            )

        turns = rarely(is_full, turns_as_a_whole, jnp.zeros((), bool))
        depth = tree.depth + is_full
        deepest = jnp.where(tuning.is_early, min(_EARLY_DEPTH, self.max_tree_depth), self.max_tree_depth)
        is_complete = is_invalid | turns_inside | turns | (depth >= deepest) | (mode != DRAW)

        at_end = (jnp.arange(2) == end)[:, None]
        tree = Tree(
            position=jnp.where(at_end, new.position, tree.position),
            momentum=jnp.where(at_end, new.momentum, tree.momentum),
            force=jnp.where(at_end, new.force, tree.force),
            total=jnp.where(is_full, tree.total + total, tree.total),
            log_weight=jnp.where(is_full, jnp.logaddexp(tree.log_weight, log_weight), tree.log_weight),
            energy=tree.energy,
            depth=depth,
            directions=tree.directions,
            num_steps=num_steps,
            acceptance=acceptance,
        )
        subtree = Subtree(
            jnp.where(is_full | is_complete, 0, leaf),
            proposal,
            log_weight,
            total,
            first,
            new.momentum,
            joint,
            edges,
        )
        info = Info(
            is_complete=is_complete,
            acceptance=acceptance / num_steps,
            energy=tree.energy,
            num_steps=num_steps,
            depth=depth,
            is_divergent=is_divergent,
            is_non_finite=is_non_finite,
            has_density=jnp.isfinite(new.log_density),
        )
        return NUTSState(point, is_complete, tree, subtree), info


def _begin(key: Any, state: NUTSState, tuning: Tuning, rarely: Rarely) -> Tree:
    """Return the tree to grow: the one of the state, or a new one of one leaf if the last draw is complete."""
    point, is_fresh, tree = state.point, state.is_fresh, state.tree
    dim, dtype = point.position.shape[0], point.position.dtype

    def refresh() -> tuple[Array, Array]:
        return keys.normal(key, dim, _MOMENTUM, dtype), tuning.metric.pull(point.gradient)

    nothing = jnp.zeros(dim, dtype)
    momentum, force = rarely(is_fresh, refresh, (nothing, nothing))
    zero, count = jnp.zeros((), dtype), jnp.zeros((), jnp.int32)
    energy = 0.5 * jnp.sum(momentum * momentum) - point.log_density
    positions, momenta, forces = (jnp.stack([v, v]) for v in (point.position, momentum, force))
    new = Tree(positions, momenta, forces, momentum, zero, energy, count, key[0], count, zero)
    return where(is_fresh, new, tree)


def _growing_end(tree: Tree) -> Int[Array, ""]:
    """Return the end at which the tree is being doubled: 0 is the left one."""
    return ((tree.directions >> tree.depth.astype(jnp.uint32)) & 1).astype(jnp.int32)


def _row(pair: Array, index: Array) -> Array:
    return jnp.where(index == 1, pair[1], pair[0])
