"""Fit a guide to a posterior."""

import time
from collections.abc import Sequence
from typing import Any

from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_options, positive_count
from ..core.precision import Precision, scope
from ..density import LogDensity
from ..density.latent import SubsampledError
from ..density.minibatch import Minibatch, minibatch_of
from ..executors import AbstractExecutor, Threads
from ..guides import MeanField
from ..guides.base import AbstractGuide
from ..language import Model
from ..language.model import ModelFunction
from ..mcmc.start.base import AbstractPoints, AbstractStart
from ..mcmc.start.choose import KEPT, Init, start_of
from ..mcmc.start.uniform import UniformPoints
from ..report import AbstractProgress
from ..runs.carry_out import carry_out, closed_on_error
from ..runs.interrupts import Interrupts
from ..runs.method import RunRequest
from ..runs.requests import check_kind, check_kinds, density_of, display
from ..storage import AbstractRun, AbstractStore, Memory
from .host import FitHost
from .machine import VI
from .objectives.base import AbstractObjective
from .plan import OWN, Plan, stages_of
from .plateau import ELBOPlateau
from .restart import Restart
from .result import Fit
from .stored import describe
from .written.guide import Written
from .written.options import check_start
from .written.paired import written_for
from .written.rows import watched

_MOST = 2**16  # restarts
WORDS = ("restart", "steps")
"""For a unit of a fit, and what is done in it."""


@checks_options
def fit(
    target: Model | LogDensity,
    guide: AbstractGuide | Model = MeanField(),  # noqa: B008 - a frozen value
    *,
    objective: AbstractObjective | None = None,
    optimizer: Any = None,
    steps: int = 10_000,
    restarts: int = 1,
    seed: int = 0,
    init: Init = None,
    until: ELBOPlateau | None = ELBOPlateau(),  # noqa: B008 - a frozen value
    executor: AbstractExecutor | None = None,
    precision: Precision = "float64",
    store: AbstractStore | None = None,
    progress: bool = True,
    quiet: bool = False,
) -> Fit:
    """Approximate a posterior by a distribution that is easy to draw from, and say how good that is.

    It takes seconds where sampling may take hours, and it is an approximation: read `fit.pareto_k` and the notices
    before using it. Fits are reproducible bit for bit, whichever executor makes them, also after an interruption.

    By default a `MeanField` climbs to the exact maximum of its bound over fixed draws, without step sizes. Any other
    guide begins in the coordinates of such a climb, in which a first-order optimiser needs no tuning.

    **Arguments**
    - `target`: a model called with its data, or a `LogDensity`. Discrete unknowns are summed out, unless a guide that
      is a model draws them. Plates with a `subsample_size` have a part of their data at each step, and all of them at
      the beginning, once, and at the end.
    - `guide`: one of `infer.guides`: `MeanField()`, `FullRank()`, `LowRank()`, `Structured()`, `Flow()`, `DAIS()`,
      `Particles()`, `Laplace()`, `Delta()` or a `Product({...})` of some of these by sites; or a model whose sites
      approximate the unknowns of the same names. Its `ac.param` and `ac.module` are fitted, and with it those of the
      target. Sites of which draws do not move smoothly with these, such as discrete ones, are fitted by the score
      function.
    - `objective`: `infer.ELBO()`, `FixedDraws()`, `IWAE()`, `Renyi(alpha)` or `FisherDivergence()`; for `Particles`,
      `SteinDiscrepancy()` or `SteinMoments()`. By the score function it is an `ELBO` of at least two draws. None is
      `FixedDraws()` for a `MeanField` without an optimiser and minibatches, `SteinDiscrepancy()` for `Particles`, and
      else `ELBO()`.
    - `optimizer`: one of optax, such as `optax.adam(1e-3)`; None is `optax.adam` with a step size that fits the
      coordinates, 1e-2 (1e-3 for a `Flow`, 3e-2 for `Particles`), and ten times smaller once the bound rises no more. A
      guide that is a model has no such coordinates: its networks may need less. The result is an average of late
      parameters.
    - `steps`: at most so many steps of the optimiser; >= 1. A climb ends by itself.
    - `restarts`: the number of fits, each from a start and noise of its own, of which the best is taken; >= 1.
    - `seed`: an integer in [0, 2**64).
    - `init`: where restarts begin, as for `infer.sample`; a guide that is a model says so itself.
    - `until`: `infer.ELBOPlateau()` ends a fit when its bound rises, or the discrepancy of particles falls, no more;
      None takes all steps.
    - `executor`: where restarts run: `Threads()` (the default), `Serial()`, `Processes()`, `Dask()` or `Ray()`.
    - `precision`, `store`, `progress`, `quiet`: as for `infer.sample`. `infer.resume` goes on with a stored fit.

    Ctrl-C stops after the current block and returns the fit so far, with `complete` False.

    **Raises** `OptionError`, `ModelError`, `SiteError` or `DataError` before anything is compiled;
    `InitializationError` if no restart found a start with a finite bound.

    **Source**: Giordano, Ingram & Broderick (2024), JMLR 25(18), for the climb; Yao, Vehtari, Simpson &
    Gelman (2018), "Yes, but did it work?", ICML, for Pareto k.

    **Example**

    >>> fit = infer.fit(eight_schools(sigma, y), infer.guides.FullRank(), quiet=True)
    >>> fit.pareto_k < 0.7, fit.draw(1000)["theta"].shape
    (True, (1, 1000, 8))
    >>> infer.sample(eight_schools(sigma, y), init=fit, draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """
    began = time.perf_counter()
    with Interrupts() as interrupts:
        with interrupts.raising():
            check_kinds(target, executor, store)
            check_guide(guide)
            check_kind("objective", objective, AbstractObjective | None, "infer.ELBO()")
            check_kind("until", until, ELBOPlateau | None, "infer.ELBOPlateau()")
            check_optimizer(optimizer)
            num_steps, count = (
                positive_count("steps", steps),
                positive_count("restarts", restarts, maximum=_MOST),
            )
            keys.chain_key(seed, 0)  # refuses a bad seed before anything is traced
            start = start_of(init)
            where = check_executor(executor)
            if isinstance(guide, Model):
                check_start(init)
            density, minibatch, guide = traced(target, guide, precision)
            stages = stages_of(density, guide, objective, optimizer, num_steps, minibatch)
            with scope(precision):
                points = points_of(start, density, guide, int(seed), range(count))
            until = watched(until, stages[-1].guide)
            plan = Plan(stages, until, points, int(seed), count, precision, density.dim, where.pace)
            described = described_optimizer(optimizer)
            run = (store or Memory()).create(describe(density, plan, start, described, num_steps))
            with closed_on_error(run):
                if kept := start.kept():
                    run.record(KEPT, kept)
            units = [plan.restart(number) for number in range(count)]
            order = order_of(density, plan, units, where, run, display(progress, quiet, *WORDS), quiet, began)
        return carry_out(order, interrupts)


def order_of(
    density: LogDensity,
    plan: Plan,
    units: list[Restart],
    executor: AbstractExecutor,
    run: AbstractRun,
    shown: AbstractProgress,
    is_quiet: bool,
    began: float,
) -> RunRequest[Fit]:
    """Return the order to carry out a plan; `began`, by `time.perf_counter`."""
    return RunRequest(VI(density, plan), FitHost(density, plan), units, executor, run, shown, is_quiet, began)


def traced(
    target: Model | LogDensity, guide: AbstractGuide | Model, precision: Precision
) -> tuple[LogDensity, Minibatch | None, AbstractGuide]:
    """Return the log density of a target, that of a part if a plate has a `subsample_size`, and the guide."""
    if isinstance(guide, Model):
        return written_for(target, guide, precision)
    try:
        return density_of(target, precision), None, guide
    except SubsampledError:
        density = density_of(target, precision, takes_parts=True)
        with scope(precision):
            return density, minibatch_of(density, "infer.fit"), guide


def points_of(
    start: AbstractStart, density: LogDensity, guide: AbstractGuide, seed: int, restarts: Sequence[int]
) -> AbstractPoints:
    """Return the candidates of restarts; those of a guide that is a model, which says where it begins, are not used."""
    return UniformPoints() if isinstance(guide, Written) else start.points(density, seed, restarts)


def check_guide(guide: Any) -> None:
    """Raise `OptionError` for what is no guide."""
    if isinstance(guide, ModelFunction):
        raise OptionError(
            f"guide: the model {guide.name!r} was not called. Call it with its data, as the target: `{guide.name}(x)`."
        )
    check_kind("guide", guide, AbstractGuide | Model, "infer.guides.MeanField()")
    if isinstance(guide, Written):
        raise OptionError("guide: give the guide as a model, called with its data, not that of another fit.")


def check_executor(
    executor: AbstractExecutor | None, function: str = "infer.fit", noun: str = "restart"
) -> AbstractExecutor:
    """Return the executor, or the one that None stands for. **Raises** `OptionError` for one that shares data out.

    `function` that was called, and the `noun` for its units.
    """
    if executor is None:
        return Threads()
    if executor.spans_devices or tuple(executor.device_groups()) != (None,):
        raise OptionError(
            f"{function}: {type(executor).__name__} is for chains. Each {noun} is the work of one worker: "
            "executor=infer.Threads(), Serial(), Processes(), Dask() or Ray()."
        )
    return executor


def check_optimizer(optimizer: Any) -> None:
    """Raise `OptionError` for what is no optimiser of optax."""
    if optimizer is None or (
        callable(getattr(optimizer, "init", None)) and callable(getattr(optimizer, "update", None))
    ):
        return
    raise OptionError(
        f"optimizer must be one of optax, such as optax.adam(1e-2), or None; got {optimizer!r}."
    )


def described_optimizer(optimizer: Any) -> dict[str, Any]:
    """Describe an optimiser for a manifest: of a user's own there is no more than that it is one."""
    return {"name": "default" if optimizer is None else OWN}
