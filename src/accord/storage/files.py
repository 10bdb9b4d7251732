"""Write files atomically: a file is complete or absent, also after a crash."""

import hashlib
import json
import os
import re
import uuid
from pathlib import Path
from typing import Any

from ..core.errors import StorageError
from .manifest import to_json

MAX_JSON = 256 * 2**20  # bytes; coords of a large model are some megabytes
_TEMPORARY = re.compile(r"\.tmp-\d+-[0-9a-f]{32}")


def commit(path: Path, data: bytes) -> None:
    """Write `data` to `path` so that a reader, or a crash at any moment, sees the old file or the new one.

    The file is written beside its place, flushed to the disk and renamed; then the folder is flushed, since
    a rename is only as lasting as the folder that holds it. Raises `StorageError` when the disk refuses.
    """
    temporary = path.parent / f".tmp-{os.getpid()}-{uuid.uuid4().hex}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        flush_folder(path.parent)
    except OSError as error:
        raise StorageError(
            f"cannot write {path} ({error.strerror or error}). What was committed before is safe: free the "
            "disk or repair the folder, then sample again into another path."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder that only its owner may read, if it is not there. Raises `StorageError`."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        flush_folder(path.parent)
    except OSError as error:
        raise StorageError(f"cannot make the folder {path} ({error.strerror or error}).") from error


def flush_folder(path: Path) -> None:
    """Make renames inside a folder last through a power cut, where the system can."""
    if os.name == "nt":
        return  # Windows opens no folders, and journals renames itself
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_temporary(path: Path) -> bool:
    """Return whether a file is the remains of an interrupted `commit`."""
    return _TEMPORARY.fullmatch(path.name) is not None


def write_json(path: Path, value: object) -> None:
    """Commit a JSON value together with the sha256 of its canonical form."""
    text = to_json(value)
    digest = hashlib.sha256(text.encode()).hexdigest()
    pretty = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    commit(path, f'{{"sha256": "{digest}",\n"content": {pretty}}}\n'.encode())


def read_json(path: Path) -> Any:
    """Read a value that `write_json` wrote. Raises `StorageError` if it was changed or cut since."""
    try:
        if path.stat().st_size > MAX_JSON:
            raise StorageError(f"{path} is larger than the {MAX_JSON} bytes that accord reads as JSON.")
        envelope = json.loads(path.read_bytes())
        content, digest = envelope["content"], envelope["sha256"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StorageError(f"{path} cannot be read ({error}).") from error
    if hashlib.sha256(to_json(content).encode()).hexdigest() != digest:
        raise StorageError(f"{path} was changed after it was written: its content does not match its sha256.")
    return content
