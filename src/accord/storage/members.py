"""Read the arrays of one member of a segment: from bytes at hand, or from its file when one is asked for."""

import math
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..core.errors import StorageError

MAX_ELEMENTS = 2**31
_MAGIC = b"\x93NUMPY\x01\x00"
_NPY = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|][biufc]\d{1,2})', 'fortran_order': (?P<order>True|False), "
    rb"'shape': \((?P<shape>|\d{1,19},|\d{1,19}(, \d{1,19}){1,63})\), \} *\n"
)
"""The header of an array of numbers, as `np.save` writes it."""


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

    def of(self, data: bytes) -> memoryview:
        """Its bytes, of those of the whole segment."""
        return memoryview(data)[self.offset : self.offset + self.size]


class FileArrays(Mapping[str, np.ndarray]):
    """Arrays of a segment that was found whole, read from its file each time one is asked for.

    Reading one raises `StorageError` where the file was changed or taken away since.
    """

    def __init__(self, path: Path, places: Mapping[str, tuple[Member, int]]):
        self._path = path
        self._places = dict(places)

    def __getitem__(self, name: str) -> np.ndarray:
        member, number = self._places[name]
        try:
            with open(self._path, "rb") as file:
                file.seek(member.offset)
                data = file.read(member.size)
        except OSError as error:
            raise StorageError(f"{self._path} cannot be read ({error.strerror or error}).") from error
        if zlib.crc32(data) != member.checksum:
            raise StorageError(f"{self._path} was changed since this run was opened. Load it again.")
        return arrays_in(memoryview(data), member)[number]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places


def arrays_in(data: memoryview, member: Member) -> list[np.ndarray]:
    """The arrays of a member, whose headers must promise exactly its bytes. Raises `ValueError` for others."""
    arrays: list[np.ndarray] = []
    for _ in range(member.count):
        array, data = _array(data, member.name)
        arrays.append(array)
    if data:
        raise ValueError(f"{member.name!r} has {len(data)} bytes more than its arrays")
    return arrays


def _array(data: memoryview, member: str) -> tuple[np.ndarray, memoryview]:
    """The array at the beginning of some bytes, and the bytes behind it.

    NumPy's reader gives the header to Python's parser, which costs more than the arrays of a small segment, and fails
    at random where two threads use it at once (seen in CPython 3.11.7).
    """
    start = len(_MAGIC) + 2
    offset = start + int.from_bytes(data[len(_MAGIC) : start], "little")
    header = _NPY.fullmatch(data[start:offset])
    if data[: len(_MAGIC)] != _MAGIC or header is None:
        raise ValueError(f"{member!r} is no array of numbers")
    dtype, order = np.dtype(header["dtype"].decode()), "F" if header["order"] == b"True" else "C"
    shape = tuple(int(length) for length in header["shape"].split(b",") if length.strip())
    count = math.prod(shape)
    end = offset + count * dtype.itemsize
    if count > MAX_ELEMENTS or end > len(data):
        raise ValueError(f"{member!r} promises {count} elements of {dtype} in {len(data) - offset} bytes")
    return np.ndarray(shape, dtype, data[offset:end], order=order), data[end:]  # read-only, as bytes are
