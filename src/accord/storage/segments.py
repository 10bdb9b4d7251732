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
import os
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..core.errors import StorageError
from .base import Segment
from .manifest import to_json
from .members import FileArrays, Member, arrays_in

_HEADER, _END_STATE = "header.json", "end-state.npy-s"
_DIGEST_SIZE = 64
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can hold
_LENGTHS, _LENGTHS_AT = struct.Struct("<HH"), 26  # of name and extra field, the end of a member's header
_END_OF_ZIP = b"PK\x05\x06"  # begins the record behind the directory, which ends with the comment
_TAIL_SIZE = 22 + _DIGEST_SIZE
_PIECE = 2**20  # bytes that are read at once for the digest
_MAX_HEADER = 2**24  # bytes; that of 2,000 sites takes about 100 kB


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


def read_segment(file: BinaryIO, path: Path | None = None) -> tuple[Segment, Link, str]:
    """Read a segment, its link and its digest; its arrays too, or only where each is, if `path` is that of the file.

    The file is read twice, little at a time: nothing is parsed before its digest is known to be right.

    Raises `StorageError`, and nothing else, for other bytes.
    """
    size = file.seek(0, os.SEEK_END)
    digest = _checked_digest(file, size)
    try:
        with zipfile.ZipFile(_Sparing(file)) as archive:
            segment, link = _read(archive, file, path)
    # A digest proves that nothing broke on the way, not that accord wrote the file; and the parsers of zip
    # and npy answer bytes made to mislead them with any of a dozen exceptions.
    except Exception as error:
        raise StorageError(f"it is not a segment ({error})") from error
    return segment, link, digest


def _checked_digest(file: BinaryIO, size: int) -> str:
    """The digest at the end of a file. Raises `StorageError` unless it is that of what comes before."""
    file.seek(max(size - _TAIL_SIZE, 0))
    tail = file.read(_TAIL_SIZE)
    # First, since a sparse file of any size is made in no time, and would be read for hours.
    if len(tail) < _TAIL_SIZE or not tail.startswith(_END_OF_ZIP):
        raise StorageError("it does not end as a segment, and its sha256 is missing")
    running, left = hashlib.sha256(), size - _DIGEST_SIZE
    file.seek(0)
    while left > 0 and (piece := file.read(min(left, _PIECE))):
        running.update(piece)
        left -= len(piece)
    if running.hexdigest().encode() != tail[-_DIGEST_SIZE:]:
        raise StorageError("its content does not match its sha256")
    return running.hexdigest()


class _Sparing:
    """A file of which no more than a bounded piece is read at once: a directory is as long as it says itself."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(min(size, _MAX_HEADER + 1) if size >= 0 else _MAX_HEADER + 1)
        if len(data) > _MAX_HEADER:
            raise ValueError(f"its headers take more than {_MAX_HEADER} bytes")
        return data


def _read(archive: zipfile.ZipFile, file: BinaryIO, path: Path | None) -> tuple[Segment, Link]:
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
    if members[_HEADER].file_size > _MAX_HEADER:
        raise ValueError(f"{_HEADER!r} has {members[_HEADER].file_size} bytes")
    header = json.loads(archive.read(_HEADER))
    names, states = _names(header, "arrays"), _names(header, "end_state")
    if len(members) != 1 + len(names) + bool(states):
        raise ValueError("the header names other arrays than there are")
    # By array, the member that it is in and its place there.
    places = {name: (_place(file, members[_member(number)], 1), 0) for number, name in enumerate(names)}
    at_end = [_place(file, members[_END_STATE], len(states)) for _ in states[:1]]
    end_places = {name: (member, number) for member in at_end for number, name in enumerate(states)}
    segment = Segment(
        chain=_count(header, "chain"),
        phase=header["phase"],
        start=_count(header, "start"),
        stop=_count(header, "stop"),
        arrays=_arrays(file, path, places),
        end_state=_arrays(file, path, end_places),
    )
    return segment, Link(str(header["run_id"]), _count(header, "index"), str(header["previous"]))


def _arrays(
    file: BinaryIO, path: Path | None, places: Mapping[str, tuple[Member, int]]
) -> Mapping[str, np.ndarray]:
    members = dict.fromkeys(member for member, _ in places.values())
    if path is None:
        arrays = {member: arrays_in(member.read_from(file), member) for member in members}
        return {name: arrays[member][number] for name, (member, number) in places.items()}
    kinds = {member: member.kinds(file) for member in members}
    return FileArrays(
        path, places, {name: kinds[member][number] for name, (member, number) in places.items()}
    )


def _place(file: BinaryIO, info: zipfile.ZipInfo, count: int) -> Member:
    file.seek(info.header_offset + _LENGTHS_AT)
    name_length, extra_length = _LENGTHS.unpack(file.read(_LENGTHS.size))
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
