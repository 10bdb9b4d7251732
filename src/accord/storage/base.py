"""Define stores of draws: immutable segments of draws, each with the state of the chain after them.

A store is a frozen value that a user writes down (`Memory()`, `RunFolder("run")`). Creating or loading gives
an `AbstractRun`, the open handle that a run appends to. Nothing is ever changed in place, so a run that is
cut off anywhere is a shorter run, never a wrong one.
"""

import abc
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..core.errors import StorageError
from .manifest import Manifest
from .members import FileArrays, kinds_of

Phase = str
"""One of `Manifest.phases`: what a unit of a run goes through, such as `"warmup"` and `"sample"`."""


@dataclass(frozen=True, eq=False)
class Segment:
    """The draws `start` to `stop` of one phase of one chain, and the state the chain had after the last of
    them.

    **Fields**
    - `chain`: zero-based chain number.
    - `phase`: one of `Manifest.phases`; each counts its draws from zero.
    - `start`, `stop`: kept draws, half open.
    - `arrays`: name to array of shape `(stop - start, ...)`; names such as `"position"`, `"site/theta"`,
      `"stat/lp"`. A phase whose draws are not kept has none.
    - `end_state`: name to array of any shape: all that the next segment needs.

    Only booleans, integers, reals and complex numbers are stored. Two segments are equal when they are the
    same object; compare their arrays with NumPy.
    """

    chain: int
    phase: Phase
    start: int
    stop: int
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    end_state: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.stop - self.start


class AbstractStore(abc.ABC):
    """Store of the draws of a run. A frozen value: it may be shared, compared and reused."""

    @property
    @abc.abstractmethod
    def location(self) -> str | None:
        """The path of the run, or None where it lives in memory."""

    @abc.abstractmethod
    def create(self, manifest: Manifest) -> "AbstractRun":
        """Create a new run with this manifest, and become its writer.

        Raises `StorageError` if the store holds a run already.
        """

    @abc.abstractmethod
    def load(self) -> "AbstractRun":
        """Open the stored run, to read it. Raises `StorageError` if there is none."""

    @abc.abstractmethod
    def reopen(self) -> "AbstractRun":
        """Open the stored run to append to it, and become its writer until it is closed.

        Raises `StorageError` if there is none, or another is its writer.
        """


class AbstractRun(abc.ABC):
    """Open run. Threads may append at the same time, each to its own chains."""

    @property
    @abc.abstractmethod
    def location(self) -> str | None:
        """The path of the run, or None where it lives in memory."""

    @property
    @abc.abstractmethod
    def manifest(self) -> Manifest:
        """Description of the run, as written at its creation."""

    @property
    def problems(self) -> list[str]:
        """Sentences about damaged, missing or foreign files, which are never returned as draws; none by default."""
        return []

    @property
    def damaged_records(self) -> dict[str, str]:
        """Sentences about records that are there and cannot be read, by name; none by default."""
        return {}

    @property
    @abc.abstractmethod
    def records(self) -> dict[str, object]:
        """Return everything given to `record`, by name."""

    @abc.abstractmethod
    def append(self, segment: Segment) -> None:
        """Commit a segment: when this returns, it survives the death of the process.

        Raises `StorageError` if the segment does not follow the last one of its chain, holds something that
        is not an array of numbers, or cannot be written; what was committed before stays.
        """

    @abc.abstractmethod
    def segments(self, chain: int) -> list[Segment]:
        """Return the valid segments of a chain in order, warm-up first: the longest prefix with valid links.

        Their arrays may be read only when they are asked for.
        """

    def last(self, chain: int) -> Segment | None:
        """Return the last valid segment of a chain, from which it can continue; None before the first."""
        return next(reversed(self.segments(chain)), None)

    @abc.abstractmethod
    def stored(self, chain: int) -> dict[Phase, int]:
        """Return how many draws of each phase are stored for a chain, with all phases in order.

        Asked often, so it reads no arrays.
        """

    @abc.abstractmethod
    def cut(self, chain: int, num_draws: int) -> None:
        """Forget the segments of a chain that end after its first `num_draws` draws of the last phase.

        For draws beyond the end of the run; the chain continues from the remaining ones.
        """

    @abc.abstractmethod
    def record(self, name: str, value: object) -> None:
        """Keep a small JSON value (notices, timings, tuning) under `name`, in place of an earlier one.

        As in all JSON, keys come back as strings and tuples as lists. Raises `StorageError` for what JSON
        cannot hold.
        """

    @property
    def is_to_stop(self) -> bool:
        """Whether another process has asked the writer to stop; asked after each segment. False by default."""
        return False

    def mend(self) -> list[str]:
        """Set aside what is damaged, so that the run is a shorter one that is whole. Nothing is deleted.

        Returns the problems that are no more. What cannot be set aside remains in `problems`; all does by default.
        """
        return []

    @abc.abstractmethod
    def close(self) -> None:
        """Stop writing, and let the next writer in; reading stays possible. Closing twice is harmless.

        A new run into which nothing was written leaves no trace, so that the next one may take its place.
        """

    @abc.abstractmethod
    def reopened(self) -> "AbstractRun":
        """Reopen the run for more draws, as its writer; invalid segments are left out."""


def check_segment(segment: Segment, chains: Sequence[int], stored: Mapping[Phase, int]) -> None:
    """Raise `StorageError` unless `segment` holds arrays of numbers and follows what `stored` counts."""
    where = f"chain {segment.chain}, {segment.phase} draws {segment.start} to {segment.stop}"
    phases = list(stored)
    if segment.phase not in phases:
        raise StorageError(
            f"{where}: the phase must be {' or '.join(map(repr, phases))}, got {segment.phase!r}."
        )
    if segment.chain not in chains:
        raise StorageError(f"{where}: the manifest of this run names the chains {list(chains)}.")
    for later in phases[phases.index(segment.phase) + 1 :]:
        if stored[later] > 0:
            raise StorageError(
                f"{where}: the chain has {stored[later]} {later} draws, so its {segment.phase} is over."
            )
    if segment.start != stored[segment.phase] or segment.stop < segment.start:
        raise StorageError(
            f"{where}: {stored[segment.phase]} draws are stored, so the next segment must start there and "
            "not stop before. Another process may be writing to the same run."
        )
    for arrays in (segment.arrays, segment.end_state):
        for name, value in () if isinstance(arrays, FileArrays) else arrays.items():
            if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufc":
                found = f"dtype {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
                raise StorageError(
                    f"{where}: {name!r} must be a NumPy array of numbers or booleans, got {found}."
                )
    for name, (_, shape) in kinds_of(segment.arrays).items():
        if not shape or shape[0] != len(segment):
            raise StorageError(
                f"{where}: {name!r} has shape {shape}, but its first axis must be {len(segment)} draws."
            )


def check_record_name(name: str) -> None:
    """Raise `StorageError` unless a record's name can be part of a file name everywhere."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
        raise StorageError(
            f"a record's name must be lower-case letters, digits and underscores, 64 at most; got {name!r}."
        )
