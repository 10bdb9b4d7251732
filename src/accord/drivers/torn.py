"""Remove incompletely written programs from a folder of compiled programs.

JAX writes each program once, directly to its file. After a full disk or a killed process, every later process would
find an incomplete file, warn about it and compile the program again. So each process, before it uses the folder, checks
the files written since the last check.
"""

import contextlib
import os
import stat
import time
import zlib
from pathlib import Path

_SUFFIX = "-cache"  # of JAX's files
_MARK = "checked"
_UNDERWAY = 60 * 10**9  # nanoseconds, after which nobody can still be writing a program
_FRAME = b"\x28\xb5\x2f\xfd"  # how what Zstandard has compressed begins
_STREAM = b"\x78"  # and how what zlib has


def remove_torn(folder: Path) -> None:
    """Remove programs whose end is missing.

    Files of the last minute stay, since they may be unfinished, and so do files in unknown formats. It does nothing in
    a folder that cannot be read, and raises no error.
    """
    until = time.time_ns() - _UNDERWAY
    with contextlib.suppress(OSError):
        mark = folder / _MARK
        since = mark.stat().st_mtime_ns if mark.exists() else 0
        for entry in os.scandir(folder):
            if entry.name.endswith(_SUFFIX):
                with contextlib.suppress(OSError):  # another process has removed it
                    found = entry.stat(follow_symlinks=False)
                    # A pipe would be read for ever; JAX writes regular files.
                    is_new = stat.S_ISREG(found.st_mode) and since <= found.st_mtime_ns < until
                    if is_new and not is_whole(Path(entry).read_bytes()):
                        os.unlink(entry)
        mark.touch(mode=0o600)
        os.utime(mark, ns=(until, until))


def is_whole(compressed: bytes) -> bool:
    """Return whether compressed bytes are complete; bytes in neither of JAX's formats count as complete."""
    if _FRAME.startswith(compressed[: len(_FRAME)]):
        return _is_whole_frame(compressed)
    if not compressed.startswith(_STREAM):
        return True
    stream = zlib.decompressobj()
    try:
        stream.decompress(compressed)
    except zlib.error:
        return False
    return stream.eof


def _is_whole_frame(frame: bytes) -> bool:
    """Return whether a Zstandard frame is complete, by its block sizes: Python can decompress it only from 3.14 on.

    **Source**: Collet & Kucherawy (2021), "Zstandard Compression", RFC 8878, section 3.1.1.
    """
    if len(frame) <= len(_FRAME):
        return False
    flags = frame[len(_FRAME)]
    is_single = flags >> 5 & 1
    window_size, dictionary_size = 1 - is_single, (0, 1, 2, 4)[flags & 3]
    content_size, checksum_size = (is_single, 2, 4, 8)[flags >> 6], 4 * (flags >> 2 & 1)
    at, is_last = len(_FRAME) + 1 + window_size + dictionary_size + content_size, False
    while not is_last:
        if at + 3 > len(frame):
            return False
        header = int.from_bytes(frame[at : at + 3], "little")
        is_last, is_repeated, size = header & 1, header >> 1 & 3 == 1, header >> 3
        at += 3 + (1 if is_repeated else size)
    return at + checksum_size <= len(frame)
