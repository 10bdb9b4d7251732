"""Read stored populations, or take them up where they ended."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..adaptation.metric import Metric, rank_for
from ..core.errors import OptionError, StorageError
from ..core.precision import scope
from ..core.tree import filled
from ..density import LogDensity
from ..executors import AbstractExecutor
from ..kernels import AbstractKernel
from ..language import Model
from ..mcmc.placed import placed
from ..mcmc.samplers import sampler_from
from ..report import AbstractProgress
from ..resampling import RESAMPLING, AbstractResampling
from ..runs.carry_out import carry_out
from ..runs.interrupts import Interrupts
from ..runs.requests import density_of
from ..runs.stopping.base import AbstractRule
from ..runs.stored.checked import built_from, check_same
from ..runs.stored.ending import lost_chains, stored_losses
from ..runs.stored.notices import notice_of
from ..storage import AbstractRun
from ..vi.fit import check_executor
from .draw import check_kernel, order_of
from .findings import findings
from .plan import Plan
from .population import DRAW, STATE, TEMPER, Cloud, Population
from .result import SMCDraws
from .stored import check_kind, describe, ended


def read(run: AbstractRun) -> SMCDraws:
    """Read the populations of a stored run, finished or not, without its model."""
    check_kind(run.manifest)
    lost = lost_chains(stored_losses(run))
    found = [ended(run, number) for number in run.manifest["chains"] if number not in lost]
    records: Any = run.records
    if records.get("notices") is None:  # it was killed before its end
        notices = findings(found, run.manifest)
    else:
        notices = list(map(notice_of, records["notices"]))
    timings = dict(records.get("timings") or {})
    return replace(SMCDraws.of(run, found), notices=tuple(notices), timings=timings)


def take_up(
    run: AbstractRun,
    target: Model | LogDensity,
    sampler: AbstractKernel | None,
    until: AbstractRule | None,
    executor: AbstractExecutor,
    shown: AbstractProgress,
    is_quiet: bool,
    began: float,
) -> Callable[[Interrupts], SMCDraws]:
    """Take up stored populations with their model; return what carries them to their end. As of `infer.resume`.

    **Raises** `StorageError` if target, data or settings differ from the stored ones; `OptionError` for a stopping
    rule.
    """
    manifest = run.manifest
    check_kind(manifest)
    if until is not None:
        raise OptionError("until: the run is one of infer.smc, which has none. Leave it out.")
    precision: Any = manifest["precision"]
    density = density_of(target, precision)
    described: Any = manifest["sampler"]
    kernel = sampler if sampler is not None else sampler_from(described["kernel"])
    check_kernel(kernel, density.dim)
    where, settings = check_executor(executor, "infer.smc", "population"), manifest["settings"]
    with scope(precision):
        kernel = placed(kernel, density)
    plan = Plan(
        kernel,
        manifest["draws"],
        len(manifest["chains"]),
        settings["moves"],
        settings["ess"],
        _resampling(settings["resampling"]),
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


def _resampling(stored: dict[str, Any]) -> AbstractResampling:
    options = dict(stored)
    name = options.pop("name")
    if name not in RESAMPLING:
        raise StorageError(
            f"the run used the resampling {name!r}, which is not accord's, so that it cannot go on: no code is read "
            "from a folder. infer.load reads what is there; start a new run in another folder."
        )
    with built_from(f"the resampling {name} of the run, in manifest.json,"):
        return RESAMPLING[name](**options)


def _restored(run: AbstractRun, plan: Plan, number: int) -> Population:
    """Return a population as its last segment left it."""
    own = list(run.segments(number))
    stages = [each for each in own if each.phase == TEMPER]
    if not stages:
        return Population(number)
    dim, count, dtype = plan.dim, plan.particles, plan.dtype
    zero = np.zeros((), np.float64)
    blank = Cloud(
        zero,
        np.zeros((count, dim), dtype),
        np.zeros(count),
        np.zeros(count, np.int64),
        zero,
        Metric.diagonal(np.ones(dim, dtype), rank_for(dim, plan.metric_form)),
    )
    end = stages[-1].end_state
    with built_from(f"the segments of population {number}"):
        stored = {name.removeprefix(STATE): end[name] for name in end if name.startswith(STATE)}
        cloud = filled(blank, stored)
    is_drawn = any(each.phase == DRAW for each in own)
    return Population(number, stages[-1].stop, cloud, is_drawn=is_drawn)
