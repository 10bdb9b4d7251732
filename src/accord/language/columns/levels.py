"""Make codes of categories, and keep the labels beside them."""

import datetime
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import jax
import numpy as np

from ...core.errors import DataError, OptionError, suggest
from ...core.masked import mask_of
from ...core.options import checks_options
from .base import Column, objects, rows_in_words
from .labels import labels_of, plain_labels
from .reading import of_numpy, read_column
from .remedies import say

Missing = Literal["error", "level", "keep"]

_OWN = "missing"  # the label of a level for missing entries


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Levels:
    """Categories as codes and labels, as `ac.levels` returns them. A value, and as a whole an argument of a model.

    Inside a model the codes are data, so that other codes compile nothing; the labels are part of the program.

    **Fields**
    - `codes`: int64, shape `(row,)`: for each row the place of its label in `levels`, from 0; -1 where it is missing.
    - `levels`: the labels, one for each code, each once.

    `county == "Cook"` says which rows have the label.

    **Example**

    >>> county = ac.levels(["Cook", "Anoka", "Cook"])
    >>> print(county.codes, county.levels, county.num_levels)
    [1 0 1] ('Anoka', 'Cook') 2
    """

    codes: Any
    levels: tuple[Any, ...] = field(metadata={"static": True})

    @property
    def num_levels(self) -> int:
        """The number of levels: the size of their plate."""
        return len(self.levels)

    @property
    def missing(self) -> Any:
        """The rows that are missing; bool, shape `(row,)`. All false, unless `missing="keep"` was asked for."""
        return self.codes < 0

    def __eq__(self, label: object) -> Any:
        """Return which rows have this label, as a column does; bool, shape `(row,)`.

        **Raises** `DataError` for a label that is not one of the levels.
        """
        return self.codes == self._place(label) if _is_label(label) else NotImplemented

    def __ne__(self, label: object) -> Any:
        """Return which rows have another label, as a column does."""
        return self.codes != self._place(label) if _is_label(label) else NotImplemented

    __hash__ = object.__hash__

    def _place(self, label: Any) -> int:
        label = plain_labels([label])[0]
        if label not in self.levels:
            hint = suggest(str(label), [each for each in self.levels if isinstance(each, str)])
            raise DataError(f"{label!r} is not one of the levels.{hint} They are {_listed(self.levels)}.")
        return self.levels.index(label)


@checks_options
def levels(column: Any, *, levels: Sequence[Any] | None = None, missing: Missing = "error") -> Levels:
    """Make codes of a column of categories: its labels in order, and for each row the place of its label.

    Labels are words, numbers, truth values or dates. They are sorted; a Categorical of pandas, an Enum of polars and an
    ordered dictionary of Arrow keep the order of their categories, and those that no row has.

    **Arguments**
    - `column`: of pandas, polars or Arrow, a NumPy array or a list; shape `(row,)`. Masked entries are missing.
    - `levels`: the labels in their order, such as those of the data that a model was fitted to.
    - `missing`: what to do with missing entries. `"error"` refuses them; `"level"` gives them a level of their own, the
      last one, called "missing"; `"keep"` gives them the code -1, which must not be used as an index: `.missing` says
      where. To leave the rows out, drop them from all columns before.

    **Raises** `DataError` for missing entries, for labels that are not among `levels`, for labels of several types, and
    for a column that is none; `OptionError` for `levels` with a label twice.

    **Example**

    >>> county = ac.levels(["Cook", "Anoka", "Cook"])
    >>> @ac.model
    ... def radon(county, y):
    ...     with ac.plate("county", county.num_levels, coords=county.levels):
    ...         mean = ac.sample("mean", dist.Normal(0, 1))
    ...     with ac.plate("house", len(y)):
    ...         ac.sample("y", dist.Normal(mean[county.codes], 1), obs=y)
    >>> print(radon(county, np.array([0.3, 1.2, 0.9])).sites())
    site  kind      shape  dims    distribution
    mean  latent    (2,)   county  Normal
    y     observed  (3,)   house   Normal
    """
    if missing not in ("error", "level", "keep"):
        raise OptionError(f"ac.levels: missing must be 'error', 'level' or 'keep', got {missing!r}.")
    read = column_of(column, "ac.levels")
    where = f"ac.levels: column {read.name!r}" if read.name else "ac.levels: the column"
    return levels_of(read, where, None if levels is None else labels_of(levels, "ac.levels: levels"), missing)


def column_of(value: Any, where: str) -> Column:
    """Read a column of a data frame, an array or a list as a column with one axis.

    **Raises** `DataError` for anything else.
    """
    if isinstance(value, Levels):
        raise DataError(f"{where}: the column is made of levels already. Pass it to the model as it is.")
    if isinstance(value, np.ndarray) and value.ndim != 1:
        raise DataError(f"{where}: a column has one axis, got the shape {value.shape}.")
    read = read_column(value)
    if read is None:
        is_list = isinstance(value, (list, tuple)) or (
            hasattr(value, "__array__") and not hasattr(value, "columns")
        )
        if not is_list:
            raise DataError(
                f"{where} takes a column of a data frame, an array or a list of labels, got "
                f"{type(value).__name__}. Of a data frame, name the column: `df['county']`."
            )
        if isinstance(value, (list, tuple)) and any(
            isinstance(label, (list, tuple, np.ndarray)) for label in value
        ):
            raise DataError(f"{where}: a column has one axis, got a list of lists.")
        read = of_numpy(objects(value) if isinstance(value, (list, tuple)) else np.asarray(value))
    if read.values.ndim != 1:
        raise DataError(f"{where}: a column has one axis, got the shape {read.values.shape}.")
    hidden = mask_of(value)
    if hidden is not None:
        return replace(read, missing=hidden if read.missing is None else read.missing | hidden)
    return read


def levels_of(
    column: Column, where: str, known: tuple[Any, ...] | None = None, missing: Missing = "error"
) -> Levels:
    """Make levels of a column that has been read; as `levels`."""
    absent = column.missing if column.missing is not None else np.zeros(len(column.values), bool)
    if absent.any() and missing == "error":
        raise DataError(
            f"{where}: {int(absent.sum())} of {len(absent)} entries are missing ({rows_in_words(absent)}). "
            f'{say("drop", column.library, column.name)}; give them a level of their own, `missing="level"`; or keep '
            'them as code -1, `missing="keep"`, and see to them in the model.'
        )
    present = plain_labels(column.values[~absent])
    rows = np.flatnonzero(~absent)
    if known is not None:
        order = known
    elif column.categories is not None:
        order = plain_labels(column.categories)
    else:
        order = _sorted(present, rows, where)
    if len(set(order)) < len(order):
        raise OptionError(f"{where}: the levels must differ, got {_listed(order)}.")
    if missing == "level" and absent.any():
        order = _with_own(order, known is not None, where)
    places = {label: place for place, label in enumerate(order)}
    codes = np.full(len(absent), places[_OWN] if missing == "level" and absent.any() else -1, np.int64)
    codes[rows] = [places.get(label, -1) for label in present]
    unknown = [(label, int(row)) for label, row in zip(present, rows, strict=True) if label not in places]
    if unknown:
        raise DataError(_unknown(unknown, order, len(absent), where))
    return Levels(codes, order)


def _with_own(order: tuple[Any, ...], is_given: bool, where: str) -> tuple[Any, ...]:
    """Add a level for missing entries."""
    if is_given and _OWN not in order:
        raise DataError(
            f"{where}: entries are missing, and the levels given have none for them. Make the earlier levels by "
            f'`missing="level"` too, or leave these rows out.'
        )
    if not is_given and _OWN in order:
        raise DataError(f"{where}: {_OWN!r} is a label already. Rename it, or fill the missing entries.")
    return order if is_given else (*order, _OWN)


def _unknown(unknown: list[tuple[Any, int]], order: tuple[Any, ...], num_rows: int, where: str) -> str:
    first: dict[Any, int] = {}
    for label, row in unknown:
        first.setdefault(label, row)
    named = ", ".join(f"{label!r} (row {row})" for label, row in [*first.items()][:5])
    words = [label for label in order if isinstance(label, str)]
    near = next((hint for label in first if (hint := suggest(str(label), words))), "")
    return (
        f"{where}: {len(unknown)} of {num_rows} rows, counted from 0, have labels that are not among the levels: "
        f"{named}{', ...' if len(first) > 5 else ''}.{near} The levels are {_listed(order)}. Correct the labels; or, "
        "for groups that are new, leave `levels=` out, and let `infer.predict` draw their effects by `redraw=`."
    )


def _listed(labels: Sequence[Any]) -> str:
    shown = ", ".join(repr(label) for label in labels[:8])
    return f"{shown}, ..." if len(labels) > 8 else shown or "none"


def _sorted(labels: Sequence[Any], rows: np.ndarray, where: str) -> tuple[Any, ...]:
    """List each label once, in order.

    **Raises** `DataError` for labels of several types, which have no order.
    """
    kinds = [_kind(label) for label in labels]
    odd = next((i for i, kind in enumerate(kinds) if kind != kinds[0]), None)
    if odd is not None:
        raise DataError(
            f"{where}: the labels are of several types: row {rows[0]}, counted from 0, holds {labels[0]!r}, and row "
            f"{rows[odd]} {labels[odd]!r}. Make them all words, for instance by `.astype(str)`."
        )
    found = sorted(set(labels))
    if found and all(type(label) is float and label.is_integer() for label in found):
        return tuple(
            int(label) for label in found
        )  # what pandas makes of whole numbers when some are missing
    return tuple(found)


def _is_label(value: object) -> bool:
    return isinstance(value, (str, numbers.Real, datetime.date, np.generic))


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "word"
    if isinstance(label, bool):
        return "truth value"
    if isinstance(label, numbers.Real):
        return "number"
    return "date" if isinstance(label, (np.datetime64, datetime.date)) else type(label).__name__
