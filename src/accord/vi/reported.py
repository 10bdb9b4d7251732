"""Hand a fit, and draws from its guide, to their reports."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.series import InMemory
from ..report.beside import AbstractBeside, groups_beside
from ..report.document.again import begins_elsewhere, call_of, guide_of, target_of, with_options
from ..report.document.base import Document
from ..report.document.fits import FitRun, document_of_fit
from ..report.document.independent import IndependentRun, document_of_independent
from ..runs.code import source_of
from .objectives import OBJECTIVES, Curvature
from .plan import OWN

if TYPE_CHECKING:
    from .draws import GuideDraws
    from .result import Fit

PUBLIC_OBJECTIVES = frozenset(OBJECTIVES) - {Curvature.__name__}
"""Names of objectives that a call may give; the other one belongs to its guide."""

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
            _again(fit.manifest),
        )
    )


def document_of_draws(drawn: "GuideDraws", beside: tuple[AbstractBeside, ...] = ()) -> Document:
    """Return the report of draws from a guide. **Raises** `OptionError` for results `beside` of other draws."""
    groups_beside(beside, drawn.chains, drawn.num_draws)
    manifest = drawn.manifest
    guide: dict[str, Any] = manifest["sampler"]["guide"]
    k = drawn.pareto_k
    numbers = () if np.isnan(k) else (("Pareto k of the fit", pareto_words(k)),)
    seed = "" if drawn.seed is None else str(drawn.seed)
    return document_of_independent(
        IndependentRun(
            f"{drawn.num_draws} independent draws from {guide.get('function', guide['name'])}",
            (
                ("Guide", guide_of(guide)),
                ("Draws", str(drawn.num_draws)),
                *([("Seed of the draws", seed)] if seed else []),
            ),
            numbers,
            drawn.sites,
            drawn.dims,
            drawn.coords,
            "What the guide says of the unknowns. Intervals are too narrow where Pareto k is high.",
            drawn.notices,
            (),
            manifest,
            source_of(drawn.density),
            _again(manifest) + _drawing(drawn) if "objective" in manifest["sampler"] else "",
            beside,
        )
    )


def pareto_words(k: float) -> str:
    """Write Pareto k with its limits."""
    return f"{k:.2f}; good: below 0.5, not to be trusted: above 0.7"


def _drawing(drawn: "GuideDraws") -> str:
    options = f"{drawn.num_draws}" + ("" if drawn.seed is None else f", seed={drawn.seed}")
    if not drawn.is_of_fit:
        return f"drawn = fit.draw_for(..., ..., {options})  # model and guide, called with the new data\n"
    return f"drawn = fit.draw({options})\n"


def _again(manifest: Mapping[str, Any]) -> str:
    """Write the call that makes such a fit again."""
    sampler = manifest["sampler"]
    options: dict[str, Any] = {}
    unknown = begins_elsewhere(manifest)
    if sampler["objective"]["name"] in PUBLIC_OBJECTIVES:
        options["objective"] = f"infer.{with_options(sampler['objective'])}"
    if sampler["optimizer"].get("name") == OWN:
        unknown = (*unknown, "an optimizer of one's own")
    until = manifest["settings"].get("until")
    options |= {
        "steps": manifest["draws"],
        "restarts": len(manifest["chains"]),
        "seed": manifest["seed"],
        "until": "None" if until is None else f"infer.{with_options(until)}",
        "precision": repr(manifest["precision"]),
    }
    return call_of("fit", "fit", (target_of(manifest), f"{guide_of(sampler['guide'])},"), options, unknown)


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
        found.append(("Pareto k", pareto_words(fit.pareto_k)))
    if np.isfinite(fit.effective_draws):
        found.append(("1000 draws are worth", f"{fit.effective_draws:.0f} of the posterior, weighted"))
    return tuple(found)
