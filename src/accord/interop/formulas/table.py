"""Read the columns that a formula names from a data frame of any library, a mapping or a dataset of xarray."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ...core.errors import DataError, suggest
from ...language.columns import Column, Levels, columns_of, levels_of, objects
from ...language.columns.levels import column_of
from ...language.columns.numeric import numbers_of

Missing = Literal["error", "drop"]


@dataclass(frozen=True)
class Table:
    """Columns by name, of the same length and without missing entries; `num_dropped` rows had some."""

    columns: Mapping[str, Column]
    num_rows: int
    num_dropped: int = 0

    @staticmethod
    def read(data: Any, names: Collection[str], missing: Missing, optional: Collection[str] = ()) -> "Table":
        """Read columns by name; those in `optional` may be absent, and then are not among the columns.

        **Raises** `DataError` for names that the data do not have, lengths that differ, no rows, and, with
        `missing="error"`, for missing entries.
        """
        offered = _offered(data)
        for name in sorted(names):
            if name not in offered:
                raise DataError(
                    f"accord.glm: the data have no column {name!r}.{suggest(name, offered)} "
                    f"There are: {', '.join(offered) or 'none'}."
                )
        chosen = [name for name in offered if name in names or name in optional]
        columns = {name: _column(offered[name], name) for name in chosen}
        sizes = {name: len(column.values) for name, column in columns.items()}
        # Without any column, as in `y ~ 1` for new data, the first one has the number of rows.
        num_rows = next(iter(sizes.values()), None)
        if num_rows is None:
            num_rows = len(_column(next(iter(offered.values())), "first").values) if offered else 0
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{name!r} has {size}" for name, size in sizes.items())
            raise DataError(f"accord.glm: the columns must have the same number of rows; {listed}.")
        if num_rows == 0:
            raise DataError("accord.glm: the data have no rows.")
        return _without_missing(Table(columns, num_rows), missing)

    def numbers(self, name: str) -> np.ndarray:
        """Return a column as numbers. **Raises** `DataError` for words and dates."""
        values = numbers_of(self.columns[name], f"accord.glm: column {name!r}")
        # Whole numbers beside missing ones are objects, and still are when the missing ones have been dropped.
        return np.array(values.tolist()) if values.dtype.kind == "O" else values

    def levels(self, name: str, known: tuple[Any, ...] | None = None) -> Levels:
        """Return a column as levels; of a categorical one, those categories that some row has, in their order."""
        found = levels_of(self.columns[name], f"accord.glm: column {name!r}", known)
        if known is not None:
            return found
        used = np.unique(found.codes)
        places = np.full(len(found.levels), -1)
        places[used] = np.arange(len(used))
        return Levels(places[found.codes], tuple(found.levels[place] for place in used))

    def frame(self, names: Collection[str]) -> Any:
        """Return columns as a data frame of pandas, in which words are ordered categories."""
        import pandas

        made = {}
        for name in names:
            if self.columns[name].is_text:
                levels = self.levels(name)
                made[name] = pandas.Categorical.from_codes(levels.codes, list(levels.levels), ordered=True)
            else:
                made[name] = self.numbers(name)
        return pandas.DataFrame(made, index=range(self.num_rows))


def _offered(data: Any) -> dict[str, Any]:
    if hasattr(data, "data_vars") and hasattr(data, "to_dataframe"):  # a dataset of xarray
        data = data.to_dataframe().reset_index()
    offered = columns_of(data, "accord.glm")
    return {str(name): column for name, column in offered.items()}


def _column(value: Any, name: str) -> Column:
    if isinstance(value, Levels):
        words = objects([value.levels[code] if code >= 0 else None for code in np.asarray(value.codes)])
        return Column(
            words, np.asarray(value.missing), "numpy", name, categories=value.levels, is_categorical=True
        )
    return column_of(value, f"accord.glm: column {name!r}")


def _without_missing(table: Table, missing: Missing) -> Table:
    absent = np.zeros(table.num_rows, bool)
    counts = {}
    for name, column in table.columns.items():
        lost = _missing(column)
        if lost.any():
            counts[name] = int(lost.sum())
        absent |= lost
    if not counts:
        return table
    num_dropped = int(absent.sum())
    if missing == "error":
        listed = ", ".join(f"{count} in {name!r}" for name, count in counts.items())
        raise DataError(
            f"accord.glm: {num_dropped} of {table.num_rows} rows have missing entries ({listed}). Leave these rows out "
            'by missing="drop", or fill them.'
        )
    if num_dropped == table.num_rows:
        raise DataError("accord.glm: every row has a missing entry.")
    kept = {
        name: replace(
            column,
            values=column.values[~absent],
            missing=None if column.missing is None else column.missing[~absent],
        )
        for name, column in table.columns.items()
    }
    return Table(kept, table.num_rows - num_dropped, num_dropped)


def _missing(column: Column) -> np.ndarray:
    if column.missing is not None:
        return column.missing
    if column.values.dtype.kind == "f":
        return np.isnan(column.values)
    return np.zeros(len(column.values), bool)
