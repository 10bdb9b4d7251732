"""Raise for the first value that is not finite if a run asks for it, also after it was resumed."""

from collections.abc import Iterable

from ..core.errors import SamplingError
from ..density import LogDensity
from ..storage import AbstractRun
from .blamed import sentence
from .endings import BadEnd, Tally
from .plan import Plan


def held_back(run: AbstractRun) -> list[BadEnd]:
    """Return the first values of each stored chain that were not finite.

    A run that raises has stored only draws before the first such value, and draws that its stopping rule might leave
    out, if the run was interrupted before the rule was decided.
    """
    lasts = {chain: run.last(chain) for chain in run.manifest.chains}
    tallies = [Tally.stored(chain, last.end_state) for chain, last in lasts.items() if last is not None]
    return [item for tally in tallies for item in tally.kept if is_not_finite(item)]


def is_not_finite(item: BadEnd) -> bool:
    """Return whether a value that is not finite ended the trajectory."""
    return item.kind != "divergence"


def refuse(density: LogDensity, plan: Plan, found: Iterable[BadEnd], num_sure: int) -> None:
    """Raise `SamplingError` for the first of `found` that is of warm-up, or among the first `num_sure` kept draws.

    Later ones do not raise, since a stopping rule may end the run before them.
    """
    for item in found:
        if item.phase == "warmup" or item.draw < plan.made_for(num_sure):
            raise SamplingError(f"{item}.{sentence(density, item, plan.pace.explain_seconds)}")
