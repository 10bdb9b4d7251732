"""List the entries of discrete sites that can change, with the values that each may have."""

from collections.abc import Collection

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..core.errors import OptionError
from .places import Bounds, Place, Places

_MAX_VALUES = 256
"""Values of an entry that are tried one after the other; more are left to steps."""

_NUM_DOUBLINGS = 8  # steps are of 1 to 128


class Entries:
    """The entries that are visited, in their order: arrays of shape `(visit,)`.

    **Fields**: `entry`, the index among whole numbers; `low` and `high`, which are far away where there is no end;
    `first`, counter of its first candidate; `count` of candidates; `is_step`.
    """

    def __init__(self, rows: list[tuple[int, int, int, int, bool]]):
        columns = np.array(rows, np.int64).reshape(-1, 5).T
        self.entry, self.low, self.high, self.count = columns[:4].astype(np.int32)
        self.is_step = columns[4].astype(bool)
        self.first = (np.cumsum(self.count) - self.count).astype(np.int32)

    @staticmethod
    def of(bounds: list[Bounds]) -> "Entries":
        """Return the entries with these bounds, without those of one value."""
        far, rows = 2**29, []
        for entry, (low, high) in enumerate(bounds):
            is_step = low is None or high is None or high - low >= _MAX_VALUES
            count = 1 if low is None or high is None or is_step else high - low
            if count:
                ends = (-far if low is None else low, far if high is None else high)
                rows.append((entry, *ends, count, is_step))
        return Entries(rows)

    def without(self, numbers: Collection[int]) -> "Entries":
        """Return the entries but for those at some numbers; counters of the others are as of before."""
        found = Entries([])
        is_left = ~np.isin(self.entry, [*numbers])
        for column in ("entry", "low", "high", "first", "count", "is_step"):
            setattr(found, column, getattr(self, column)[is_left])
        return found

    def at(self, visit: Array) -> tuple[Array, ...]:
        """Return the columns of a visit."""
        columns = (self.entry, self.low, self.high, self.first, self.count, self.is_step)
        return tuple(item_at(jnp.asarray(column), visit) for column in columns)


def num_evaluations(place: Place) -> int:
    """Return how many evaluations it takes to visit the entries of a site one after the other."""
    return int(Entries.of([*(place.bounds or ())]).count.sum())


def entries_of(owner: str, places: Places) -> Entries:
    """Return the entries of all discrete sites.

    **Raises** `OptionError`, which begins with `owner`, for a site whose entries cannot change alone, and where none
    has two values.
    """
    for each in places.whole:
        if each.bounds is None:
            raise OptionError(
                f"{owner}: the numbers of site {each.name!r} are bound to each other, so that none can "
                "change alone. Write a kernel of your own that changes two at once."
            )
    found = Entries.of([bounds for each in places.whole for bounds in each.bounds or ()])
    if not len(found.entry):
        raise OptionError(f"{owner}: every entry has one value only. Give them by `.condition({{...}})`.")
    return found


def stepped(now: Array, low: Array, high: Array, u_size: Array, u_way: Array) -> Array:
    """Return the end of a step from `now`, reflected at the ends of the support half way to the next integer.

    From any value, another one is reached with the probability of the way back. Half of the steps are of 1.
    """
    doublings = jnp.floor(u_size * 2 * (_NUM_DOUBLINGS - 1)).astype(jnp.int32) - (_NUM_DOUBLINGS - 2)
    size = jnp.left_shift(1, jnp.maximum(doublings, 0))
    end = now + jnp.where(u_way < 0.5, size, -size)
    end = jnp.where(end < low, 2 * low - 1 - end, end)
    return jnp.where(end > high, 2 * high + 1 - end, end)


def item_at(row: Array, index: Array) -> Array:
    """Return an entry of a row."""
    return jax.lax.dynamic_index_in_dim(row, index, keepdims=False)
