"""Show predictions, leave-one-out and priors beside the draws they belong to, where they are given."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...core.series import AbstractSeries
from ..arviz import Group, leave_one_out
from ..beside import AbstractBeside
from ..figures.density import prior_posterior
from ..figures.marks import Figure, Panel
from ..figures.predicted import loo_pit, pareto_k, predicted
from ..labels import Coords, Dims
from ..weights import relative_ess, smoothed
from .base import Section
from .draws_sections import draws_of, label_of

_MOST_PRIORS = 6
_MOST_PIT = 500  # observations whose weights are smoothed


def predictions(
    sites: AbstractSeries, beside: Sequence[AbstractBeside], dims: Dims, coords: Coords
) -> Section | None:
    """Draw predictive checks, Pareto k, LOO-PIT, and priors beside posteriors; None without anything."""
    groups = {group.name: group for each in beside for group in each.groups}
    observed = {name: value for each in beside for name, value in each.observed.items()}
    figures: list[Figure] = []
    facts: list[tuple[str, str]] = []
    ahead, likelihood, prior = (
        groups.get(name) for name in ("posterior_predictive", "log_likelihood", "prior")
    )
    if ahead is not None:
        figures += _checks(ahead, observed)
    if likelihood is not None:
        panels, more = _left_out(sites, likelihood, ahead, observed)
        figures += panels
        facts += more
    if prior is not None:
        figures += _priors(sites, prior, dims, coords)
    words = (
        "How the model predicts the data that it has seen, and what the data have added to the prior. A good model's "
        "observations stay within the bands of its predictions."
    )
    return Section("predictions", "Predictions", words, tuple(figures), tuple(facts)) if figures else None


def _checks(ahead: Group, observed: Mapping[str, np.ndarray]) -> list[Figure]:
    panels: list[Panel] = []
    for name in ahead.values:
        array = np.asarray(ahead.values[name])
        if name in observed and np.shape(observed[name]) == array.shape[2:] and array.size:
            flat = array.reshape(array.shape[0] * array.shape[1], -1)
            seen = np.asarray(observed[name], np.float64).ravel()
            if np.isfinite(seen).any():
                panels.append(predicted(flat, seen, name))
    words = "Distribution functions of predictions, in bands of 50% and 90%, and of the observations."
    return [Figure("Predictive checks", words, tuple(panels))] if panels else []


def _left_out(
    sites: AbstractSeries, likelihood: Group, ahead: Group | None, observed: Mapping[str, np.ndarray]
) -> tuple[list[Figure], list[tuple[str, str]]]:
    """Return figures and facts of leave-one-out, for each observed site whose log likelihood is finite."""
    panels: list[Panel] = []
    facts: list[tuple[str, str]] = []
    for name in likelihood.values:
        values = np.asarray(likelihood.values[name], np.float64)
        if not values.size or not np.isfinite(values).all():
            continue
        found = leave_one_out(values, relative_ess(sites))
        facts.append(
            (
                f"Leave-one-out of {name}",
                f"elpd {found['elpd']:.2f} \u00b1 {found['se']:.2f}, {found['p']:.2f} effective parameters, Pareto "
                f"k up to {np.max(found['pareto_k']):.2f} (good: at most {found['good_k']:.2f})",
            )
        )
        panels.append(pareto_k(np.ravel(found["pareto_k"]), found["good_k"], name))
        replicates = None if ahead is None else ahead.values.get(name)
        is_whole = name in observed and np.shape(observed[name]) == values.shape[2:]
        if is_whole and replicates is not None and np.shape(replicates) == values.shape:
            panels.append(loo_pit(transforms(values, np.asarray(replicates), observed[name]), name))
    words = "How well each observation is predicted from all others."
    return ([Figure("Leave-one-out", words, tuple(panels))] if panels else []), facts


def transforms(log_likelihood: np.ndarray, replicates: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Compute for each observation the share of its leave-one-out predictions below it, of at most 500 observations.

    Arrays have shape `(chain, draw, *batch)`. Equal values, as of counts, count by a share that runs evenly through
    (0, 1) from one observation to the next, so that the shares are uniform if the model is right.
    """
    rows, ahead = (each.reshape(-1, observed.size) for each in (log_likelihood, replicates))
    seen = np.asarray(observed, np.float64).ravel()
    some = np.linspace(0, seen.size - 1, min(seen.size, _MOST_PIT)).astype(int)
    found = []
    for number, entry in enumerate(some):
        weights = np.exp(smoothed(-rows[:, entry])[0])
        even = ((number + 1) * (np.sqrt(5) - 1) / 2) % 1
        found.append(
            weights @ (ahead[:, entry] < seen[entry]) + even * (weights @ (ahead[:, entry] == seen[entry]))
        )
    return np.where(np.isfinite(seen[some]), np.array(found), np.nan)


def _priors(sites: AbstractSeries, prior: Group, dims: Dims, coords: Coords) -> list[Figure]:
    """Draw the first scalar of each site that has both, the smallest sites first."""
    both = [
        name
        for name in sites
        if name in prior.values and sites.shape(name)[2:] == prior.values[name].shape[2:]
    ]
    both = [name for name in both if sites.width(name) and np.prod(sites.shape(name)[:2])]
    names = sorted(both, key=sites.width)[:_MOST_PRIORS]
    panels = [
        prior_posterior(
            prior.values[name].reshape(*prior.values[name].shape[:2], -1)[:, :, 0],
            draws_of(sites, (name, 0)),
            label_of(sites, (name, 0), dims, coords),
        )
        for name in names
    ]
    words = "What the data have added: a posterior like its prior has learnt little."
    return [Figure("Prior and posterior", words, tuple(panels))] if panels else []
