"""Follow the segments of one chain in a run folder, as far as their links hold, and set aside the others."""

import contextlib
import os
import re
import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from ..core.errors import StorageError
from .base import Phase, Segment, check_segment
from .manifest import Manifest
from .members import MAX_SEGMENT
from .reading import entries, is_folder_itself, open_regular
from .segments import Link, read_segment

_SEGMENT = re.compile(r"segment-(\d{6,})\.npz")


@dataclass
class StoredChain:
    """Stored extent of one chain. Mutable, and only ever touched under its own lock."""

    digest: str  # of the last segment, or of the manifest
    draws: dict[Phase, int]  # of every phase, in order
    count: int = 0
    problems: list[str] = field(default_factory=list)
    rejected: list[Path] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


def scan(folder: Path, manifest: Manifest, number: int) -> StoredChain:
    """Follow the links of one chain as far as they hold; say what is left over."""
    chain = StoredChain(manifest.digest, dict.fromkeys(manifest.phases, 0))
    home = segment_path(folder, number, 0).parent
    try:
        there = _segment_files(folder, number)
    except StorageError as error:
        chain.problems, chain.rejected = [f"chain {number}: {error}"], [home]
        return chain
    while chain.count in there:
        try:
            place = (folder, manifest.run_id, number, chain.count, chain.digest)
            segment, digest = verified(*place, is_left_there=True)
            check_segment(segment, [number], chain.draws)
        except StorageError as error:
            chain.problems.append(str(error))
            break
        chain.digest, chain.count = digest, chain.count + 1
        chain.draws[segment.phase] = segment.stop
    chain.rejected = [path for index, path in there.items() if index >= chain.count]
    if chain.rejected:
        counts = " and ".join(f"{count} {phase}" for phase, count in chain.draws.items())
        kept = f"{counts} draws before that are kept"
        if not chain.problems:
            chain.problems.append(
                f"chain {number}: segment {chain.count} is missing, and later ones are there"
            )
        chain.problems.append(f"chain {number}: {len(chain.rejected)} segment(s) not loaded; {kept}.")
    return chain


def verified(
    folder: Path, run_id: str, chain: int, index: int, previous: str, is_left_there: bool = False
) -> tuple[Segment, str]:
    """Read one segment and check that it belongs here; its arrays may be left in the file until they are asked for.

    Raises `StorageError` that says why it does not.
    """
    path = segment_path(folder, chain, index)
    segment, link, digest = decoded(path, is_left_there)
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


def decoded(path: Path, is_left_there: bool = False) -> tuple[Segment, Link, str]:
    """Read a segment, its link and its digest. Raises `StorageError` unless it is whole and in the folder itself."""
    is_folder_itself(path.parent)  # raises for a link out of the run
    with open_regular(path, MAX_SEGMENT) as file:
        try:
            return read_segment(file, path.absolute() if is_left_there else None)
        except OSError as error:
            raise StorageError(f"{path} cannot be read ({error.strerror or error}).") from error
        except StorageError as error:
            raise StorageError(f"{path} is damaged or foreign: {error}.") from error


def set_aside(chain: StoredChain) -> None:
    """Rename what `scan` rejected: the chain goes on in its place, and nothing is deleted."""
    if chain.rejected:
        for path in chain.rejected:
            rename_aside(path)
        chain.rejected, chain.problems = [], []


def rename_aside(path: Path) -> None:
    """Take the name of a run's file from what is damaged."""
    aside = path.with_name(f"rejected-{path.stem}-{uuid.uuid4().hex[:8]}{path.suffix}")
    try:
        with contextlib.suppress(FileNotFoundError):
            os.replace(path, aside)
    except OSError as error:
        raise StorageError(
            f"{path} is damaged, and cannot be renamed ({error.strerror or error}). Remove it."
        ) from error


def _segment_files(folder: Path, chain: int) -> dict[int, Path]:
    home = segment_path(folder, chain, 0).parent
    if not is_folder_itself(home):
        return {}
    matches = ((_SEGMENT.fullmatch(path.name), path) for path in entries(home))
    return dict(sorted((int(match[1]), path) for match, path in matches if match))


def segment_path(folder: Path, chain: int, index: int) -> Path:
    """Return the path of a segment; made of numbers only."""
    return folder / f"chain-{chain:04d}" / f"segment-{index:06d}.npz"
