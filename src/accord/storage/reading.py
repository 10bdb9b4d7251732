"""Open files of a run folder that anyone may have written: regular files alone, of a size that is looked at first.

A pipe may never end, and a link may lead out of the folder. Nothing is read from a file before its kind and size
are known.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from ..core.errors import StorageError

# Windows has none of these, and no pipes in folders either.
_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_KINDS = (
    (stat.S_ISLNK, "a link, which may lead out of the folder"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def open_regular(path: Path, most: int) -> BinaryIO:
    """Open a regular file of at most `most` bytes for reading.

    **Raises** `StorageError` for a link, a pipe, a device, a folder, or a larger file.
    """
    try:
        _check_kind(path, os.lstat(path))  # before it is opened, which may act on a device
        descriptor = os.open(path, os.O_RDONLY | _FLAGS)
        try:
            found = os.fstat(descriptor)
            _check_kind(path, found)
            if found.st_size > most:
                raise StorageError(
                    f"{path} has {found.st_size} bytes, and accord reads at most {most} bytes of such a file."
                )
            return open(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise
    except (OSError, ValueError) as error:  # a path may not even be one
        raise StorageError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from error


def read_regular(path: Path, most: int) -> bytes:
    """Read a regular file of at most `most` bytes. **Raises** `StorageError` as `open_regular`."""
    with open_regular(path, most) as file:
        try:
            data = file.read(most + 1)
        except OSError as error:
            raise StorageError(f"{path} cannot be read ({error.strerror or error}).") from error
    if len(data) > most:
        raise StorageError(f"{path} grew beyond {most} bytes while it was read.")
    return data


def is_folder_itself(path: Path) -> bool:
    """Return whether a path is a folder, and no link to one. **Raises** `StorageError` for anything else there."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StorageError(f"{path} cannot be read ({error.strerror or error}).") from error
    if not stat.S_ISDIR(mode):
        raise StorageError(f"{path} is {_kind(mode)}, and must be a folder of the run.")
    return True


def entries(folder: Path) -> list[Path]:
    """Return what is in a folder, in order. **Raises** `StorageError` if it cannot be listed."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise StorageError(f"{folder} cannot be read ({error.strerror or error}).") from error


def _check_kind(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise StorageError(f"{path} is {_kind(found.st_mode)}, and must be a regular file.")


def _kind(mode: int) -> str:
    return next((words for is_kind, words in _KINDS if is_kind(mode)), "a file")
