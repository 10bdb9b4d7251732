"""Identify a target by its log density at fixed points, since the text of a program changes with JAX."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import ModelError, StorageError
from ..density import Entry, Layout, LogDensity
from ..storage import AbstractRun, Manifest
from .particulars import of_code
from .units import News

RECORD = "target"
STORED = "target.at_fixed_points"
"""Names of a fingerprint among records, and in the state at the end of a segment."""

NUM_POINTS = 3

TOLERANCE = {"float64": 1e-8, "float32": 1e-3}
"""Relative; another machine, JAX or number of blocks may add in another order."""


@dataclass(frozen=True)
class Fingerprint(News):
    """Log density and gradient norm at fixed points: shape `(point, 2)`."""

    values: np.ndarray


def fixed_points(dim: int) -> np.ndarray:
    """Return the fixed points, shape `(3, dim)`."""
    return np.random.default_rng(20).uniform(-1, 1, (NUM_POINTS, dim))


def fixed_whole(layout: Layout) -> tuple[tuple[int, ...], ...]:
    """Return the whole numbers at the fixed points, a tuple for each, inside of supports that are known."""
    if not layout.whole:
        return ()
    sizes = [(entry, entry.stop - entry.start) for entry in layout.whole]
    return tuple(
        tuple(_whole(entry, point + place) for entry, size in sizes for place in range(size))
        for point in range(NUM_POINTS)
    )


def _whole(entry: Entry, number: int) -> int:
    if entry.low is None:
        return (0 if entry.high is None else entry.high) - number % 2
    return entry.low + number % (NUM_POINTS if entry.high is None else entry.high - entry.low + 1)


def stored_fingerprint(run: AbstractRun) -> np.ndarray | None:
    """Return the fingerprint of the target of a stored run, shape `(3, 2)`; None before its first draw.

    Every segment has it too, so that a record that is lost, damaged or replaced does not let another target in.
    """
    lasts = (run.last(chain) for chain in run.manifest.chains)
    last = next((each for each in lasts if each is not None), None)
    stored: Any = run.records.get(RECORD) if last is None else last.end_state[STORED]
    return None if stored is None else np.asarray(stored, float)


def keep_fingerprint(run: AbstractRun, fingerprint: np.ndarray) -> None:
    """Store a fingerprint as a record, unless it is there."""
    record: Any = run.records.get(RECORD)
    if record is None or not np.array_equal(np.asarray(record, float), fingerprint, equal_nan=True):
        run.record(RECORD, fingerprint.tolist())


def check_fingerprint(
    stored: np.ndarray,
    found: Fingerprint,
    density: LogDensity,
    manifest: Manifest,
    *,
    is_of_now: bool,
) -> None:
    """Compare a fingerprint with the one of the run.

    `is_of_now`: the first one was taken since the run was last resumed, from this target.

    **Raises**, if they differ by more than rounding, `ModelError` for a target that is not a function of its
    position, and `StorageError` for another target.
    """
    tolerance = TOLERANCE[manifest["precision"]]
    scale = tolerance * (1 + np.abs(np.where(np.isfinite(stored), stored, 0)))
    if np.all(np.isclose(found.values, stored, rtol=0, atol=scale, equal_nan=True)):
        return
    point = int(np.argmax(np.abs(np.nan_to_num(found.values - stored)).sum(axis=1)))
    was = f"{stored[point, 0]:.12g} and is now {found.values[point, 0]:.12g}"
    if is_of_now:
        raise ModelError(
            f"the log density changes from one call to the next: at a fixed point it was {was}. Look for a "
            "Python callback that counts, remembers or draws random numbers: a log density must depend on "
            "position and data alone."
        )
    raise StorageError(
        f"the model differs from the model of this run: at a fixed point its log density was {was}. "
        f"Nothing was drawn.{of_code(manifest, density)} Give the model and the data of the stored run, or "
        "start a new run in another folder."
    )
