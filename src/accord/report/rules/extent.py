"""Judge how much was drawn: whether the run is complete, and long enough to be judged."""

from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice
from ..evidence import Evidence
from .words import chain_list

FEW_DRAWS = 100  # per chain
SHORT_WARMUP = 50  # draws; below this samplers learn little


def incomplete(run: Evidence) -> Iterator[Notice]:
    """Find a run that stopped before its end."""
    if not run.complete:
        asked = f" of {run.requested}" if run.requested is not None else ""
        yield Notice(
            "error",
            "incomplete",
            f"The run stopped after {run.num_draws}{asked} draws per chain.",
            "Do not use these draws yet: finish the run by `infer.resume` or `draws.extend`.",
        )


def too_few_draws(run: Evidence) -> Iterator[Notice]:
    """Find a run with too few draws to judge."""
    if run.num_draws < (1 if run.has_many_chains else FEW_DRAWS):
        yield Notice(
            "warning" if run.num_draws else "error",
            "too_few_draws",
            f"{run.num_draws} draws per chain are too few to judge convergence.",
            f"Draw at least {FEW_DRAWS} times in each of 4 chains.",
        )


def single_chain(run: Evidence) -> Iterator[Notice]:
    """Find a run with a single chain."""
    if len(run.chains) == 1 and run.num_draws:
        yield Notice(
            "info",
            "single_chain",
            "With 1 chain, R-hat cannot compare chains.",
            "Run chains=4 to see whether they agree.",
        )


def judged_in_part(run: Evidence) -> Iterator[Notice]:
    """Report that only some of the scalars were judged."""
    total, judged = run.num_scalars, run.num_judged
    if total > judged and run.num_draws:
        yield Notice(
            "info",
            "judged_in_part",
            f"R-hat and ESS were judged for about {judged} of {total} parameters, some of every site.",
            "`draws.summary()` has them all.",
        )


def short_warmup(run: Evidence) -> Iterator[Notice]:
    """Find a warm-up that is too short to adapt."""
    if run.num_warmup is not None and run.num_warmup < SHORT_WARMUP and run.num_draws:
        yield Notice(
            "info",
            "short_warmup",
            f"A warm-up of {run.num_warmup} draws is too short to tune the sampler to the posterior.",
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
            f"which went on to {lengths}{'' if is_settled else ' and still had not settled'}.",
            "Start nearer to the posterior by `init=` to save them; `warmup=` fixes the length of warm-up."
            if is_settled
            else "Check that the chains agree, give a longer `warmup=`, or bring parameters to a similar scale.",
        )
