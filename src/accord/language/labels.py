"""Read the names that a statement gives to axes, and the labels of their entries.

Draws are matched with new data by labels, so that each label must be one thing, and equal to itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import OptionError, SiteError
from .columns import labels_of
from .naming import check_text

Dims = str | Sequence[str] | Mapping[str, Sequence[Any] | None]


def read_labels(what: str, given: Any) -> tuple[Any, ...]:
    """Read labels: strings, numbers, truth values, NumPy's dates, and intervals by what they print.

    **Arguments**
    - `what`: whose labels these are, for messages, such as `plate 'school': coords`.
    - `given`: a list, an array, an index or a column of a data frame.

    **Raises** `OptionError` for labels that are missing (None, NaN), that are twice, and that are no such things;
    `DataError` for a column with missing entries.
    """
    values = list(given) if isinstance(given, Sequence) else given
    if isinstance(values, list | np.ndarray):
        _check_each(what, values, given)
    labels = labels_of(values, what)
    if not isinstance(labels[0] if labels else "", np.datetime64):
        labels = tuple(np.asarray(labels).tolist())  # of one kind, as the coords of draws are
    seen: dict[Any, int] = {}
    for number, label in enumerate(labels):
        first = seen.setdefault(label, number)
        if first != number:
            shown = str(label) if isinstance(label, np.datetime64) else repr(label)
            raise OptionError(
                f"{what}: {shown} is the label of entries {first} and {number}. Each entry needs a label of its own: "
                "of data with a row for each observation give the distinct ones, `list(dict.fromkeys(labels))`."
            )
    return labels


def read_dims(statement: str, name: str, dims: Dims | None) -> tuple[tuple[str, tuple[Any, ...] | None], ...]:
    """Read the names of axes, each with its labels or None.

    **Raises** `SiteError` for what are not names; `OptionError` for labels that cannot be.
    """
    if dims is None:
        return ()
    given: Mapping[str, Any] = dims if isinstance(dims, Mapping) else {}
    names: list[Any] = [*dims] if isinstance(dims, Mapping | list | tuple) else [dims]
    for each in names:
        if not isinstance(each, str) or not each:
            raise SiteError(
                f'{statement} {name!r}: dims names axes, as `dims=("row", "column")`, or with labels as '
                f'`dims={{"row": labels}}`; got {dims!r}.'
            )
    labels = {
        each: None
        if value is None
        else read_labels(f"{statement} {name!r}: the labels of dim {each!r}", value)
        for each, value in given.items()
    }
    return tuple((each, labels.get(each)) for each in names)


def _check_each(what: str, values: list[Any] | np.ndarray, given: Any) -> None:
    if getattr(values, "ndim", 1) != 1 or any(map(_has_parts, values)):
        raise OptionError(
            f"{what} must be a list with one label for each entry, got {_short(given)}. A label is a string, a number "
            'or a date; join those that have parts: `[f"{a}, {b}" for a, b in labels]`.'
        )
    for number, label in enumerate(values):
        if _is_missing(label):
            raise OptionError(
                f"{what}: label {number} is missing ({label!r}). Nothing could be found by it: give each entry a name, "
                "or leave out the data that have none."
            )
        if isinstance(label, str):
            check_text(f"{what}: label {number}", label, OptionError)
        if callable(label) or isinstance(label, complex) or type(label).__repr__ is object.__repr__:
            raise OptionError(
                f"{what}: label {number} is a {type(label).__name__} ({_short(label)}). Give strings, numbers or dates."
            )


def _is_missing(label: Any) -> bool:
    """Return whether a label is None, or not equal to itself: NaN, the missing date, and pandas' NA."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def _has_parts(value: Any) -> bool:
    return isinstance(value, list | tuple | dict | set) or np.ndim(value) > 0


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
