"""Read from the records of a stored run how many draws it should have, and which chains count."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...storage import AbstractRun
from ..stopping.stopping import Stopping
from ..units import Failure

LOST = "lost_chains"
"""Name of the record of failed chains."""

STOPPING, CAP, EXTENDED = "stopping", "cap", "extended"
"""Names of the records of a stopping rule's results, and of draws requested since: as a maximum if the rule had not
held, else exactly."""


def stopping_of(run: AbstractRun) -> Stopping | None:
    """Return the results of the stopping rule of a run; None without a rule, or before its first check."""
    record: Any = run.records.get(STOPPING)
    return None if record is None else Stopping.stored(record)


def num_kept(run: AbstractRun) -> int:
    """Return the draws per chain that were requested last, or those at which the stopping rule held."""
    records: dict[str, Any] = dict(run.records)
    if EXTENDED in records:
        return int(records[EXTENDED])
    stopping = records.get(STOPPING)
    if stopping is not None and stopping["held"]:
        return int(stopping["draws"])
    return int(records.get(CAP, run.manifest["draws"]))


def is_in_force(run: AbstractRun) -> bool:
    """Return whether the run has a stopping rule that has not held so far."""
    if run.manifest.get("settings", {}).get("until") is None or EXTENDED in run.records:
        return False
    stopping = stopping_of(run)
    return stopping is None or not stopping.held


def is_ruled(run: AbstractRun) -> bool:
    """Return whether a stopping rule may still end the run, if no more draws are requested."""
    return is_in_force(run) and not _is_decided(run)


def leave_rule(run: AbstractRun) -> None:
    """Forget draws beyond the end of a run, before it continues without a rule."""
    if stopping_of(run) is None:
        return
    run.record(LOST, stored_losses(run))
    for chain in run.manifest.chains:
        run.cut(chain, num_kept(run))


def lost_chains(records: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the chains that these records name."""
    return {chain for record in records for chain in record["chains"]}


def stored_losses(run: AbstractRun) -> list[dict[str, Any]]:
    """Return records of failed chains, except chains with enough draws when the stopping rule held."""
    losses: Any = run.records.get(LOST, [])
    stopping = stopping_of(run)
    if stopping is None or EXTENDED in run.records or not _is_decided(run):
        return losses
    return without(losses, stopping.chains)


def lost_records(run: AbstractRun, failures: Sequence[Failure]) -> list[dict[str, Any]]:
    """Return records of failed chains as JSON: those of the run, and later ones."""
    earlier = stored_losses(run)
    found = [dict(chains=list(each.numbers), draw=each.num_done, error=each.text) for each in failures]
    return [*earlier, *(each for each in found if each not in earlier)]


def without(losses: Sequence[Mapping[str, Any]], counted: Collection[int]) -> list[dict[str, Any]]:
    """Return losses of other chains than these."""
    left = [
        {**record, "chains": [chain for chain in record["chains"] if chain not in counted]}
        for record in losses
    ]
    return [record for record in left if record["chains"]]


def _is_decided(run: AbstractRun) -> bool:
    """Return whether its rule has held, or has not held at the last requested draw."""
    stopping = stopping_of(run)
    if stopping is None or stopping.held is None or stopping.draws is None:
        return False
    return stopping.held or stopping.draws >= num_kept(run)
