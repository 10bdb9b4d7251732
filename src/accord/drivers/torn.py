"""Remove from a folder of compiled programs those that were not written to their end.

JAX writes a program in its place, and never a second time. What a full disk, or a process that was killed, has left of
one would be met by every later process, which would warn of it and compile the program again. So each process looks,
before it uses the folder, at what was written since another one looked.
"""

import contextlib
import os
import time
import zlib
from pathlib import Path

_SUFFIX = "-cache"  # of JAX's files
_MARK = "checked"
_UNDERWAY = 60 * 10**9  # nanoseconds, after which nobody can still be writing a program
_FRAME = b"\x28\xb5\x2f\xfd"  # how what Zstandard has compressed begins
_STREAM = b"\x78"  # and how what zlib has


def remove_torn(folder: Path) -> None:
    """Remove programs of which the end is missing.

    What was written in the last minute is left alone, since it may not be finished, and so is what is in no format that
    JAX is known to write. Nothing is done in a folder that cannot be read, and no error is raised.
    """
    until = time.time_ns() - _UNDERWAY
    with contextlib.suppress(OSError):
        mark = folder / _MARK
        since = mark.stat().st_mtime_ns if mark.exists() else 0
        for entry in os.scandir(folder):
            if entry.name.endswith(_SUFFIX):
                with contextlib.suppress(OSError):  # another process has removed it
                    if since <= entry.stat().st_mtime_ns < until and not is_whole(Path(entry).read_bytes()):
                        os.unlink(entry)
        mark.touch(mode=0o600)
        os.utime(mark, ns=(until, until))


def is_whole(compressed: bytes) -> bool:
    """Whether compressed bytes go on to their end; those that are in neither of JAX's formats are taken to."""
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
    """The same for Zstandard's, by the sizes of its blocks: Python can decompress it from 3.14 on.

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
