"""Make files that are not what their names say, or promise more than they hold."""

import io
import struct
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def npy(array: Any) -> bytes:
    """The bytes of one array."""
    file = io.BytesIO()
    np.save(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()


def headed(shape: Any, dtype: str = "<f8", data: bytes = b"") -> bytes:
    """An array whose header says whatever it is told to, before these bytes."""
    text = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def archive(members: Sequence[tuple[str, bytes]], sizes: tuple[int, int] | None = None) -> bytes:
    """An archive of these members, names twice included; its directory may give other sizes, plain and packed."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as packed:
        warnings.simplefilter("ignore")  # that a name comes twice
        for name, content in members:
            packed.writestr(zipfile.ZipInfo(name), content)
        if sizes is not None:
            for member in packed.infolist():
                member.file_size, member.compress_size = sizes
    return file.getvalue()


def write_sparse(path: Path, size: int) -> None:
    """Write a file that seems large and takes no room."""
    with path.open("wb") as file:
        file.truncate(size)
