"""Read the arrays of one member of a segment: from bytes at hand, or from its file when one is asked for."""

import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np

from ..core.errors import StorageError
from .reading import open_regular

MAX_ELEMENTS = 2**31
MAX_SEGMENT = 2**34
"""Bytes of a segment: 4096 draws of 100,000 parameters take 2**33. Only its headers are read into memory at once."""

_MAGIC = b"\x93NUMPY\x01\x00"
_USUAL_HEADER = 192  # bytes, magic included, of arrays with a few axes
_NPY = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|][biufc]\d{1,2})', 'fortran_order': (?P<order>True|False), "
    rb"'shape': \((?P<shape>|\d{1,19},|\d{1,19}(, \d{1,19}){1,63})\), \} *\n"
)
"""The header of an array of numbers, as `np.save` writes it."""


Kinds = Mapping[str, tuple[np.dtype, tuple[int, ...]]]
"""Dtypes and shapes of arrays, by name."""


@dataclass(frozen=True)
class Member:
    """Place of some arrays in a segment.

    **Fields**: `name`; `offset` and `size` in bytes; `checksum`, the CRC-32 of those bytes; `count`, how many arrays.
    """

    name: str
    offset: int
    size: int
    checksum: int
    count: int

    def read_from(self, file: BinaryIO) -> memoryview:
        """Its bytes, of the file of the whole segment. **Raises** `ValueError` for others than were promised."""
        file.seek(self.offset)
        data = file.read(self.size)
        if zlib.crc32(data) != self.checksum:
            raise ValueError(f"the checksum of {self.name!r} is wrong")
        return memoryview(data)

    def kinds(self, file: BinaryIO) -> list[tuple[np.dtype, tuple[int, ...]]]:
        """Dtypes and shapes of its arrays, of which only headers are read.

        **Raises** `ValueError` unless they promise exactly its bytes.
        """

        def read_at(start: int, size: int) -> bytes:
            file.seek(self.offset + start)
            return file.read(min(size, self.size - start))

        return [(each.dtype, each.shape) for each in _headers(read_at, self)]


class FileArrays(Mapping[str, np.ndarray]):
    """Arrays of a segment that was found whole, read from its file each time one is asked for.

    Reading one raises `StorageError` where the file was changed or taken away since. `kinds`, their dtypes and shapes,
    are known without that.
    """

    def __init__(self, path: Path, places: Mapping[str, tuple[Member, int]], kinds: Kinds):
        self._path = path
        self._places = dict(places)
        self.kinds = dict(kinds)

    def __getitem__(self, name: str) -> np.ndarray:
        member, number = self._places[name]
        try:
            with open_regular(self._path, MAX_SEGMENT) as file:
                found = arrays_in(member.read_from(file), member)[number]
        except OSError as error:
            raise StorageError(f"{self._path} cannot be read ({error.strerror or error}).") from error
        except ValueError as error:
            raise StorageError(
                f"{self._path} was changed since this run was opened ({error}). Load it again."
            ) from error
        if member.count == 1:
            return found
        # A view would keep the bytes of all arrays of the member, such as a whole state for the sake of one number.
        found = found.copy()
        found.setflags(write=False)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places


def kinds_of(arrays: Mapping[str, np.ndarray]) -> Kinds:
    """Return dtypes and shapes by name; arrays on disk are not read for it."""
    if isinstance(arrays, FileArrays):
        return arrays.kinds
    return {name: (value.dtype, value.shape) for name, value in arrays.items()}


def arrays_in(data: memoryview, member: Member) -> list[np.ndarray]:
    """The arrays of a member, whose headers must promise exactly its bytes. Raises `ValueError` for others."""

    def read_at(start: int, size: int) -> memoryview:
        return data[start : start + size]

    return [
        # Read-only, as bytes are.
        np.ndarray(each.shape, each.dtype, data[each.start : each.stop], order=each.order)
        for each in _headers(read_at, member)
    ]


@dataclass(frozen=True)
class _Header:
    """What is said of an array, and where its numbers are in its member."""

    dtype: np.dtype
    order: Literal["C", "F"]
    shape: tuple[int, ...]
    start: int
    stop: int


def _headers(read_at: Callable[[int, int], bytes | memoryview], member: Member) -> list[_Header]:
    """The headers of the arrays of a member. Raises `ValueError` unless they promise exactly its bytes."""
    found: list[_Header] = []
    place = 0
    for _ in range(member.count):
        found.append(_header(read_at, member, place))
        place = found[-1].stop
    if place != member.size:
        raise ValueError(f"{member.name!r} has {member.size - place} bytes more than its arrays")
    return found


def _header(read_at: Callable[[int, int], bytes | memoryview], member: Member, place: int) -> _Header:
    """The header of the array that begins at some byte of a member.

    NumPy's reader gives the header to Python's parser, which costs more than the arrays of a small segment, and fails
    at random where two threads use it at once (seen in CPython 3.11.7).
    """
    head = bytes(read_at(place, _USUAL_HEADER))
    start = len(_MAGIC) + 2
    length = start + int.from_bytes(head[len(_MAGIC) : start], "little")
    if length > len(head):
        head = bytes(read_at(place, length))
    header = _NPY.fullmatch(head[start:length])
    if head[: len(_MAGIC)] != _MAGIC or header is None:
        raise ValueError(f"{member.name!r} is no array of numbers")
    dtype = np.dtype(header["dtype"].decode())
    shape = tuple(int(each) for each in header["shape"].split(b",") if each.strip())
    count, left = math.prod(shape), member.size - place - length
    if count > MAX_ELEMENTS or count * dtype.itemsize > left:
        raise ValueError(f"{member.name!r} promises {count} elements of {dtype} in {left} bytes")
    begin = place + length
    order = "F" if header["order"] == b"True" else "C"
    return _Header(dtype, order, shape, begin, begin + count * dtype.itemsize)
