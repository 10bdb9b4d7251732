"""Define what a report holds, in plain data: what was run, notices, a table of unknowns, and sections of figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.notice import Notice
from ..figures.marks import Figure

DOUBT = 0.01
"""Adjusted p-value below which ranks are called not uniform."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of numbers about unknowns.

    **Fields**
    - `labels`: of the rows; `sites`: the site of each row. Length k.
    - `columns`: name to numbers, shape `(k,)`; `cells`: the same rounded as text, a row each.
    - `sketches`: the shape of each distribution in one line of text, or none.
    - `count`: unknowns in all; `judged`: how many were looked at; `picked`: which of these have rows, if not all.
    - `caption`: what the rows are; `sketched`: the head of the column of sketches.
    """

    labels: tuple[str, ...]
    sites: tuple[str, ...]
    columns: Mapping[str, np.ndarray]
    cells: tuple[tuple[str, ...], ...]
    sketches: tuple[str, ...]
    count: int
    judged: int
    picked: str = ""
    caption: str = "Summaries of marginal distributions"
    sketched: str = "shape"


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a report: a heading, a sentence how to read it, facts and figures.

    **Fields**: `name`, for links; `facts`, terms with what is known of them.
    """

    name: str
    title: str
    words: str
    figures: tuple[Figure, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Document:
    """A report of a run, before it is written as a page or as text.

    **Fields**
    - `title`: name of the model; `head`: the run in one line; `what`: what the results are, such as `"these draws"`.
    - `facts`: terms with values, of how it was made; `site_rows`: name, kind, distribution, shape and dimensions of
      each site; `data_rows`: name, dtype, shape and digest of each argument; `again`: code that runs it again;
      `source`: the code of the model, if it is at hand.
    - `notices`: most severe first. `problems`: damage of its folder. `numbers`: the numbers that decide.
    - `table`: of unknowns, None where they cannot be drawn. `sections`: the rest.
    - `record`: what is known of how it was made, in JSON.
    """

    title: str
    head: str
    what: str
    facts: tuple[tuple[str, str], ...]
    site_rows: tuple[tuple[str, ...], ...]
    data_rows: tuple[tuple[str, ...], ...]
    again: str
    source: str | None
    notices: tuple[Notice, ...]
    problems: tuple[str, ...]
    numbers: tuple[tuple[str, str], ...]
    table: Table | None
    sections: tuple[Section, ...]
    record: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> tuple[str, str]:
        """Return the worst severity among notices and damage, or `"none"`, and a sentence."""
        worst = [each.severity for each in self.notices]
        count = len(self.notices)
        counted = f"{count} notice{'s' * (count != 1)}"
        errors = worst.count("error")
        reasons = [f"{errors} error{'s' * (errors != 1)}"] if errors else []
        reasons += ["damage to the stored run"] if self.problems else []
        if reasons:
            return "error", f"Do not use {self.what}: {' and '.join(reasons)}."
        if "warning" in worst:
            read = "notice" if count == 1 else counted
            return "warning", f"Read the {read} below before you use {self.what}."
        if worst:
            return "info", f"No error and no warning; {counted} to know of."
        return "none", f"No rule found a problem with {self.what}."
