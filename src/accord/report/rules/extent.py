"""Judge how much was drawn: whether the run is whole, and long enough to be judged at all."""

from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice
from ..evidence import Evidence
from .words import chain_list

FEW_DRAWS = 100  # per chain
SHORT_WARMUP = 50  # draws; below this the metric is never learnt


def incomplete(run: Evidence) -> Iterator[Notice]:
    """Find a run that stopped before its end."""
    if not run.complete:
        asked = f" of {run.requested}" if run.requested is not None else ""
        yield Notice(
            "error",
            "incomplete",
            f"The run stopped after {run.num_draws}{asked} draws per chain.",
            "Treat these draws as a look ahead, and take a whole run before using them.",
        )


def too_few_draws(run: Evidence) -> Iterator[Notice]:
    """Find a run that no rule can judge."""
    if run.num_draws < (1 if run.has_many_chains else FEW_DRAWS):
        yield Notice(
            "warning" if run.num_draws else "error",
            "too_few_draws",
            f"{run.num_draws} draws per chain are too few to judge convergence.",
            f"Take at least {FEW_DRAWS} draws in each of 4 chains.",
        )


def single_chain(run: Evidence) -> Iterator[Notice]:
    """Find a chain with nothing to compare it with."""
    if len(run.chains) == 1 and run.num_draws:
        yield Notice(
            "info",
            "single_chain",
            "With 1 chain, R-hat cannot compare chains.",
            "Run chains=4 to see whether they agree.",
        )


def judged_in_part(run: Evidence) -> Iterator[Notice]:
    """Say that not everything was looked at."""
    total, judged = run.num_scalars, run.num_judged
    if total > judged and run.num_draws:
        yield Notice(
            "info",
            "judged_in_part",
            f"R-hat and ESS were judged on about {judged} of {total} scalars, some of every site.",
            "`draws.summary()` has them all.",
        )


def short_warmup(run: Evidence) -> Iterator[Notice]:
    """Find a warm-up in which there was no time to learn."""
    if run.num_warmup is not None and run.num_warmup < SHORT_WARMUP and run.num_draws:
        yield Notice(
            "info",
            "short_warmup",
            f"A warm-up of {run.num_warmup} draws is too short to learn the step size and the metric of the posterior.",
            f"Leave warmup at its default, or take at least {SHORT_WARMUP}.",
        )


def long_warmup(run: Evidence) -> Iterator[Notice]:
    """Find chains that had not settled when warm-up was to end."""
    if run.warmups is None or run.is_settled is None or run.num_warmup is None:
        return
    is_longer = np.asarray(run.warmups) > run.num_warmup
    for is_settled in (False, True):
        rows = np.flatnonzero(is_longer & (np.asarray(run.is_settled) == is_settled))
        if not len(rows):
            continue
        lengths = " and ".join(map(str, np.unique(np.asarray(run.warmups)[rows])))
        yield Notice(
            "info" if is_settled else "warning",
            "long_warmup",
            f"{chain_list(run, rows)} had not settled after {run.num_warmup} draws of warm-up, "
            f"which went on to {lengths}{'' if is_settled else ', without an end to it'}.",
            "Begin nearer to the posterior by `init=` to save them; `warmup=` makes warm-up of fixed length."
            if is_settled
            else "Look whether the chains agree, give a longer `warmup=`, or bring parameters to a like scale.",
        )
