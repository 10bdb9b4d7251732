"""Put together the report of a fit, from arrays."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...core.notice import Notice
from ...core.series import AbstractSeries
from ..figures.marks import Figure
from ..figures.sampler import losses, seconds
from ..labels import Coords, Dims
from . import made
from .base import Document, Section, Table
from .independent import of_draws
from .unknowns import ROWS

_MOST_LOSSES = 6


@dataclass(frozen=True, eq=False)
class FitRun:
    """A fit as a report needs it.

    **Fields**
    - `head`: the fit in one line. `notices`, `problems`, `manifest`, `timings`, `source`, `again`: as for `ChainRun`.
    - `facts`, `numbers`: terms with values, of how it was made and of how good it is.
    - `losses`: by restart, shape `(step,)`; `best`: the one that was taken.
    - `labels`, `sites_of`, `columns`: rows of the table: label and site of each unknown, and numbers; none without a
      model.
    - `sites`: draws from the guide, shape `(1, draw, *event)`, with `dims` and `coords`; none without a model.
    """

    head: str
    notices: tuple[Notice, ...]
    problems: tuple[str, ...]
    manifest: Mapping[str, object]
    timings: Mapping[str, float]
    source: str | None
    facts: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, str], ...]
    losses: Mapping[int, np.ndarray]
    best: int
    labels: tuple[str, ...]
    sites_of: tuple[str, ...]
    columns: Mapping[str, np.ndarray]
    sites: AbstractSeries | None
    dims: Dims
    coords: Coords
    again: str = ""


def document_of_fit(run: FitRun) -> Document:
    """Draw the figures of a fit, and its table where its model is at hand."""
    words = "What the guide says of the unknowns. Intervals are too narrow where Pareto k is high."
    drawn = [] if run.sites is None else of_draws(run.sites, run.dims, run.coords, "Guide", words)
    return Document(
        str(run.manifest.get("model", "")),
        run.head,
        "this fit",
        (*run.facts, *made.facts_of(run.manifest)),
        made.site_rows(run.manifest),
        made.data_rows(run.manifest),
        run.again,
        run.source,
        run.notices,
        run.problems,
        run.numbers,
        _table(run) if run.labels else None,
        (_steps(run), *drawn),
        made.record_of(run.manifest),
    )


def _table(run: FitRun) -> Table:
    """Return the first 200 rows, and the columns of which something is known."""
    known = {name: column[:ROWS] for name, column in run.columns.items() if np.isfinite(column).any()}
    cells = [
        tuple("-" if np.isnan(column[row]) else f"{column[row]:.3g}" for column in known.values())
        for row in range(min(ROWS, len(run.labels)))
    ]
    count = len(run.labels)
    return Table(
        run.labels[:ROWS], run.sites_of[:ROWS], known, tuple(cells), (), count, count, f"the first {ROWS}"
    )


def _steps(run: FitRun) -> Section:
    """Draw the losses of restarts, the best first, and the time."""
    numbers = sorted(run.losses, key=lambda number: (number != run.best, number))[:_MOST_LOSSES]
    panels = [
        losses(run.losses[number], f"restart {number}" + (", taken" if number == run.best else ""))
        for number in numbers
    ]
    phases = made.phases_of(run.timings)
    if phases:
        panels.append(seconds(phases))
    words = (
        "The loss that the fit minimised, by step. If the fit has converged, the loss is level at its end."
    )
    shown = f"Losses of {len(numbers)} of {len(run.losses)} restarts by step, and seconds by phase."
    return Section("steps", "Steps", words, (Figure("Losses", shown, tuple(panels)),))
