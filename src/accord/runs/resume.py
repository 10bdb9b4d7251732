"""Continue a stored run where it ended, or make it longer."""

import contextlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.errors import StorageError
from ..core.forks import check_threads
from ..core.notice import by_severity
from ..core.options import checks_options
from ..core.precision import scope
from ..density import LogDensity, cut_arguments
from ..executors import AbstractExecutor
from ..kernels import HMC, NUTS, AbstractKernel, ChEES, RandomWalk
from ..language import Model
from ..mcmc.block import rows_for
from ..mcmc.draws import Draws
from ..mcmc.nonfinite import held_back, refuse
from ..mcmc.plan import Plan
from ..mcmc.sites_program import rows_at_once
from ..mcmc.start.choose import KEPT, stored_start
from ..mcmc.start.shared import points_for
from ..report import AbstractProgress
from ..storage import AbstractRun, Manifest, RunFolder
from .carry_out import RunRequest, carry_out, closed_on_error
from .fingerprint import keep_fingerprint, stored_fingerprint
from .interrupts import Interrupts
from .memory import check_memory
from .particulars import differences
from .requests import check_kinds, default_executor, density_of, display
from .stopping.described import rule_from
from .stopping.looks import stored_first_look
from .stopping.watch import Watch
from .stored.checked import built_from, check_end, check_settings, refuse_damaged
from .stored.damage import repaired
from .stored.describe import describe
from .stored.ending import (
    CAP,
    EXTENDED,
    STOPPING,
    is_in_force,
    is_ruled,
    leave_rule,
    lost_chains,
    num_kept,
    stopping_of,
    stored_losses,
)
from .stored.record import notice_records, read
from .stored.restore import restore

# What to do if a record is damaged that says what nothing else does.
_NOT_MADE_AGAIN = {
    EXTENDED: "It held how many draws were asked for. Remove the file: the run then ends where it was first to end, "
    "and its `extend` makes it longer.",
    CAP: "It held how many draws were allowed. Remove the file: the run may then have as many as at first, and its "
    "`extend` allows more.",
    KEPT: "It held where the chains start. infer.load reads the draws; start a new run in another folder.",
}
_KERNELS: dict[str, type[AbstractKernel]] = {each.__name__: each for each in (NUTS, HMC, ChEES, RandomWalk)}


@checks_options
def resume(
    path: str | Path,
    target: Model | LogDensity,
    *,
    sampler: AbstractKernel | None = None,
    executor: AbstractExecutor | None = None,
    progress: bool = True,
    quiet: bool = False,
) -> Draws:
    """Continue the run in a folder: the draws are the same as without the interruption.

    Draws are equal bit for bit on the same machine with the same JAX. Elsewhere the run continues from the same states,
    and its record `seams` says from which draw. A complete run is read and returned; `extend` makes it longer. Damaged
    files are set aside, and what they held is drawn again.

    **Arguments**
    - `path`: the folder, which holds every other argument of `infer.sample`.
    - `target`: the same model with the same data; no code is read from the folder.
    - `sampler`: the same sampler, needed if it is not one of accord's.
    - `executor`, `progress`, `quiet`: as for `infer.sample`.

    **Raises** `StorageError` if the folder holds no run, if another process writes to it, or if target, data or
    settings differ from the stored ones: it names each difference. `SamplingError` as in `infer.sample`, also at a
    value that is not finite if the run was started with `on_nonfinite="raise"`.

    **Example**

    >>> folder = infer.RunFolder("run")
    >>> _ = infer.sample(eight_schools(sigma, y), draws=100, chains=2, store=folder, quiet=True)
    >>> longer = infer.resume("run", eight_schools(sigma, y), quiet=True).extend(100)
    >>> np.array_equal(longer["theta"], draws["theta"])  # as one run of 200 draws
    True
    """
    began = time.perf_counter()
    with Interrupts() as interrupts:
        with interrupts.raising():
            store = RunFolder(path)
            check_kinds(target, sampler or NUTS(), executor, store)
            check_threads()  # before the folder is locked, which a fork of its writer holds too
            run = store.reopen()
            with closed_on_error(run):
                shown = display(progress, quiet)
                order = _taken_up(run, target, sampler, executor or default_executor(), shown, quiet, began)
                if not order.groups:
                    return _as_it_is(order)
        return attach(order, interrupts)


def _taken_up(
    run: AbstractRun,
    target: Model | LogDensity,
    sampler: AbstractKernel | None,
    executor: AbstractExecutor,
    shown: AbstractProgress,
    is_quiet: bool,
    began: float,
) -> RunRequest:
    """Return the rest of a run to execute, which has no groups if there are no more draws to make."""
    stored = run.manifest
    check_settings(stored)
    refuse_damaged(run, _NOT_MADE_AGAIN)
    lasts = {chain: run.last(chain) for chain in stored.chains}
    for last in lasts.values():
        if last is not None:
            check_end(last, stored["layout"]["dim"])
    stored_fingerprint(run)  # raises without one
    density = density_of(target, stored["precision"])
    start = stored_start(stored["settings"].get("init"), run.records.get(KEPT))
    kernel = sampler or _kernel(stored["sampler"])
    plan = _planned(stored, kernel, density, executor)
    here = describe(density, plan, stored.chains, start)
    _check_same(run.location, differences(stored, here))
    plan = _as_it_stands(plan, run)
    if plan.on_nonfinite == "raise":
        refuse(density, plan, held_back(run), _num_sure(plan, run))
    if new := [chain for chain in stored.chains if lasts[chain] is None]:
        with scope(density.program.precision):
            points = points_for(plan.kernel, start, density, stored["seed"], new, len(stored.chains))
            plan = replace(plan, start=points)
    groups = _unfinished(run, plan)
    changed = {name: here[name] for name in ("versions", "machine") if here[name] != stored[name]}
    if groups and changed:
        seams: Any = run.records.get("seams", [])
        at = {str(chain): sum(run.stored(chain).values()) for chain in stored.chains}
        run.record("seams", [*seams, {"at": at, **changed}])
    return RunRequest(density, plan, groups, executor, run, shown, is_quiet, began)


def _as_it_is(order: RunRequest) -> Draws:
    """Read a run that has no more draws to make, mend it if it is damaged, and attach the model."""
    run = order.run
    mended: list[str] = []
    if run.problems:
        fingerprint = stored_fingerprint(run)
        with contextlib.suppress(StorageError):  # a folder that cannot be written stays damaged, and says so
            mended = run.mend()
            if fingerprint is not None:
                keep_fingerprint(run, fingerprint)
    draws = read(run, order.density.data)
    if mended:
        draws = replace(draws, notices=tuple(by_severity([*draws.notices, *repaired(mended)])))
        run.record("notices", notice_records(draws.notices))
    run.close()
    return replace(draws, continuation=_continuation(order), density=order.density)


def _planned(
    stored: Manifest, kernel: AbstractKernel, density: LogDensity, executor: AbstractExecutor
) -> Plan:
    """Return the plan of a run, from its manifest."""
    settings = stored["settings"]
    until = settings.get("until")
    return Plan(
        kernel,
        stored["warmup"],
        stored["draws"],
        stored["thinning"],
        stored["seed"],
        stored["lanes"],
        stored["precision"],
        density.dim,
        rows_for(density.dim, stored["lanes"], executor.pace),
        # Blocks of data give the same bits on one device.
        cut_arguments(density, executor.sharding or tuple(settings["shard"].items())),
        max_warmup=settings.get("max_warmup", stored["warmup"]),
        until=None if until is None else rule_from(until),
        on_nonfinite=settings.get("on_nonfinite", "notice"),
        first_look=stored_first_look(settings),
        pace=executor.pace,
        rows_at_once=rows_at_once(),
    )


def attach(order: RunRequest, interrupts: Interrupts) -> Draws:
    """Execute a run, and attach the model to its draws so that they can be extended."""
    return replace(carry_out(order, interrupts), continuation=_continuation(order))


def _check_same(path: str | None, changed: list[str]) -> None:
    if changed:
        words = "; ".join(changed)
        of_nproc = " (nproc is set by the environment variable NPROC)" if "nproc" in words else ""
        raise StorageError(
            f"the run in {path} cannot be resumed, since it was started differently: {words}. Give the earlier values"
            f"{of_nproc}, or start a new run in another folder."
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


def _continuation(order: RunRequest) -> Any:
    def go_on(num_draws: int) -> Draws:
        began = time.perf_counter()
        with Interrupts() as interrupts:
            with interrupts.raising():
                check_threads()
                longer = _longer(order, num_draws, began)
            return attach(longer, interrupts)

    return go_on


def _longer(order: RunRequest, num_draws: int, began: float) -> RunRequest:
    """Return the run to execute for an order of more draws."""
    plan = replace(order.plan, num_kept=num_draws)
    if order.run.location is None:
        check_memory(
            order.density.layout,
            plan.kernel.stats,
            len(order.run.manifest.chains),
            plan.num_warmup,
            num_draws,
        )
    run = order.run.reopened()
    with closed_on_error(run):
        if is_in_force(run):
            run.record(CAP, num_draws)
        else:
            leave_rule(run)
            run.record(EXTENDED, num_draws)
            plan = replace(plan, until=None)
        groups, again = _unfinished(run, plan), type(order.display)()
    return replace(order, plan=plan, groups=groups, run=run, display=again, began=began)


def _unfinished(run: AbstractRun, plan: Plan) -> list[Any]:
    """Return the groups with draws left to make; failed chains stay as they are."""
    failed = lost_chains(stored_losses(run))
    numbers = [chain for chain in run.manifest.chains if chain not in failed]
    if not plan.num_kept:  # `Seconds` has ended it before the first draw
        return []
    groups = restore(run, plan, numbers)
    return [group for group in groups if not getattr(group, "is_done", False)]


def _kernel(stored: dict[str, Any]) -> AbstractKernel:
    """Build the sampler that a manifest names; nothing else is ever built from a file."""
    options = dict(stored)
    name = options.pop("name")
    if name not in _KERNELS:
        raise StorageError(
            f"the run used the sampler {name!r}, which this version of accord does not have. If it is your own, give "
            "it: infer.resume(path, model, sampler=...)."
        )
    with built_from(f"the sampler {name} of the run, in manifest.json,"):
        return _KERNELS[name](**options)
