"""Read a stored fit, or take it up where it ended."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import numpy as np

from ..core.errors import OptionError, StorageError
from ..core.notice import Notice, by_severity
from ..core.precision import float_dtype, scope
from ..core.tree import filled, to_numpy
from ..density import LogDensity
from ..executors import AbstractExecutor
from ..executors.pools import one_blas_thread
from ..guides.base import AbstractGuide
from ..kernels import AbstractKernel
from ..language import Model
from ..mcmc.start.choose import KEPT, stored_start
from ..report import AbstractProgress
from ..runs.carry_out import carry_out
from ..runs.interrupts import Interrupts
from ..runs.method import AbstractHost
from ..runs.stopping.base import AbstractRule
from ..runs.stored.checked import built_from, check_same, refuse_damaged
from ..runs.stored.ending import lost_chains, stored_losses
from ..runs.stored.notices import notice_of, notice_records
from ..storage import AbstractRun, Segment
from .fit import check_executor, check_optimizer, described_optimizer, order_of, points_of, traced
from .plan import OWN, Plan, stages_of
from .plateau import ELBOPlateau
from .restart import IS_OVER, LOCATION, LOSS, SCALE, STATE, Restart
from .result import Fit
from .stage import NUM_CANDIDATES
from .stored import check_kind, describe, ended, guide_of, objective_of, stored_judgements
from .written.guide import Written

_NOT_MADE_AGAIN = {
    KEPT: "It held where the restarts begin. infer.load reads the fit; start a new one in another folder.",
}

_NOT_JUDGED = Notice(
    "warning",
    "not_judged",
    "The run was cut off before draws from the guide were compared with the posterior.",
    "infer.resume(path, model(...)) takes it to its end.",
)


def read(run: AbstractRun) -> Fit:
    """Read the fit of a stored run, finished or not, without its model."""
    check_kind(run.manifest)
    guide, objective = guide_of(run.manifest), objective_of(run.manifest)
    lost = lost_chains(stored_losses(run))
    numbers = [number for number in run.manifest["chains"] if number not in lost]
    found = [ended(run, guide, number) for number in numbers]
    records: Any = run.records
    made = Fit.of(run, found, stored_judgements(run), objective=objective, guide=guide)
    notices = tuple(map(notice_of, records.get("notices") or ()))
    if not made.bounds:
        notices = (*notices, _NOT_JUDGED)
    return replace(made, notices=notices, timings=dict(records.get("timings") or {}))


def take_up(
    run: AbstractRun,
    target: Model | LogDensity,
    sampler: AbstractKernel | None,
    until: AbstractRule | None,
    executor: AbstractExecutor,
    shown: AbstractProgress,
    is_quiet: bool,
    began: float,
    optimizer: Any = None,
    guide: Model | None = None,
) -> Callable[[Interrupts], Fit]:
    """Take up a stored fit with its model; return what carries it to its end. Arguments as of `infer.resume`.

    **Raises** `StorageError` if target, data or settings differ from the stored ones; `OptionError` for a sampler or
    another stopping rule, and where an optimiser of one's own is not given.
    """
    manifest = run.manifest
    check_kind(manifest)
    refuse_damaged(run, _NOT_MADE_AGAIN)
    for name, value in (("sampler", sampler), ("until", until)):
        if value is not None:
            raise OptionError(
                f"{name}: the run is a fit, which has what it needs in its folder. Leave it out."
            )
    check_optimizer(optimizer)
    if (optimizer is not None) != (manifest["sampler"]["optimizer"].get("name") == OWN):
        raise OptionError(
            "optimizer: the fit had one of its own, of which its folder holds no more than its state. Give the same: "
            "infer.resume(path, model, optimizer=...)."
            if optimizer is None
            else "optimizer: the fit was started with the default. Leave it out."
        )
    stored_guide, objective = guide_of(manifest), objective_of(manifest)
    _check_guide(stored_guide, guide)
    given = stored_guide if guide is None else guide
    density, minibatch, fitted_guide = traced(target, given, manifest["precision"])
    stages = stages_of(density, fitted_guide, objective, optimizer, manifest["draws"], minibatch)
    start = stored_start(manifest["settings"].get("init"), run.records.get(KEPT))
    where = check_executor(executor)
    numbers = manifest["chains"]
    with scope(density.program.precision), one_blas_thread():
        points = points_of(start, density, fitted_guide, manifest["seed"], numbers)
        rule = _rule(manifest["settings"].get("until"))
        precision: Any = manifest["precision"]
        plan = Plan(stages, rule, points, manifest["seed"], len(numbers), precision, density.dim, where.pace)
        check_same(run, describe(density, plan, start, described_optimizer(optimizer), manifest["draws"]))
        lost = lost_chains(stored_losses(run))
        units = [_restored(run, plan, number) for number in numbers if number not in lost]
    left = [unit for unit in units if not unit.is_done]
    order = order_of(density, plan, left, where, run, shown, is_quiet, began)
    if left:
        return partial(carry_out, order)
    fit = read(run).with_model(density, stages[-1].guide)
    if not stored_judgements(run):  # it was cut off between its last step and its end
        fit = _judged(run, order.host, where)
    run.close()
    return lambda interrupts: fit


def _check_guide(stored: AbstractGuide, guide: Model | None) -> None:
    """Raise `OptionError` unless a guide that was written as a model is given again, and no other."""
    is_written = isinstance(stored, Written)
    if is_written and not isinstance(guide, Model):
        raise OptionError(
            f"guide: the fit has one that was written as a model, {stored.label!r}, of which its folder holds no code. "
            "Give the same, called with its data: infer.resume(path, model(...), guide=guide(...))."
        )
    if not is_written and guide is not None:
        raise OptionError(f"guide: the fit has {stored.label}, which its folder holds. Leave it out.")


def _judged(run: AbstractRun, host: AbstractHost[Fit], executor: AbstractExecutor) -> Fit:
    """Judge a fit that has no more steps to take."""
    fit = host.result(run, (), stored_losses(run))
    notices = by_severity(host.judge(fit, executor))
    run.record("notices", notice_records(notices))
    return host.finished(fit, notices, fit.timings)


def _rule(described: Any) -> ELBOPlateau | None:
    if described is None:
        return None
    with built_from("'settings.until' in manifest.json"):
        return ELBOPlateau(window=described["window"], gain=described["gain"])


def _restored(run: AbstractRun, plan: Plan, number: int) -> Restart:
    """Return a restart as its last segment left it."""
    segments = run.segments(number)
    blank = plan.restart(number)
    if not segments:
        return blank
    last = segments[-1]
    place = plan.phases.index(last.phase)
    own = [each for each in segments if each.phase == last.phase]
    with built_from(f"the last segment of restart {number}"):
        state, given = _state(last, plan, number, place)
        losses = np.concatenate([each.arrays[LOSS] for each in own])
        return replace(
            blank,
            stage=place,
            is_over=bool(last.end_state[IS_OVER]),
            given=given,
            state=state,
            losses=losses,
        )


def _state(last: Segment, plan: Plan, number: int, place: int) -> tuple[Any, Any]:
    stage, dtype = plan.stages[place], float_dtype(plan.precision)
    location, scale = (np.asarray(last.end_state[name], dtype) for name in (LOCATION, SCALE))
    # The candidates are tried: only the best one's location is still of use.
    given = stage.given(plan.seed, number, np.tile(location, (NUM_CANDIDATES, 1)), scale)
    arrays = {
        name.removeprefix(STATE): value for name, value in last.end_state.items() if name.startswith(STATE)
    }
    like = to_numpy(jax.jit(stage.begin)(given))
    try:
        return filled(like, arrays), given
    except StorageError as error:
        raise StorageError(
            f"restart {number}: the stored state cannot be taken up: {error}. Another version of accord or of optax "
            "wrote it, or another optimiser; infer.load reads the fit."
        ) from error
