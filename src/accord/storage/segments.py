"""Write one segment as bytes that vouch for themselves, and read them back only if every bit is right.

A segment is an uncompressed zip of `.npy` members, as `np.savez` would write it, with a JSON member that
names the arrays and links the segment to the one before it. The archive's comment is the sha256 of everything
ahead of it, so that damage is found before any parser sees the bytes. Members are named by number: the names
of sites are data and never become paths. The state at the end, dozens of small arrays, is one member that holds
their `.npy` files one behind the other. Times are fixed, so that the same draws give the same bytes wherever they
were made. Once a file has been found whole, its arrays may be read from it one at a time (`members`).
"""

import hashlib
import io
import json
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import StorageError
from .base import Segment
from .manifest import to_json
from .members import FileArrays, Member, arrays_in

_HEADER, _END_STATE = "header.json", "end-state.npy-s"
_DIGEST_SIZE = 64
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can hold
_LENGTHS, _LENGTHS_AT = struct.Struct("<HH"), 26  # of name and extra field, the end of a member's header


@dataclass(frozen=True)
class Link:
    """Link of a segment to its run: the run's id, its index, and the digest of the segment before."""

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


def decode(data: bytes, path: Path | None = None) -> tuple[Segment, Link, str]:
    """Read a segment, its link and its digest; its arrays too, or only where each is in the file `path` of these bytes.

    Raises `StorageError`, and nothing else, for other bytes.
    """
    body, digest = data[:-_DIGEST_SIZE], data[-_DIGEST_SIZE:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise StorageError("its content does not match its sha256")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            segment, link = _read(archive, data, path)
    # A digest proves that nothing broke on the way, not that accord wrote the file; and the parsers of zip
    # and npy answer bytes made to mislead them with any of a dozen exceptions.
    except Exception as error:
        raise StorageError(f"it is not a segment ({error})") from error
    return segment, link, digest.decode()


def _read(archive: zipfile.ZipFile, data: bytes, path: Path | None) -> tuple[Segment, Link]:
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
    # By array, the member that it is in and its place there.
    places = {name: (_place(data, members[_member(number)], 1), 0) for number, name in enumerate(names)}
    at_end = [_place(data, members[_END_STATE], len(states)) for _ in states[:1]]
    end_places = {name: (member, number) for member in at_end for number, name in enumerate(states)}
    values = {name: arrays_in(member.of(data), member)[0] for name, (member, _) in places.items()}
    last = [array for member in at_end for array in arrays_in(member.of(data), member)]
    segment = Segment(
        chain=_count(header, "chain"),
        phase=header["phase"],
        start=_count(header, "start"),
        stop=_count(header, "stop"),
        arrays=values if path is None else FileArrays(path, places),
        end_state=dict(zip(states, last, strict=True)) if path is None else FileArrays(path, end_places),
    )
    return segment, Link(str(header["run_id"]), _count(header, "index"), str(header["previous"]))


def _place(whole: bytes, info: zipfile.ZipInfo, count: int) -> Member:
    name_length, extra_length = _LENGTHS.unpack_from(whole, info.header_offset + _LENGTHS_AT)
    begin = info.header_offset + _LENGTHS_AT + _LENGTHS.size + name_length + extra_length
    return Member(info.filename, begin, info.file_size, info.CRC, count)


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
