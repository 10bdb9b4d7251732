"""Name the scalars of a site, by index or by the coordinates of its plates."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

Sites = Mapping[str, np.ndarray]
Dims = Mapping[str, Sequence[str]]
Coords = Mapping[str, Sequence[object] | np.ndarray]


def written(labels: np.ndarray) -> list[object] | dict[str, object]:
    """Convert labels of a dim for JSON; dates keep their unit."""
    if labels.dtype.kind != "M":
        return labels.tolist()
    return {"unit": np.datetime_data(labels.dtype)[0], "dates": np.datetime_as_string(labels).tolist()}


def read_written(labels: Sequence[object] | Mapping[str, Sequence[object]]) -> np.ndarray:
    """Read the labels that `written` has written."""
    if isinstance(labels, Mapping):
        return np.array(labels["dates"], f"datetime64[{labels['unit']}]")
    return np.asarray(labels)


def as_labels(labels: Sequence[object] | Mapping[str, Sequence[object]] | np.ndarray) -> tuple[object, ...]:
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
