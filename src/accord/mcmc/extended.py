"""Carry out a run of chains, and make it longer on request."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..core.forks import check_threads
from ..density import LogDensity
from ..diagnose.background_checks import BackgroundChecks
from ..executors import AbstractExecutor
from ..report import AbstractProgress
from ..runs.carry_out import carry_out, closed_on_error
from ..runs.interrupts import Interrupts
from ..runs.method import RunRequest
from ..runs.stored.ending import (
    CAP,
    EXTENDED,
    is_in_force,
    leave_rule,
    lost_chains,
    stored_losses,
)
from ..runs.units import AbstractUnits
from ..storage import AbstractRun
from .draws import Draws
from .host import ChainHost
from .memory import check_memory
from .method import MCMC
from .nonfinite import held_back
from .plan import Plan
from .stored.restore import restore


@dataclass(frozen=True)
class ChainRequest(RunRequest[Draws]):
    """A run of chains to execute."""

    method: MCMC
    host: ChainHost


def order_of(
    density: LogDensity,
    plan: Plan,
    groups: Sequence[AbstractUnits],
    executor: AbstractExecutor,
    run: AbstractRun,
    display: AbstractProgress,
    is_quiet: bool,
    began: float,
) -> ChainRequest:
    """Return the order to carry out a plan; `began`, by `time.perf_counter`."""
    not_finite = held_back(run) if plan.on_nonfinite == "raise" else []
    host = ChainHost(density, plan, BackgroundChecks(density), not_finite)
    return ChainRequest(MCMC(density, plan), host, groups, executor, run, display, is_quiet, began)


def attach(order: ChainRequest, interrupts: Interrupts) -> Draws:
    """Execute a run, and attach the model to its draws so that they can be extended."""
    return replace(carry_out(order, interrupts), continuation=continuation_of(order))


def continuation_of(order: ChainRequest) -> Callable[[int], Draws]:
    """Return the function that makes a run longer: from kept draws per chain to its draws."""

    def go_on(num_draws: int) -> Draws:
        began = time.perf_counter()
        with Interrupts() as interrupts:
            with interrupts.raising():
                check_threads()
                longer = _longer(order, num_draws, began)
            return attach(longer, interrupts)

    return go_on


def _longer(order: ChainRequest, num_draws: int, began: float) -> ChainRequest:
    """Return the run to execute for an order of more draws."""
    density, plan = order.method.density, replace(order.method.plan, num_kept=num_draws)
    if order.run.location is None:
        check_memory(
            density.layout,
            plan.kernel.stats,
            len(order.run.manifest.chains),
            plan.num_warmup,
            num_draws,
        )
    run = order.run.reopened()
    with closed_on_error(run):
        if is_in_force(run):
            if plan.until is not None:  # raises for a rule of a user's own that was not given
                plan.until.check([entry.name for entry in density.layout.drawn], len(run.manifest.chains))
            run.record(CAP, num_draws)
        else:
            leave_rule(run)
            run.record(EXTENDED, num_draws)
            plan = replace(plan, until=None)
        groups, again = unfinished(run, plan), type(order.display)()
    return order_of(density, plan, groups, order.executor, run, again, order.is_quiet, began)


def unfinished(run: AbstractRun, plan: Plan) -> list[AbstractUnits]:
    """Return the groups with draws left to make; failed chains stay as they are."""
    failed = lost_chains(stored_losses(run))
    numbers = [chain for chain in run.manifest.chains if chain not in failed]
    if not plan.num_kept:  # `Seconds` has ended it before the first draw
        return []
    left = [group for group in restore(run, plan, numbers) if not group.is_done]
    return sorted(left, key=lambda group: group.num_done)
