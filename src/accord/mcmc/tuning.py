"""Keep what warm-up learnt as columns: declared before a run, stored with each segment, and read from the last ones.

A manifest says which columns there are, so that a run is read without its adaptation, which may be a user's own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..adaptation.base import AbstractAdaptation
from ..core.errors import OptionError, SamplingError, StorageError
from ..storage import Segment
from .stretch import IS_SETTLED, WARMUP

_TEXT = "str"
_DTYPES = {"f": "float64", "i": "int64", "u": "int64", "b": "bool", "U": _TEXT}
_NOTHING: dict[str, Any] = {"float64": np.nan, "int64": 0, "bool": False, _TEXT: ""}

OF_CHAINS = (WARMUP, IS_SETTLED)
"""Names of columns that every run has, whatever its adaptation."""


@dataclass(frozen=True)
class Column:
    """A column of `draws.tuning`.

    **Fields**: `name`; `dtype`, `"float64"`, `"int64"`, `"bool"` or `"str"`; `shape` for each chain, `()` for a text.
    """

    name: str
    dtype: str
    shape: tuple[int, ...] = ()

    @property
    def stored_name(self) -> str:
        """Name of its array in the state at the end of a segment."""
        return f"tuning.{self.name}"

    def stored(self, value: Any) -> np.ndarray:
        """Return the array that a store keeps of a value: of a text, its bytes in UTF-8."""
        if self.dtype == _TEXT:
            return np.frombuffer(str(value).encode(), np.uint8)
        return np.asarray(value, self.dtype)

    def is_stored_as(self, dtype: np.dtype, shape: tuple[int, ...]) -> bool:
        """Return whether `stored` returns arrays of this dtype and shape."""
        if self.dtype == _TEXT:
            return dtype == np.uint8 and len(shape) == 1
        return (dtype, shape) == (np.dtype(self.dtype), self.shape)

    def read(self, array: np.ndarray) -> Any:
        """Return the value of which a store keeps this array. **Raises** `StorageError` for what is no text."""
        if self.dtype != _TEXT:
            return array
        try:
            return array.tobytes().decode()
        except UnicodeDecodeError as error:
            raise StorageError(f"the stored tuning {self.name!r} is no text ({error}).") from error


def columns_of(adaptation: AbstractAdaptation, dim: int, dtype: np.dtype) -> tuple[Column, ...]:
    """Return the columns of an adaptation in `dim` dimensions, by what it shows before the first draw.

    **Raises** `OptionError` for a name that every run has, and for a value that is no array of numbers and no text.
    """
    return tuple(
        _column(adaptation, name, value) for name, value in _at_first(adaptation, dim, dtype).items()
    )


def _at_first(adaptation: AbstractAdaptation, dim: int, dtype: np.dtype) -> dict[str, Any]:
    fitted = adaptation.at_start(np.zeros(dim, dtype))
    return adaptation.described(adaptation.begin(dim, dtype), fitted)


def _column(adaptation: AbstractAdaptation, name: Any, value: Any) -> Column:
    array = np.asarray(value)
    dtype = _DTYPES.get(array.dtype.kind)
    if not isinstance(name, str) or name in OF_CHAINS or dtype is None or (dtype == _TEXT and array.shape):
        found = f"of dtype {array.dtype} and shape {array.shape}"
        raise OptionError(
            f"{type(adaptation).__name__}.described returns {name!r} {found}. It must return numbers, texts and arrays "
            f"of numbers by name, without {' and '.join(map(repr, OF_CHAINS))}, which every run has."
        )
    return Column(name, dtype, array.shape)


def arrays_of(
    columns: Sequence[Column], adaptation: AbstractAdaptation, described: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Return the arrays that a store keeps of what an adaptation has `described`.

    **Raises** `SamplingError` for other columns than those before the first draw, or of another kind.
    """
    arrays = {name: np.asarray(value) for name, value in described.items()}
    wanted = {each.name: each.shape for each in columns}
    found = {name: array.shape for name, array in arrays.items()}
    if found != wanted:
        raise SamplingError(
            f"{type(adaptation).__name__}.described returns arrays of shapes {found}, and at first {wanted}."
            " It must always return the same names with the same shapes."
        )
    for each in columns:
        array = arrays[each.name]
        is_text = array.dtype.kind == "U"
        if is_text != (each.dtype == _TEXT) or not (
            is_text or np.can_cast(array.dtype, each.dtype, "same_kind")
        ):
            raise SamplingError(
                f"{type(adaptation).__name__}.described returns {each.name!r} of dtype {array.dtype}, and at first of "
                f"dtype {each.dtype}. It must always return the same kinds of values: 1.0, say, and not 1, of a number "
                "that need not be whole."
            )
    return {each.stored_name: each.stored(arrays[each.name]) for each in columns}


def stored_columns(manifest: Mapping[str, Any]) -> tuple[Column, ...]:
    """Return the columns that a manifest names. **Raises** `StorageError` for those that no run has."""
    columns = tuple(Column(each["name"], each["dtype"], tuple(each["shape"])) for each in manifest["tuning"])
    names = [each.name for each in columns]
    if len(set(names)) < len(names) or set(names) & set(OF_CHAINS):
        raise StorageError("'tuning' in manifest.json names a column twice: no run of accord wrote it.")
    return columns


def tuning_of(
    segments: Sequence[Sequence[Segment]], columns: Sequence[Column], num_warmup: int
) -> dict[str, np.ndarray]:
    """Return the results and the length of warm-up, by chain.

    For a chain without a segment, they are NaN, 0, False or the empty string.
    """
    last = [each[-1].end_state if each else None for each in segments]
    warmups, is_settled = np.full(len(segments), num_warmup), np.ones(len(segments), bool)
    for row, state in enumerate(last):
        if state is not None:
            warmups[row], is_settled[row] = state[WARMUP], state[IS_SETTLED]
    return {each.name: _by_chain(each, last) for each in columns} | {WARMUP: warmups, IS_SETTLED: is_settled}


def _by_chain(column: Column, last: Sequence[Mapping[str, np.ndarray] | None]) -> np.ndarray:
    nothing = _NOTHING[column.dtype]
    if not any(
        state is not None for state in last
    ):  # nothing vouches for as large a shape as a manifest claims
        return np.broadcast_to(np.asarray(nothing), (len(last), *column.shape))
    values = [nothing if state is None else column.read(state[column.stored_name]) for state in last]
    if column.dtype == _TEXT:
        return np.asarray(values)
    return np.stack([np.broadcast_to(value, column.shape) for value in values]).astype(column.dtype)
