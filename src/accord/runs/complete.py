"""Check that a likelihood computed on several devices is complete, before sampling."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ..core import precision as precisions
from ..core.errors import ModelError
from ..core.notice import Notice
from ..core.pace import Pace
from ..core.precision import Precision
from ..density import LogDensity, cut_otherwise
from ..density.rows.blocks import devices_in_use, mesh_of, using
from ..density.rows.row_files import FileRows, in_memory
from .fingerprint import TOLERANCE, Fingerprint, fixed_points


def check_complete(
    density: LogDensity, shard: Mapping[str, int], precision: Precision, pace: Pace, found: Fingerprint
) -> None:
    """Compare the log density of the sampling program with the whole model, or with other chunks of its rows.

    Rows in files are read for this up to a gigabyte. Beyond that nothing is compared, and `not_compared` gives a
    notice.

    Rows that the model couples (`x - x.mean()` over all rows becomes one over a block) cannot be seen in its sites.

    **Raises** `ModelError` if they differ by more than rounding.
    """
    if _is_much(density, pace):
        return
    density = LogDensity(in_memory(density.data), density.program, density.notices)
    points = fixed_points(density.dim).astype(precisions.float_dtype(precision))
    # On one device, and not those on which the run may be waiting for its own.
    with precisions.scope(precision), using(jax.local_devices()[:1]):
        reference = cut_otherwise(density, mesh_of(devices_in_use()), dict(shard))
        evaluate = jax.jit(reference.__call__)
        whole = np.asarray([float(evaluate(point)) for point in points])
    summed = found.values[:, 0]
    scale = TOLERANCE[precision] * (1 + np.abs(np.where(np.isfinite(whole), whole, 0)))
    is_same = np.isclose(summed, whole, rtol=0, atol=scale, equal_nan=True)
    if not is_same.all():
        point = int(np.argmin(is_same))
        names = ", ".join(repr(name) for name in shard)
        what = "the whole model" if reference is density else "the model in other chunks"
        raise ModelError(
            f"the sum over the rows of {names} is not the log density of {what}: {summed[point]:.12g} and "
            f"{whole[point]:.12g} at a fixed point. Something in the model couples rows, such as `x - x.mean()`, but "
            "sees only some of the rows. Compute it outside of the model and pass the result. Nothing was drawn."
        )


def not_compared(density: LogDensity, shard: Mapping[str, int], pace: Pace) -> tuple[Notice, ...]:
    """Return a notice if nothing was compared."""
    if not (shard and _is_much(density, pace)):
        return ()
    return (
        Notice(
            "info",
            "not_compared",
            f"The rows in files take more than {pace.most_compared / 2**30:g} GiB: their sum was not compared "
            "with the log density of the whole model before drawing.",
            "Run infer.check on some of the rows, in memory.",
        ),
    )


def _is_much(density: LogDensity, pace: Pace) -> bool:
    """Return whether rows in files are too many to read for a comparison."""
    in_files = [value for value in density.data.values() if isinstance(value, FileRows)]
    return sum(rows.size * rows.dtype.itemsize for rows in in_files) > pace.most_compared


def check_replicas(tree: Any) -> None:
    """Raise `ModelError` if an array that should be equal on all devices differs."""
    for leaf in jax.tree.leaves(tree):
        shards = getattr(leaf, "addressable_shards", ())
        if len(shards) < 2 or not leaf.is_fully_replicated:
            continue
        first, *others = (np.asarray(shard.data) for shard in shards)
        if not all(np.array_equal(first, other, equal_nan=first.dtype.kind == "f") for other in others):
            raise ModelError(
                "the log density or its gradient has different values on different devices: a shard_map in the model "
                "uses a part of the data on each and does not sum the parts. Write the sum by "
                "`accord.density.sharded_sum`, which adds them. Nothing was drawn."
            )
