"""Draw with Hamiltonian Monte Carlo in which discrete entries jump along the trajectory.

The schedule of a draw is fixed before it: the number of leapfrog steps, and before or after which of them each entry
may jump. It is as probable as its reverse. A jump pays for its change of the log density by an energy of the entry's
own, which is exponential, so that the energy which a leapfrog step conserves changes by as much. Only the errors of
leapfrog steps are left for the last acceptance.
"""

from dataclasses import replace
from types import EllipsisType
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.hamiltonian import Hamiltonian
from ..adaptation.metric import MetricForm, rank_for
from ..adaptation.tuning import Tuning
from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_fields, positive_count
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
    ending_of,
    stats_of,
    weight_of_step,
)
from .entries import Entries, entries_of, item_at, stepped
from .integrator import PhasePoint, drift, kicked
from .momentum import Momentum, force_at, kinetic_energy, thrown
from .options import check_trajectory, check_tuning
from .places import Places
from .point import Point
from .rarely import Rarely, refreshed

# Streams of random numbers within one draw; those of jumps are counted by the turn.
_MOMENTUM, _LENGTH, _ACCEPT, _TIME, _VALUE, _WAY, _JUMP = range(7)

_DONE = 2.0  # the time of a turn that is over: all times are below 1


@node
class _Path:
    """A trajectory that has come so far.

    **Fields**: `end`, with the whole numbers there, `whole`; `energy`, which leapfrog steps conserve from here, and
    `first_energy`, that of its beginning; `length`, in leapfrog steps, of which `num_steps` are done; `times`, shape
    `(turn,)`, shares of the length at which entries may jump; `num_turns`, so far, and `num_jumps`.
    """

    end: PhasePoint
    whole: Int[Array, " count"]
    energy: Float[Array, ""]
    first_energy: Float[Array, ""]
    length: Int[Array, ""]
    num_steps: Int[Array, ""]
    times: Float[Array, " turn"]
    num_turns: Int[Array, ""]
    num_jumps: Int[Array, ""]


@node
class MixedHMCState(AbstractState):
    """A chain within a trajectory. `ending`, how this draw first failed, and `tried`, where; or its last evaluation."""

    point: Point
    is_fresh: Bool[Array, ""]
    tried: Position
    ending: Int[Array, ""]
    path: _Path

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return self.tried


@node
class _Pending:
    """An evaluation that was asked for: of an entry's turn, or half way through a leapfrog step.

    **Fields**: `path`, begun; `is_turn`, and the number of that, `turn`; `whole`, as they would be after the jump;
    `half`, the momentum half way.
    """

    path: _Path
    is_turn: Bool[Array, ""]
    turn: Int[Array, ""]
    whole: Int[Array, " count"]
    half: Momentum


@checks_fields
class MixedHMC(AbstractKernel):
    """Hamiltonian Monte Carlo for models with discrete sites, whose entries jump along each trajectory.

    All continuous sites move together with all discrete ones, where `Gibbs` stops at each jump. In each draw an entry
    has some turns, at random times, for one evaluation each: it proposes another value, uniform among those of a
    support with at most 256, or else a step of 1, 2, 4, ... to 128 up or down. Discrete sites that can be
    [summed out](../discrete.md) need no such sampler: leave them to `NUTS`. In `Gibbs` it is the block of `...` alone.

    **Fields**
    - `trajectory_length`, `target_accept`, `metric`, `max_steps`: as of `HMC`. Longer trajectories than that may pay.
    - `turns`: of each entry in a draw, >= 1. Of 1, 5 and 20, 5 took the fewest evaluations in two mixture models.

    `draws.stats["jump_rate"]` is the share of turns that changed a value, and `n_steps` counts gradients of leapfrog
    steps. The acceptance rate is that of the continuous part, to which the step size is tuned.

    **Raises** `OptionError` for a model without continuous or without discrete sites, and for a discrete site whose
    entries cannot change alone, as counts with a given sum.

    **Source**: Zhou (2020), "Mixed Hamiltonian Monte Carlo for mixed discrete and continuous variables", NeurIPS 33,
    with kinetic energies `|p|`. Here jumps lie between whole leapfrog steps, and
    each draws a kinetic energy of its own.

    **Example**

    >>> @ac.model
    ... def groups(y):
    ...     group = ac.sample("group", dist.Categorical(np.array([0.2, 0.5, 0.3])))
    ...     mean = ac.sample("mean", dist.Normal(2.0 * group, 0.5))
    ...     ac.sample("y", dist.Normal(mean, 1.0), obs=y)
    >>> infer.sample(groups(1.3), infer.MixedHMC(), draws=200, chains=2, quiet=True)
    <Draws of groups: 2 chains x 200 draws; group, mean>
    """

    of_adaptation: ClassVar[tuple[str, ...]] = ("target_accept", "metric")
    stats: ClassVar[tuple[Stat, ...]] = (ENERGY, NUM_STEPS, ACCEPTANCE_RATE, STEP_SIZE, Stat("jump_rate"))
    whole_if_discrete: ClassVar[tuple[str, ...] | EllipsisType] = ...

    trajectory_length: float = eqx.field(static=True, default=1.5707963267948966, kw_only=True)
    target_accept: float = eqx.field(static=True, default=0.8, kw_only=True)
    metric: MetricForm = eqx.field(static=True, default="auto", kw_only=True)
    max_steps: int = eqx.field(static=True, default=1000, kw_only=True)
    turns: int = eqx.field(static=True, default=5, kw_only=True)
    places: Places | None = eqx.field(static=True, default=None, kw_only=True)

    def __check_init__(self) -> None:
        check_tuning("MixedHMC", self.metric, self.target_accept)
        check_trajectory("MixedHMC", self.trajectory_length, self.max_steps)
        positive_count("MixedHMC: turns", self.turns, maximum=10_000)

    @property
    def adaptation(self) -> Hamiltonian:
        """See `AbstractKernel.adaptation`."""
        return Hamiltonian(self.target_accept, self.metric)

    def placed(self, places: Places) -> "MixedHMC":
        """See `AbstractKernel.placed`."""
        if not places.whole:
            raise OptionError("MixedHMC: there is no discrete site. Use infer.NUTS().")
        if not places.free:
            raise OptionError("MixedHMC: there is no continuous site. Use infer.DiscreteGibbs().")
        entries_of("MixedHMC", places)
        return replace(self, places=places)

    @property
    def _entries(self) -> Entries:
        assert self.places is not None, "a kernel of discrete sites is placed before its run"
        return entries_of("MixedHMC", self.places)

    @property
    def _num_turns(self) -> int:
        """Turns of all entries in a draw."""
        return self.turns * len(self._entries.entry)

    def init(self, point: Point) -> MixedHMCState:
        """See `AbstractKernel.init`."""
        zero: Any = np.zeros((), point.position.free.dtype)
        count: Any = np.zeros((), np.int32)
        is_fresh: Any = np.ones((), bool)
        times: Any = np.zeros(self._num_turns, zero.dtype)
        whole: Any = point.position.whole
        free = point.position.free
        end = PhasePoint.at_rest(free, rank_for(len(free), self.metric))
        path = _Path(end, whole, zero, zero, count, count, times, count, count)
        return MixedHMCState(point, is_fresh, point.position, count, path)

    def ask(
        self, key: UInt32[Array, " 2"], state: MixedHMCState, tuning: Tuning, rarely: Rarely
    ) -> tuple[Position, _Pending]:
        """See `AbstractKernel.ask`: where an entry would jump, or the end of the next leapfrog step."""
        rest = state.path.end.momentum
        noise = refreshed(state.is_fresh, key, _MOMENTUM, rest.vector, rarely)
        old = replace(state.path, end=replace(state.path.end, momentum=replace(rest, vector=noise)))
        path = rarely(state.is_fresh, lambda path: self._begun(key, path, state.point, tuning), old)
        soonest, numbers = jnp.min(path.times), jnp.arange(self._num_turns, dtype=jnp.int32)
        # `argmin` reduces two arrays at once, for which XLA cannot make a piece of machine code.
        turn = jnp.min(jnp.where(path.times == soonest, numbers, self._num_turns))
        slot = jnp.floor(soonest * (path.length + 1)).astype(jnp.int32)
        is_left = path.num_turns < self._num_turns
        is_turn = is_left & (slot <= path.num_steps) & ~jnp.asarray(tuning.is_probe)
        jumped = self._jumped(key, path, turn)
        end = path.end
        position, half = drift(tuning.metric, tuning.step_size, end.position, end.momentum, end.force)
        free = jnp.where(is_turn, end.position, position)
        asked = Position(free, jnp.where(is_turn, jumped, path.whole))
        return asked, _Pending(path, is_turn, turn, jumped, half)

    def _begun(self, key: Any, path: _Path, point: Point, tuning: Tuning) -> _Path:
        """Begin a trajectory with a momentum that is drawn: draw its length, and when entries have their turns."""
        metric, dtype = tuning.metric, path.energy.dtype
        momentum = thrown(metric, path.end.momentum)
        u = keys.uniform(key, jnp.uint32(0), jnp.uint32(_LENGTH), dtype)
        length = jnp.ceil(2 * self.trajectory_length * u / tuning.step_size)
        counters = jnp.arange(path.times.shape[0], dtype=jnp.uint32)
        energy = kinetic_energy(metric, momentum) - point.log_density
        force, none, whole = force_at(metric, point.gradient, momentum), jnp.int32(0), point.position.whole
        assert whole is not None
        return _Path(
            PhasePoint(point.position.free, momentum, force, point.gradient, point.log_density),
            whole,
            energy,
            energy,
            jnp.clip(length, 1, self.max_steps).astype(jnp.int32),
            none,
            keys.uniform(key, counters, jnp.full_like(counters, _TIME), dtype),
            none,
            none,
        )

    def _jumped(self, key: Any, path: _Path, turn: Int[Array, ""]) -> Int[Array, " count"]:
        """Propose another value of an entry, from which the way back is as probable."""
        number, low, high, _, count, is_step = self._entries.at(turn // self.turns)
        now, counter = item_at(path.whole, number), turn.astype(jnp.uint32)
        u_value, u_way = (
            keys.uniform(key, counter, jnp.uint32(stream), path.energy.dtype) for stream in (_VALUE, _WAY)
        )
        other = low + jnp.minimum(jnp.floor(u_value * count), count - 1).astype(jnp.int32)
        other = other + (other >= now)
        value = jnp.where(is_step, stepped(now, low, high, u_value, u_way), other)
        return jnp.where(jnp.arange(path.whole.shape[0]) == number, value, path.whole).astype(
            path.whole.dtype
        )

    def tell(
        self,
        key: UInt32[Array, " 2"],
        state: MixedHMCState,
        point: Point,
        pending: _Pending,
        tuning: Tuning,
        rarely: Rarely,
    ) -> tuple[MixedHMCState, Info]:
        """See `AbstractKernel.tell`."""
        path, is_turn, dtype = pending.path, pending.is_turn, pending.path.energy.dtype
        is_probe, all_turns = jnp.asarray(tuning.is_probe), self._num_turns
        after_step = kicked(tuning.metric, tuning.step_size, pending.half, point)
        after_jump = replace(after_step, position=path.end.position, momentum=path.end.momentum)
        change, at_jump = point.log_density - path.end.log_density, ending_of(point)
        u_jump = keys.uniform(key, pending.turn.astype(jnp.uint32), jnp.uint32(_JUMP), dtype)
        # A comparison with NaN is false: an entry does not jump to what is no number.
        is_jump = is_turn & (at_jump == Ending.GOOD) & (jnp.log(u_jump) < change)
        end = where(is_turn, where(is_jump, after_jump, path.end), after_step)
        energy = path.energy - jnp.where(is_jump, change, 0)
        num_steps, num_turns = path.num_steps + ~is_turn, path.num_turns + is_turn
        times = jnp.where(is_turn & (jnp.arange(all_turns) == pending.turn), _DONE, path.times)
        path = _Path(
            end,
            jnp.where(is_jump, pending.whole, path.whole),
            energy,
            path.first_energy,
            path.length,
            num_steps,
            times,
            num_turns,
            path.num_jumps + is_jump,
        )

        weight, at_step = weight_of_step(energy, kinetic_energy(tuning.metric, end.momentum), end.log_density)
        ratio = acceptance_of(weight)
        is_whole_path = (num_steps >= path.length) & (num_turns >= all_turns)
        is_complete = (at_step != Ending.GOOD) | is_whole_path | is_probe
        u_accept = keys.uniform(key, jnp.uint32(0), jnp.uint32(_ACCEPT), dtype)
        is_accepted = is_complete & ~is_probe & (at_step == Ending.GOOD) & (u_accept < ratio)

        def arrived(_: Point) -> Point:
            return Point(Position(end.position, path.whole), end.log_density, end.gradient)

        taken = rarely(is_accepted, arrived, state.point)
        before = jnp.where(state.is_fresh, Ending.GOOD, state.ending).astype(jnp.int32)
        is_first_bad = before == Ending.GOOD
        ending = jnp.where(is_first_bad, jnp.where(is_turn, at_jump, at_step), before)
        info = Info(
            is_complete=is_complete,
            acceptance=ratio,
            ending=ending,
            stats=stats_of(
                path.first_energy,
                num_steps,
                ratio,
                tuning.step_size,
                (path.num_jumps / all_turns).astype(dtype),
            ),
        )
        tried = where(is_first_bad, point.position, state.tried)
        return MixedHMCState(taken, is_complete, tried, ending, path), info
