"""Define a row of the table of NumPyro's names."""

from dataclasses import dataclass
from typing import Literal

Mark = Literal["same", "adapted", "missing"]


@dataclass(frozen=True)
class Row:
    """What accord makes of a name of NumPyro.

    **Fields**: `mark`, `"same"` (same meaning), `"adapted"` (same posterior, with the difference in `said`) or
    `"missing"`; `said`, a sentence, of a missing name what to write in its place.
    """

    mark: Mark
    said: str = ""


def same(*names: str) -> dict[str, Row]:
    """Return rows of names with NumPyro's meaning."""
    return {name: Row("same") for name in names}


def adapted(said: str, *names: str) -> dict[str, Row]:
    """Return rows of names whose difference is said."""
    return {name: Row("adapted", said) for name in names}


def missing(said: str, *names: str) -> dict[str, Row]:
    """Return rows of names that are not there, with what to write."""
    return {name: Row("missing", said) for name in names}
