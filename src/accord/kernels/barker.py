"""Draw with Barker's proposal: a random step whose direction the gradient makes likely, not long."""

from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ..adaptation.hamiltonian import Hamiltonian
from ..adaptation.metric import MetricForm
from ..core import keys
from ..core.options import checks_fields
from ..core.stats import Info, Stat
from .base import ACCEPTANCE_RATE, STEP_SIZE, AbstractKernel, Standing, stats_of
from .options import check_tuning
from .point import Point
from .vectors import added_up

_NOISE, _SIGN, _ACCEPT = 0, 1, 2  # streams of random numbers


@checks_fields
class Barker(AbstractKernel):
    """Barker's proposal: one gradient a draw, and little harm from a wrong step size.

    In whitened units each coordinate takes a normal step, which goes uphill with a probability that the gradient sets.
    However steep the posterior, no step is longer than its noise: so it moves where `MALA` would be refused, as it does
    next to the edge of a support. In smooth posteriors an effective draw takes some more gradients. Prefer `NUTS`.

    **Fields**: `target_accept`, acceptance rate that the step size is tuned to; in (0, 1). `metric`, as for `NUTS`.

    **Source**: Livingstone & Zanella (2022), J. R. Statist. Soc. B 84(2), 496-523, algorithm 1; 0.4 is the rate of
    their experiments.

    **Example**

    >>> infer.sample(eight_schools(sigma, y), infer.Barker(), draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    of_adaptation: ClassVar[tuple[str, ...]] = ("target_accept", "metric")
    stats: ClassVar[tuple[Stat, ...]] = (ACCEPTANCE_RATE, STEP_SIZE)
    target_accept: float = eqx.field(static=True, default=0.4, kw_only=True)
    metric: MetricForm = eqx.field(static=True, default="auto", kw_only=True)

    def __check_init__(self) -> None:
        check_tuning("Barker", self.metric, self.target_accept)

    @property
    def adaptation(self) -> Hamiltonian:
        """See `AbstractKernel.adaptation`."""
        return Hamiltonian(self.target_accept, self.metric)

    def init(self, point: Point) -> Standing:
        """See `AbstractKernel.init`."""
        return Standing.at(point)

    def ask(self, key: Any, state: Standing, tuning: Any, rarely: Any) -> Any:
        """See `AbstractKernel.ask`."""
        position, force = state.point.position, tuning.metric.pull(state.point.gradient)
        dim, dtype = force.shape[0], force.dtype
        noise = tuning.step_size * keys.normal(key, dim, _NOISE, dtype)
        counters = jnp.arange(dim, dtype=jnp.uint32)
        uniform = keys.uniform(key, counters, jnp.full_like(counters, _SIGN), dtype)
        move = jnp.where(uniform < jax.nn.sigmoid(noise * force), noise, -noise)
        free = position.free + tuning.metric.push(move)
        return replace(position, free=free), (move, force)

    def tell(self, key: Any, state: Standing, point: Point, pending: Any, tuning: Any, rarely: Any) -> Any:
        """See `AbstractKernel.tell`."""
        move, force = pending
        back = tuning.metric.pull(point.gradient)
        # log sigmoid(-move back) - log sigmoid(move force): the densities of both noises are the same.
        of_signs = added_up(_softplus(-move * force) - _softplus(move * back))
        log_ratio = point.log_density - state.point.log_density + of_signs
        moved, ratio, ending = state.decided(key, _ACCEPT, point, log_ratio, tuning.is_probe)
        return moved, Info(jnp.ones((), bool), ratio, ending, stats_of(ratio, tuning.step_size))


def _softplus(x: Any) -> Any:
    return jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x)))
