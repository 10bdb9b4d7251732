"""Define the facts about a column, for every library."""

from dataclasses import dataclass
from typing import Any

import numpy as np

_SHOWN = 5  # rows in a message


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a data frame in NumPy.

    **Fields**
    - `values`: shape `(row, ...)`. Numbers, truth values, dates and durations have a NumPy dtype of their own; others,
      and whole numbers and truth values of which some are missing, are Python objects.
    - `missing`: bool, shape `(row,)`, which entries are missing. Of floats it may be None: NaN says it.
    - `library`: `"pandas"`, `"polars"`, `"arrow"` or `"numpy"`, by which remedies are worded.
    - `name`: in its data frame, or empty. `type`: what its library calls its type.
    - `kind`: NumPy's letter for the type that the column was declared to have, "U" for words; "O" where that says
      nothing.
    - `categories`: of a categorical column that has an order of its own, all of them in that order.
    - `is_categorical`: it was declared to be.
    """

    values: np.ndarray
    missing: np.ndarray | None
    library: str
    name: str = ""
    type: str = ""
    kind: str = "O"
    categories: tuple[Any, ...] | None = None
    is_categorical: bool = False

    @property
    def num_missing(self) -> int:
        """The number of missing entries."""
        return 0 if self.missing is None else int(self.missing.sum())

    @property
    def is_text(self) -> bool:
        """Return whether it holds words: it is categorical, or all its entries that are not missing are strings."""
        if self.is_categorical or self.kind == "U":
            return True
        if self.kind != "O" or self.missing is None or self.missing.all():
            return False
        return all(isinstance(value, str) for value in self.values[~self.missing])


def objects(values: Any) -> np.ndarray:
    """Make an array of Python objects with one axis of a list."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def rows_in_words(where: np.ndarray) -> str:
    """Write the rows of a bool array as `rows 2, 5 and 7, counted from 0`; of many the first."""
    rows = np.flatnonzero(where)
    shown = [str(row) for row in rows[:_SHOWN]]
    if len(rows) > _SHOWN:
        words = f"rows {', '.join(shown)}, ..."
    elif len(rows) == 1:
        words = f"row {shown[0]}"
    else:
        words = f"rows {', '.join(shown[:-1])} and {shown[-1]}"
    return f"{words}, counted from 0"
