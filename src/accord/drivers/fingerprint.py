"""Identify a target by its log density at fixed points, since the text of a program changes with JAX."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import ModelError, StorageError
from ..core.precision import Precision
from ..density import LogDensity
from ..storage import AbstractRun
from .particulars import of_code

_RECORD = "target"
TOLERANCE = {"float64": 1e-8, "float32": 1e-3}
"""Relative; another machine, JAX or number of blocks may add in another order."""


@dataclass(frozen=True)
class Fingerprint:
    """Log density and gradient norm at fixed points: shape `(point, 2)`."""

    values: np.ndarray


def fixed_points(dim: int) -> np.ndarray:
    """Return the fixed points, shape `(3, dim)`."""
    return np.random.default_rng(20).uniform(-1, 1, (3, dim))


def has_fingerprint(run: AbstractRun) -> bool:
    """Return whether a fingerprint of this run is stored."""
    return run.records.get(_RECORD) is not None


def check_fingerprint(
    run: AbstractRun, found: Fingerprint, density: LogDensity, precision: Precision, *, is_of_now: bool
) -> None:
    """Store the first fingerprint of a run, and compare later ones with it.

    `is_of_now`: the first one was taken since the run was last resumed, from this target.

    **Raises**, if they differ by more than rounding, `ModelError` for a target that is not a function of its
    position, and `StorageError` for another target.
    """
    stored: Any = run.records.get(_RECORD)
    if stored is None:
        run.record(_RECORD, found.values.tolist())
        return
    before, tolerance = np.asarray(stored, float), TOLERANCE[precision]
    scale = tolerance * (1 + np.abs(np.where(np.isfinite(before), before, 0)))
    is_same = before.shape == found.values.shape and np.all(
        np.isclose(found.values, before, rtol=0, atol=scale, equal_nan=True)
    )
    if not is_same:
        point = int(np.argmax(np.abs(np.nan_to_num(found.values - before)).sum(axis=1)))
        was = f"{before[point, 0]:.12g} and is now {found.values[point, 0]:.12g}"
        if is_of_now:
            raise ModelError(
                f"the log density changes from one call to the next: at a fixed point it was {was}. Look for a "
                "Python callback that counts, remembers or draws random numbers: a log density must depend on "
                "position and data alone."
            )
        raise StorageError(
            f"the model differs from the model of this run: at a fixed point its log density was {was}. "
            f"Nothing was drawn.{of_code(run.manifest, density)} Give the model and the data of the stored run, or "
            "start a new run in another folder."
        )
