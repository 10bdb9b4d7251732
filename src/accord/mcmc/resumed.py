"""Take up a stored run of chains where it ended, or make it longer."""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..core.precision import scope
from ..density import LogDensity, cut_arguments
from ..executors import AbstractExecutor
from ..kernels import AbstractKernel
from ..language import Model
from ..report import AbstractProgress
from ..runs.fingerprint import fixed_whole
from ..runs.interrupts import Interrupts
from ..runs.requests import density_of
from ..runs.stopping.base import AbstractRule
from ..runs.stopping.described import rule_from
from ..runs.stopping.looks import stored_first_look
from ..runs.stopping.watch import Watch
from ..runs.stored.checked import check_same, refuse_damaged
from ..runs.stored.ending import (
    CAP,
    EXTENDED,
    STOPPING,
    is_in_force,
    is_ruled,
    lost_chains,
    num_kept,
    stopping_of,
    stored_losses,
)
from ..storage import AbstractRun, Manifest
from .block import rows_for
from .draws import Draws
from .extended import as_it_is, attach, order_of, unfinished
from .formula_check import check_formulas
from .nonfinite import held_back, refuse
from .placed import placed_and_piloted
from .plan import Plan
from .reference import SETTING, begun_near, reference_for
from .samplers import sampler_from
from .sites_program import rows_at_once
from .start.base import AbstractStart
from .start.choose import KEPT, stored_start
from .start.shared import points_for
from .stored.checked import check_end, check_settings
from .stored.describe import describe
from .tuning import stored_columns

# What to do if a record is damaged that says what nothing else does.
_NOT_MADE_AGAIN = {
    EXTENDED: "It held how many draws were asked for. Remove the file: the run then ends where it was first to end, "
    "and its `extend` makes it longer.",
    CAP: "It held how many draws were allowed. Remove the file: the run may then have as many as at first, and its "
    "`extend` allows more.",
    KEPT: "It held where the chains start. infer.load reads the draws; start a new run in another folder.",
}


def take_up(
    run: AbstractRun,
    target: Model | LogDensity,
    sampler: AbstractKernel | None,
    until: AbstractRule | None,
    executor: AbstractExecutor,
    shown: AbstractProgress,
    is_quiet: bool,
    began: float,
) -> Callable[[Interrupts], Draws]:
    """Take up a stored run with its target; return what carries it to its end. Arguments as of `infer.resume`.

    **Raises** `StorageError` if target, data or settings differ from the stored ones.
    """
    stored = run.manifest
    check_settings(stored)
    refuse_damaged(run, _NOT_MADE_AGAIN)
    columns = stored_columns(stored)
    lasts = {chain: run.last(chain) for chain in stored.chains}
    for last in lasts.values():
        if last is not None:
            check_end(last, stored["layout"]["dim"], columns)
    start = stored_start(stored["settings"].get("init"), run.records.get(KEPT))
    kernel = sampler or sampler_from(stored["sampler"])
    density = density_of(
        target,
        stored["precision"],
        kernel.whole,
        kernel.whole_if_discrete,
        takes_parts=kernel.needs_minibatch,
    )
    kernel, _ = placed_and_piloted(kernel, density, stored["seed"], stored["sampler"])
    plan = _planned(stored, kernel, _rule(stored) if until is None else until, density, executor)
    start = begun_near(start, plan.reference)
    here = describe(density, plan, stored.chains, start)
    check_same(run, here)
    if plan.until is not None and is_ruled(run):
        plan.until.check([entry.name for entry in density.layout.drawn], len(stored.chains))
    plan = _as_it_stands(plan, run)
    if plan.on_nonfinite == "raise":
        refuse(density, plan, held_back(run), _num_sure(plan, run))
    if new := [chain for chain in stored.chains if lasts[chain] is None]:
        with scope(density.program.precision):
            points = points_for(plan.kernel, start, density, stored["seed"], new, len(stored.chains))
            plan = replace(plan, start=points)
    groups = unfinished(run, plan)
    if groups:
        _check_formulas(plan, density, start, stored.chains[0])
        _note_seam(run, here)
    order = order_of(density, plan, groups, executor, run, shown, is_quiet, began)
    if order.units:
        return functools.partial(attach, order)
    draws = as_it_is(order)
    return lambda interrupts: draws


def _check_formulas(plan: Plan, density: LogDensity, start: AbstractStart, chain: int) -> None:
    """Compare formulas with the model again, since of a function the run has the name alone."""
    if plan.kernel.formulas:
        with scope(plan.precision):
            points = start.points(density, plan.seed, [chain])
        check_formulas(plan.kernel, density, points, plan.seed, chain, is_cut=bool(plan.shard))


def _note_seam(run: AbstractRun, here: Manifest) -> None:
    """Record from which draws on the run was made elsewhere, or by other versions."""
    stored = run.manifest
    changed = {name: here[name] for name in ("versions", "machine") if here[name] != stored[name]}
    if changed:
        seams: Any = run.records.get("seams", [])
        at = {str(chain): sum(run.stored(chain).values()) for chain in stored.chains}
        run.record("seams", [*seams, {"at": at, **changed}])


def _planned(
    stored: Manifest,
    kernel: AbstractKernel,
    until: AbstractRule | None,
    density: LogDensity,
    executor: AbstractExecutor,
) -> Plan:
    """Return the plan of a run, from its manifest."""
    settings = stored["settings"]
    return Plan(
        kernel,
        stored["warmup"],
        stored["draws"],
        stored["thinning"],
        stored["seed"],
        stored["lanes"],
        stored["precision"],
        density.dim,
        rows_for(density.dim + density.layout.num_whole, stored["lanes"], executor.pace),
        # Blocks of data give the same bits on one device.
        cut_arguments(density, executor.sharding or tuple(settings["shard"].items())),
        max_warmup=settings.get("max_warmup", stored["warmup"]),
        until=until,
        on_nonfinite=settings.get("on_nonfinite", "notice"),
        first_look=stored_first_look(settings),
        pace=executor.pace,
        rows_at_once=rows_at_once(),
        whole=fixed_whole(density.layout),
        reference=reference_for(kernel, density, stored["seed"], settings.get(SETTING)),
    )


def _as_it_stands(plan: Plan, run: AbstractRun) -> Plan:
    """Return the plan of a run with later orders, and with the result of its stopping rule."""
    if plan.until is not None and is_ruled(run):
        watch = Watch(plan.until, run, num_kept(run), stopping_of(run))
        watch.settle(lost_chains(stored_losses(run)))
        if watch.is_decided:
            run.record(STOPPING, watch.stopping.as_json())
            run.record("notices", None)  # notices of an earlier end of the run
    return replace(plan, num_kept=num_kept(run), until=plan.until if is_in_force(run) else None)


def _num_sure(plan: Plan, run: AbstractRun) -> int:
    """Count the kept draws per chain that belong to the run whatever its stopping rule finds."""
    if plan.until is None:
        return plan.num_kept
    return Watch(plan.until, run, plan.num_kept, stopping_of(run)).num_sure


def _rule(stored: Manifest) -> AbstractRule | None:
    """Build the rule that ends a run, if it is one of accord's."""
    described = stored["settings"].get("until")
    return None if described is None else rule_from(described)
