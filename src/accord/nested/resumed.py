"""Read stored runs of nested sampling, or take them up where they ended."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..adaptation.metric import Metric, rank_for
from ..core.errors import OptionError
from ..core.tree import filled
from ..density import LogDensity
from ..executors import AbstractExecutor
from ..kernels import AbstractKernel
from ..language import Model
from ..report import AbstractProgress
from ..runs.carry_out import carry_out
from ..runs.interrupts import Interrupts
from ..runs.requests import density_of
from ..runs.stopping.base import AbstractRule
from ..runs.stored.checked import built_from, check_same
from ..runs.stored.ending import lost_chains, stored_losses
from ..runs.stored.notices import notice_of
from ..storage import AbstractRun
from ..vi.fit import check_executor
from .draw import order_of
from .findings import findings
from .moves import FORM
from .plan import MOST_ROUNDS, Plan
from .points import DRAW, SHRINK, STATE, Live, NestedRun, Points
from .result import NestedDraws
from .stored import check_kind, describe, ended


def read(run: AbstractRun) -> NestedDraws:
    """Read stored nested sampling, finished or not, without its model."""
    check_kind(run.manifest)
    lost = lost_chains(stored_losses(run))
    found = [ended(run, number) for number in run.manifest["chains"] if number not in lost]
    draws = NestedDraws.of(run, found)
    records: Any = run.records
    if records.get("notices") is None:  # it was killed before its end
        notices = findings(found, [*draws.by_run.values()], run.manifest)
    else:
        notices = list(map(notice_of, records["notices"]))
    return replace(draws, notices=tuple(notices), timings=dict(records.get("timings") or {}))


def take_up(
    run: AbstractRun,
    target: Model | LogDensity,
    sampler: AbstractKernel | None,
    until: AbstractRule | None,
    executor: AbstractExecutor,
    shown: AbstractProgress,
    is_quiet: bool,
    began: float,
) -> Callable[[Interrupts], NestedDraws]:
    """Take up stored nested sampling with its model; return what carries it to its end. As of `infer.resume`.

    **Raises** `StorageError` if target, data or settings differ from the stored ones; `OptionError` for a sampler or a
    stopping rule.
    """
    manifest = run.manifest
    check_kind(manifest)
    for name, value in (("sampler", sampler), ("until", until)):
        if value is not None:
            raise OptionError(
                f"{name}: the run is one of infer.NestedSampling, which has none. Leave it out."
            )
    precision: Any = manifest["precision"]
    density = density_of(target, precision)
    where, settings = check_executor(executor, "infer.NestedSampling", "run"), manifest["settings"]
    plan = Plan(
        manifest["draws"],
        settings["batch"],
        settings["steps"],
        len(manifest["chains"]),
        settings["tolerance"],
        manifest["seed"],
        precision,
        density.dim,
        where.pace,
    )
    check_same(run, describe(density, plan))
    lost = lost_chains(stored_losses(run))
    units = [_restored(run, plan, number) for number in manifest["chains"] if number not in lost]
    left = [unit for unit in units if not unit.is_done]
    if left:
        return partial(carry_out, order_of(density, plan, left, where, run, shown, is_quiet, began))
    found = read(run).attached(density)
    run.close()
    return lambda interrupts: found


def _restored(run: AbstractRun, plan: Plan, number: int) -> NestedRun:
    """Return a run as its last segment left it."""
    own = list(run.segments(number))
    rounds = [each for each in own if each.phase == SHRINK]
    if not rounds:
        return NestedRun(number)
    dim, count, dtype = plan.dim, plan.live, plan.dtype
    zeros, zero = np.zeros(count, dtype), np.zeros((), np.float64)
    metric = Metric.diagonal(np.ones(dim, dtype), rank_for(dim, FORM))
    blank = Live(Points(np.zeros((count, dim), dtype), zeros, zeros, zeros), zero, zero, metric)
    last = rounds[-1]
    with built_from(f"the segments of run {number}"):
        end = last.end_state
        live = filled(blank, {name.removeprefix(STATE): end[name] for name in end if name.startswith(STATE)})
        is_over = float(last.arrays["left"][-1]) < plan.tolerance or last.stop > MOST_ROUNDS
    is_drawn = any(each.phase == DRAW for each in own)
    return NestedRun(number, last.stop, live, is_over=is_over, is_drawn=is_drawn)
