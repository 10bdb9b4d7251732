"""Name the scalars of a site, by index or by the coordinates of its plates."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

Sites = Mapping[str, np.ndarray]
Dims = Mapping[str, Sequence[str]]
Coords = Mapping[str, Sequence[object] | np.ndarray]


Written = list[Any] | dict[str, Any]
"""Labels of a dim in JSON."""

_MOST_LISTED = 1000
"""Default labels of longer dims are written as their number; ten million of them would be 90 MB of text."""


def written(labels: np.ndarray) -> Written:
    """Convert labels of a dim for JSON: dates keep their unit, and many default labels become their number."""
    if labels.dtype.kind == "M":
        return {"unit": np.datetime_data(labels.dtype)[0], "dates": np.datetime_as_string(labels).tolist()}
    return default_labels(len(labels)) if _are_default_and_many(labels) else labels.tolist()


def default_labels(size: int) -> Written:
    """Return what `written` makes of the labels 0, 1, ..., without these."""
    return {"count": size} if size > _MOST_LISTED else list(range(size))


def are_default(labels: Written) -> bool:
    """Return whether these labels of JSON are 0, 1, ..."""
    return "count" in labels if isinstance(labels, dict) else labels == list(range(len(labels)))


def read_written(labels: Written) -> np.ndarray:
    """Read the labels that `written` has written."""
    if not isinstance(labels, dict):
        return np.asarray(labels)
    if "count" in labels:
        return np.arange(labels["count"])
    return np.array(labels["dates"], f"datetime64[{labels['unit']}]")


def _are_default_and_many(labels: np.ndarray) -> bool:
    size = len(labels)
    return size > _MOST_LISTED and labels.dtype.kind in "iu" and bool(np.all(labels == np.arange(size)))


def as_labels(labels: Written | np.ndarray) -> tuple[object, ...]:
    """Convert labels of a dim, from an array or from JSON, to Python values and NumPy dates, for comparison."""
    array = labels if isinstance(labels, np.ndarray) else read_written(labels)
    return tuple(array) if array.dtype.kind == "M" else tuple(array.tolist())


def scalar_labels(
    name: str, shape: Sequence[int], dims: Sequence[str] = (), coords: Coords | None = None
) -> list[str]:
    """Label the scalars of a site in row-major order: `mu`, `theta[2]`, `beta[Choate,0]`.

    - `shape`: event and batch shape, without chain and draw.
    - `dims`: names of the leading axes, where they have one; an axis whose dim is in `coords` is labelled by
      it.
    """
    if not shape:
        return [name]
    axes: list[Sequence[object]] = []
    for axis, size in enumerate(shape):
        known = coords.get(dims[axis]) if coords is not None and axis < len(dims) else None
        # Coordinates of another length belong to another axis of that name: an index is then the honest
        # label.
        axes.append(
            [str(value) for value in known] if known is not None and len(known) == size else range(size)
        )
    return [f"{name}[{','.join(str(index) for index in indices)}]" for indices in product(*axes)]
