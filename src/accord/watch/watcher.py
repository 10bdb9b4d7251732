"""Bring together what is known of a run so far: progress, convergence, notices, as plain values for any display."""

import datetime
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..runs.stopping.described import rule_from
from ..runs.stopping.stopping import Stopping
from ..runs.stored.ending import LOST, STOPPING, lost_chains
from ..storage import Manifest, Segment
from ..storage.lock import writer_of
from .convergence import Convergence
from .follow import Follower, Records, spread
from .judged import Notices
from .kinds import Kind, kind_of
from .progress import ChainProgress, seconds_left
from .thinned import ThinnedRows, together
from .thrift import SHARE, Thrift

View = Mapping[str, Any]
"""State of a run as it is shown, in the types of JSON."""

_LONGEST = 0.25  # seconds of reading in one step
_POINTS = 150  # of a trace
_MOST_NOTICES = 20
_MOST_CHAINS = 8  # whose first traces are kept


class Watcher:
    """Watches the run in a folder, in steps of bounded work; one thread at a time may use it.

    - `view`: what was known after the last step. `version`: counts how often that has changed.
    - `is_over`: whether the run has ended and everything of it has been read.

    **Arguments**: `folder` of the run; `share` of its time, that reading may take of a core while it goes on.

    **Raises** `StorageError` if the folder holds no run.
    """

    def __init__(self, folder: Path, share: float = SHARE):
        self.version = 0
        self.is_over = False
        self._share = share
        self._folder = folder
        self._records = Records(folder)
        self._notices = Notices(folder, self._records)
        self._is_behind = True
        self._writer = writer_of(folder)
        self._follower = Follower(folder, self._begin, self._take, self._restart)
        self.view: View = self._look()

    def step(self) -> bool:
        """Read what is new, for a quarter of a second at most, and judge it when that is due.

        Returns whether there is more to do at once. **Raises** `StorageError` if the run is no longer there.
        """
        self._writer = writer_of(self._folder)
        thrift = self._thrift if self._writer is not None else None
        with self._thrift:
            until = time.monotonic() + _LONGEST
            self._is_behind = self._follower.advance(
                lambda: time.monotonic() > until or (thrift is not None and not thrift.affords())
            )
            has_more = self._judge(thrift)
            view = self._look()
        if view != self.view:
            self.view = view
            self.version += 1
        self.is_over = self._writer is None and not self._is_behind and not has_more
        return (self._is_behind or has_more) and (thrift is None or thrift.affords())

    @property
    def is_written(self) -> bool:
        """Whether a process writes to the run now; nothing else is read."""
        return writer_of(self._folder) is not None

    def _judge(self, thrift: Thrift | None) -> bool:
        """Make the looks that are due, as far as there is time; return whether more are."""
        until = time.monotonic() + _LONGEST
        num_draws = sum(chain.done[chain.phases[-1]] for chain in self._chains.values())
        if self._notices.are_stored:
            self._notices.update(num_draws, self._follower.num_bytes, thrift)
        self._convergence.leave_out(self._lost)
        while (due := self._convergence.due(thrift is None and not self._is_behind)) is not None:
            if time.monotonic() > until or (thrift is not None and not thrift.affords()):
                return True
            self._convergence.look(due)
        if not (self._is_behind or self._notices.are_stored):
            self._notices.update(num_draws, self._follower.num_bytes, thrift)
        return False

    @property
    def _lost(self) -> set[int]:
        records: Any = self._records.get(LOST) or ()
        return lost_chains(records)

    def _begin(self, manifest: Manifest) -> None:
        self._kind: Kind = kind_of(manifest)
        self._manifest = manifest
        self._fields: dict[str, Any] = dict(manifest)
        self._created = _seconds(manifest["created"])
        self._thrift = Thrift(self._created, self._share)
        numbers = spread(manifest.chains)
        self._chains = {number: self._progress(number) for number in numbers}
        # Fits and simulations are not chains that should agree.
        self._convergence = Convergence(self._fields if self._kind.has_length else {}, numbers)
        self._first = {number: ThinnedRows(1, 4 * _POINTS) for number in numbers[:_MOST_CHAINS]}
        self._last = self._created
        self._notices.restart()

    def _progress(self, number: int) -> ChainProgress:
        phases = self._manifest.phases
        return ChainProgress(number, phases, self._kind.totals(self._fields, phases))

    def _restart(self, number: int) -> None:
        self._chains[number] = self._progress(number)
        self._convergence.restart(number)
        self._notices.restart()
        if number in self._first:
            self._first[number] = ThinnedRows(1, 4 * _POINTS)

    def _take(self, segment: Segment, at: float) -> None:
        phase, name, _ = self._kind.first_trace or ("", "", "")
        if segment.phase == phase and name in segment.arrays and segment.chain in self._first:
            values = np.asarray(segment.arrays[name], np.float64)
            self._first[segment.chain].add(values.reshape(-1, 1))
        self._convergence.take(segment)
        self._chains[segment.chain].take(segment, at)
        self._last = max(self._last, at)

    def _look(self) -> View:
        chains, lost = list(self._chains.values()), self._lost
        going_on = [chain for chain in chains if chain.number not in lost]
        state, words = self._state()
        found = {
            "model": self._fields["model"],
            "sampler": self._fields["sampler"]["name"],
            "seed": self._fields["seed"],
            "folder": str(self._folder),
            "noun": self._kind.noun,
            "counted": self._kind.counted,
            "has_length": self._kind.has_length,
            "num_chains": len(self._fields["chains"]),
            "state": state,
            "words": words,
            "is_behind": self._is_behind,
            "created": self._created,
            "last": self._last,
            "seconds_left": seconds_left(going_on, self._kind.has_length) if state == "running" else None,
            "until": self._until(),
            "chains": [_row(chain, chain.number in lost) for chain in chains],
            "num_scalars": self._convergence.num_scalars,
            "num_judged": self._convergence.width,
            "at": self._convergence.looks[-1].draws if self._convergence.looks else 0,
            "stride": self._convergence.looks[-1].stride if self._convergence.looks else 1,
            "worst": self._convergence.worst(),
            "history": self._convergence.history(),
            "traces": self._convergence.traces() or self._first_traces(),
            "notices": [
                {
                    "severity": each.severity,
                    "code": each.code,
                    "message": each.message,
                    "remedy": each.remedy,
                }
                for each in self._notices.found[:_MOST_NOTICES]
            ],
            "judged_at": self._notices.draws,
            "problems": self._follower.problems,
        }
        return _plain(found)

    def _state(self) -> tuple[str, str]:
        """Tell in a word and in a sentence whether the run goes on."""
        writer, resume = self._writer, f"accord resume {self._folder} FILE --data D"
        if writer is not None:
            where = "" if writer.is_here else f" on {writer.machine}"
            begun = any(sum(chain.done.values()) for chain in self._chains.values())
            return "running", f"Running{where}." if begun else f"Running{where}: no {self._kind.counted} yet."
        if self._kind.is_counted_alone and not any(chain.left for chain in self._chains.values()):
            return "complete", "It is complete."  # such runs store no notices
        if not self._notices.are_stored:
            return "killed", f"No process writes to it, and it is not complete. Continue it by: {resume}"
        stored: Any = self._records.get("notices")
        if any(each["code"] == "incomplete" for each in stored):
            return "stopped", f"It was stopped before its end. Continue it by: {resume}"
        return "complete", "It is complete."

    def _until(self) -> dict[str, Any] | None:
        """Tell the stopping rule, and what its checks have found."""
        described = self._fields.get("settings", {}).get("until")
        if described is None:
            return None
        record: Any = self._records.get(STOPPING)
        if record is None:
            return {"rule": repr(rule_from(described)), "found": None, "looks": []}
        stopping = Stopping.stored(record)
        looks = [{"draws": look.draws, "text": str(look)} for look in stopping.looks[-5:]]
        return {"rule": repr(stopping.rule), "found": str(stopping), "looks": looks}

    def _first_traces(self) -> list[dict[str, Any]]:
        if self._kind.first_trace is None:
            return []
        begun = {number: rows for number, rows in self._first.items() if rows.num_seen}
        if not begun:
            return []
        rows, stride = together(begun.values())
        step = -(-rows.shape[1] // _POINTS)
        parts = [
            {"chain": number, "values": part[::step, 0]} for number, part in zip(begun, rows, strict=True)
        ]
        return [{"name": self._kind.first_trace[2], "every": step * stride, "chains": parts}]


def _row(chain: ChainProgress, is_lost: bool) -> dict[str, Any]:
    return {
        "number": chain.number,
        "phase": chain.phase,
        "done": chain.done[chain.phase],
        "total": chain.totals[chain.phase],
        "all_done": sum(chain.done.values()),
        "left": chain.left,
        "speed": chain.speed,
        "divergences": chain.divergences,
        "step_size": chain.step_size,
        "depth": chain.depth,
        "steps": chain.steps,
        "is_lost": is_lost or chain.is_stuck,
    }


def _seconds(created: str) -> float:
    try:
        return datetime.datetime.fromisoformat(created).timestamp()
    except ValueError:
        return time.time()


def _plain(value: Any) -> Any:
    """Convert to what JSON can hold: arrays become lists, and numbers that are not finite None."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        return [float(f"{each:.5g}") if math.isfinite(each) else None for each in value.tolist()]
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    number = float(value)
    return float(f"{number:.12g}") if math.isfinite(number) else None
