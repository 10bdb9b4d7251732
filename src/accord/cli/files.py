"""Open files of data: regular files only, whose contents memory has room for."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from ..core.errors import DataError
from ..runs.memory import free_bytes

_SHARE = 0.9  # of the free memory that reading may take
_UNKNOWN = 2**36  # bytes taken for free where the system does not say how many are


def opened(path: Path) -> BinaryIO:
    """Open a regular file for reading. A pipe or device is refused, since it may have no end, or never begin.

    **Raises** `DataError` for a path that is not a regular file, or cannot be opened.
    """
    # Without O_NONBLOCK, opening a named pipe waits for its writer.
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        if path.is_dir():  # Windows cannot open one
            raise DataError(f"{path} cannot be read: it is a folder. Give a file of data.")
        descriptor = os.open(path, flags)
    except FileNotFoundError as error:
        raise DataError(f"there is no file {str(path)!r} to read data from.") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise DataError(
            f"{path} cannot be read: it is a pipe or a device, not a regular file. Save its contents to a file first."
        )
    return os.fdopen(descriptor, "rb")


def whole(path: Path, growth: int) -> bytes:
    """Read all of a regular file that takes `growth` times its size in memory.

    **Raises** `DataError` as `opened` does, and for a file that memory has no room for.
    """
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        check_room(f"{path}: reading it", growth * size)
        try:
            found = file.read(size + 1)
        except OSError as error:
            raise DataError(f"{path} cannot be read ({error.strerror or error}).") from error
    if len(found) > size:
        raise DataError(
            f"{path} cannot be read: it grows while it is read, or is no file on a disk. Copy it first."
        )
    return found


def check_room(what: str, num_bytes: int) -> None:
    """Raise `DataError` if `what` takes more bytes than are free."""
    free = free_bytes()
    room = int(_SHARE * (_UNKNOWN if free is None else free))
    if num_bytes > room:
        raise DataError(
            f"{what} takes about {_gibibytes(num_bytes)} of memory, and there is room for {_gibibytes(room)}. Give a "
            "smaller file, with only what the model takes, or a machine with more memory."
        )


def _gibibytes(num_bytes: int) -> str:
    return f"{num_bytes / 2**30:.3g} GiB" if num_bytes < 2**80 else "more than 2**50 GiB"
