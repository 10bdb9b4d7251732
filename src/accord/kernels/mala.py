"""Draw with the Metropolis-adjusted Langevin algorithm: one step along the gradient, with noise."""

from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..adaptation.hamiltonian import Hamiltonian
from ..adaptation.metric import MetricForm
from ..core import keys
from ..core.options import checks_fields
from ..core.stats import Info, Stat
from ..core.tree import node
from .base import ACCEPTANCE_RATE, STEP_SIZE, AbstractKernel, Standing, stats_of, weight_of_step
from .integrator import drift, kicked
from .momentum import Momentum, force_at, kinetic_energy
from .options import check_tuning
from .point import Point

_MOMENTUM, _ACCEPT = 0, 1  # streams of random numbers


@node
class _Pending:
    """A step between its two halves: the energy at its start, and the momentum half way."""

    energy: Float[Array, ""]
    half: Momentum


@checks_fields
class MALA(AbstractKernel):
    """Metropolis-adjusted Langevin algorithm: one gradient a draw.

    A draw is a Hamiltonian trajectory of one step, after which the chain forgets its direction. Prefer `NUTS`, which
    goes on while that pays.

    **Fields**: `target_accept`, acceptance rate that the step size is tuned to; in (0, 1). `metric`, as for `NUTS`.

    **Source**: Rossky, Doll & Friedman (1978); Roberts & Tweedie (1996), Bernoulli 2(4); 0.574 is that of Roberts &
    Rosenthal (1998), J. R. Statist. Soc. B 60(1).

    **Example**

    >>> infer.sample(eight_schools(sigma, y), infer.MALA(), draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    of_adaptation: ClassVar[tuple[str, ...]] = ("target_accept", "metric")
    stats: ClassVar[tuple[Stat, ...]] = (ACCEPTANCE_RATE, STEP_SIZE)
    target_accept: float = eqx.field(static=True, default=0.574, kw_only=True)
    metric: MetricForm = eqx.field(static=True, default="auto", kw_only=True)

    def __check_init__(self) -> None:
        check_tuning("MALA", self.metric, self.target_accept)

    @property
    def adaptation(self) -> Hamiltonian:
        """See `AbstractKernel.adaptation`."""
        return Hamiltonian(self.target_accept, self.metric)

    def init(self, point: Point) -> Standing:
        """See `AbstractKernel.init`."""
        return Standing.at(point)

    def ask(self, key: Any, state: Standing, tuning: Any, rarely: Any) -> Any:
        """See `AbstractKernel.ask`."""
        point, position = state.point, state.point.position
        momentum = Momentum(keys.normal(key, position.free.shape[0], _MOMENTUM, position.free.dtype))
        force = force_at(tuning.metric, point.gradient, momentum)
        energy = kinetic_energy(tuning.metric, momentum) - point.log_density
        free, half = drift(tuning.metric, tuning.step_size, position.free, momentum, force)
        return replace(position, free=free), _Pending(energy, half)

    def tell(
        self, key: Any, state: Standing, point: Point, pending: _Pending, tuning: Any, rarely: Any
    ) -> Any:
        """See `AbstractKernel.tell`."""
        end = kicked(tuning.metric, tuning.step_size, pending.half, point)
        kinetic = kinetic_energy(tuning.metric, end.momentum)
        log_ratio, ending = weight_of_step(pending.energy, kinetic, point.log_density)
        moved, ratio, _ = state.decided(key, _ACCEPT, point, log_ratio, tuning.is_probe)
        return moved, Info(jnp.ones((), bool), ratio, ending, stats_of(ratio, tuning.step_size))
