"""Follow the segments of a run folder as they are committed, each read once.

A segment never changes, so each look costs two questions to the file system for each chain, and the reading of what is
new. Only resuming takes segments away, when a stopping rule held before the last one: such a chain is read again.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..core.errors import StorageError
from ..storage import Manifest, Segment
from ..storage.base import check_segment
from ..storage.chain_folder import segment_path, verified
from ..storage.files import read_json
from ..storage.forms import check_record
from ..storage.run_folder import manifest_of

Stamp = tuple[int, int, int]
"""Identity of a file: number, size, and time of its last change."""

_MOST_CHAINS = 256  # that are followed, evenly spaced: each costs questions to the file system


@dataclass
class FollowedChain:
    """Place in a chain up to which it was read.

    **Fields**: `number`; `digest` of its last segment, or of the manifest; `draws` by phase; `count` of segments;
    `last`, the stamp of the last one; `doubted`, that of a segment that did not follow; `problem`, why.
    """

    number: int
    digest: str
    draws: dict[str, int]
    count: int = 0
    last: Stamp | None = None
    doubted: Stamp | None = None
    problem: str = ""


@dataclass
class Follower:
    """Reads a run folder from where it stopped before.

    **Arguments**
    - `folder`: of a run. **Raises** `StorageError` if it holds none.
    - `begin`: called with the manifest of each run that is found there: the first one, and any that replaces it.
    - `take`: called with each new segment, and when it was committed, in seconds of `time.time`.
    - `restart`: called with the number of a chain whose segments were taken away; they are read again.
    """

    folder: Path
    begin: Callable[[Manifest], None]
    take: Callable[[Segment, float], None]
    restart: Callable[[int], None]
    manifest: Manifest = field(init=False)
    num_bytes: int = field(init=False, default=0)
    _stamp: Stamp | None = field(init=False, default=None)
    _chains: list[FollowedChain] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._begin(_stamp(self.folder / "manifest.json"))

    @property
    def problems(self) -> list[str]:
        """Sentences about segments that do not follow the ones before them."""
        return [chain.problem for chain in self._chains if chain.problem]

    def advance(self, is_enough: Callable[[], bool]) -> bool:
        """Read new segments, chain by chain, until there are no more or `is_enough()`; return whether there are more.

        **Raises** `StorageError` if the run is no longer there.
        """
        stamp = _stamp(self.folder / "manifest.json")
        if stamp != self._stamp:
            self._begin(stamp)
        open_ones = [chain for chain in self._chains if self._has_more(chain)]
        while open_ones:
            # The chains in turn, so that what can be compared between them grows.
            for chain in open_ones:
                if is_enough():
                    return True
                self._read_next(chain)
            open_ones = [chain for chain in open_ones if self._has_more(chain)]
        return False

    def _begin(self, stamp: Stamp | None) -> None:
        manifest = manifest_of(self.folder)
        self._stamp = stamp
        if self._chains and manifest.run_id == self.manifest.run_id:
            return
        self.manifest, self.num_bytes = manifest, 0
        self._chains = [self._at_start(number) for number in spread(manifest.chains)]
        self.begin(manifest)

    def _at_start(self, number: int) -> FollowedChain:
        return FollowedChain(number, self.manifest.digest, dict.fromkeys(self.manifest.phases, 0))

    def _has_more(self, chain: FollowedChain) -> bool:
        if chain.count and _stamp(segment_path(self.folder, chain.number, chain.count - 1)) != chain.last:
            self._start_again(chain)
        stamp = _stamp(segment_path(self.folder, chain.number, chain.count))
        return stamp is not None and not (chain.problem and stamp == chain.doubted)

    def _read_next(self, chain: FollowedChain) -> None:
        path = segment_path(self.folder, chain.number, chain.count)
        stamp = _stamp(path)
        try:
            place = (self.folder, self.manifest.run_id, chain.number, chain.count, chain.digest)
            segment, digest = verified(*place, is_left_there=True)
            check_segment(segment, [chain.number], chain.draws)
            self.take(segment, (stamp or (0, 0, 0))[2] / 1e9)
        except StorageError as error:
            if chain.doubted == stamp or not chain.count:
                chain.problem, chain.doubted = str(error), stamp
            else:  # the ones before it may be others than they were
                self._start_again(chain)
                chain.doubted = stamp
            return
        chain.draws[segment.phase] = segment.stop
        chain.digest, chain.count, chain.last = digest, chain.count + 1, stamp
        chain.problem = ""
        self.num_bytes += (stamp or (0, 0, 0))[1]

    def _start_again(self, chain: FollowedChain) -> None:
        fresh = self._at_start(chain.number)
        chain.digest, chain.draws, chain.count, chain.last = fresh.digest, fresh.draws, 0, None
        chain.problem = ""
        self.restart(chain.number)


def spread(chains: list[int]) -> list[int]:
    """Return the chains that are followed: all, or some of many."""
    if len(chains) <= _MOST_CHAINS:
        return chains
    return [chains[place] for place in np.linspace(0, len(chains) - 1, _MOST_CHAINS).astype(int)]


def _stamp(path: Path) -> Stamp | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


@dataclass
class Records:
    """Records of a run folder, each read again when its file has changed."""

    folder: Path
    _known: dict[str, tuple[Stamp | None, object]] = field(init=False, default_factory=dict)

    def get(self, name: str) -> object:
        """Return a record; None if it is not there, or cannot be read."""
        path = self.folder / f"record-{name}.json"
        stamp = _stamp(path)
        known = self._known.get(name)
        if known is None or known[0] != stamp:
            self._known[name] = known = (stamp, None if stamp is None else _read(name, path))
        return known[1]


def _read(name: str, path: Path) -> object:
    try:
        return check_record(name, read_json(path), str(path))
    except StorageError:  # it may be replaced just now, and else the end of the run tells
        return None
