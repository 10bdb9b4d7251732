"""Put together the report of draws that are independent of each other, as those from a guide or from paths."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.notice import Notice
from ...core.series import AbstractSeries
from ..beside import AbstractBeside
from ..diagnostics import QUIETLY
from ..figures.density import density
from ..figures.forest import MOST_ROWS, intervals
from ..figures.marks import Figure
from ..labels import Coords, Dims
from ..summary import summarise
from . import made
from .base import Document, Section, Table
from .draws_sections import Place, draws_of, label_of, pairs
from .predictions import predictions
from .unknowns import ROWS

_MOST_DENSITIES = 6


@dataclass(frozen=True, eq=False)
class IndependentRun:
    """Independent draws as a report needs them.

    **Fields**
    - `head`: the draws in one line. `facts`, `numbers`: terms with values, of how they were made and how good they are.
    - `sites`: draws, shape `(1, draw, *event)`, with `dims` and `coords`; `words`: what they are, for their figures.
    - `notices`, `problems`, `manifest`, `source`, `again`, `beside`: as for `ChainRun`.
    - `sections`: what comes before the figures of draws.
    """

    head: str
    facts: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, str], ...]
    sites: AbstractSeries
    dims: Dims
    coords: Coords
    words: str
    notices: tuple[Notice, ...]
    problems: tuple[str, ...]
    manifest: Mapping[str, Any]
    source: str | None
    again: str
    beside: tuple[AbstractBeside, ...] = ()
    sections: tuple[Section, ...] = ()


def document_of_independent(run: IndependentRun) -> Document:
    """Tabulate the draws, and draw their figures."""
    with np.errstate(**QUIETLY):  # of draws that are not finite, or whose squares are not
        sections = [
            *run.sections,
            *of_draws(run.sites, run.dims, run.coords, "Draws", run.words),
            predictions(run.sites, run.beside, run.dims, run.coords),
        ]
        table = table_of_draws(run.sites, run.dims, run.coords)
    return Document(
        str(run.manifest.get("model", "")),
        run.head,
        "these draws",
        (*run.facts, *made.facts_of(run.manifest)),
        made.site_rows(run.manifest),
        made.data_rows(run.manifest),
        run.again,
        run.source,
        run.notices,
        run.problems,
        run.numbers,
        table,
        tuple(section for section in sections if section is not None),
        made.record_of(run.manifest),
    )


def table_of_draws(sites: AbstractSeries, dims: Dims, coords: Coords) -> Table | None:
    """Tabulate the first 200 unknowns, without what judges chains; None without draws."""
    if not _has_draws(sites):
        return None
    found = summarise(sites, dims=dims, coords=coords, kind="stats", most=ROWS)
    owners = [name for name in sites for _ in range(min(sites.width(name), ROWS))][: len(found)]
    rows = found.cells(ROWS)[1:]
    count = sum(sites.width(name) for name in sites)
    return Table(
        found.labels,
        tuple(owners),
        found.values,
        tuple(tuple(row[1:-1]) for row in rows),
        found.sketches,
        count,
        count,
        f"the first {len(found)}",
    )


def of_draws(sites: AbstractSeries, dims: Dims, coords: Coords, title: str, words: str) -> list[Section]:
    """Draw intervals, distributions and pairs of the first unknowns."""
    if not _has_draws(sites):
        return []
    places = first_places(sites, MOST_ROWS)
    panel = intervals([draws_of(sites, place) for place in places], _labels(sites, places, dims, coords))
    few = places[:_MOST_DENSITIES]
    panels = tuple(
        density(draws_of(sites, place), label, (0,))
        for place, label in zip(few, _labels(sites, few, dims, coords), strict=True)
    )
    shown = "Dashed lines mark the quantiles at 5%, 50% and 95%."
    figures = (Figure("Intervals", panel.sentence, (panel,)), Figure("Distributions", shown, panels))
    together = pairs(sites, {}, places, dims, coords)
    name = title.lower()
    return [Section(name, title, words, figures), *([] if together is None else [_independent(together)])]


def first_places(sites: AbstractSeries, most: int) -> list[Place]:
    """Return site and number of the first scalars, in the model's order."""
    every = [(name, scalar) for name in sites for scalar in range(min(sites.width(name), most))]
    return every[:most]


def _independent(together: Section) -> Section:
    """Return the section on pairs with words for draws that no trajectory made."""
    (figure,) = together.figures
    own = Figure(figure.title, "Dots are draws.", figure.panels, figure.columns)
    return Section(together.name, together.title, "Pairs that depend most on each other.", (own,))


def _labels(sites: AbstractSeries, places: list[Place], dims: Dims, coords: Coords) -> list[str]:
    return [label_of(sites, place, dims, coords) for place in places]


def _has_draws(sites: AbstractSeries) -> bool:
    return any(np.prod(sites.shape(name)[:2]) and sites.width(name) for name in sites)
