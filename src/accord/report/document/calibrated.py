"""Put together the report of a calibration, from arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.notice import Notice
from ..figures.marks import Figure
from ..figures.uniform import Ranked, overview, rank_ecdf, rank_histogram
from . import made
from .base import Document, Section, Table
from .unknowns import ROWS

_MOST = 5  # parameters with figures of their own


@dataclass(frozen=True, eq=False)
class CalibrationRun:
    """A calibration as a report needs it.

    **Fields**
    - `head`: the calibration in one line. `facts`, `numbers`: terms with values.
    - `every`: the ranks of each parameter; none without simulations. `sites_of`: site of each.
    - `columns`: by name, shape `(parameter,)`, with a `p` among them; `sketches`: histograms of ranks as text.
    - `is_bad`: whether ranks are not uniform, by parameter.
    - `notices`, `problems`, `manifest`, `again`: as for `ChainRun`.
    """

    head: str
    facts: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, str], ...]
    every: Sequence[Ranked]
    sites_of: Sequence[str]
    columns: Mapping[str, np.ndarray]
    sketches: Sequence[str]
    is_bad: Sequence[bool]
    notices: tuple[Notice, ...]
    problems: tuple[str, ...]
    manifest: Mapping[str, Any]
    again: str


def document_of_calibration(run: CalibrationRun) -> Document:
    """Tabulate the tests, and draw the ranks of the parameters that are farthest from uniform."""
    return Document(
        str(run.manifest.get("model", "")),
        run.head,
        "draws that are made like these",
        (*run.facts, *made.facts_of(run.manifest)),
        made.site_rows(run.manifest),
        made.data_rows(run.manifest),
        run.again,
        None,
        run.notices,
        run.problems,
        run.numbers,
        _table(run) if run.every else None,
        (_ranks(run),) if run.every else (),
        made.record_of(run.manifest),
    )


def by_p(columns: Mapping[str, np.ndarray]) -> list[int]:
    """Return the places of parameters, those with the smallest p first."""
    return np.argsort(columns["p"], kind="stable").tolist()


def _table(run: CalibrationRun) -> Table:
    """Return all rows in the order of the model, or of many those with the smallest p."""
    count = len(run.every)
    rows = list(range(count)) if count <= ROWS else by_p(run.columns)[:ROWS]
    columns = {name: np.asarray(column)[rows] for name, column in run.columns.items()}
    cells = [
        tuple(
            f"{columns[name][row]:.3f}" if name == "mean_rank" else f"{columns[name][row]:.2g}"
            for name in columns
        )
        for row in range(len(rows))
    ]
    return Table(
        tuple(run.every[row].label for row in rows),
        tuple(run.sites_of[row] for row in rows),
        columns,
        tuple(cells),
        tuple(run.sketches[row] for row in rows),
        count,
        count,
        f"the {len(rows)} with the smallest p",
        "Tests that ranks are uniform, with histograms of the ranks from the lowest to the highest",
        "ranks",
    )


def _ranks(run: CalibrationRun) -> Section:
    figures = [
        Figure(
            "All parameters",
            "Lines of ranks that are not uniform have colours.",
            (overview(run.every, run.is_bad),),
        )
    ]
    for row in by_p(run.columns)[:_MOST]:
        found = run.every[row]
        panels = (rank_histogram(found), rank_ecdf(found))
        figures.append(Figure(found.label, found.verdict, panels))
    words = (
        "If model, sampler and run are right, the truth is one more draw, and its ranks among the draws are uniform: "
        "bars and lines stay within the grey bands. Ranks at both ends tell of draws that are too narrow, ranks in the "
        "middle of draws that are too wide, and high or low ones of draws that are too low or too high. The parameters "
        "with the smallest p come first."
    )
    return Section("ranks", "Ranks", words, tuple(figures))
