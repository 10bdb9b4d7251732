"""Read the labels that a statement gives to the entries of an axis.

Draws are matched with new data by labels, so that each label must be one thing, and equal to itself.
"""

import datetime
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import OptionError


def read_labels(what: str, given: Sequence[Any]) -> tuple[Any, ...]:
    """Strings, numbers and truth values as Python has them; dates as strings in ISO 8601.

    **Arguments**: `what`, whose labels these are, for messages, such as `plate 'school': coords`.

    **Raises** `OptionError` for labels that are missing (None, NaN), that are twice, and that are no such things.
    """
    values = list(given) if isinstance(given, Sequence) else np.asarray(given)
    if getattr(values, "ndim", 1) != 1 or any(map(_has_parts, values)):
        raise OptionError(
            f"{what} must be a list with one label for each entry, got {_short(given)}. A label is a string, a number "
            'or a date; join those that have parts: `[f"{a}, {b}" for a, b in labels]`.'
        )
    labels = [_plain(value) for value in values]
    for number, label in enumerate(labels):
        if label is not None and not isinstance(label, str | numbers.Real):
            raise OptionError(
                f"{what}: label {number} is a {type(label).__name__} ({_short(label)}). Give strings, numbers or dates."
            )
        if label is None or label != label:
            raise OptionError(
                f"{what}: label {number} is missing ({label!r}). Nothing could be found by it: give each entry a name, "
                "or leave out the data that have none."
            )
    labels = tuple(np.asarray(labels).tolist())  # of one kind, as the coords of draws are
    seen: dict[Any, int] = {}
    for number, label in enumerate(labels):
        first = seen.setdefault(label, number)
        if first != number:
            raise OptionError(
                f"{what}: {label!r} is the label of entries {first} and {number}. Each entry needs a label of its own: "
                "of data with a row for each observation give the distinct ones, `list(dict.fromkeys(labels))`."
            )
    return labels


def _plain(label: Any) -> Any:
    """A label as a file of draws keeps it."""
    if isinstance(label, np.datetime64 | np.timedelta64):
        if np.isnat(label):
            return None
        return str(np.datetime_as_string(label, unit="auto") if isinstance(label, np.datetime64) else label)
    if isinstance(label, datetime.datetime) and label.tzinfo is not None:
        return label.isoformat()
    if isinstance(label, datetime.date):
        return _plain(np.datetime64(label)) if label == label else None
    return label.item() if isinstance(label, np.generic) else label


def _has_parts(value: Any) -> bool:
    return isinstance(value, list | tuple | dict | set) or np.ndim(value) > 0


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
