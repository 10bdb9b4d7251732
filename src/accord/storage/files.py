"""Write files atomically: a file is complete or absent, also after a crash."""

import contextlib
import errno
import hashlib
import json
import os
import re
import uuid
from pathlib import Path
from typing import Any

from ..core.errors import StorageError
from .manifest import to_json
from .reading import read_regular

MAX_JSON = 256 * 2**20  # bytes; coords of a large model are some megabytes
_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
_TEMPORARY = re.compile(r"\.tmp-\d+-[0-9a-f]{32}")


def commit(path: Path, data: bytes, *, is_new: bool = False) -> None:
    """Write `data` to `path` so that a reader, or a crash at any moment, sees the old file or the new one.

    The file is written beside its place, flushed to the disk and renamed; then the folder is flushed, since
    a rename is only as lasting as the folder that holds it. With `is_new`, nothing is ever replaced.

    **Raises** `StorageError` when the disk refuses; `FileExistsError` if the path is taken and `is_new`.
    """
    temporary = path.parent / f".tmp-{os.getpid()}-{uuid.uuid4().hex}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            _give_name(temporary, path)
        else:
            os.replace(temporary, path)
        flush_folder(path.parent)
    except FileExistsError:
        raise
    except OSError as error:
        raise StorageError(
            f"cannot write {path} ({error.strerror or error}). What was committed before is safe: free the "
            "disk or repair the folder, then sample again into another path."
        ) from error
    finally:
        with contextlib.suppress(OSError):  # there is none, or the folder is read-only
            temporary.unlink()


def _give_name(temporary: Path, path: Path) -> None:
    """Move a file to a place that is free. Raises `FileExistsError` if it is not."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        # A server of files may have made the link, lost its answer, and been asked again.
        if not os.path.samestat(os.lstat(temporary), os.lstat(path)):
            raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Some disks (FAT) have no links. Between the next two lines another may take the place.
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "exists already", str(path)) from None
        os.replace(temporary, path)


def make_folder(path: Path) -> None:
    """Make a folder that only its owner may read, if it is not there. Raises `StorageError`."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        flush_folder(path.parent)
    except (OSError, ValueError) as error:  # a path may not even be one
        words = getattr(error, "strerror", None) or error
        raise StorageError(f"cannot make the folder {path} ({words}).") from error


def remove(path: Path) -> None:
    """Remove a file. Raises `StorageError`."""
    try:
        path.unlink()
    except OSError as error:
        raise StorageError(f"cannot remove {path} ({error.strerror or error}).") from error


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


def write_json(path: Path, value: object, *, is_new: bool = False) -> None:
    """Commit a JSON value together with the sha256 of its canonical form. **Raises** as `commit`."""
    text = to_json(value)
    digest = hashlib.sha256(text.encode()).hexdigest()
    pretty = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    commit(path, f'{{"sha256": "{digest}",\n"content": {pretty}}}\n'.encode(), is_new=is_new)


def read_json(path: Path) -> Any:
    """Read a value that `write_json` wrote. **Raises** `StorageError` if it was changed or cut since."""
    data = read_regular(path, MAX_JSON)
    try:
        envelope = json.loads(data, object_pairs_hook=_each_once)
        content, digest = envelope["content"], envelope["sha256"]
        text = to_json(content)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StorageError(f"{path} cannot be read ({error}).") from error
    if hashlib.sha256(text.encode()).hexdigest() != digest:
        raise StorageError(f"{path} was changed after it was written: its content does not match its sha256.")
    return content


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found
