"""Lay out rows of text, and hand columns to pandas."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pandas import DataFrame


def lay_out(head: Sequence[str], rows: Sequence[Sequence[str]], most: int) -> str:
    """Lay out columns, the first aligned left and the others right; at most `most` rows."""
    cells = [list(head), *map(list, rows[:most])]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in cells
    ]
    left_out = len(rows) - most
    return "\n".join(
        [*lines, f"... and {left_out} more rows: `.to_dataframe()` has them all."] if left_out > 0 else lines
    )


def to_dataframe(
    labels: Sequence[str], columns: Mapping[str, np.ndarray], name: str = "scalar"
) -> "DataFrame":
    """Build a pandas data frame with a row per label, numbers unrounded; `name` is the name of its index.

    Raises `ImportError` without pandas.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_dataframe needs pandas. Install it with: pip install pandas") from error
    return pandas.DataFrame(dict(columns), index=pandas.Index(labels, name=name))
