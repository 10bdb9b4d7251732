"""Leave the rows of an array in a file until they are needed, and read those that are."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError, OptionError
from ...core.options import checks_options

_PIECE = 2**24  # bytes that are read at a time where all rows are gone through

Reader = Callable[[int, int], np.ndarray]
"""The rows from one number to another, as they are stored."""


@dataclass(frozen=True)
class FileRows:
    """An array in a file, whose first axis is rows. NumPy takes it for an array, by reading all of it.

    **Fields**: `path`; `names`, of the columns of a Parquet file; `shape`; `stored`, the dtype in the file; `dtype`,
    that of what is read.
    """

    path: str
    names: tuple[str, ...] | str | None
    shape: tuple[int, ...]
    stored: np.dtype
    dtype: np.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of entries."""
        return math.prod(self.shape)

    def astype(self, dtype: Any) -> "FileRows":
        """Return the rows so that they are read in another dtype."""
        return replace(self, dtype=np.dtype(dtype))

    def read(self, start: int, stop: int) -> np.ndarray:
        """Read rows from `start` to `stop`. Raises `DataError` where the file has changed, or ints do not fit."""
        shape, stored, reader = _opened(self.path, self.names)
        if (shape, stored) != (self.shape, self.stored):
            raise DataError(
                f"{self.path} holds an array of shape {shape} and dtype {stored}; when the run began it was "
                f"{self.shape} and {self.stored}. Every machine must see the same "
                "file, and it must not change during the run."
            )
        found = np.ascontiguousarray(reader(start, stop))
        if self.dtype.kind == "i" and found.size and self.dtype != stored:
            limits = np.iinfo(self.dtype)
            if found.min() < limits.min or found.max() > limits.max:
                raise DataError(
                    f"{self.path}: some integers do not fit {self.dtype}. Scale them, or store floats."
                )
        return found.astype(self.dtype, copy=False)

    def pieces(self) -> Iterator[np.ndarray]:
        """Read all rows, some megabytes at a time."""
        of_row = max(self.size // max(self.shape[0], 1), 1) * self.dtype.itemsize
        step = max(_PIECE // of_row, 1)
        for start in range(0, self.shape[0], step):
            yield self.read(start, min(start + step, self.shape[0]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        del copy  # what is read is new
        return np.asarray(self.read(0, self.shape[0]), dtype)


@checks_options
def rows(path: str | Path, columns: Sequence[str] | str | None = None) -> FileRows:
    """Pass an array in a file to a model: its rows stay in the file until they are computed with.

    With `MultiHost` and `Devices(shard=...)` each device's rows are read where it is; every other way reads all of
    them. What starts the run goes through the file, some megabytes at a time, for its digest and to look for NaN. Where
    float32 rounds what is in it, nothing is said.

    **Arguments**
    - `path`: `.npy`, a `.zarr` array, or `.parquet`, whose first axis is rows. Every machine must find it there.
    - `columns`: of a Parquet file: a name for shape `(rows,)`, or several for shape `(rows, columns)`.

    **Raises** `DataError` for a file that is not there or holds no numbers; `OptionError` for columns that it lacks.

    **Example**

    >>> np.save("heads.npy", heads)
    >>> print(coin(4, infer.rows("heads.npy")).sites())
    site  kind      shape  dims  distribution
    p     latent    ()           Beta
    y     observed  (4,)   toss  Bernoulli
    """
    names = columns if columns is None or isinstance(columns, str) else tuple(columns)
    place = str(Path(path).absolute())
    shape, stored, _ = _opened(place, names)
    if stored.kind not in "biuf" or not shape or not shape[0]:
        raise DataError(
            f"{place}: found an array of shape {shape} and dtype {stored}; rows of numbers are needed."
        )
    return FileRows(place, names, shape, stored, stored)


def in_memory(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return data by name, with all rows read that lie in files."""
    return {name: np.asarray(each) if isinstance(each, FileRows) else each for name, each in data.items()}


def pieces_in_memory(array: Any) -> Iterator[np.ndarray]:
    """Yield an array as it is, or an array in a file by pieces."""
    return array.pieces() if isinstance(array, FileRows) else iter([np.asarray(array)])


def _opened(path: str, columns: tuple[str, ...] | str | None) -> tuple[tuple[int, ...], np.dtype, Reader]:
    """Return shape, dtype and reader of the array in a file."""
    suffix = Path(path).suffix.lower()
    if suffix not in _OPENERS:
        raise DataError(f"{path}: rows are read from files ending in {', '.join(_OPENERS)}.")
    if (columns is not None) != (suffix == ".parquet"):
        raise OptionError(
            f'rows({path!r}): a Parquet file needs columns="y" or columns=["a", "b"], and no other file has any; got '
            f"columns={columns!r}."
        )
    try:
        return _OPENERS[suffix](path, columns)
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path!r} to read rows from, on this machine.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error}).") from error


def _open_npy(path: str, _: Any) -> tuple[tuple[int, ...], np.dtype, Reader]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise DataError(f"{path} is not an array of numbers in NPY format: {error}.") from error
    return array.shape, array.dtype, lambda start, stop: array[start:stop]


def _open_zarr(path: str, _: Any) -> tuple[tuple[int, ...], np.dtype, Reader]:
    import zarr  # takes half a second

    try:
        _check_codecs(path)
        array = zarr.open_array(path, mode="r")
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path} is not an array of numbers in Zarr format: {error}.") from error
    return tuple(array.shape), np.dtype(array.dtype), lambda start, stop: np.asarray(array[start:stop])


def _check_codecs(path: str) -> None:
    """Raise `DataError` for an array whose chunks are pickles; some releases of Zarr open them, which runs code."""
    for name in (".zarray", "zarr.json"):
        place = Path(path, name)
        description = json.loads(place.read_bytes()) if place.is_file() else {}
        if not isinstance(description, dict):
            raise ValueError(f"its {name} describes no array")
        codecs = [description.get(kind) for kind in ("filters", "compressor", "codecs")]
        if "pickle" in json.dumps(codecs).lower():
            raise DataError(
                f"{path} holds pickles, by the codecs in its {name}, and to read a pickle runs code. Store the array "
                "with another codec."
            )


def _open_parquet(path: str, columns: Any) -> tuple[tuple[int, ...], np.dtype, Reader]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise OptionError('Parquet files need pyarrow: pip install "accord[parquet]".') from error
    file = pq.ParquetFile(path)
    names = [columns] if isinstance(columns, str) else list(columns)
    if missing := [name for name in names if name not in file.schema_arrow.names]:
        raise OptionError(
            f"{path} has no column {missing[0]!r}. There are: {', '.join(file.schema_arrow.names)}."
        )
    for name in names:
        if (count := file.schema_arrow.names.count(name)) > 1:
            raise DataError(f"{path}: {count} columns are called {name!r}. Rename all but one.")
    dtypes = [np.dtype(file.schema_arrow.field(name).type.to_pandas_dtype()) for name in names]
    counts = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    ends = np.cumsum([0, *counts])

    def reader(start: int, stop: int) -> np.ndarray:
        first = int(np.searchsorted(ends, start, side="right")) - 1
        last = max(int(np.searchsorted(ends, stop, side="left")), first + 1)
        table: pa.Table = file.read_row_groups(list(range(first, last)), columns=names)
        cut = table.slice(start - int(ends[first]), stop - start)
        for name, dtype in zip(names, dtypes, strict=True):
            if dtype.kind != "f" and cut.column(name).null_count:
                raise DataError(
                    f"{path}: column {name!r} misses {cut.column(name).null_count} entries in rows {start} to "
                    f"{stop - 1}, and values of type {dtype} cannot be missing. Store floats, whose missing ones are "
                    "NaN, or leave these rows out."
                )
        arrays = [cut.column(name).to_numpy() for name in names]
        return arrays[0] if isinstance(columns, str) else np.stack(arrays, axis=1)

    num_rows = file.metadata.num_rows
    shape = (num_rows,) if isinstance(columns, str) else (num_rows, len(names))
    return shape, np.result_type(*dtypes), reader


_OPENERS: dict[str, Callable[[str, Any], tuple[tuple[int, ...], np.dtype, Reader]]] = {
    ".npy": _open_npy,
    ".zarr": _open_zarr,
    ".parquet": _open_parquet,
}
