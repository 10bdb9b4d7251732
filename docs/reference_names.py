"""List every public name, by the page of the reference it is on; what is exported anew comes with it by itself."""

import inspect
from typing import Any, NamedTuple

import accord as ac
import accord.distributions as dist
from accord import bijectors, density, gp, guides, handlers, infer, ode, reparam
from accord.branches import result as divided
from accord.calibration import calibration, recovery
from accord.centring import proposal
from accord.core import errors, notice
from accord.diagnose.checks import report
from accord.distributions import constraints
from accord.interop import numpyro, pymc, stan
from accord.interop.formulas import FormulaModel
from accord.language import site
from accord.mcmc import draws, explain
from accord.nested import result as nested
from accord.optimise import laplace, mode
from accord.predictive import comparison, filtered, future, kfold, loo, results, waic
from accord.report import model_graph, summary
from accord.report.figures import picture
from accord.runs.stopping import stopping
from accord.smc import result as populations
from accord.smc import weighted
from accord.vi import draws as guide_draws
from accord.vi import result as fits
from accord.vi import summary as fit_summary
from accord.vi.pathfinder import result as paths

# Classes that are returned, and not made by users, by the page they are on.
RETURNED: dict[str, tuple[str, str, tuple[type, ...]]] = {
    "draws": (
        "Draws",
        "What `infer.sample` returns, and what its methods return.",
        (draws.Draws, summary.Summary, picture.Picture, notice.Notice, stopping.Stopping),
    ),
    "results_of_predictions": (
        "Results of predictions and comparisons",
        "What `infer.predict`, `infer.loo`, `infer.divide` and their like return.",
        (
            results.Predictions,
            results.LogLikelihood,
            loo.Loo,
            kfold.KFold,
            future.LeaveFutureOut,
            comparison.Comparison,
            waic.Waic,
            divided.Divided,
        ),
    ),
    "results_of_fits": (
        "Results of fits and climbs",
        "What `infer.fit`, `infer.pathfinder` and `infer.find_mode` return.",
        (fits.Fit, fit_summary.FitSummary, guide_draws.GuideDraws, paths.Paths, mode.Mode, laplace.Laplace),
    ),
    "results_of_populations": (
        "Results of populations",
        "What `infer.smc`, `infer.NestedSampling` and `infer.filter` return.",
        (weighted.AbstractWeightedDraws, populations.SMCDraws, nested.NestedDraws, filtered.Filtered),
    ),
    "models_of_formulas": ("Models of formulas", "What `ac.glm` returns.", (FormulaModel,)),
    "results_of_checks": (
        "Results of checks",
        "What is told of models and runs, by functions of `infer`, `reparam` and `Model`.",
        (
            report.CheckReport,
            explain.Explanation,
            calibration.Calibration,
            recovery.Recovery,
            proposal.Proposal,
            site.Site,
            model_graph.ModelGraph,
        ),
    ),
}
RESULTS = tuple(thing for _, _, things in RETURNED.values() for thing in things)
# What rooms above call; their users have `Model.sites`, `Model.graph` and `infer.Devices(shard=...)`.
BETWEEN_ROOMS = {"cut_arguments", "cut_otherwise", "describe", "graph_of", "sharded"}
BETWEEN_ROOMS |= {"float_type", "is_concrete", "is_number", "value_hash"}
NOT_RAISED = {"PrecisionError"}

# Topics of names that are too many for a page: title, words, and the modules that its names are from, in their order.
Topics = dict[str, tuple[str, str, tuple[str, ...]]]
LANGUAGE: Topics = {
    "models": (
        "Models",
        "What a function becomes by `ac.model`.",
        ("model", "density.logdensity", "interop", "language.static", "language.columns"),
    ),
    "statements": ("Statements", "What models are written in: `ac.sample`.", ("language",)),
}
INFERENCE: Topics = {
    "sampling": (
        "Sampling",
        "Draw from a posterior, and go on with a run.",
        ("mcmc.sample", "mcmc.steps", "reopen"),
    ),
    "kernels": (
        "Kernels that use gradients",
        "How chains move: `infer.sample(model, infer.NUTS())`.",
        tuple(
            f"kernels.{name}"
            for name in ("nuts", "chees", "hmc", "mala", "barker", "mixed_hmc", "hmcecs", "sgld", "sghmc")
        ),
    ),
    "kernels_without_gradients": (
        "Kernels without gradients, and of kernels",
        "For discrete sites, for densities without slopes, for blocks, and for several modes.",
        ("kernels",),
    ),
    "starts_and_stopping": (
        "Starts and stopping rules",
        "Where chains begin, `init=`, and when a run ends, `until=`.",
        ("mcmc.start", "runs.stopping", "vi.plateau"),
    ),
    "executors_and_stores": (
        "Executors and stores",
        "What computes, `executor=`, and where draws are kept, `store=`.",
        ("executors", "storage"),
    ),
    "predictions": (
        "Predictions",
        "From draws: predictions, log likelihoods, returned values, components with the same labels.",
        ("predictive.predict", "predictive.prior", "predictive.evaluate", "relabelling"),
    ),
    "comparisons": (
        "Comparisons of models",
        "How well models predict, and how probable they make their data.",
        ("predictive", "evidence", "report.log_evidence", "branches"),
    ),
    "fits": (
        "Fits and climbs",
        "Variational inference, Pathfinder, modes.",
        ("vi.fit", "vi.pathfinder", "modes", "vi", "density.rows"),
    ),
    "populations": (
        "Populations",
        "Sequential Monte Carlo, particle filters, and schemes of resampling.",
        ("smc", "predictive.filter", "resampling"),
    ),
    "checks": (
        "Checks",
        "Of models before a run, of runs, and of inference on simulated data.",
        ("diagnose", "mcmc.explain", "calibration"),
    ),
}
BIJECTORS: Topics = {
    "flows": (
        "Flows",
        "In `accord.bijectors`: maps with many parameters, and their networks.",
        ("bijectors.flows",),
    ),
    "bijectors_of_matrices": (
        "Bijectors of matrices and spectra",
        "In `accord.bijectors`: triangular and positive definite matrices, linear maps, Fourier transforms.",
        ("bijectors.triangular", "bijectors.covariance", "bijectors.linear", "bijectors.spectral"),
    ),
    "bijectors": (
        "Bijectors",
        "In `accord.bijectors`: maps from the real line to supports, and combinations of maps.",
        ("bijectors",),
    ),
}


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
    """Return each page by the name of its file, without the ending."""
    raised = {
        name: thing
        for name, thing in vars(errors).items()
        if isinstance(thing, type) and issubclass(thing, errors.AccordError) and name not in NOT_RAISED
    }
    return {
        **_by_topic(LANGUAGE, "ac.", dict(sorted(public(ac).items())), has_members=True),
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
        **_by_topic(INFERENCE, "infer.", public(infer)),
        "guides": Page(
            "Guides", "In `infer.guides`: what `infer.fit` fits.", "infer.guides.", public(guides), True
        ),
        **{
            name: Page(title, words, "", {each.__name__: each for each in things}, True, is_called=False)
            for name, (title, words, things) in RETURNED.items()
        },
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
        "interop_pymc": Page(
            "Models of PyMC and Bambi",
            "In `accord.interop.pymc`; PyMC is installed by `pip install pymc`.",
            "interop.pymc.",
            public(pymc),
            True,
        ),
        "interop_numpyro": Page(
            "Models that NumPyro evaluates",
            "In `accord.interop.numpyro`; NumPyro is installed by `pip install numpyro`. Programs that accord "
            "evaluates are on [a page of their own](../numpyro_scripts.md).",
            "interop.numpyro.",
            {"target": numpyro.target},
        ),
        "interop_stan": Page(
            "Stan programs",
            "In `accord.interop.stan`; Stan's compiler comes with `pip install 'accord[stan]'` "
            "([Stan programs](../stan_programs.md)).",
            "interop.stan.",
            public(stan),
        ),
        **_by_topic(BIJECTORS, "bijectors.", public(bijectors)),
        "errors": Page(
            "Errors", "In `accord.core.errors`, to be caught by these names.", "", raised, is_called=False
        ),
    }


def public(module: Any) -> dict[str, Any]:
    """Return what a module offers, by name, but for results; `LogDensity` is on the page of the package alone."""
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


def _by_topic(
    topics: Topics, prefix: str, things: dict[str, Any], has_members: bool = False
) -> dict[str, Page]:
    """A page for each topic: a name is where the most of its module's name is."""
    places = [(f"accord.{each}", topic) for topic, (_, _, modules) in topics.items() for each in modules]
    order = [module for module, _ in places]

    def place(thing: Any) -> tuple[str, str]:
        inside = [each for each in places if f"{thing.__module__}.".startswith(f"{each[0]}.")]
        if not inside:
            raise ValueError(f"{thing!r} of {thing.__module__} has no topic: give it one in {__file__}")
        return max(inside, key=lambda each: len(each[0]))

    ordered = sorted(things, key=lambda name: order.index(place(things[name])[0]))
    return {
        topic: Page(
            title,
            words,
            prefix,
            {name: things[name] for name in ordered if place(things[name])[1] == topic},
            has_members,
        )
        for topic, (title, words, _) in topics.items()
    }
