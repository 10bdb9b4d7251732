"""Draw by a random walk: Metropolis's algorithm with normal proposals."""

from dataclasses import replace
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..adaptation.base import AbstractChainAdaptation
from ..adaptation.hamiltonian import Hamiltonian
from ..adaptation.metric import METRICS, MetricForm
from ..adaptation.robust import Robust
from ..core import keys
from ..core.options import checks_fields
from ..core.stats import Info, Stat
from .base import ACCEPTANCE_RATE, STEP_SIZE, AbstractKernel, Standing, stats_of
from .options import check_tuning
from .point import Point

_PROPOSAL, _ACCEPT = 0, 1  # streams of random numbers


@checks_fields
class RandomWalk(AbstractKernel):
    """Random-walk Metropolis with normal proposals, whose covariance warm-up learns: one evaluation a draw.

    Prefer `NUTS`. Gradients are computed too; the chain never moves to where one is not finite.

    **Fields**: `target_accept`, acceptance rate that proposals are tuned to; in (0, 1). `metric`: the forms of `NUTS`
    are learnt from draws and their gradients; `"robust"`, a full covariance in up to 500 dimensions, is learnt from
    acceptances alone, for densities whose gradients say nothing, and needs many times as many draws of warm-up.

    **Source**: Metropolis et al. (1953); 0.234 is that of Roberts, Gelman & Gilks (1997), Ann. Appl. Probab. 7(1); the
    robust covariance is that of Vihola (2012), Statistics and Computing 22(5).

    **Example**

    >>> infer.sample(eight_schools(sigma, y), infer.RandomWalk(), draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    of_adaptation: ClassVar[tuple[str, ...]] = ("target_accept",)
    stats: ClassVar[tuple[Stat, ...]] = (ACCEPTANCE_RATE, STEP_SIZE)
    target_accept: float = eqx.field(static=True, default=0.234, kw_only=True)
    metric: MetricForm | Literal["robust"] = eqx.field(static=True, default="auto", kw_only=True)

    def __check_init__(self) -> None:
        check_tuning("RandomWalk", self.metric, self.target_accept, ("robust", *METRICS))

    @property
    def adaptation(self) -> AbstractChainAdaptation:
        if self.metric == "robust":
            return Robust(self.target_accept)
        return Hamiltonian(self.target_accept, self.metric)

    def init(self, point: Point) -> Standing:
        return Standing.at(point)

    def blank_info(self, point: Point) -> Info:
        return replace(super().blank_info(point), seen=np.zeros_like(point.position.free))

    def ask(self, key: Any, state: Standing, tuning: Any, rarely: Any) -> Any:
        position = state.point.position
        noise = keys.normal(key, position.free.shape[0], _PROPOSAL, position.free.dtype)
        return replace(position, free=position.free + tuning.step_size * tuning.metric.push(noise)), noise

    def tell(self, key: Any, state: Standing, point: Point, pending: Any, tuning: Any, rarely: Any) -> Any:
        log_ratio = point.log_density - state.point.log_density
        moved, ratio, ending = state.decided(key, _ACCEPT, point, log_ratio, tuning.is_probe)
        return moved, Info(jnp.ones((), bool), ratio, ending, stats_of(ratio, tuning.step_size), seen=pending)
