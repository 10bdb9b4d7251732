"""Keep a run in a folder of immutable, hash-chained segments that survives a crash at any moment.

    run/manifest.json                       what was run; written once
    run/chain-0003/segment-000012.npz       draws of [start, stop) and the state after them
    run/record-notices.json                 small JSON, replaced whole
    run/writer.lock                         who is writing; only then
    run/stop                                asks the writer to stop (`stopping.py`); until it has

Each segment holds the digest of the one before it (the first, that of the manifest), so a missing, damaged or
foreign file ends the chain there: what is loaded is a shorter run, never another one. Nothing is pickled.
Regular files of the folder itself are read, and nothing behind a link. One writer at a time is let in (`lock.py`).
"""

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import StorageError
from ..core.options import checks_fields
from . import stopping
from .base import AbstractRun, AbstractStore, Phase, Segment, check_record_name, check_segment
from .chain_folder import StoredChain, decoded, rename_aside, scan, segment_path, set_aside, verified
from .files import commit, is_temporary, make_folder, read_json, remove, write_json
from .forms import check_manifest, check_record
from .lock import NAME as LOCK
from .lock import WriteLock
from .manifest import Manifest
from .members import MAX_SEGMENT
from .reading import entries, is_folder_itself, read_regular
from .segments import Link, encode

_MANIFEST = "manifest.json"
_TRIES = 10
_RECORD = re.compile(r"record-([a-z][a-z0-9_]{0,63})\.json")


@checks_fields
@dataclass(frozen=True)
class RunFolder(AbstractStore):
    """Keep draws in a folder on disk, readable during the run and after a crash.

    **Fields**
    - `path`: the folder, created if missing; it holds one run.

    **Example**

    >>> folder = infer.RunFolder("run")
    >>> kept = infer.sample(eight_schools(sigma, y), draws=200, chains=2, store=folder, quiet=True)
    >>> np.array_equal(infer.load("run")["theta"], kept["theta"])
    True
    """

    path: str | os.PathLike[str]

    @property
    def location(self) -> str:
        return os.fspath(self.path)

    def create(self, manifest: Manifest) -> "RunFolderRun":
        """Create a run in the folder, which must be empty or absent."""
        folder = Path(self.path)
        _refuse_taken(folder)
        lock = _locked(folder)
        try:
            _refuse_taken(folder)  # again, now that no other can come in between
            foreign = [entry.name for entry in entries(folder) if not _is_passing(entry)]
            if foreign:
                raise StorageError(
                    f"{folder} is no run folder and is not empty: it holds {foreign[0]!r}. Give another path."
                )
            try:
                write_json(folder / _MANIFEST, dict(manifest), is_new=True)
            except FileExistsError:  # where there are no locks
                raise _taken(folder) from None
        except BaseException:
            lock.release()
            raise
        chains = {
            chain: StoredChain(manifest.digest, dict.fromkeys(manifest.phases, 0))
            for chain in manifest.chains
        }
        return RunFolderRun(folder, manifest, chains, lock, is_new=True)

    def load(self) -> "RunFolderRun":
        """Open the run in the folder; every segment is checked now, and read again when asked for."""
        return _opened(Path(self.path))

    def reopen(self) -> "RunFolderRun":
        """Open the run in the folder as its writer. A folder that cannot be written can be read all the same."""
        folder = Path(self.path)
        _check_holds_run(folder)
        lock = WriteLock.take(folder) if os.access(folder, os.W_OK) else None
        try:
            if lock is not None:
                stopping.forget(folder)
            return _opened(folder, lock)
        except BaseException:
            if lock is not None:
                lock.release()
            raise


def manifest_of(folder: Path) -> Manifest:
    """Read the manifest of the run in a folder, and nothing else. **Raises** `StorageError` if it holds no run."""
    _check_holds_run(folder)
    where = folder / _MANIFEST
    return Manifest(check_manifest(read_json(where), str(where)))


def _opened(folder: Path, lock: WriteLock | None = None) -> "RunFolderRun":
    manifest = manifest_of(folder)
    chains = {chain: scan(folder, manifest, chain) for chain in manifest.chains}
    return RunFolderRun(folder, manifest, chains, lock)


def _locked(folder: Path) -> WriteLock:
    """Make a folder and lock it. A run into which nothing was written may remove it in between."""
    for _ in range(_TRIES):
        make_folder(folder)
        with contextlib.suppress(FileNotFoundError):
            return WriteLock.take(folder)
    raise StorageError(f"{folder} is removed each time that it is made. Give another path.")


def _check_holds_run(folder: Path) -> None:
    try:
        is_folder = folder.is_dir()
    except OSError as error:  # as of a name that is too long
        raise StorageError(f"{str(folder)[:200]} cannot be read ({error.strerror or error}).") from error
    if not is_folder:
        raise StorageError(
            f"there is no folder {folder}. Check the path; infer.sample(store=...) writes one."
        )
    if not os.path.lexists(folder / _MANIFEST):
        raise StorageError(f"{folder} is no run folder: it has no {_MANIFEST}. Check the path.")


def _refuse_taken(folder: Path) -> None:
    if os.path.lexists(folder / _MANIFEST):
        raise _taken(folder)
    if folder.exists() and not folder.is_dir():
        raise StorageError(f"{folder} is a file; a run needs a folder. Give another path.")


def _taken(folder: Path) -> StorageError:
    return StorageError(
        f"{folder} already holds a run. Read it by infer.load({str(folder)!r}), or give this run another path."
    )


def _is_passing(entry: Path) -> bool:
    """Return whether a file is no obstacle to a new run."""
    return is_temporary(entry) or entry.name == LOCK


class RunFolderRun(AbstractRun):
    """A run in a folder. See `AbstractRun` for the contract."""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        chains: dict[int, StoredChain],
        lock: WriteLock | None,
        *,
        is_new: bool = False,
    ):
        self._folder = folder
        self._manifest = manifest
        self._phases = tuple(manifest.phases)
        self._chains = chains
        self._lock = lock
        self._is_new = is_new
        self._closed = False

    @property
    def location(self) -> str:
        return os.fspath(self._folder)

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    @property
    def problems(self) -> list[str]:
        of_chains = [problem for chain in self._chains.values() for problem in chain.problems]
        return list(dict.fromkeys([*of_chains, *self.damaged_records.values()]))

    @property
    def records(self) -> dict[str, object]:
        return self._read_records()[0]

    @property
    def damaged_records(self) -> dict[str, str]:
        return self._read_records()[1]

    def _read_records(self) -> tuple[dict[str, object], dict[str, str]]:
        found: dict[str, object] = {}
        damaged: dict[str, str] = {}
        for path in entries(self._folder):
            if match := _RECORD.fullmatch(path.name):
                try:
                    found[match[1]] = check_record(match[1], read_json(path), str(path))
                except StorageError as error:
                    damaged[match[1]] = f"{error} It is left out."
        return found, damaged

    def append(self, segment: Segment) -> None:
        self._check_writer()
        if segment.chain not in self._chains:
            check_segment(segment, list(self._chains), self._none())
        chain = self._chains[segment.chain]
        with chain.lock:
            check_segment(segment, list(self._chains), chain.draws)
            path = segment_path(self._folder, segment.chain, chain.count)
            set_aside(chain)
            if chain.count == 0 and not is_folder_itself(path.parent):
                make_folder(path.parent)
            data, digest = encode(segment, Link(self._manifest.run_id, chain.count, chain.digest))
            try:
                commit(path, data, is_new=True)
            except FileExistsError:
                # The same bytes may be there already, where an interrupt fell between their coming there and the count
                # below.
                if read_regular(path, MAX_SEGMENT) != data:
                    raise StorageError(
                        f"{path} is there already: another process is writing to this run. Let one finish."
                    ) from None
            chain.digest, chain.count = digest, chain.count + 1
            chain.draws = {**chain.draws, segment.phase: segment.stop}

    def segments(self, chain: int) -> list[Segment]:
        found: list[Segment] = []
        previous = self._manifest.digest
        for index in range(self._count(chain)):
            try:
                place = (self._folder, self._manifest.run_id, chain, index, previous)
                segment, previous = verified(*place, is_left_there=True)
            except StorageError as error:
                # It was whole when the run was opened: say so, and return what still is.
                self._chains[chain].problems.append(str(error))
                break
            found.append(segment)
        return found

    def last(self, chain: int) -> Segment | None:
        count = self._count(chain)
        if count == 0:
            return None
        path = segment_path(self._folder, chain, count - 1)
        segment, _, digest = decoded(path)
        if digest != self._chains[chain].digest:
            raise StorageError(
                f"{path} was changed by another process since this run was opened. Load it again."
            )
        return segment

    def stored(self, chain: int) -> dict[Phase, int]:
        if chain not in self._chains:
            return self._none()
        with self._chains[chain].lock:
            return dict(self._chains[chain].draws)

    def _none(self) -> dict[Phase, int]:
        return dict.fromkeys(self._phases, 0)

    def cut(self, chain: int, num_draws: int) -> None:
        self._check_writer()
        there = self._chains[chain]
        with there.lock:
            kept = StoredChain(self._manifest.digest, self._none())
            while kept.count < there.count:
                place = (self._folder, self._manifest.run_id, chain, kept.count, kept.digest)
                segment, digest = verified(*place)
                if segment.phase == self._phases[-1] and segment.stop > num_draws:
                    break
                kept.digest, kept.count = digest, kept.count + 1
                kept.draws[segment.phase] = segment.stop
            # From the last one on: what is left is a shorter run at any moment.
            for index in reversed(range(kept.count, there.count)):
                remove(segment_path(self._folder, chain, index))
            there.digest, there.count, there.draws = kept.digest, kept.count, kept.draws

    def record(self, name: str, value: object) -> None:
        self._check_writer()
        check_record_name(name)
        write_json(self._folder / f"record-{name}.json", value)

    @property
    def is_to_stop(self) -> bool:
        return stopping.is_asked(self._folder)

    def mend(self) -> list[str]:
        before = self.problems
        if not before:
            return []
        self._check_writer()
        for number, chain in self._chains.items():
            if chain.problems:
                fresh = scan(
                    self._folder, self._manifest, number
                )  # there may be less than when it was opened
                set_aside(fresh)
                with chain.lock:
                    chain.digest, chain.count, chain.draws = fresh.digest, fresh.count, fresh.draws
                    chain.problems, chain.rejected = fresh.problems, []
        for name in self.damaged_records:
            rename_aside(self._folder / f"record-{name}.json")
        return [problem for problem in before if problem not in self.problems]

    def close(self) -> None:
        is_empty = self._is_new and not self._closed and not self.records and not self._has_chains()
        was_closed, self._closed = self._closed, True
        if is_empty:
            (self._folder / _MANIFEST).unlink(missing_ok=True)
        if self._lock is not None:
            if not was_closed:
                with contextlib.suppress(StorageError):  # which the next writer hears
                    stopping.forget(self._folder)
            self._lock.release()
        if is_empty:
            with contextlib.suppress(OSError):  # something else is in the folder, which stays
                self._folder.rmdir()

    def reopened(self) -> "RunFolderRun":
        return RunFolder(self._folder).reopen()

    def _has_chains(self) -> bool:
        return any(chain.count for chain in self._chains.values()) or any(self._folder.glob("chain-*"))

    def _check_writer(self) -> None:
        if self._closed:
            raise StorageError(f"the run in {self._folder} is closed; nothing can be appended.")
        if self._lock is None:
            raise StorageError(
                f"{self._folder} cannot be written: the run was opened to be read, or the folder is read-only. Make it "
                "writable, or copy it to a place that is, and continue the run there."
            )

    def _count(self, chain: int) -> int:
        if chain not in self._chains:
            return 0
        with self._chains[chain].lock:
            return self._chains[chain].count
