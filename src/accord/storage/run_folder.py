"""Keep a run in a folder of immutable, hash-chained segments that survives a crash at any moment.

    run/manifest.json                       what was run; written once
    run/chain-0003/segment-000012.npz       draws of [start, stop) and the state after them
    run/record-notices.json                 small JSON, replaced whole

Each segment holds the digest of the one before it (the first, that of the manifest), so a missing, damaged or
foreign file ends the chain there: what is loaded is a shorter run, never another one. Nothing is pickled.
"""

import contextlib
import os
import re
import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from ..core.errors import StorageError
from ..core.options import checks_fields
from .base import AbstractRun, AbstractStore, Phase, Segment, check_record_name, check_segment
from .files import commit, is_temporary, make_folder, read_json, write_json
from .manifest import Manifest
from .segments import Link, decode, encode

_MANIFEST = "manifest.json"
_SEGMENT = re.compile(r"segment-(\d{6,})\.npz")
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
        if (folder / _MANIFEST).exists():
            raise StorageError(
                f"{folder} already holds a run. Read it by infer.load({str(folder)!r}), or give this run "
                "another path."
            )
        if folder.exists() and not folder.is_dir():
            raise StorageError(f"{folder} is a file; a run needs a folder. Give another path.")
        make_folder(folder)
        foreign = sorted(entry.name for entry in folder.iterdir() if not is_temporary(entry))
        if foreign:
            raise StorageError(
                f"{folder} is no run folder and is not empty: it holds {foreign[0]!r}. Give another path."
            )
        write_json(folder / _MANIFEST, dict(manifest))
        return RunFolderRun(
            folder, manifest, {chain: _Chain(manifest.digest) for chain in manifest.chains}, []
        )

    def load(self) -> "RunFolderRun":
        """Open the run in the folder; every segment is checked now, and read again when asked for."""
        folder = Path(self.path)
        if not folder.is_dir():
            raise StorageError(
                f"there is no folder {folder}. Check the path; infer.sample(store=...) writes one."
            )
        if not (folder / _MANIFEST).exists():
            raise StorageError(f"{folder} is no run folder: it has no {_MANIFEST}. Check the path.")
        manifest = Manifest(read_json(folder / _MANIFEST))
        chains, problems = {}, []
        for chain in manifest.chains:
            chains[chain], found = _scan(folder, manifest, chain)
            problems.extend(found)
        return RunFolderRun(folder, manifest, chains, problems)


@dataclass
class _Chain:
    """Stored extent of one chain. Mutable, and only ever touched under its own lock."""

    digest: str  # of the last segment, or of the manifest
    count: int = 0
    draws: dict[Phase, int] = field(default_factory=lambda: {"warmup": 0, "sample": 0})
    rejected: list[Path] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class RunFolderRun(AbstractRun):
    """A run in a folder. See `AbstractRun` for the contract."""

    def __init__(self, folder: Path, manifest: Manifest, chains: dict[int, _Chain], problems: list[str]):
        self._folder = folder
        self._manifest = manifest
        self._chains = chains
        self._problems = problems
        self._closed = False

    @property
    def location(self) -> str:
        return str(self._folder)

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    @property
    def problems(self) -> list[str]:
        return list(dict.fromkeys(self._problems))

    @property
    def records(self) -> dict[str, object]:
        found: dict[str, object] = {}
        for path in sorted(self._folder.iterdir()):
            match = _RECORD.fullmatch(path.name)
            if match:
                try:
                    found[match[1]] = read_json(path)
                except StorageError as error:
                    self._problems.append(f"{error} It is left out.")
        return found

    def append(self, segment: Segment) -> None:
        if self._closed:
            raise StorageError(f"the run in {self._folder} is closed; nothing can be appended.")
        if segment.chain not in self._chains:
            check_segment(segment, list(self._chains), {"warmup": 0, "sample": 0})
        chain = self._chains[segment.chain]
        with chain.lock:
            check_segment(segment, list(self._chains), chain.draws)
            path = _segment_path(self._folder, segment.chain, chain.count)
            if chain.count == 0:
                make_folder(path.parent)
            _set_aside(chain)
            data, digest = encode(segment, Link(self._manifest.run_id, chain.count, chain.digest))
            # The same bytes may be there already, where an interrupt fell between the rename and the count
            # below.
            if path.exists() and path.read_bytes() != data:
                raise StorageError(
                    f"{path} is there already: another process is writing to this run. Let one finish."
                )
            commit(path, data)
            chain.digest, chain.count = digest, chain.count + 1
            chain.draws = {**chain.draws, segment.phase: segment.stop}

    def segments(self, chain: int) -> list[Segment]:
        found: list[Segment] = []
        previous = self._manifest.digest
        for index in range(self._count(chain)):
            try:
                place = (self._folder, self._manifest.run_id, chain, index, previous)
                segment, previous = _verified(*place, is_left_there=True)
            except StorageError as error:
                # It was whole when the run was opened: say so, and return what still is.
                self._problems.append(str(error))
                break
            found.append(segment)
        return found

    def last(self, chain: int) -> Segment | None:
        count = self._count(chain)
        if count == 0:
            return None
        path = _segment_path(self._folder, chain, count - 1)
        segment, _, digest = _decoded(path)
        if digest != self._chains[chain].digest:
            raise StorageError(
                f"{path} was changed by another process since this run was opened. Load it again."
            )
        return segment

    def stored(self, chain: int) -> dict[Phase, int]:
        if chain not in self._chains:
            return {"warmup": 0, "sample": 0}
        with self._chains[chain].lock:
            return dict(self._chains[chain].draws)

    def cut(self, chain: int, num_draws: int) -> None:
        there = self._chains[chain]
        with there.lock:
            kept = _Chain(self._manifest.digest)
            while kept.count < there.count:
                place = (self._folder, self._manifest.run_id, chain, kept.count, kept.digest)
                segment, digest = _verified(*place)
                if segment.phase == "sample" and segment.stop > num_draws:
                    break
                kept.digest, kept.count = digest, kept.count + 1
                kept.draws[segment.phase] = segment.stop
            for index in reversed(
                range(kept.count, there.count)
            ):  # what is left is a shorter run at any moment
                _segment_path(self._folder, chain, index).unlink()
            there.digest, there.count, there.draws = kept.digest, kept.count, kept.draws

    def record(self, name: str, value: object) -> None:
        check_record_name(name)
        write_json(self._folder / f"record-{name}.json", value)

    def close(self) -> None:
        is_empty = (
            not self._closed and not self.records and all(chain.count == 0 for chain in self._chains.values())
        )
        self._closed = True
        if is_empty and not any(self._folder.glob("chain-*")):
            (self._folder / _MANIFEST).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # something else is in the folder, which stays
                self._folder.rmdir()

    def reopened(self) -> "RunFolderRun":
        return RunFolder(self._folder).load()

    def _count(self, chain: int) -> int:
        if chain not in self._chains:
            return 0
        with self._chains[chain].lock:
            return self._chains[chain].count


def _scan(folder: Path, manifest: Manifest, number: int) -> tuple[_Chain, list[str]]:
    """Follow the links of one chain as far as they hold; report what is left over."""
    chain = _Chain(manifest.digest)
    there = _segment_files(folder, number)
    problems: list[str] = []
    while chain.count in there:
        try:
            segment, digest = _verified(folder, manifest.run_id, number, chain.count, chain.digest)
            check_segment(segment, [number], chain.draws)
        except StorageError as error:
            problems.append(str(error))
            break
        chain.digest, chain.count = digest, chain.count + 1
        chain.draws[segment.phase] = segment.stop
    chain.rejected = [path for index, path in there.items() if index >= chain.count]
    if chain.rejected:
        kept = (
            f"{chain.draws['warmup']} warm-up and {chain.draws['sample']} sample draws before that are kept"
        )
        if not problems:
            problems.append(f"chain {number}: segment {chain.count} is missing, and later ones are there")
        problems.append(f"chain {number}: {len(chain.rejected)} segment(s) not loaded; {kept}.")
    return chain, problems


def _verified(
    folder: Path, run_id: str, chain: int, index: int, previous: str, is_left_there: bool = False
) -> tuple[Segment, str]:
    """Read one segment and check that it belongs here; its arrays may be left in the file until they are asked for.

    Raises `StorageError` that says why it does not.
    """
    path = _segment_path(folder, chain, index)
    segment, link, digest = _decoded(path, is_left_there)
    if link.run_id != run_id:
        raise StorageError(
            f"{path} is damaged or foreign: it belongs to the run {link.run_id}, not to {run_id}."
        )
    if (segment.chain, link.index) != (chain, index):
        raise StorageError(
            f"{path} is damaged or foreign: it is segment {link.index} of chain {segment.chain}."
        )
    if link.previous != previous:
        raise StorageError(f"{path} is damaged or foreign: it does not follow the segment before it.")
    return segment, digest


def _decoded(path: Path, is_left_there: bool = False) -> tuple[Segment, Link, str]:
    try:
        return decode(path.read_bytes(), path.absolute() if is_left_there else None)
    except OSError as error:
        raise StorageError(f"{path} cannot be read ({error.strerror or error}).") from error
    except StorageError as error:
        raise StorageError(f"{path} is damaged or foreign: {error}.") from error


def _set_aside(chain: _Chain) -> None:
    """Rename what `_scan` rejected: the chain goes on in its place, and nothing is deleted."""
    for path in chain.rejected:
        with contextlib.suppress(FileNotFoundError):
            os.replace(path, path.with_name(f"rejected-{path.stem}-{uuid.uuid4().hex[:8]}.npz"))
    chain.rejected = []


def _segment_files(folder: Path, chain: int) -> dict[int, Path]:
    home = _segment_path(folder, chain, 0).parent
    if not home.is_dir():
        return {}
    matches = ((_SEGMENT.fullmatch(path.name), path) for path in home.iterdir())
    return dict(sorted((int(match[1]), path) for match, path in matches if match))


def _segment_path(folder: Path, chain: int, index: int) -> Path:
    """Return the path of a segment; made of numbers only."""
    return folder / f"chain-{chain:04d}" / f"segment-{index:06d}.npz"
