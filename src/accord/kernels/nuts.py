"""Draw with the No-U-Turn sampler, one leapfrog step at a time.

A step reads and writes as few vectors as it can. What it always replaces has one reader, the leapfrog step; all else is
written in place when it changes (see `rarely`).
"""

from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.hamiltonian import Hamiltonian
from ..adaptation.metric import MetricForm, rank_for
from ..adaptation.tuning import Tuning
from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_fields
from ..core.position import Position
from ..core.stats import Ending, Info, Stat
from ..core.tree import node, where
from .base import (
    ACCEPTANCE_RATE,
    ENERGY,
    NUM_STEPS,
    STEP_SIZE,
    AbstractKernel,
    AbstractState,
    acceptance_of,
    stats_of,
    weight_of_step,
)
from .integrator import drift, kicked
from .momentum import Momentum, force_at, kinetic_energy, thrown
from .options import check_tuning
from .point import Point
from .rarely import Rarely, refreshed
from .trajectory import Checkpoints, is_turning

# Streams of random numbers within one draw. The directions of its doublings are a word of its key.
_MOMENTUM, _CHOICE = 0, 1

_EARLY_DEPTH = 7  # while the metric is a guess, longer trajectories cost more than all later draws


@node
class End:
    """One end of a trajectory; vectors of shape `(dim,)`."""

    position: Float[Array, " dim"]
    momentum: Momentum
    force: Momentum


@node
class Tree:
    """Trajectory that is being doubled; vectors have shape `(dim,)`.

    Momenta are whitened and in forward time, whichever way the tree grows.
    """

    near: End  # newest leaf; it becomes the end to grow from when a subtree begins
    far: End
    joint: Momentum  # momentum of the leaf that the subtree grows from
    total: Momentum  # sum of momenta, without the subtree that is growing
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
    total: Momentum
    checkpoints: Checkpoints


@node
class _Pending:
    """A step between its two halves: the tree that it is made for, the momentum half way, and its signed size."""

    tree: Tree
    half: Momentum
    step: Float[Array, ""]


@node
class NUTSState(AbstractState):
    """A chain between two gradients."""

    point: Point
    is_fresh: Bool[Array, ""]
    tree: Tree
    subtree: Subtree

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return replace(self.point.position, free=self.tree.near.position)


@checks_fields
class NUTS(AbstractKernel):
    """No-U-Turn sampler with multinomial weights and biased progressive sampling.

    The default for continuous posteriors. Trajectories are doubled until they turn back; the step size and the metric
    are learnt in warm-up. A chain of a curved posterior may also learn there that trajectories of one length, about
    twice the usual one, pay for unknowns that move slowly: `draws.tuning["trajectories"]`.

    **Fields**
    - `target_accept`: target of step size adaptation: the mean acceptance statistic; in (0, 1). Raise it towards 0.99
      if draws diverge: steps become smaller and draws more expensive. None: 0.8, or under `metric="auto"` 0.97 for a
      chain that finds its posterior curved, 0.9 if its gradients are about as long in all draws, 0.985 for one that
      finds it strongly curved, all with still shorter steps in every 16th or eighth draw, so that no steep place holds
      it. `draws.tuning` has what was used.
    - `metric`: the form of the metric (inverse mass matrix): `"diagonal"`, a scale for each coordinate; `"low_rank"`,
      with 16 more directions; `"dense"`, a full matrix, in up to 500 dimensions; `"marginal"`, scales as wide as the
      marginals, with up to 16 directions, for curved posteriors; or `"auto"`. That takes the form of the first
      three (dense in up to 64 dimensions) that fits held-out draws best, or the fourth if the posterior is curved, or
      if that is expected to save a third of the gradients. `draws.tuning` has the choice and its reason.
    - `max_tree_depth`: maximal number of doublings of a trajectory: at most 2**depth - 1 gradients per draw; in 1 to
      20.

    **Source**: Hoffman & Gelman (2014), JMLR 15, 1593-1623; Betancourt (2017), arXiv:1701.02434; the order of tests and
    the checks across subtrees are Stan's (2.21 and later). As a machine of one gradient at a time: Dance, Glaser,
    Orbanz & Adams (2025), "Efficiently vectorized MCMC on modern accelerators".

    **Example**

    >>> careful = infer.NUTS(target_accept=0.95)
    >>> infer.sample(eight_schools(sigma, y), careful, draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    of_adaptation: ClassVar[tuple[str, ...]] = ("target_accept", "metric")
    stats: ClassVar[tuple[Stat, ...]] = (
        ENERGY,
        NUM_STEPS,
        Stat("tree_depth", "int32"),  # doublings
        ACCEPTANCE_RATE,
        STEP_SIZE,
    )

    target_accept: float | None = eqx.field(static=True, default=None, kw_only=True)
    metric: MetricForm = eqx.field(static=True, default="auto", kw_only=True)
    max_tree_depth: int = eqx.field(static=True, default=10, kw_only=True)

    def __check_init__(self) -> None:
        check_tuning("NUTS", self.metric, self.target_accept)
        if isinstance(self.max_tree_depth, bool) or self.max_tree_depth not in range(1, 21):
            raise OptionError(
                f"NUTS: max_tree_depth must be an integer in 1 to 20, got {self.max_tree_depth!r}."
            )

    @property
    def adaptation(self) -> Hamiltonian:
        """See `AbstractKernel.adaptation`."""
        return Hamiltonian(self.target_accept, self.metric, self.max_tree_depth)

    def init(self, point: Point) -> NUTSState:
        """See `AbstractKernel.init`."""
        dim, dtype = point.position.free.shape[0], point.position.free.dtype
        # Zeros of NumPy: a starting point is made on the host, and nothing is to be compiled for it.
        zero: Any = np.zeros((), dtype)
        count: Any = np.zeros((), np.int32)
        row: Any = np.zeros(dim, dtype)
        rest = Momentum.at_rest(dim, rank_for(dim, self.metric), dtype)
        bits: Any = np.zeros((), np.uint32)
        is_fresh: Any = np.ones((), bool)
        end = End(row, rest, rest)
        tree = Tree(end, end, rest, rest, zero, zero, count, bits, count, zero)
        edges = Checkpoints.empty(self.max_tree_depth, rest)
        subtree = Subtree(count, point, zero, rest, edges)
        return NUTSState(point, is_fresh, tree, subtree)

    def ask(
        self, key: UInt32[Array, " 2"], state: NUTSState, tuning: Tuning, rarely: Rarely
    ) -> tuple[Position, _Pending]:
        """See `AbstractKernel.ask`: a step outwards from the end that the subtree grows at."""
        tree = _facing(_begin(key, state, tuning, rarely), state.subtree.leaf == 0, rarely)
        near = tree.near
        step = jnp.where(_direction(tree, tree.depth) == 1, tuning.step_size, -tuning.step_size)
        position, half = drift(tuning.metric, step, near.position, near.momentum, near.force)
        return replace(state.point.position, free=position), _Pending(tree, half, step)

    def tell(
        self,
        key: UInt32[Array, " 2"],
        state: NUTSState,
        point: Point,
        pending: _Pending,
        tuning: Tuning,
        rarely: Rarely,
    ) -> tuple[NUTSState, Info]:
        """See `AbstractKernel.tell`."""
        old, tree = state.subtree, pending.tree
        is_first = old.leaf == 0
        dtype = tree.energy.dtype
        new = kicked(tuning.metric, pending.step, pending.half, point)
        metric = tuning.metric
        kinetic = kinetic_energy(metric, new.momentum)
        weight, ending = weight_of_step(tree.energy, kinetic, new.log_density)
        is_invalid = ending != Ending.GOOD
        num_steps = tree.num_steps + 1
        acceptance = tree.acceptance + acceptance_of(weight)

        # Add the leaf to the subtree; within it, every leaf is chosen in proportion to its weight.
        u_leaf, u_subtree = keys.uniforms(key, num_steps.astype(jnp.uint32), jnp.uint32(_CHOICE), dtype)
        total = where(is_first, new.momentum, old.total + new.momentum)
        log_weight = jnp.where(is_first, weight, jnp.logaddexp(old.log_weight, weight))
        is_chosen = is_first | (jnp.log(u_leaf) < weight - log_weight)
        proposal = rarely.replace(is_chosen, point, old.proposal)
        edges = old.checkpoints.record(old.leaf, new.momentum, total, rarely)
        is_odd = old.leaf % 2 == 1
        is_tested = ~jnp.asarray(tuning.goes_on)
        turns_inside = rarely(
            is_odd & is_tested,
            lambda _: edges.is_turning(metric, old.leaf, new.momentum, total),
            jnp.zeros((), bool),
        )
        edges = edges.precede(old.leaf, new.momentum, is_odd & ~turns_inside, rarely)
        leaf = old.leaf + 1
        is_full = (leaf == 1 << tree.depth) & ~turns_inside & ~is_invalid & ~jnp.asarray(tuning.is_probe)

        # Join a full subtree to the tree; between the two, the new one is favoured.
        is_swapped = is_full & (jnp.log(u_subtree) < log_weight - tree.log_weight)
        taken = rarely(is_swapped, lambda _: proposal, state.point)

        def join(joined: tuple[Momentum, Array]) -> tuple[Momentum, Array]:
            before, far = joined[0], tree.far.momentum
            first = jax.tree.map(lambda rows: rows[0], edges.first)
            turns = (
                is_turning(metric, far, new.momentum, before + total)
                | is_turning(metric, far, first, before + first)
                | is_turning(metric, tree.joint, new.momentum, total + tree.joint)
            )
            return before + total, turns

        tree_total, turns = rarely(is_full, join, (tree.total, jnp.zeros((), bool)))
        turns &= is_tested
        depth = tree.depth + is_full
        deepest = jnp.where(tuning.is_early, min(_EARLY_DEPTH, self.max_tree_depth), self.max_tree_depth)
        if tuning.max_doublings is not None:
            deepest = jnp.minimum(deepest, tuning.max_doublings)
        is_complete = is_invalid | turns_inside | turns | (depth >= deepest) | tuning.is_probe

        tree = Tree(
            near=End(new.position, new.momentum, new.force),
            far=tree.far,
            joint=tree.joint,
            total=tree_total,
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
            edges,
        )
        rate = acceptance / num_steps
        info = Info(
            is_complete=is_complete,
            acceptance=rate,
            ending=ending,
            stats=stats_of(tree.energy, num_steps, depth, rate, tuning.step_size),
        )
        return NUTSState(taken, is_complete, tree, subtree), info


def _begin(key: Any, state: NUTSState, tuning: Tuning, rarely: Rarely) -> Tree:
    """Return the tree to grow: the one of the state, or a new one of one leaf if the last draw is complete."""
    point, is_fresh, tree = state.point, state.is_fresh, state.tree
    noise = refreshed(is_fresh, key, _MOMENTUM, tree.near.momentum.vector, rarely)

    def begin(old: Tree) -> Tree:
        metric, momentum = tuning.metric, thrown(tuning.metric, old.near.momentum)
        zero, count = jnp.zeros((), noise.dtype), jnp.zeros((), jnp.int32)
        energy = kinetic_energy(metric, momentum) - point.log_density
        end = End(point.position.free, momentum, force_at(metric, point.gradient, momentum))
        return Tree(end, end, old.joint, momentum, zero, energy, count, key[0], count, zero)

    near = replace(tree.near, momentum=replace(tree.near.momentum, vector=noise))
    return rarely(is_fresh, begin, replace(tree, near=near))


def _facing(tree: Tree, is_first: Bool[Array, ""], rarely: Rarely) -> Tree:
    """Return the tree with the end where the next subtree grows as the near one; `is_first`: that subtree begins."""
    # The first doubling has no earlier one: both ends are the same.
    is_other = _direction(tree, tree.depth) != _direction(tree, jnp.maximum(tree.depth - 1, 0))

    def turn(ends: tuple[End, End, Momentum]) -> tuple[End, End, Momentum]:
        near, far, _ = ends
        near, far = where(is_other, (far, near), (near, far))
        return near, far, near.momentum

    near, far, joint = rarely(is_first, turn, (tree.near, tree.far, tree.joint))
    return replace(tree, near=near, far=far, joint=joint)


def _direction(tree: Tree, depth: Int[Array, ""]) -> UInt32[Array, ""]:
    """Return 1 if the doubling from `depth` on adds leaves in forward time, else 0."""
    return (tree.directions >> depth.astype(jnp.uint32)) & 1
