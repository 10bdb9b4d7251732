"""Read posteriors, data and reference draws from a clone of github.com/stan-dev/posteriordb."""

import json
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_ELEMENT = re.compile(r"(\w+)\[([\d,]+)\]")


class Database:
    """The folder `posterior_database` of a clone; `folder` is that folder, or the clone."""

    def __init__(self, folder: Path):
        inner = folder / "posterior_database"
        self.folder = inner if inner.is_dir() else folder
        if not (self.folder / "posteriors").is_dir():
            raise SystemExit(
                f"{folder} holds no posteriors. Clone github.com/stan-dev/posteriordb, and name it by --database."
            )

    def posteriors(self) -> dict[str, dict[str, Any]]:
        """Read what the database says of every posterior, by its name in alphabetical order."""
        files = sorted((self.folder / "posteriors").glob("*.json"), key=lambda file: file.stem.lower())
        return {file.stem: json.loads(file.read_text()) for file in files}

    def data_file(self, name: str) -> Path:
        """Name the file of a data set."""
        return self.folder / "data" / "data" / f"{name}.json.zip"

    def program_file(self, name: str) -> Path:
        """Name the file of a model in Stan."""
        return self.folder / "models" / "stan" / f"{name}.stan"

    def has_reference(self, name: str) -> bool:
        """Return whether there is a file of reference draws."""
        return self._reference_file(name).exists()

    def reference(self, name: str) -> dict[str, np.ndarray]:
        """Read reference draws by Stan's names, shape `(chain, draw, *parameter)`; none of a file that is missing."""
        if not self.has_reference(name):
            return {}
        chains = json.loads(read_text(self._reference_file(name)))
        return arrays_of({key: np.asarray([chain[key] for chain in chains], float) for key in chains[0]})

    def _reference_file(self, name: str) -> Path:
        return self.folder / "reference_posteriors" / "draws" / "draws" / f"{name}.json.zip"


def arrays_of(columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Join draws of single numbers, by names such as `L[2,1]`, to arrays: their shape, and then that of the array."""
    shapes: dict[str, list[tuple[int, ...]]] = {}
    for key in columns:
        found = _ELEMENT.fullmatch(key)
        place = tuple(int(i) - 1 for i in found[2].split(",")) if found else ()
        shapes.setdefault(found[1] if found else key, []).append(place)
    draws = {}
    for name, places in shapes.items():
        shape = tuple(np.max(places, axis=0) + 1) if places[0] else ()
        draws[name] = np.full((*next(iter(columns.values())).shape, *shape), np.nan)
        for place in places:
            key = f"{name}[{','.join(str(i + 1) for i in place)}]" if place else name
            draws[name][(..., *place)] = columns[key]
    return draws


def read_text(file: Path) -> str:
    """Read the one text of an archive."""
    with zipfile.ZipFile(file) as archive:
        return archive.read(archive.namelist()[0]).decode()


def read_data(file: Path) -> dict[str, Any]:
    """Read a data set: numbers, and NumPy arrays in place of lists."""
    values = json.loads(read_text(file))
    return {name: np.asarray(value) if isinstance(value, list) else value for name, value in values.items()}
