"""Draw by a random walk: Metropolis's algorithm with normal proposals."""

from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from ..adaptation.hamiltonian import Hamiltonian
from ..adaptation.metric import MetricForm
from ..core import keys
from ..core.options import checks_fields
from ..core.stats import Info, Stat
from .base import ACCEPTANCE_RATE, STEP_SIZE, AbstractKernel, Standing, stats_of
from .options import check_tuning
from .point import Point

_PROPOSAL, _ACCEPT = 0, 1  # streams of random numbers


@checks_fields
class RandomWalk(AbstractKernel):
    """Random-walk Metropolis, with proposals as wide as the metric says: one evaluation a draw.

    Prefer `NUTS`. Gradients are computed too, for the metric; the chain never moves to where one is not finite.

    **Fields**: `target_accept`, acceptance rate that the width of proposals is tuned to; `metric`, as for `NUTS`.

    **Source**: Metropolis et al. (1953); 0.234 is that of Roberts, Gelman & Gilks (1997), Ann. Appl. Probab. 7(1).

    **Example**

    >>> infer.sample(eight_schools(sigma, y), infer.RandomWalk(), draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    of_adaptation: ClassVar[tuple[str, ...]] = ("target_accept", "metric")
    stats: ClassVar[tuple[Stat, ...]] = (ACCEPTANCE_RATE, STEP_SIZE)
    target_accept: float = eqx.field(static=True, default=0.234, kw_only=True)
    metric: MetricForm = eqx.field(static=True, default="auto", kw_only=True)

    def __check_init__(self) -> None:
        check_tuning("RandomWalk", self.metric, self.target_accept)

    @property
    def adaptation(self) -> Hamiltonian:
        return Hamiltonian(self.target_accept, self.metric)

    def init(self, point: Point) -> Standing:
        return Standing.at(point)

    def ask(self, key: Any, state: Standing, tuning: Any, rarely: Any) -> Any:
        position = state.point.position
        noise = keys.normal(key, position.free.shape[0], _PROPOSAL, position.free.dtype)
        return replace(position, free=position.free + tuning.step_size * tuning.metric.push(noise)), None

    def tell(self, key: Any, state: Standing, point: Point, pending: None, tuning: Any, rarely: Any) -> Any:
        log_ratio = point.log_density - state.point.log_density
        moved, ratio, ending = state.decided(key, _ACCEPT, point, log_ratio, tuning.is_probe)
        return moved, Info(jnp.ones((), bool), ratio, ending, stats_of(ratio, tuning.step_size))
