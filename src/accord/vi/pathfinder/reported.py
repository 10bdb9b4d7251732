"""Hand paths to their report and their plots."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.errors import OptionError
from ...report.beside import AbstractBeside, groups_beside
from ...report.document.again import begins_elsewhere, call_of, target_of
from ...report.document.base import Document
from ...report.document.independent import IndependentRun, document_of_independent
from ...report.document.paths import weighing
from ...report.figures.marks import Panel
from ...report.figures.picture import Picture
from ...report.figures.weights import bounds, shares
from ...report.pictures import Kind
from ...report.plots_of_draws import Independent
from ...report.plots_of_draws import plot as plot_of_draws
from ...runs.code import source_of
from ..reported import pareto_words

if TYPE_CHECKING:
    from .result import Paths


def document(paths: "Paths", beside: tuple[AbstractBeside, ...] = ()) -> Document:
    """Return the report of paths. **Raises** `OptionError` for results `beside` that are of other draws."""
    drawn = paths.drawn
    groups_beside(beside, drawn.chains, drawn.num_draws)
    section = weighing(paths.log_weights, paths.bounds, paths.errors, paths.timings)
    return document_of_independent(
        IndependentRun(
            repr(paths)[1:-1].removeprefix(f"Paths of {paths.model}: "),
            _facts(paths),
            _numbers(paths),
            paths.sites,
            drawn.dims,
            drawn.coords,
            "Draws that are resampled among the candidates by their weights. Do not trust them where Pareto k is high.",
            paths.notices,
            paths.problems,
            paths.manifest,
            source_of(drawn.density),
            _again(paths),
            beside,
            () if section is None else (section,),
        )
    )


def plot(paths: "Paths", kind: object, sites: object, most: object) -> Picture:
    """See `Paths.plot`."""

    def weights(only: tuple[str, ...], count: int) -> Sequence[Panel]:
        del only, count
        _refuse_empty(paths)
        return [shares(paths.log_weights)]

    def by_path(only: tuple[str, ...], count: int) -> Sequence[Panel]:
        del only, count
        _refuse_empty(paths)
        return [bounds(paths.bounds, paths.errors)]

    more = {"weights": Kind(weights, shows="candidates"), "bounds": Kind(by_path, shows="paths")}
    drawn = Independent(paths.sites, paths.drawn.dims, paths.drawn.coords, "paths")
    return plot_of_draws(drawn, more, kind, sites, most)


def _refuse_empty(paths: "Paths") -> None:
    if not paths.bounds:
        raise OptionError("plot: there are no draws to plot. See `paths.notices`.")


def _facts(paths: "Paths") -> tuple[tuple[str, str], ...]:
    points = list(paths.num_points.values())
    found = {
        "Method": "multi-path Pathfinder",
        "Paths": f"{len(paths.manifest['chains'])}, of which {len(paths.bounds)} have draws",
        "Points of a path": f"{min(points)} to {max(points)}" if points else "",
        "Draws": f"{paths.num_draws}, resampled among {len(paths.log_weights)} candidates",
    }
    return tuple((name, value) for name, value in found.items() if value)


def _numbers(paths: "Paths") -> tuple[tuple[str, str], ...]:
    """Return the numbers that decide, where they are known."""
    if not paths.bounds:
        return ()
    known = {number: value for number, value in paths.bounds.items() if np.isfinite(value)}
    found = [
        ("Pareto k", pareto_words(paths.pareto_k)),
        ("Candidates are worth", f"{paths.effective_draws:.0f} draws of the posterior"),
        ("Different draws", f"{_num_different(paths)} of {paths.num_draws}"),
    ]
    if known:
        best = max(known, key=lambda number: known[number])
        found.append(("Highest evidence lower bound", f"{known[best]:.6g}, of path {best}"))
    return tuple(found)


def _num_different(paths: "Paths") -> int:
    """Count the candidates among the draws."""
    positions = paths.drawn.positions
    assert isinstance(positions, np.ndarray)  # discrete unknowns are summed out
    return len(np.unique(positions, axis=0))


def _again(paths: "Paths") -> str:
    """Write the call that makes the paths again."""
    manifest = paths.manifest
    options = {
        "paths": len(manifest["chains"]),
        "draws": manifest["draws"],
        "seed": manifest["seed"],
        "precision": repr(manifest["precision"]),
    }
    return call_of("paths", "pathfinder", (target_of(manifest),), options, begins_elsewhere(manifest))
