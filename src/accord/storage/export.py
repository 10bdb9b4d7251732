"""Export the tree of a run as NetCDF or Zarr, for other tools."""

import contextlib
import importlib.util
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import StorageError

if TYPE_CHECKING:
    from xarray import DataTree


def to_netcdf(tree: "DataTree", path: str | os.PathLike[str]) -> None:
    """Write a tree as one NetCDF 4 file. Raises `StorageError` if the path is taken or h5netcdf missing."""
    for package in ("h5netcdf", "h5py"):
        if importlib.util.find_spec(package) is None:
            raise StorageError(
                f'NetCDF needs the package {package}. Install it with: pip install "accord[netcdf]"'
            )
    _place(path, lambda temporary: tree.to_netcdf(temporary, engine="h5netcdf"))


def to_zarr(tree: "DataTree", path: str | os.PathLike[str]) -> None:
    """Write a tree as one Zarr folder. Raises `StorageError` if the path is taken.

    Format 2, which every reader of Zarr knows: format 3 has as yet no agreed text type for coordinates, nor
    consolidated metadata.
    """
    _place(path, lambda temporary: tree.to_zarr(temporary, mode="w-", zarr_format=2, consolidated=True))


def _place(path: str | os.PathLike[str], write: Callable[[str], object]) -> None:
    """Write beside the place and rename, so that a half-written export is never taken for a whole one."""
    target = Path(path)
    if target.exists():
        raise StorageError(f"{target} exists already and is not overwritten. Give another path or remove it.")
    temporary = target.with_name(f".tmp-{os.getpid()}-{uuid.uuid4().hex}{target.suffix}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write(str(temporary))
        os.replace(temporary, target)
    except OSError as error:
        raise StorageError(f"cannot write {target} ({error.strerror or error}).") from error
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):  # there is none, or the folder is read-only
                temporary.unlink()
