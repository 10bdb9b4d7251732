"""Carry out a run of chains, make it longer on request, and read one that has nothing left to draw."""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..core.errors import OptionError, StorageError
from ..core.forks import check_threads
from ..core.notice import by_severity
from ..density import LogDensity
from ..diagnose.background_checks import BackgroundChecks
from ..executors import AbstractExecutor
from ..report import AbstractProgress
from ..runs.carry_out import carry_out, closed_on_error
from ..runs.fingerprint import keep_fingerprint, stored_fingerprint
from ..runs.interrupts import Interrupts
from ..runs.method import RunRequest
from ..runs.stored.ending import (
    CAP,
    EXTENDED,
    is_in_force,
    leave_rule,
    lost_chains,
    num_kept,
    stored_losses,
)
from ..runs.stored.notices import notice_records, repaired
from ..runs.units import AbstractUnits
from ..storage import AbstractRun
from .draws import Draws
from .host import ChainHost
from .memory import check_memory
from .method import MCMC
from .nonfinite import held_back
from .plan import Plan
from .stored.record import read
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
            # The folder may have the draws already, if an earlier object of the same run was extended before.
            return attach(longer, interrupts) if longer.units else as_it_is(longer)

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
            _check_not_behind(run, num_draws)
            leave_rule(run)
            run.record(EXTENDED, num_draws)
            plan = replace(plan, until=None)
        groups, again = unfinished(run, plan), type(order.display)()
    return order_of(density, plan, groups, order.executor, run, again, order.is_quiet, began)


def _check_not_behind(run: AbstractRun, num_draws: int) -> None:
    """Raise `OptionError` if a run has been extended beyond `num_draws` since the draws at hand were made."""
    stored = num_kept(run)
    if stored > num_draws:
        raise OptionError(
            f"these draws are behind their run: {run.location} has been extended to {stored} draws per chain, and "
            f"would have {num_draws}. Extend the draws that the later extend() returned, or those of "
            f"infer.resume({run.location!r}, model(...)); infer.load reads them."
        )


def unfinished(run: AbstractRun, plan: Plan) -> list[AbstractUnits]:
    """Return the groups with draws left to make; failed chains stay as they are."""
    failed = lost_chains(stored_losses(run))
    numbers = [chain for chain in run.manifest.chains if chain not in failed]
    if not plan.num_kept:  # `Seconds` has ended it before the first draw
        return []
    left = [group for group in restore(run, plan, numbers) if not group.is_done]
    return sorted(left, key=lambda group: group.num_done)


def as_it_is(order: ChainRequest) -> Draws:
    """Read a run that has no more draws to make, mend it if it is damaged, and attach the model."""
    run = order.run
    mended: list[str] = []
    if run.problems:
        fingerprint = stored_fingerprint(run)
        with contextlib.suppress(StorageError):  # a folder that cannot be written stays damaged, and says so
            mended = run.mend()
            if fingerprint is not None:
                keep_fingerprint(run, fingerprint)
    draws = read(run, order.host.density.data)
    if mended:
        draws = replace(draws, notices=tuple(by_severity([*draws.notices, *repaired(mended)])))
        run.record("notices", notice_records(draws.notices))
    run.close()
    return replace(draws, continuation=continuation_of(order), density=order.host.density)
