"""Write arrays to an NPZ file under any names."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..core.errors import OptionError, StorageError


def check_new(path: Path) -> None:
    """Raise `OptionError` for a file that is no NPZ, exists already, or whose folder does not exist."""
    if path.suffix.lower() != ".npz":
        raise OptionError(f"--out must be a file ending in .npz, got {str(path)!r}.")
    if not path.parent.is_dir():
        raise OptionError(f"--out: there is no folder {str(path.parent)!r}. Create it first.")
    try:
        exists = path.exists()
    except (OSError, ValueError) as error:
        raise OptionError(f"--out: {path} cannot be the name of a file ({error}).") from error
    if exists:
        raise OptionError(f"{path} exists already and is not overwritten. Choose another name.")


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays for `numpy.load`.

    **Raises** `StorageError` if the file cannot be written.
    """
    try:
        with zipfile.ZipFile(path, "x", allowZip64=True) as file:
            for name, array in arrays.items():
                with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
    except OSError as error:
        raise StorageError(f"{path} cannot be written ({error.strerror or error}).") from error
