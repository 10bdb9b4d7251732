"""Hand a fit to its report."""

from typing import TYPE_CHECKING

import numpy as np

from ..core.series import InMemory
from ..report.document.base import Document
from ..report.document.fits import FitRun, document_of_fit
from ..runs.code import source_of

if TYPE_CHECKING:
    from .result import Fit

_DRAWS = 1000


def document(fit: "Fit") -> Document:
    """Return the report of a fit; without its model, or without a step, it has no table and no draws."""
    is_known = fit.density is not None and fit.fitted is not None
    summary = fit.summary() if is_known else None
    drawn = fit.draw(_DRAWS) if is_known and not fit.guide.is_point else None
    sites = (
        []
        if fit.density is None or summary is None
        else [entry.name for entry in fit.density.layout.unknowns for _ in range(int(np.prod(entry.shape)))]
    )
    return document_of_fit(
        FitRun(
            repr(fit)[1:-1].removeprefix(f"Fit of {fit.model}: "),
            fit.notices,
            fit.problems,
            fit.manifest,
            fit.timings,
            source_of(fit.density),
            _facts(fit),
            _numbers(fit),
            fit.losses,
            fit.best,
            () if summary is None else summary.labels,
            tuple(sites),
            {} if summary is None else summary.columns,
            None if drawn is None else InMemory({name: drawn[name] for name in drawn}),
            fit.dims,
            fit.coords,
        )
    )


def _facts(fit: "Fit") -> tuple[tuple[str, str], ...]:
    steps = ", ".join(f"{len(each)} in restart {number}" for number, each in list(fit.losses.items())[:20])
    return (
        ("Guide", fit.guide.label),
        ("Objective", type(fit.objective).__name__),
        ("Steps", steps or "none"),
        ("Restarts", f"{len(fit.bounds)} with a bound, of {len(fit.losses)} begun"),
    )


def _numbers(fit: "Fit") -> tuple[tuple[str, str], ...]:
    """Return the numbers that decide, where they are known."""
    found = [("Converged", "yes" if fit.converged else "no")]
    if np.isfinite(fit.log_evidence_bound):
        name = "Log density" if fit.guide.is_point else "Evidence lower bound"
        error = fit.log_evidence_bound_error
        found.append((name, f"{fit.log_evidence_bound:.6g}" + (f" \u00b1 {error:.2g}" if error > 0 else "")))
    if np.isfinite(fit.pareto_k):
        found.append(("Pareto k", f"{fit.pareto_k:.2f}; good: below 0.5, not to be trusted: above 0.7"))
    if np.isfinite(fit.effective_draws):
        found.append(("1000 draws are worth", f"{fit.effective_draws:.0f} of the posterior, weighted"))
    return tuple(found)
