"""Write one segment as bytes that vouch for themselves, and read them back only if every bit is right.

A segment is an uncompressed zip of `.npy` members, as `np.savez` would write it, with a JSON member that
names the arrays and links the segment to the one before it. The archive's comment is the sha256 of everything
ahead of it, so that damage is found before any parser sees the bytes. Members are named by number: the names
of sites are data and never become paths. The state at the end, dozens of small arrays, is one member that holds
their `.npy` files one behind the other. Times are fixed, so that the same draws give the same bytes wherever they
were made.
"""

import hashlib
import io
import json
import math
import re
import struct
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import StorageError
from .base import Segment
from .manifest import to_json

MAX_ELEMENTS = 2**31
_HEADER, _END_STATE = "header.json", "end-state.npy-s"
_DIGEST_SIZE = 64
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can hold
_LENGTHS, _LENGTHS_AT = struct.Struct("<HH"), 26  # of name and extra field, the end of a member's header
_MAGIC = b"\x93NUMPY\x01\x00"
_NPY = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|][biufc]\d{1,2})', 'fortran_order': (?P<order>True|False), "
    rb"'shape': \((?P<shape>|\d{1,19},|\d{1,19}(, \d{1,19}){1,63})\), \} *\n"
)
"""The header of an array of numbers, as `np.save` writes it."""


@dataclass(frozen=True)
class Link:
    """What ties a segment to its run: the run's id, its place, and the digest of what comes before."""

    run_id: str
    index: int
    previous: str


def encode(segment: Segment, link: Link) -> tuple[bytes, str]:
    """The bytes of a segment, and their digest, which the next segment takes as its `previous`."""
    header = {
        "run_id": link.run_id,
        "index": link.index,
        "previous": link.previous,
        "chain": segment.chain,
        "phase": segment.phase,
        "start": segment.start,
        "stop": segment.stop,
        "arrays": list(segment.arrays),
        "end_state": list(segment.end_state),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_HEADER, _EPOCH), to_json(header))
        for number, value in enumerate(segment.arrays.values()):
            archive.writestr(zipfile.ZipInfo(_member(number), _EPOCH), _saved(value))
        if segment.end_state:
            archive.writestr(zipfile.ZipInfo(_END_STATE, _EPOCH), _saved(*segment.end_state.values()))
        # The comment must be there when the end record is written, since that holds its length.
        archive.comment = b"0" * _DIGEST_SIZE
    body = buffer.getbuffer()[:-_DIGEST_SIZE]
    digest = hashlib.sha256(body).hexdigest()
    return b"".join((body, digest.encode())), digest


def _saved(*values: np.ndarray) -> memoryview:
    """Arrays as `.npy`, one behind the other."""
    member = io.BytesIO()
    for value in values:
        np.save(member, value, allow_pickle=False)
    return member.getbuffer()


def decode(data: bytes) -> tuple[Segment, Link, str]:
    """Read a segment, its link and its digest. Raises `StorageError`, and nothing else, for other bytes."""
    body, digest = data[:-_DIGEST_SIZE], data[-_DIGEST_SIZE:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise StorageError("its content does not match its sha256")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            segment, link = _read(archive, data)
    # A digest proves that nothing broke on the way, not that accord wrote the file; and the parsers of zip
    # and npy answer bytes made to mislead them with any of a dozen exceptions.
    except Exception as error:
        raise StorageError(f"it is not a segment ({error})") from error
    return segment, link, digest.decode()


def _read(archive: zipfile.ZipFile, data: bytes) -> tuple[Segment, Link]:
    members = {info.filename: info for info in archive.infolist()}
    if len(members) != len(archive.infolist()):
        raise ValueError("a member is there twice")
    for info in members.values():
        if (
            info.compress_type != zipfile.ZIP_STORED
            or info.file_size != info.compress_size
            or info.flag_bits & 1
        ):
            raise ValueError(f"{info.filename!r} is compressed or encrypted")
    header = json.loads(archive.read(_HEADER))
    names, states = _names(header, "arrays"), _names(header, "end_state")
    if len(members) != 1 + len(names) + bool(states):
        raise ValueError("the header names other arrays than there are")
    values = [_arrays(data, members[_member(number)], 1)[0] for number in range(len(names))]
    end_state = _arrays(data, members[_END_STATE], len(states)) if states else []
    start, stop = _count(header, "start"), _count(header, "stop")
    segment = Segment(
        chain=_count(header, "chain"),
        phase=header["phase"],
        start=start,
        stop=stop,
        arrays=dict(zip(names, values, strict=True)),
        end_state=dict(zip(states, end_state, strict=True)),
    )
    return segment, Link(str(header["run_id"]), _count(header, "index"), str(header["previous"]))


def _arrays(whole: bytes, info: zipfile.ZipInfo, count: int) -> list[np.ndarray]:
    """Read the arrays of one member of the archive, whose headers must promise exactly the bytes that follow.

    The archive's checksum of each member would say no more than the sha256 of all.
    """
    name_length, extra_length = _LENGTHS.unpack_from(whole, info.header_offset + _LENGTHS_AT)
    begin = info.header_offset + _LENGTHS_AT + _LENGTHS.size + name_length + extra_length
    data = memoryview(whole)[begin : begin + info.file_size]
    arrays: list[np.ndarray] = []
    for _ in range(count):
        array, data = _array(data, info.filename)
        arrays.append(array)
    if data:
        raise ValueError(f"{info.filename!r} has {len(data)} bytes more than its arrays")
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


def _names(header: dict[str, Any], key: str) -> list[str]:
    names = header[key]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{key!r} is no list of names")
    if len(set(names)) != len(names):
        raise ValueError(f"{key!r} names an array twice")
    return names


def _count(header: dict[str, Any], key: str) -> int:
    value = header[key]
    if type(value) is not int or value < 0:
        raise ValueError(f"{key!r} is {value!r}, not a count")
    return value


def _member(number: int) -> str:
    return f"array-{number:06d}.npy"
