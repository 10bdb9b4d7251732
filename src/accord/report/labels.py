"""Name the scalars of a site, by index or by the coordinates of its plates."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

Sites = Mapping[str, np.ndarray]
Dims = Mapping[str, Sequence[str]]
Coords = Mapping[str, Sequence[object] | np.ndarray]


def scalar_labels(
    name: str, shape: Sequence[int], dims: Sequence[str] = (), coords: Coords | None = None
) -> list[str]:
    """Labels of the scalars of a site in row-major order: `mu`, `theta[2]`, `beta[Choate,0]`.

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
