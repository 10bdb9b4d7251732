"""Judge the ladders of a tempered run: whether replicas travel between the prior and the posterior."""

from collections.abc import Iterator

import numpy as np

from ...core.notice import Notice
from ..evidence import Evidence
from .extent import FEW_DRAWS
from .words import chain_list, percent

FEW_TRIPS = 10  # for each chain: their number is about that of independent choices of a mode
RARE_TRADES = 0.1  # half are accepted on a ladder that is long enough


def round_trips(run: Evidence) -> Iterator[Notice]:
    """Find chains to which hardly a replica came from the prior."""
    if "round_trips" not in run.stats or run.num_draws < FEW_DRAWS:
        return
    # Draws between those that are kept had trips too.
    every = run.num_made / max(run.num_draws * len(run.chains), 1)
    counts = np.asarray(run.stats["round_trips"]).sum(axis=1) * every
    few = np.flatnonzero(counts < FEW_TRIPS)
    if few.size:
        least = int(counts.min())
        yield Notice(
            "warning" if least else "error",
            "round_trips",
            f"{chain_list(run, few)}: {_how_few(least)}",
            f"Take more draws{_longer(run)}, or a kernel that moves further in each draw.",
        )


def _how_few(count: int) -> str:
    """Say how many replicas came from the prior, and what that means."""
    if not count:
        return (
            "no replica came from the prior to the posterior. So whether there are other modes is not known."
        )
    replicas = "replica" if count == 1 else "replicas"
    return (
        f"only {count} {replicas} came from the prior to the posterior. So the weights of modes are as uncertain as "
        "with so few independent draws."
    )


def rungs_apart(run: Evidence) -> Iterator[Notice]:
    """Find neighbours on a ladder that hardly ever trade places."""
    if run.temperatures is None or run.num_draws < FEW_DRAWS:
        return
    chances = _chances(run)
    pair = int(np.argmin(chances))
    if chances[pair] < RARE_TRADES:
        yield Notice(
            "warning",
            "rungs_apart",
            f"Replicas on rungs {pair} and {pair + 1} of {len(chances) + 1} trade places in {percent(chances[pair])} "
            "of the attempts.",
            f"Take more draws of warm-up{_longer(run)}.",
        )


def _chances(run: Evidence) -> np.ndarray:
    """Return the mean acceptance of trades between neighbours, in the chain where it is least, shape `(pair,)`."""
    assert run.temperatures is not None
    names = (f"log_likelihood.{rung}" for rung in range(run.temperatures.shape[1]))
    heights = np.stack([np.asarray(run.stats[name], np.float64) for name in names], axis=-1)
    heights = np.where(np.isnan(heights), -np.inf, heights)
    with np.errstate(invalid="ignore"):  # of two likelihoods that are zero
        log_ratio = np.diff(run.temperatures)[:, None] * (heights[..., :-1] - heights[..., 1:])
    chances = np.exp(np.minimum(np.where(np.isnan(log_ratio), -np.inf, log_ratio), 0))
    return chances.mean(axis=1).min(axis=0)


def _longer(run: Evidence) -> str:
    """Ask for a longer ladder, if twice as many rungs as the sum of rejections are more than it has."""
    if run.temperatures is None:
        return ""
    wanted = int(np.ceil(2 * (1 - _chances(run)).sum())) + 1
    return f", or temperatures={wanted}" if wanted > run.temperatures.shape[1] else ""
