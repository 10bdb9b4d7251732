"""Draw with Hamiltonian Monte Carlo: trajectories of a random length, accepted by the Metropolis rule."""

from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.hamiltonian import Hamiltonian
from ..adaptation.metric import MetricForm, rank_for
from ..adaptation.tuning import Tuning
from ..core import keys
from ..core.options import checks_fields
from ..core.position import Position
from ..core.stats import Ending, Info, Stat
from ..core.tree import node
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
from .integrator import PhasePoint, drift, kicked
from .momentum import Momentum, force_at, kinetic_energy, thrown
from .options import check_trajectory, check_tuning
from .point import Point
from .rarely import Rarely, refreshed

# Streams of random numbers within one draw.
_MOMENTUM, _LENGTH, _ACCEPT = 0, 1, 2


@node
class HMCState(AbstractState):
    """A chain between two gradients: `end` is the current end of its trajectory."""

    point: Point
    is_fresh: Bool[Array, ""]
    end: PhasePoint
    energy: Float[Array, ""]
    length: Int[Array, ""]
    num_steps: Int[Array, ""]

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return replace(self.point.position, free=self.end.position)


@node
class _Pending:
    """A step between its two halves: the momentum half way, and energy and length of the trajectory."""

    half: Momentum
    energy: Float[Array, ""]
    length: Int[Array, ""]


@checks_fields
class HMC(AbstractKernel):
    """Hamiltonian Monte Carlo with a jittered trajectory length.

    The length of each trajectory is uniform on (0, 2 `trajectory_length`), drawn before the momentum, so that
    trajectories do not resonate with a period of the posterior. Prefer `NUTS`, which chooses the length by itself,
    unless the posterior is close to normal or you know the right length.

    **Fields**
    - `trajectory_length`: mean integration time, in whitened units (a standard normal has period 2 pi); > 0.
    - `target_accept`: target of step size adaptation: the mean acceptance probability; in (0, 1).
    - `metric`: the form of the metric (inverse mass matrix): `"diagonal"`, a scale for each coordinate; `"low_rank"`,
      with 16 more directions; `"dense"`, a full matrix, in up to 500 dimensions; `"marginal"`, scales as wide as the
      marginals, with up to 16 directions, for curved posteriors; or `"auto"`. That takes the form of the first
      three (dense in up to 64 dimensions) that fits held-out draws best, or the fourth if it is expected to save a
      third of the gradients. `draws.tuning` has the choice and its reason.
    - `max_steps`: maximal number of gradients per draw; >= 1.

    **Source**: Duane et al. (1987), Phys. Lett. B 195, 216-222; Neal (2011), section 5.4.2 for the jitter.

    **Example**

    >>> sampler = infer.HMC(trajectory_length=2.0)
    >>> infer.sample(eight_schools(sigma, y), sampler, draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    of_adaptation: ClassVar[tuple[str, ...]] = ("target_accept", "metric")
    stats: ClassVar[tuple[Stat, ...]] = (ENERGY, NUM_STEPS, ACCEPTANCE_RATE, STEP_SIZE)

    trajectory_length: float = eqx.field(static=True, default=1.5707963267948966, kw_only=True)
    target_accept: float = eqx.field(static=True, default=0.8, kw_only=True)
    metric: MetricForm = eqx.field(static=True, default="auto", kw_only=True)
    max_steps: int = eqx.field(static=True, default=1000, kw_only=True)

    def __check_init__(self) -> None:
        check_tuning("HMC", self.metric, self.target_accept)
        check_trajectory("HMC", self.trajectory_length, self.max_steps)

    @property
    def adaptation(self) -> Hamiltonian:
        """See `AbstractKernel.adaptation`."""
        return Hamiltonian(self.target_accept, self.metric)

    def init(self, point: Point) -> HMCState:
        """See `AbstractKernel.init`."""
        zero: Any = np.zeros((), point.position.free.dtype)
        count: Any = np.zeros((), np.int32)
        is_fresh: Any = np.ones((), bool)
        free = point.position.free
        end = PhasePoint.at_rest(free, rank_for(len(free), self.metric))
        return HMCState(point, is_fresh, end, zero, count, count)

    def ask(
        self, key: UInt32[Array, " 2"], state: HMCState, tuning: Tuning, rarely: Rarely
    ) -> tuple[Position, _Pending]:
        """See `AbstractKernel.ask`."""
        point, is_fresh, dtype = state.point, state.is_fresh, state.energy.dtype
        noise = refreshed(is_fresh, key, _MOMENTUM, state.end.momentum.vector, rarely)

        def begin(old: tuple[PhasePoint, Array, Array]) -> tuple[PhasePoint, Array, Array]:
            metric, momentum = tuning.metric, thrown(tuning.metric, old[0].momentum)
            u = keys.uniform(key, jnp.uint32(0), jnp.uint32(_LENGTH), dtype)
            length = jnp.ceil(2 * self.trajectory_length * u / tuning.step_size)
            length = jnp.clip(length, 1, self.max_steps).astype(jnp.int32)
            energy = kinetic_energy(metric, momentum) - point.log_density
            force = force_at(metric, point.gradient, momentum)
            return (
                PhasePoint(point.position.free, momentum, force, point.gradient, point.log_density),
                energy,
                length,
            )

        old = (
            replace(state.end, momentum=replace(state.end.momentum, vector=noise)),
            state.energy,
            state.length,
        )
        end, energy, length = rarely(is_fresh, begin, old)
        position, half = drift(tuning.metric, tuning.step_size, end.position, end.momentum, end.force)
        return replace(point.position, free=position), _Pending(half, energy, length)

    def tell(
        self,
        key: UInt32[Array, " 2"],
        state: HMCState,
        point: Point,
        pending: _Pending,
        tuning: Tuning,
        rarely: Rarely,
    ) -> tuple[HMCState, Info]:
        """See `AbstractKernel.tell`."""
        energy, length, dtype = pending.energy, pending.length, state.energy.dtype
        num_steps = jnp.where(state.is_fresh, 0, state.num_steps) + 1
        end = kicked(tuning.metric, tuning.step_size, pending.half, point)
        weight, ending = weight_of_step(energy, kinetic_energy(tuning.metric, end.momentum), end.log_density)
        ratio = acceptance_of(weight)
        is_complete = (ending != Ending.GOOD) | (num_steps >= length) | tuning.is_probe
        u_accept = keys.uniform(key, jnp.uint32(0), jnp.uint32(_ACCEPT), dtype)
        is_accepted = (
            is_complete & ~jnp.asarray(tuning.is_probe) & (ending == Ending.GOOD) & (u_accept < ratio)
        )
        taken = rarely(is_accepted, lambda _: point, state.point)
        # Only the end is a candidate, so only its energy error says how well the step size fits.
        info = Info(
            is_complete=is_complete,
            acceptance=ratio,
            ending=ending,
            stats=stats_of(energy, num_steps, ratio, tuning.step_size),
        )
        return HMCState(taken, is_complete, end, energy, length, num_steps), info
