"""Keep the segments of a run in the memory of this process."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import StorageError
from ..core.options import checks_fields
from .base import AbstractRun, AbstractStore, Phase, Segment, check_record_name, check_segment
from .manifest import Manifest, to_json


@checks_fields
@dataclass(frozen=True)
class Memory(AbstractStore):
    """Keep draws in memory: the fastest store, lost with the process. `RunFolder` keeps them on disk.

    **Example**

    >>> infer.sample(eight_schools(sigma, y), draws=200, chains=2, store=infer.Memory(), quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    @property
    def location(self) -> None:
        return None

    def create(self, manifest: Manifest) -> "MemoryRun":
        """Create an empty run."""
        return MemoryRun(manifest)

    def load(self) -> "MemoryRun":
        """Raise `StorageError`: a run in memory cannot be loaded."""
        raise StorageError(
            "Memory() keeps no run to load. Sample with store=RunFolder(path), and load or resume that path."
        )

    def reopen(self) -> "MemoryRun":
        """Raise `StorageError`: a run in memory cannot be loaded."""
        return self.load()


class MemoryRun(AbstractRun):
    """A run in memory. See `AbstractRun` for the contract; arrays are copied in and handed out read-only."""

    def __init__(self, manifest: Manifest):
        self._manifest = manifest
        self._chains = tuple(manifest.chains)
        self._phases = tuple(manifest.phases)
        self._segments: dict[int, list[Segment]] = {chain: [] for chain in self._chains}
        self._records: dict[str, str] = {}
        self._lock = threading.Lock()
        self._closed = False

    @property
    def location(self) -> None:
        return None

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    @property
    def records(self) -> dict[str, object]:
        with self._lock:
            return {name: json.loads(text) for name, text in self._records.items()}

    def append(self, segment: Segment) -> None:
        with self._lock:
            if self._closed:
                raise StorageError("the run is closed; nothing can be appended.")
            check_segment(segment, self._chains, self._stored(segment.chain))
            frozen = replace(segment, arrays=_frozen(segment.arrays), end_state=_frozen(segment.end_state))
            self._segments[segment.chain].append(frozen)

    def segments(self, chain: int) -> list[Segment]:
        with self._lock:
            return list(self._segments.get(chain, ()))

    def stored(self, chain: int) -> dict[Phase, int]:
        with self._lock:
            return self._stored(chain)

    def _stored(self, chain: int) -> dict[Phase, int]:
        counts: dict[Phase, int] = dict.fromkeys(self._phases, 0)
        counts.update({segment.phase: segment.stop for segment in self._segments.get(chain, ())})
        return counts

    def cut(self, chain: int, num_draws: int) -> None:
        with self._lock:
            self._segments[chain] = [
                each
                for each in self._segments[chain]
                if each.phase != self._phases[-1] or each.stop <= num_draws
            ]

    def record(self, name: str, value: object) -> None:
        check_record_name(name)
        text = to_json(value)
        with self._lock:
            self._records[name] = text

    def close(self) -> None:
        self._closed = True

    def reopened(self) -> "MemoryRun":
        other = MemoryRun(self._manifest)
        with self._lock:
            other._segments = {chain: list(segments) for chain, segments in self._segments.items()}
            other._records = dict(self._records)
        return other


def _frozen(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Copy, so that a caller may reuse its buffers, and lock, so that no reader changes what was drawn."""
    copies: dict[str, np.ndarray] = {}
    for name, value in arrays.items():
        copy = np.array(value)
        copy.flags.writeable = False
        copies[name] = copy
    return copies
