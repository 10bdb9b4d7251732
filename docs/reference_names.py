"""List every public name, by the page of the reference it is on; what is exported anew comes with it by itself."""

import inspect
from typing import Any, NamedTuple

import accord as ac
import accord.distributions as dist
from accord import bijectors, density, gp, guides, handlers, infer, ode, reparam
from accord.calibration import calibration, recovery
from accord.centring import proposal
from accord.core import errors, notice
from accord.diagnose.checks import report
from accord.distributions import constraints
from accord.language import site
from accord.mcmc import draws, explain
from accord.optimise import laplace, mode
from accord.predictive import comparison, loo, results, waic
from accord.report import model_graph, summary
from accord.runs.stopping import stopping
from accord.vi import draws as guide_draws
from accord.vi import result as fits
from accord.vi import summary as fit_summary
from accord.vi.pathfinder import result as paths

# Classes that are returned, and not made by users.
RESULTS = (
    draws.Draws,
    summary.Summary,
    notice.Notice,
    stopping.Stopping,
    results.Predictions,
    results.LogLikelihood,
    loo.Loo,
    comparison.Comparison,
    waic.Waic,
    report.CheckReport,
    explain.Explanation,
    mode.Mode,
    laplace.Laplace,
    calibration.Calibration,
    recovery.Recovery,
    fits.Fit,
    fit_summary.FitSummary,
    guide_draws.GuideDraws,
    paths.Paths,
    proposal.Proposal,
    site.Site,
    model_graph.ModelGraph,
)
# What rooms above call; their users have `Model.sites`, `Model.graph` and `infer.Devices(shard=...)`.
BETWEEN_ROOMS = {"cut_arguments", "cut_otherwise", "describe", "graph_of", "sharded"}
BETWEEN_ROOMS |= {"float_type", "is_concrete", "is_number", "value_hash"}
NOT_RAISED = {"PrecisionError"}

# The order of what `infer` offers: by the module it is from.
ORDER = (
    "sample",
    "steps",
    "resume",
    "load",
    "kernels",
    "start",
    "stopping",
    "executors",
    "storage",
    "predictive",
)
ORDER += ("check", "explain", "calibration", "modes", "vi", "density")


class Page(NamedTuple):
    """Names on a page.

    **Fields**
    - `title`, `words`: what stands at its head.
    - `prefix`: how its names are written, such as `infer.`; `things`: by name, in order.
    - `has_members`: whether methods and properties of classes are listed. `is_called`: whether users call them.
    """

    title: str
    words: str
    prefix: str
    things: dict[str, Any]
    has_members: bool = False
    is_called: bool = True


def pages() -> dict[str, Page]:
    """By the name of the file, without its ending."""
    raised = {
        name: thing
        for name, thing in vars(errors).items()
        if isinstance(thing, type) and issubclass(thing, errors.AccordError) and name not in NOT_RAISED
    }
    return {
        "language": Page(
            "The language",
            "Statements of models: `ac.sample`.",
            "ac.",
            dict(sorted(public(ac).items())),
            True,
        ),
        "handlers": Page(
            "Handlers", "Change what statements mean, from outside.", "handlers.", public(handlers)
        ),
        "reparam": Page(
            "Reparameterisations",
            "In `accord.reparam`: for `handlers.reparam`, which samples sites by way of other variables.",
            "reparam.",
            public(reparam),
            True,
        ),
        "inference": Page(
            "Inference", "Run models, and use what was drawn.", "infer.", _in_order(public(infer))
        ),
        "guides": Page(
            "Guides", "In `infer.guides`: what `infer.fit` fits.", "infer.guides.", public(guides), True
        ),
        "results": Page(
            "Results",
            "What functions of `infer` and `reparam` return.",
            "",
            {each.__name__: each for each in RESULTS},
            has_members=True,
            is_called=False,
        ),
        "density": Page(
            "Log densities",
            "In `accord.density`: what a model is to a sampler.",
            "density.",
            public(density),
            True,
        ),
        "gp": Page(
            "Gaussian processes",
            "In `accord.gp`: covariances, and what is built on them.",
            "gp.",
            public(gp),
            True,
        ),
        "ode": Page("Differential equations", "In `accord.ode`.", "ode.", public(ode)),
        "bijectors": Page("Bijectors", "In `accord.bijectors`.", "bijectors.", public(bijectors)),
        "errors": Page(
            "Errors", "In `accord.core.errors`, to be caught by these names.", "", raised, is_called=False
        ),
    }


def public(module: Any) -> dict[str, Any]:
    """What a module offers, by name, but for results; `LogDensity` is on the page of the package alone."""
    there = {
        **vars(module),
        **dict.fromkeys(dir(module)),
    }  # in the module's order, then what is loaded when asked for
    names = getattr(module, "__all__", None) or [name for name in there if not name.startswith("_")]
    found = {name: getattr(module, name) for name in names if name not in BETWEEN_ROOMS}
    elsewhere = {"LogDensity"} if module is density else set[str]()
    return {
        name: thing
        for name, thing in found.items()
        if not (inspect.ismodule(thing) or thing in RESULTS or name in elsewhere)
    }


def listed_elsewhere() -> dict[str, tuple[str, list[str]]]:
    """Names that have a line in a table instead: by page, what they are and their names."""
    return {
        "constraints.md": ("constraints", sorted(constraints.__all__)),
        "../distributions.md": ("dist", sorted(name for name in dist.__all__ if name != "constraints")),
    }


def _in_order(things: dict[str, Any]) -> dict[str, Any]:
    def place(name: str) -> int:
        words = things[name].__module__.split(".")
        return next((place for place, word in enumerate(ORDER) if word in words), len(ORDER))

    return {name: things[name] for name in sorted(things, key=place)}
