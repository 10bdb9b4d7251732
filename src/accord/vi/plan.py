"""Plan a fit: its stages, and where its restarts begin."""

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..core.errors import OptionError
from ..core.pace import USUAL, Pace
from ..core.precision import Precision, float_dtype, scope
from ..density import LogDensity
from ..density.minibatch import Minibatch
from ..guides.base import AbstractGuide
from ..guides.full_rank import FullRank
from ..guides.laplace import Laplace
from ..guides.mean_field import MeanField
from ..mcmc.start.base import AbstractPoints
from ..optimise.view import MAX_DIM
from .each import are_side_by_side
from .measure import Measure
from .objectives import ELBO, IWAE, Curvature, FisherDivergence, FixedDraws, Height, Renyi, SteinDiscrepancy
from .objectives.base import AbstractObjective
from .placed import places_of
from .plateau import ELBOPlateau
from .restart import Restart
from .stage import Stage
from .steppers.newton import MOST_STEPS as MOST_STEPS_OF_NEWTON
from .turn import MAX_DIM as MOST_CORRELATED
from .written.by_entry import with_row
from .written.divergence import with_closed
from .written.guide import Written
from .written.options import check_objective

KIND = "fit"
"""Name of this method in a manifest."""

OWN = "yours"
"""How a manifest names an optimiser that was given."""

START, FIT = "start", "fit"
"""Phases of a restart: a mean field, in whose coordinates other guides are fitted; and the fit."""

NUM_LEVELS = 1
"""How often the steps of the default optimiser become ten times smaller before a fit ends."""

_MOST_CLIMBED = 20_000  # points of a climb
_MOST_BEGUN = 1000  # and of one over parts of the data, which only gives others a place to begin
_LONGEST = 10.0  # gradient by each parameter, in coordinates in which the posterior has spread 1


@dataclass(frozen=True)
class Plan:
    """Plan of every restart of a fit; plain values, so that it can be sent to a worker.

    **Fields**: `stages`, in order; `until`, the rule that may end a descent, or None; `points`, the candidates for
    starting points; `seed`; `num_restarts`; `precision`; `dim`; `pace`, how much is done at a time.
    """

    stages: tuple[Stage, ...]
    until: ELBOPlateau | None
    points: AbstractPoints
    seed: int
    num_restarts: int
    precision: Precision
    dim: int
    pace: Pace = USUAL

    @property
    def phases(self) -> tuple[str, ...]:
        """Phases of a restart, in order."""
        return tuple(stage.phase for stage in self.stages)

    def restart(self, number: int) -> Restart:
        """Return a restart before its first step."""
        if isinstance(
            self.stages[0].guide, Written
        ):  # which has no coordinates, and says itself where it begins
            return Restart(number, num_stages=1, frame=(np.zeros(0), np.ones(0)))
        return Restart(number, num_stages=len(self.stages))


def stages_of(
    density: LogDensity,
    guide: AbstractGuide,
    objective: AbstractObjective | None,
    optimizer: Any,
    num_steps: int,
    minibatch: Minibatch | None,
) -> tuple[Stage, ...]:
    """Choose what is not given, and return the stages.

    **Raises** `OptionError` for fixed draws with another guide, an optimiser of one's own, or minibatches.
    """
    is_written = isinstance(guide, Written)
    dim = 0 if is_written else density.dim
    dtype, is_default = float_dtype(density.program.precision), optimizer is None
    if isinstance(guide, Written):
        check_objective(objective, guide)
        if isinstance(objective, ELBO) and objective.kl == "analytic":
            guide = with_closed(guide, density, minibatch)
    else:
        guide = guide.placed(places_of(density.layout))
    if isinstance(guide, Laplace):
        _check_laplace(dim, objective, optimizer, minibatch)
        objective = Curvature()
    if objective is None:
        is_climbed = guide.is_factorised and optimizer is None and minibatch is None
        objective = SteinDiscrepancy() if guide.num_points else FixedDraws() if is_climbed else ELBO()
    _check_points(guide, objective)
    if isinstance(objective, ELBO) and objective.kl == "analytic" and not is_written:
        raise OptionError(
            f'objective: ELBO(kl="analytic") compares sites of a guide with those of the model, and {guide.label} has '
            "unconstrained numbers in their place. Leave kl out, or write the guide as a model."
        )
    if isinstance(objective, FixedDraws):
        _check_fixed(guide, optimizer, minibatch)
    if minibatch is not None and isinstance(objective, IWAE | Renyi):
        if not isinstance(guide, Written):
            raise OptionError(
                f"objective: {type(objective).__name__} takes the logarithm of a mean of weights, of which a part of "
                "the data gives no estimate without bias: the guide would come out too wide. Use infer.ELBO(), or "
                "leave subsample_size out."
            )
        guide = with_row(guide, density, minibatch, type(objective).__name__)
    if not guide.has_density and not guide.num_points:
        _check_paths(guide, objective, minibatch)
    is_matched = isinstance(objective, FisherDivergence)
    if is_matched:
        _check_matched(guide, optimizer, minibatch)

    def stage(
        phase: str, guide: AbstractGuide, objective: AbstractObjective, optimizer: Any, most: int
    ) -> Stage:
        num_draws = guide.num_points or (1 if guide.is_point else objective.num_draws(dim))
        is_side_by_side = are_side_by_side(density, num_draws)
        levels = NUM_LEVELS if is_default and not is_matched else 0
        measure = Measure(guide, objective, dim, dtype, is_side_by_side, minibatch)
        takes = (guide.is_affine or guide.is_widened) and not is_matched
        is_correlated = takes and minibatch is None and dim <= MOST_CORRELATED
        return Stage(phase, measure, optimizer, most, levels, is_correlated)

    if isinstance(guide, Laplace):
        climb = stage(START, MeanField(), Height(), None, max(num_steps, _MOST_CLIMBED))
        return climb, stage(FIT, guide, objective, None, MOST_STEPS_OF_NEWTON)
    is_climb = objective.is_fixed or (guide.is_point and optimizer is None and minibatch is None)
    if is_climb:
        return (stage(FIT, guide, objective, None, max(num_steps, _MOST_CLIMBED)),)
    most = _MOST_CLIMBED if minibatch is None else _MOST_BEGUN
    if guide.is_factorised and optimizer is not None:
        # Who asks for a mean field by steps asks for the cost of these: where to begin takes no more gradients.
        asked = num_steps * objective.num_draws(dim)
        most = min(most, max(asked // FixedDraws().num_draws(dim), 1))
    first = stage(START, MeanField(), FixedDraws(), None, most)
    if is_matched:
        return first, stage(FIT, guide, objective, None, num_steps)
    if optimizer is None:
        # A draw in a far tail has a gradient that others would take hundreds of steps to make up for.
        clip = optax.clip_by_global_norm(_LONGEST * math.sqrt(dim))
        adam = optax.adam(guide.rate)
        optimizer = adam if is_written else optax.chain(clip, adam)
    with scope(density.program.precision):
        _check_steps(optimizer, guide, dim, dtype)
    last = stage(FIT, guide, objective, optimizer, num_steps)
    if is_written or (guide.is_point and minibatch is None):
        return (last,)
    return first, last


def _check_steps(optimizer: Any, guide: AbstractGuide, dim: int, dtype: np.dtype) -> None:
    """Raise `OptionError` for an optimiser that needs more than a gradient."""
    taking = optax.with_extra_args_support(optimizer)

    def step(params: Any) -> Any:
        return taking.update(params, taking.init(params), params, value=jnp.zeros((), dtype), grad=params)

    try:
        jax.eval_shape(step, guide.start(np.zeros(2, np.uint32), dim, dtype))
    except Exception as error:
        raise OptionError(
            f"optimizer: it cannot take a step along a gradient ({error}). Those of optax that search along lines, "
            "such as optax.lbfgs(), need the function itself; infer.FixedDraws() climbs so by itself."
        ) from error


def _check_laplace(
    dim: int, objective: AbstractObjective | None, optimizer: Any, minibatch: Minibatch | None
) -> None:
    if minibatch is not None:
        raise OptionError(
            "Laplace needs all data for its second derivatives, and the model has a plate with `subsample_size`. "
            "Leave subsample_size out, or use infer.guides.FullRank()."
        )
    if not (objective is None or isinstance(objective, Curvature)) or optimizer is not None:
        raise OptionError(
            "Laplace raises no bound and takes no steps of an optimiser: leave out `objective=` and `optimizer=`, or "
            "use infer.guides.FullRank()."
        )
    if dim > MAX_DIM:
        raise OptionError(
            f"Laplace: the model has {dim} unconstrained numbers, of which the second derivatives would be a matrix; "
            f"at most {MAX_DIM} are taken. Use infer.guides.LowRank() or MeanField()."
        )


def _check_points(guide: AbstractGuide, objective: AbstractObjective) -> None:
    name, by = type(guide).__name__, type(objective).__name__
    if guide.num_points and not objective.moves_points:
        raise OptionError(
            f"{by} needs draws from a density, and {name} are points. Use infer.SteinDiscrepancy() or SteinMoments(), "
            "or another guide such as infer.guides.FullRank()."
        )
    if objective.moves_points and not guide.num_points:
        raise OptionError(
            f"{by} moves particles, and {name} is a distribution. Use infer.guides.Particles(), or infer.ELBO()."
        )


def _check_paths(guide: AbstractGuide, objective: AbstractObjective, minibatch: Minibatch | None) -> None:
    name = type(guide).__name__
    if not isinstance(objective, ELBO):
        raise OptionError(
            f"{type(objective).__name__} needs the density of the guide at its draws, and that of a {name} is not "
            "known. Use infer.ELBO(), or another guide such as infer.guides.Flow()."
        )
    if minibatch is not None:
        raise OptionError(
            f"{name}: its draws follow the gradient of all data, and the model has a plate with `subsample_size`. "
            "Leave subsample_size out, or use infer.guides.FullRank() or Flow()."
        )


def _check_matched(guide: AbstractGuide, optimizer: Any, minibatch: Minibatch | None) -> None:
    if not isinstance(guide, FullRank):
        raise OptionError(
            f"FisherDivergence: the scores of a {type(guide).__name__} cannot be matched by a formula. Use "
            "infer.guides.FullRank(), or infer.ELBO()."
        )
    if minibatch is not None:
        raise OptionError(
            "FisherDivergence needs all data at each step: gradients by a part of them would bias the covariance. Use "
            "infer.ELBO(), or leave subsample_size out."
        )
    if optimizer is not None:
        raise OptionError(
            "FisherDivergence has steps of its own, without step sizes: leave out `optimizer=`, or use infer.ELBO()."
        )


def _check_fixed(guide: AbstractGuide, optimizer: Any, minibatch: Minibatch | None) -> None:
    if not guide.is_factorised:
        raise OptionError(
            f"FixedDraws: over the same draws, the bound of a {type(guide).__name__} has no maximum: it would lie "
            "along the draws. Use infer.guides.MeanField(), or infer.ELBO()."
        )
    if minibatch is not None:
        raise OptionError(
            "FixedDraws needs all data at each step, and the model has a plate with `subsample_size`. Use "
            "infer.ELBO(), or leave subsample_size out."
        )
    if optimizer is not None:
        raise OptionError(
            "FixedDraws climbs by itself, without step sizes: leave out `optimizer=`, or use infer.ELBO()."
        )


def frame_after(params: dict[str, np.ndarray], location: np.ndarray, scale: np.ndarray) -> tuple[Any, Any]:
    """Return location and scale of the coordinates in which a fitted mean field is standard normal."""
    return location + scale * params["loc"], scale * np.exp(params["log_scale"])
