"""Read stored paths, or take them up where they ended."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ...core.errors import OptionError
from ...core.precision import scope
from ...core.tree import filled
from ...density import LogDensity
from ...executors import AbstractExecutor
from ...executors.pools import one_blas_thread
from ...kernels import AbstractKernel
from ...language import Model
from ...mcmc.start.choose import KEPT, stored_start
from ...report import AbstractProgress
from ...runs.carry_out import carry_out
from ...runs.interrupts import Interrupts
from ...runs.requests import density_of
from ...runs.stopping.base import AbstractRule
from ...runs.stored.checked import built_from, check_same, refuse_damaged
from ...runs.stored.ending import lost_chains, stored_losses
from ...runs.stored.notices import notice_of
from ...storage import AbstractRun
from ..fit import check_executor
from .climbing import blank
from .find import order_of
from .findings import findings
from .path import CLIMB, STATE, Path
from .plan import Plan
from .result import Paths
from .stored import blank_trail, check_kind, describe, ended

_NOT_MADE_AGAIN = {
    KEPT: "It held where the paths begin. infer.load reads the draws; start a new run in another folder.",
}


def read(run: AbstractRun) -> Paths:
    """Read the paths of a stored run, finished or not, without its model."""
    check_kind(run.manifest)
    lost = lost_chains(stored_losses(run))
    with one_blas_thread():  # as in the run, so that the same normals come of the same points
        found = [ended(run, number) for number in run.manifest["chains"] if number not in lost]
        paths, pool = Paths.of(run, found)
    records: Any = run.records
    if records.get("notices") is None:  # it was killed before its end
        notices = findings(found, pool, run.manifest["draws"])
    else:
        notices = list(map(notice_of, records["notices"]))
    return paths.judged(notices, records.get("timings") or {})


def take_up(
    run: AbstractRun,
    target: Model | LogDensity,
    sampler: AbstractKernel | None,
    until: AbstractRule | None,
    executor: AbstractExecutor,
    shown: AbstractProgress,
    is_quiet: bool,
    began: float,
) -> Callable[[Interrupts], Paths]:
    """Take up stored paths with their model; return what carries them to their end. Arguments as of `infer.resume`.

    **Raises** `StorageError` if target, data or settings differ from the stored ones; `OptionError` for a sampler or a
    stopping rule.
    """
    manifest = run.manifest
    check_kind(manifest)
    refuse_damaged(run, _NOT_MADE_AGAIN)
    for name, value in (("sampler", sampler), ("until", until)):
        if value is not None:
            raise OptionError(f"{name}: the run is one of infer.pathfinder, which has none. Leave it out.")
    precision: Any = manifest["precision"]
    density = density_of(target, precision)
    start = stored_start(manifest["settings"].get("init"), run.records.get(KEPT))
    where = check_executor(executor, "infer.pathfinder", "path")
    seed, numbers = manifest["seed"], manifest["chains"]
    with scope(precision):
        points = start.points(density, seed, numbers)
    plan = Plan(points, seed, len(numbers), manifest["draws"], precision, density.dim, where.pace)
    check_same(run, describe(density, plan, start))
    lost = lost_chains(stored_losses(run))
    with one_blas_thread():
        units = [_restored(run, plan, number) for number in numbers if number not in lost]
    left = [unit for unit in units if not unit.is_done]
    if left:
        return partial(carry_out, order_of(density, plan, left, where, run, shown, is_quiet, began))
    paths = read(run).attached(density)
    run.close()
    return lambda interrupts: paths


def _restored(run: AbstractRun, plan: Plan, number: int) -> Path:
    """Return a path as its last segment left it."""
    climbed = [each for each in run.segments(number) if each.phase == CLIMB]
    fresh = Path(number, blank_trail(run.manifest), plan.num_draws)
    if not climbed:
        return fresh
    found, end = ended(run, number), climbed[-1].end_state
    with built_from(f"the segments of path {number}"):
        stored = {name.removeprefix(STATE): end[name] for name in end if name.startswith(STATE)}
        state = filled(blank(plan.dim, plan.dtype), stored)
    return replace(
        fresh, trail=found.trail, state=state, is_over=found.is_over, num_drawn=len(found.positions)
    )
