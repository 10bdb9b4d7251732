"""Draw with Hamiltonian Monte Carlo in many chains at once, with equal numbers of steps."""

from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.ensemble import Moves
from ..adaptation.metric import MetricForm
from ..adaptation.pooled import Pooled
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
    AbstractState,
    acceptance_of,
    stats_of,
    weight_of_step,
)
from .integrator import PhasePoint, drift, kicked
from .momentum import Momentum, force_at, kinetic_energy
from .options import check_trajectory, check_tuning, is_count
from .point import Point
from .population import AbstractPopulation
from .rarely import Rarely

# Streams of random numbers within one draw.
_MOMENTUM, _ACCEPT = 0, 1


@node
class ChEESState(AbstractState):
    """A chain between two gradients: `end` is where the trajectory has come to; `has_ended`, whether badly."""

    point: Point
    is_fresh: Bool[Array, ""]
    end: PhasePoint
    energy: Float[Array, ""]
    num_steps: Int[Array, ""]
    has_ended: Bool[Array, ""]

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return replace(self.point.position, free=self.end.position)


@node
class _Pending:
    """A step between its two halves: where it began, the momentum half way, and the energy of the trajectory."""

    end: PhasePoint
    half: Momentum
    energy: Float[Array, ""]


@checks_fields
class ChEES(AbstractPopulation):
    """Hamiltonian Monte Carlo for many chains that learn together and move in step.

    Use it for tens to thousands of chains, with a warm-up of a few hundred draws; with fewer chains prefer `NUTS`. All
    chains share the metric, the step size and the trajectory length, which warm-up learns from all of them. They also
    share the number of steps of each draw, so that no chain waits for another in the vectorized program. A run is one
    group: no chain can be run alone.

    **Fields**
    - `trajectory_length`: mean integration time at the start, in whitened units (a standard normal has period 2 pi);
      > 0. Each draw has its own, spread evenly over (0, twice the mean) by a sequence that all chains share.
    - `target_accept`: target of step size adaptation: the harmonic mean of the acceptance probability over chains; in
      (0, 1).
    - `metric`: the form of the metric, as for `NUTS`; `"auto"` does not try `"marginal"`, since trajectories here adapt
      to the widest direction.
    - `max_steps`: maximal number of gradients per draw; >= 1.
    - `superchains`: number of sets of chains with a common starting point, for nested R-hat, which then shows whether
      chains have forgotten their starting points. At least 2; it must divide the number of chains. None: each chain has
      its own.

    **Source**: Hoffman, Radul & Sountsov (2021), "An adaptive-MCMC scheme for setting trajectory lengths in
    Hamiltonian Monte Carlo", AISTATS. Margossian et al. (2024), Bayesian Analysis, for superchains. The pooled metric
    and the least trajectory length are departures: see `adaptation.ensemble`.

    **Example**

    >>> infer.sample(eight_schools(sigma, y), infer.ChEES(), draws=50, chains=16, quiet=True)
    <Draws of eight_schools: 16 chains x 50 draws; mu, tau, z[8], theta[8]>
    """

    stats: ClassVar[tuple[Stat, ...]] = (ENERGY, NUM_STEPS, ACCEPTANCE_RATE, STEP_SIZE)

    trajectory_length: float = eqx.field(static=True, default=1.0, kw_only=True)
    target_accept: float = eqx.field(static=True, default=0.651, kw_only=True)
    metric: MetricForm = eqx.field(static=True, default="auto", kw_only=True)
    max_steps: int = eqx.field(static=True, default=1000, kw_only=True)
    superchains: int | None = eqx.field(static=True, default=None, kw_only=True)

    def __check_init__(self) -> None:
        check_tuning("ChEES", self.metric, self.target_accept)
        check_trajectory("ChEES", self.trajectory_length, self.max_steps)
        if self.superchains is not None and not is_count(self.superchains, 2):
            raise OptionError(
                f"ChEES: superchains must be None or an integer of at least 2, got {self.superchains!r}."
            )

    @property
    def adaptation(self) -> Pooled:
        """See `AbstractKernel.adaptation`."""
        return Pooled(self.target_accept, self.metric, self.trajectory_length, self.max_steps)

    @property
    def compiled(self) -> "ChEES":
        """See `AbstractKernel.compiled`."""
        return ChEES(max_steps=self.max_steps)

    def init(self, point: Point) -> ChEESState:
        """See `AbstractKernel.init`."""
        zero: Any = np.zeros((), point.position.free.dtype)
        count: Any = np.zeros((), np.int32)
        is_fresh: Any = np.ones((), bool)
        has_ended: Any = np.zeros((), bool)
        end = PhasePoint.at_rest(point.position.free, rank=0)  # whitened, which the moves that it tells need
        return ChEESState(point, is_fresh, end, zero, count, has_ended)

    def ask(
        self, key: UInt32[Array, " 2"], state: ChEESState, tuning: Tuning, rarely: Rarely
    ) -> tuple[Position, _Pending]:
        """See `AbstractKernel.ask`."""
        point, fresh = state.point, state.is_fresh
        dim, dtype = point.position.free.shape[0], point.position.free.dtype

        def refresh(_: Any) -> tuple[Momentum, Momentum]:
            momentum = Momentum(keys.normal(key, dim, _MOMENTUM, dtype))
            return momentum, force_at(tuning.metric, point.gradient, momentum)

        nothing = Momentum(jnp.zeros(dim, dtype))
        momentum, force = rarely(fresh, refresh, (nothing, nothing))
        start = PhasePoint(point.position.free, momentum, force, point.gradient, point.log_density)
        end = where(fresh, start, state.end)
        energy = jnp.where(fresh, kinetic_energy(tuning.metric, momentum) - point.log_density, state.energy)
        position, half = drift(tuning.metric, tuning.step_size, end.position, end.momentum, end.force)
        return replace(point.position, free=position), _Pending(end, half, energy)

    def tell(
        self,
        key: UInt32[Array, " 2"],
        state: ChEESState,
        point: Point,
        pending: _Pending,
        tuning: Tuning,
        rarely: Rarely,
    ) -> tuple[ChEESState, Info]:
        """See `AbstractKernel.tell`. A trajectory that has ended badly waits where it ended for the others."""
        fresh, energy, dtype = state.is_fresh, pending.energy, state.energy.dtype
        num_steps = jnp.where(fresh, 0, state.num_steps) + 1
        moved = kicked(tuning.metric, tuning.step_size, pending.half, point)
        end = where(~fresh & state.has_ended, pending.end, moved)
        weight, ending = weight_of_step(energy, kinetic_energy(tuning.metric, end.momentum), end.log_density)
        has_ended = ending != Ending.GOOD
        ratio = jnp.where(has_ended, 0, acceptance_of(weight))
        is_complete = (num_steps >= (1 if tuning.num_steps is None else tuning.num_steps)) | tuning.is_probe

        def accept(_: Any) -> Array:
            return keys.uniform(key, jnp.uint32(0), jnp.uint32(_ACCEPT), dtype) < ratio

        is_accepted = rarely(is_complete, accept, jnp.zeros((), bool))
        is_accepted &= ~jnp.asarray(tuning.is_probe)
        at = replace(state.point.position, free=end.position)
        new = Point(at, end.log_density, end.gradient)
        taken = where(is_accepted, new, state.point)
        info = Info(
            is_complete=is_complete,
            acceptance=ratio,
            ending=ending,
            stats=stats_of(energy, num_steps, ratio, tuning.step_size),
        )
        return ChEESState(taken, is_complete, end, energy, num_steps, has_ended), info

    def seen(
        self, before: ChEESState, after: ChEESState, info: Info, tuning: Tuning, moves: Bool[Array, " chain"]
    ) -> Moves:
        """See `AbstractPopulation.seen`."""
        start, end, weight = before.point.position.free, after.end, moves.astype(info.acceptance.dtype)
        assert tuning.num_steps is not None
        return Moves(start, end.position, end.momentum.vector, info.acceptance, weight, tuning.num_steps)
