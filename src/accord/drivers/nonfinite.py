"""Raise for the first number that is not finite, where a run is to: also one that was broken off and goes on."""

from collections.abc import Iterable

from ..core.errors import SamplingError
from ..density import LogDensity
from ..storage import AbstractRun
from .explain import sentence
from .plan import Plan
from .tally import BadEnd, Tally


def held_back(run: AbstractRun) -> list[BadEnd]:
    """The first numbers of each stored chain that were not finite.

    A run that is to raise has stored only draws before the first, and such as its rule might have left out: whether it
    did was not known when the run was broken off.
    """
    lasts = {chain: run.last(chain) for chain in run.manifest.chains}
    tallies = [Tally.stored(chain, last.end_state) for chain, last in lasts.items() if last is not None]
    return [item for tally in tallies for item in tally.kept if is_not_finite(item)]


def is_not_finite(item: BadEnd) -> bool:
    """Whether that is why its trajectory ended."""
    return item.kind != "divergence"


def refuse(density: LogDensity, plan: Plan, found: Iterable[BadEnd], num_sure: int) -> None:
    """Raise `SamplingError` for the first of `found` that is of warm-up, or among the first `num_sure` kept draws.

    Those that lie beyond are let be, since a rule may end the run before them.
    """
    for item in found:
        if item.phase == "warmup" or item.draw < plan.made_for(num_sure):
            raise SamplingError(f"{item}.{sentence(density, item)}")
