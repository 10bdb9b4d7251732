"""Draw the parameters of a series by a random walk on estimates of their likelihood, and states beside them."""

import math
from dataclasses import replace
from typing import Any, ClassVar, Self

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..adaptation.robust import Robust
from ..core import keys
from ..core.errors import OptionError, StorageError
from ..core.guided import Lookahead, Proposal, check_functions
from ..core.options import checks_fields, positive_count
from ..core.position import Position
from ..core.stats import Ending, Info, Stat
from ..core.tree import node, where
from .base import ACCEPTANCE_RATE, AbstractKernel, AbstractState, acceptance_of, ending_of, name_of, stats_of
from .formula import Draw, Marginal
from .options import check_tuning
from .places import Part, Places, listed
from .point import Point

_PROPOSE, _ACCEPT, _FILTER, _ENTER = 0, 1, 2, 3  # streams of random numbers

_FIRST_STEP = 0.1  # of the walk: acceptances are too noisy for a search
_MOST_PARTICLES = 2**16

ESTIMATE, NUM_BAD = Stat("log_density_estimate"), Stat("weights_not_finite", "int32")
"""The estimate that the draw keeps, and the particles of its proposal whose weight was no number."""


@node
class EstimatedState(AbstractState):
    """A chain with the `estimate` that it keeps, of the log density of the parameters where it stands.

    A fresh one has none: its next evaluation makes it, before the first proposal.
    """

    point: Point
    is_fresh: Bool[Array, ""]
    tried: Position
    estimate: Float[Array, ""]

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return self.tried


@node
class _Pending:
    """A filter that was run: its `estimate`, and `num_bad` of its weights; `noise`, the step that led there."""

    estimate: Float[Array, ""]
    num_bad: Int[Array, ""]
    noise: Float[Array, " parameter"]


@checks_fields
class PMMH(AbstractKernel):
    """Particle marginal Metropolis-Hastings: parameters of a series written by `ac.scan`, with states integrated out.

    A random walk proposes parameters, and a particle filter estimates how likely they make the data. The estimate is
    noisy, and the draws are those of the exact posterior all the same: its exponential is unbiased, and it stays with
    the accepted point until another point is accepted. One trajectory of the filter is kept with it, so that draws hold
    all states too. States may be discrete; parameters may not.

    Use it where parameters and states depend on each other so strongly that `ParticleGibbs` in `Gibbs` mixes slowly,
    and parameters are few: up to ten or so. A draw costs a filter. It moves all unknowns of the model, and so it is no
    block of `Gibbs`.

    **Fields**
    - `particles`: of each filter; in [2, 65536]. None takes as many as make the standard deviation of the estimate
      about 1.2 at a central point, which a pilot finds: a short run before the others, from draws of the prior. Chains
      start where it has been, unless there is an `init=`.
    - `proposal`, `lookahead`: functions of `(values, carry, x)`, as of `infer.filter`, by which particles look at the
      data before they move; `values` are the parameters by name. Where observations say much, fewer particles do. A
      stored run does not hold the functions: give them, `infer.resume(path, model, sampler=infer.PMMH(...))`.
    - `target_accept`: acceptance rate that the walk is tuned to, as `RandomWalk(metric="robust")` is; in (0, 1).
    - `estimate_sd`: leave it out. The standard deviation of the estimate at a central point, which the pilot measures;
      `draws.manifest["sampler"]` has it and the number of particles. If it is given, there is no pilot.

    `draws.stats["log_density_estimate"]` is the estimate of the log density of the parameters, in unconstrained space.

    **Raises** `OptionError` before a run for a density that is cut or summed over, for discrete parameters, and without
    any parameter; `SiteError` for a model that has no series; `ModelError` if no particle is left wherever it looks.

    **Source**: Andrieu, Doucet & Holenstein (2010), J. R. Statist. Soc. B 72(3), 269-342; the noise that costs least:
    Doucet, Pitt, Deligiannidis & Kohn (2015), Biometrika 102(2), 295-313; the acceptance rate, for that noise:
    Sherlock, Thiery, Roberts & Rosenthal (2015), Annals of Statistics 43(1), 238-275.

    **Example**

    >>> infer.sample(level(flow), infer.PMMH(particles=20), draws=200, chains=2, quiet=True)
    <Draws of level: 2 chains x 200 draws; drift, x[4]>
    """

    of_adaptation: ClassVar[tuple[str, ...]] = ("target_accept", "estimate_sd")
    stats: ClassVar[tuple[Stat, ...]] = (ACCEPTANCE_RATE, ESTIMATE, NUM_BAD)
    is_plain: ClassVar[bool] = False
    has_memory: ClassVar[bool] = True
    needs_series: ClassVar[bool] = True
    needs_gradient: ClassVar[bool] = False
    whole_if_discrete: ClassVar[Any] = ...

    particles: int | None = eqx.field(static=True, default=None)
    proposal: Proposal | None = eqx.field(static=True, default=None, kw_only=True)
    lookahead: Lookahead | None = eqx.field(static=True, default=None, kw_only=True)
    target_accept: float = eqx.field(static=True, default=0.15, kw_only=True)
    estimate_sd: float | None = eqx.field(static=True, default=None, kw_only=True)
    places: Places | None = eqx.field(static=True, default=None, kw_only=True)
    draw: Draw | None = eqx.field(static=True, default=None, kw_only=True)

    def __check_init__(self) -> None:
        check_tuning("PMMH", "auto", self.target_accept)
        if self.particles is not None:
            positive_count("PMMH: particles", self.particles, 2, _MOST_PARTICLES)
        check_functions("PMMH", self.proposal, self.lookahead)
        if self.estimate_sd is not None and not self.estimate_sd >= 0:
            raise OptionError(
                f"PMMH: estimate_sd is measured, and cannot be {self.estimate_sd!r}. Leave it out."
            )

    def placed(self, places: Places) -> Self:
        """See `AbstractKernel.placed`."""
        parameters = [each for each in places if each.name not in places.series]
        if not parameters:
            raise OptionError(
                f"PMMH: all unknowns are states of the series ({listed(places.series)}), so that there is no parameter "
                "to move. Use infer.ParticleGibbs(), or infer.filter."
            )
        if whole := [each.name for each in parameters if each.is_whole]:
            raise OptionError(
                f"PMMH: the parameter {whole[0]!r} is discrete, and the random walk moves free numbers. Move it by a "
                f"block, as by `infer.Gibbs({{{places.series!r}: infer.ParticleGibbs(), {whole[0]!r}: "
                "infer.DiscreteGibbs(), ...: infer.NUTS()})`."
            )
        return replace(self, places=places)

    @property
    def _part(self) -> Part:
        """The parameters in a position."""
        places = self.places
        assert places is not None, "a kernel that draws is placed before its run"
        return places.part([name for name in places.names if name not in places.series])[1]

    @property
    def formulas(self) -> tuple[Marginal, ...]:
        """See `AbstractKernel.formulas`."""
        assert self.places is not None, "a kernel that draws is placed before its run"
        assert self.particles is not None, "a pilot has found the number of particles"
        return (Marginal(self.places.series, self.particles, self.proposal, self.lookahead),)

    @property
    def compiled(self) -> "PMMH":
        """See `AbstractKernel.compiled`: what the functions compute is compared in their place."""
        kernel: Any = super().compiled
        return replace(kernel, proposal=None, lookahead=None)

    def bound(self, draws: tuple[Draw, ...]) -> Self:
        """See `AbstractKernel.bound`."""
        (draw,) = draws
        return replace(self, draw=draw)

    def described(self) -> dict[str, Any]:
        """See `AbstractKernel.described`."""
        sd = self.estimate_sd
        functions = {"proposal": self.proposal, "lookahead": self.lookahead}
        return {
            "name": type(self).__name__,
            "particles": self.particles,
            "target_accept": self.target_accept,
            "estimate_sd": None if sd is None or not math.isfinite(sd) else sd,
            **{word: name_of(function) for word, function in functions.items() if function is not None},
        }

    @classmethod
    def from_described(cls, options: dict[str, Any], build: Any) -> Self:
        """See `AbstractKernel.from_described`.

        **Raises** `StorageError` where the run had functions, of which a manifest has the names alone.
        """
        del build
        for word in ("proposal", "lookahead"):
            if word in options:
                raise StorageError(
                    f"the run used infer.PMMH with the {word} {options[word]}, and a stored run has the name of a "
                    "function alone. Give it: infer.resume(path, model, sampler=infer.PMMH(...))."
                )
        return cls(**options)

    @property
    def adaptation(self) -> Robust:
        """See `AbstractKernel.adaptation`."""
        return Robust(self.target_accept, tuple(self._part.columns().tolist()), _FIRST_STEP)

    def init(self, point: Point) -> EstimatedState:
        """See `AbstractKernel.init`."""
        is_fresh: Any = np.ones((), bool)
        nothing: Any = np.full((), -np.inf, point.position.free.dtype)
        return EstimatedState(point, is_fresh, point.position, nothing)

    def ask(self, key: Any, state: EstimatedState, tuning: Any, rarely: Any) -> tuple[Position, _Pending]:
        """See `AbstractKernel.ask`: at proposed parameters, or those of the start, with states of a filter there."""
        draw, part, here = self.draw, self._part, state.point.position
        assert draw is not None, "a kernel that draws is bound to its draws"
        noise = keys.normal(key, part.dim, _PROPOSE, here.free.dtype)
        own = part.position(here)
        step = jnp.where(state.is_fresh, 0, tuning.step_size * tuning.metric.push(noise))
        there = part.put(here, replace(own, free=own.free + step))
        use = jnp.where(state.is_fresh, _ENTER, _FILTER).astype(jnp.uint32)
        found = draw(there, keys.fold(key, use))
        return found.position, _Pending(found.log_density, found.num_bad, noise)

    def tell(
        self, key: Any, state: EstimatedState, point: Point, pending: _Pending, tuning: Any, rarely: Any
    ) -> tuple[EstimatedState, Info]:
        """See `AbstractKernel.tell`: the estimate stays with the point."""
        ending, dtype, is_entering = ending_of(point), point.log_density.dtype, state.is_fresh
        # A trajectory that rounding has led out of the support is no draw.
        is_possible = (ending == Ending.GOOD) & (point.log_density > -jnp.inf)
        estimate = jnp.where(is_possible, pending.estimate, -jnp.inf)
        # Of two that are -inf, the ratio is no number. From -inf, all that is finite is accepted.
        log_ratio = estimate - state.estimate
        ratio = jnp.where(jnp.isnan(log_ratio), 0, acceptance_of(log_ratio)).astype(dtype)
        is_accepted = keys.uniform(key, jnp.uint32(0), jnp.uint32(_ACCEPT), dtype) < ratio
        is_taken = (is_accepted | is_entering) & (estimate > -jnp.inf)
        kept = jnp.where(is_taken, estimate, jnp.where(is_entering, -jnp.inf, state.estimate))
        # A fresh chain would estimate anew where it stands.
        moved = EstimatedState(where(is_taken, point, state.point), jnp.zeros((), bool), point.position, kept)
        stats = stats_of(ratio, kept, pending.num_bad)
        return moved, Info(~is_entering, ratio, ending, stats, seen=pending.noise)
