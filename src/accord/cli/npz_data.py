"""Read arrays by name from an NPZ file, after its directory and their headers have been checked.

`numpy.load` allocates what a header promises, and unpacks whatever there is: some kilobytes can promise terabytes.
"""

import math
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import DataError
from .files import check_room, opened

_LARGE = 2**30  # bytes from which an array may be packed too well
_MOST_PACKED = 500  # times smaller than it is: numbers that were measured are packed to a tenth at best
_COPIES = 2  # of an array: the run takes one of its own
_WORD = 80  # bytes that a word takes in a Python list, beside its characters

_HEADERS: dict[tuple[int, int], Callable[..., Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class _Header(NamedTuple):
    """What the header of an array says."""

    shape: tuple[int, ...]
    dtype: np.dtype


def open_npz(path: Path) -> dict[str, Callable[[], Any]]:
    """Return a getter of each array; single numbers become Python numbers, and words lists.

    **Raises** `DataError` for a file that is no NPZ, or has a name twice; a getter raises it for a damaged array, an
    array of objects, and one that memory has no room for.
    """
    with _archive(path) as archive:
        members = archive.infolist()
    names = [member.filename.removesuffix(".npy") for member in members]
    for name, count in Counter(names).items():
        if count > 1:
            raise DataError(f"{path}: {count} arrays are called {name!r}. Rename or leave out all but one.")
    return {name: _reader(path, name, member) for name, member in zip(names, members, strict=True)}


def _reader(path: Path, name: str, member: zipfile.ZipInfo) -> Callable[[], Any]:
    def read() -> Any:
        with _archive(path) as archive:
            with archive.open(member) as entry:
                header = _header(entry, member.file_size)
            _check_size(f"{path}: array {name!r}", header, member)
            with archive.open(member) as entry:
                array: np.ndarray = np.lib.format.read_array(entry, allow_pickle=False)
            if array.dtype.kind == "S":
                array = np.char.decode(array, "utf-8")
        return array if array.ndim and array.dtype.kind not in "US" else array.tolist()

    return read


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive, and report whatever goes wrong in it as a damaged file."""
    with opened(path) as file:
        is_array = file.read(len(np.lib.format.MAGIC_PREFIX)) == np.lib.format.MAGIC_PREFIX
        if is_array:
            raise DataError(f"{path} is not an NPZ file of plain arrays: it is one array. Use `numpy.savez`.")
        try:
            with zipfile.ZipFile(file) as archive:
                yield archive
        except DataError:
            raise
        # What the readers of archives, of packed bytes and of headers raise for bytes of any kind has no common class.
        except Exception as error:
            raise DataError(
                f"{path} is not an NPZ file of plain arrays, or damaged: {str(error) or type(error).__name__}."
            ) from error


def _header(entry: Any, size: int) -> _Header:
    """Read the header of an array, and compare it with the size of the entry.

    **Raises** `ValueError` for one of objects, of another size, or of a format that `numpy.savez` does not write.
    """
    version = np.lib.format.read_magic(entry)
    if version not in _HEADERS:
        raise ValueError(f"an array of version {version} is not plain")
    shape, _, dtype = _HEADERS[version](entry)
    if dtype.hasobject:
        raise ValueError("objects are stored as Python's pickles, which may run code")
    promised = math.prod(shape) * dtype.itemsize
    if any(length < 0 for length in shape) or promised != size - entry.tell():
        raise ValueError(
            f"its header says shape {shape} and dtype {dtype}, which is not what its {size} bytes hold"
        )
    if promised == 0 and 0 not in shape:
        raise ValueError(f"entries of dtype {dtype} are empty")
    return _Header(shape, dtype)


def _check_size(what: str, header: _Header, member: zipfile.ZipInfo) -> None:
    """Raise `DataError` for an array that memory has no room for, or that is packed as no data are."""
    if member.file_size > _LARGE and member.file_size > _MOST_PACKED * member.compress_size:
        raise DataError(
            f"{what} has {member.file_size} bytes, packed to {member.compress_size}: it seems made to fill the memory. "
            "If it is data, store it by `numpy.savez`, which packs nothing."
        )
    per_entry = _WORD if header.dtype.kind in "US" else 0
    check_room(what, _COPIES * member.file_size + per_entry * math.prod(header.shape))
