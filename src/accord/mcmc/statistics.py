"""Arrange the statistics of draws: rows of a block, and the columns that are stored.

A row has the log density and the ending, which the program knows of every kernel, and then what the kernel declares. In
the store, the ending is two columns, by ArviZ's names.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..core.stats import Ending, Info, Stat
from ..density.recorded import BEYOND, INTEGRAL
from ..kernels.base import AbstractKernel

HEIGHT, ENDING = 0, 1
"""Columns of a row of every kernel: the log density, in unconstrained space; and an `Ending`."""

_NUM_COMMON = 2
_COMMON = (Stat("lp"), Stat("diverging", "bool"), Stat("non_finite", "bool"))

PARTS = (Stat("log_prior"), Stat("log_likelihood"))
"""Statistics that are computed with the sites; a target without sites has none. See `parts_among` for others."""


def parts_among(names: Iterable[str]) -> tuple[Stat, ...]:
    """Return the statistics that are computed with the sites, among stored columns of these names.

    Beside `PARTS`, they are shares that sums over discrete sites leave out, and the quality of approximate integrals.
    """
    found = [name.removeprefix("stat/") for name in names if name.startswith("stat/")]
    others = (Stat(name) for name in sorted(found) if name.startswith((BEYOND, INTEGRAL)))
    return (*(part for part in PARTS if part.name in found), *others)


def width_of(kernel: AbstractKernel) -> int:
    """Return how many columns a row has."""
    return _NUM_COMMON + len(kernel.stats)


def row_of(log_density: Float[Array, "*lanes"], info: Info) -> Float[Array, "*lanes stat"]:
    """Return the row of a draw, or those of several lanes."""
    common = jnp.stack([log_density, info.ending.astype(log_density.dtype)], axis=-1)
    return jnp.concatenate([common, info.stats], axis=-1)


def stored_stats(declared: Sequence[Stat]) -> tuple[Stat, ...]:
    """Return the columns that a store has for the statistics that a kernel declares."""
    return (*_COMMON, *declared)


def declared_of(rows: np.ndarray, declared: Sequence[Stat]) -> dict[str, np.ndarray]:
    """Return the kernel's own columns of rows, shape `(draw, stat)`, by name."""
    return {stat.name: rows[:, _NUM_COMMON + number] for number, stat in enumerate(declared)}


def columns_of(rows: np.ndarray, declared: Sequence[Stat]) -> dict[str, np.ndarray]:
    """Return the stored columns of rows, shape `(draw, stat)`, by name."""
    ending = rows[:, ENDING]
    values = (rows[:, HEIGHT], ending == Ending.DIVERGENCE, ending > Ending.DIVERGENCE, *rows.T[_NUM_COMMON:])
    return {
        stat.name: column.astype(stat.dtype)
        for stat, column in zip(stored_stats(declared), values, strict=True)
    }


def rows_from(columns: Mapping[str, Any], declared: Sequence[Stat]) -> np.ndarray:
    """Return the rows that were stored as these columns; of a number that was not finite, as its log density's."""
    height, diverging, non_finite, *others = (
        np.asarray(columns[each.name]) for each in stored_stats(declared)
    )
    ending = np.where(non_finite, Ending.LOG_DENSITY, np.where(diverging, Ending.DIVERGENCE, Ending.GOOD))
    return np.stack([height, ending, *others], axis=1).astype(np.float64)
