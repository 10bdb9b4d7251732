"""Say from its records how far a stored run is to go, and which of its chains count."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..storage import AbstractRun
from .stopping.stopping import Stopping

LOST = "lost_chains"
"""Name of the record of chains that could not go on."""

STOPPING, CAP, EXTENDED = "stopping", "cap", "extended"
"""Names of the records of what a stopping rule has found, and of how many draws were asked for since: at most, where
the rule had not held, or at all."""


def stopping_of(run: AbstractRun) -> Stopping | None:
    """What is known of the stopping rule of a run; None where it has none, or nobody has looked."""
    record: Any = run.records.get(STOPPING)
    return None if record is None else Stopping.stored(record)


def num_kept(run: AbstractRun) -> int:
    """Draws per chain that were asked for, first or last; those at which its rule held, where it did."""
    records: dict[str, Any] = dict(run.records)
    if EXTENDED in records:
        return int(records[EXTENDED])
    stopping = records.get(STOPPING)
    if stopping is not None and stopping["held"]:
        return int(stopping["draws"])
    return int(records.get(CAP, run.manifest["draws"]))


def is_in_force(run: AbstractRun) -> bool:
    """Whether the run has a stopping rule, which has not held so far."""
    if run.manifest.get("settings", {}).get("until") is None or EXTENDED in run.records:
        return False
    stopping = stopping_of(run)
    return stopping is None or not stopping.held


def is_ruled(run: AbstractRun) -> bool:
    """Whether a stopping rule may still end the run, without more draws being asked for."""
    return is_in_force(run) and not _is_decided(run)


def leave_rule(run: AbstractRun) -> None:
    """Forget what was drawn beyond the end of a run, which is to go on without a rule."""
    if stopping_of(run) is None:
        return
    run.record(LOST, stored_losses(run))
    for chain in run.manifest.chains:
        run.cut(chain, num_kept(run))


def lost_chains(records: Sequence[Mapping[str, Any]]) -> set[int]:
    """The chains that some records name."""
    return {chain for record in records for chain in record["chains"]}


def stored_losses(run: AbstractRun) -> list[dict[str, Any]]:
    """Records of the chains that could not go on, without those that a rule had draws enough of by then."""
    losses: Any = run.records.get(LOST, [])
    stopping = stopping_of(run)
    if stopping is None or EXTENDED in run.records or not _is_decided(run):
        return losses
    return without(losses, stopping.chains)


def without(losses: Sequence[Mapping[str, Any]], counted: Collection[int]) -> list[dict[str, Any]]:
    """Losses of other chains than these."""
    left = [
        {**record, "chains": [chain for chain in record["chains"] if chain not in counted]}
        for record in losses
    ]
    return [record for record in left if record["chains"]]


def _is_decided(run: AbstractRun) -> bool:
    """Whether its rule has held, or not held at the last draw that was asked for."""
    stopping = stopping_of(run)
    if stopping is None or stopping.held is None or stopping.draws is None:
        return False
    return stopping.held or stopping.draws >= num_kept(run)
