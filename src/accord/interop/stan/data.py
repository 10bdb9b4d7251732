"""Read the data of a Stan program, and check them against what it declares."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError, OptionError, suggest
from .toolchain import WORD
from .translate import Kind

_INT32 = np.iinfo(np.int32)


def read(given: Any, declared: Mapping[str, Kind]) -> dict[str, np.ndarray]:
    """Read the declared data of a mapping or a JSON file, in the program's order.

    Other names in a file are left out, as Stan does; in a mapping they are errors.

    **Raises** `OptionError` where there is no such file; `DataError` for variables that are missing, unknown, ragged,
    of the wrong type or number of axes.
    """
    is_file = isinstance(given, str | os.PathLike)
    values = _from_file(given) if is_file else given
    if values is None:
        values = {}
    if not isinstance(values, Mapping):
        raise OptionError(f"{WORD}: `data` is a mapping from names to arrays, or the path of a JSON file.")
    for name in values:
        if name not in declared and not is_file:
            raise DataError(
                f"{WORD}: the program declares no data {name!r}.{suggest(str(name), declared)} It declares "
                f"{', '.join(map(repr, declared)) or 'none'}."
            )
    return {name: _variable(name, values, kind) for name, kind in declared.items()}


def _from_file(path: Any) -> Any:
    try:
        return json.loads(Path(path).read_text())
    except OSError as error:
        raise OptionError(f"{WORD}: cannot read the data file {str(path)!r}: {error.strerror}.") from None
    except ValueError as error:
        raise DataError(f"{WORD}: the data file {str(path)!r} is no JSON: {error}") from None


def _variable(name: str, values: Mapping[str, Any], kind: Kind) -> np.ndarray:
    if kind.type not in ("int", "real"):
        raise DataError(
            f"{WORD}: the variable {name!r} is declared as {kind.type}. Only real and whole numbers, and arrays of "
            "them, can be given."
        )
    if name not in values:
        raise DataError(f"{WORD}: the variable {name!r} is missing from the data: {_declared(kind)}.")
    found = _array(name, values[name], kind)
    # An empty list may stand for an array of any number of axes.
    if found.ndim != kind.rank and found.size:
        raise DataError(f"{WORD}: the variable {name!r} has shape {found.shape}, and {_declared(kind)}.")
    if kind.type == "real":
        if found.dtype.kind not in "fiub":
            raise DataError(f"{WORD}: the variable {name!r} is {_short(found)}, not real numbers.")
        return found.astype(np.float64)
    if found.dtype.kind not in "iub" and found.size:
        raise DataError(
            f"{WORD}: the variable {name!r} is {_short(found)} of dtype {found.dtype}, and {_declared(kind)}. "
            f"If these are whole, give `{name}.astype(int)`."
        )
    if found.size and not (_INT32.min <= found.min() and found.max() <= _INT32.max):
        raise DataError(
            f"{WORD}: the variable {name!r} holds numbers that do not fit into 32 bits, which Stan's int has."
        )
    return found.astype(np.int32)


def _array(name: str, value: Any, kind: Kind) -> np.ndarray:
    try:
        found = np.asarray(value)
        # Numbers that JSON cannot write are strings in Stan's files.
        return found.astype(np.float64) if kind.type == "real" and found.dtype.kind == "U" else found
    except (ValueError, TypeError) as error:
        raise DataError(f"{WORD}: the variable {name!r} is no array of numbers: {error}") from None


def _declared(kind: Kind) -> str:
    word = {"int": "whole", "real": "real"}[kind.type]
    if not kind.rank:
        return f"it is declared as one {word} number"
    return f"it is declared as {word} numbers with {kind.rank} ax{'is' if kind.rank == 1 else 'es'}"


def _short(value: np.ndarray) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:60]}..."
