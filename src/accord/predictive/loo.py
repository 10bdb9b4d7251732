"""Estimate by leave-one-out how well a model predicts each observation from all others."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import DataError, OptionError
from ..core.notice import Notice
from ..core.options import checks_options
from ..core.tracebacks import entry_points
from ..mcmc.draws import Draws
from ..report.arviz import leave_one_out
from ..report.labels import scalar_labels
from ..report.weights import relative_ess
from .evaluate import log_likelihood
from .mended import Mended, check_movable, mended
from .observed_site import check_finite, observed_site
from .results import LogLikelihood

_NAMED = 5  # observations that a notice names


@entry_points
@dataclass(frozen=True, eq=False)
class Loo:
    """Predictive accuracy by leave-one-out: each observation predicted from all others. Prints itself.

    **Fields**
    - `elpd`: expected log pointwise predictive density, in nats; higher is better. `se`: its standard error over
      observations.
    - `num_effective`: the effective number of parameters.
    - `pointwise`: contribution of each observation to `elpd`; `pareto_k`: tail heaviness of its importance weights.
      Both have the batch shape of the site, or are flat if entries are masked.
    - `good_k`: upper limit of a good `pareto_k`: 0.7, or less for fewer than 2200 draws.
    - `observed`: observations in the same shape, if known. `num_samples`: draws of all chains.
    - `site`: the observed site. `model`: its name. `notices`: warnings about the result.

    **Example**

    >>> found = infer.loo(draws)
    >>> found.pointwise.shape, found.pareto_k.shape
    ((8,), (8,))
    """

    elpd: float
    se: float
    num_effective: float
    pointwise: np.ndarray
    pareto_k: np.ndarray
    good_k: float
    observed: np.ndarray | None
    num_samples: int
    site: str
    model: str
    notices: tuple[Notice, ...]

    def __str__(self) -> str:
        head = (
            f"Leave-one-out of {self.model}, site {self.site!r}, {self.pointwise.size} observations: "
            f"elpd {self.elpd:.2f} +- {self.se:.2f}, {self.num_effective:.2f} effective parameters, "
            f"Pareto k up to {self.pareto_k.max():.2f}"
        )
        return "\n".join([head, *map(str, self.notices)])

    __repr__ = __str__


@checks_options
def loo(
    draws: Draws,
    likelihood: LogLikelihood | None = None,
    *,
    site: str | None = None,
    moment_match: bool = False,
) -> Loo:
    """Estimate leave-one-out predictive accuracy by Pareto-smoothed importance sampling, without refitting.

    If `pareto_k` of an observation is above `good_k`, its estimate is unreliable, and a notice reports it.

    **Arguments**
    - `draws`: draws of a run.
    - `likelihood`: from `infer.log_likelihood(draws)`; None computes it.
    - `site`: an observed site; needed if there are several.
    - `moment_match`: mend each observation with a `pareto_k` above `good_k`: draws are moved until their moments are
      those of the posterior without it, and the model is evaluated there, a few times for each draw. It needs the model
      of the run, and unknowns that are free numbers.

    **Raises** `OptionError` for other values than draws of a run, for a site that is not observed, and with
    `moment_match` for draws without their model, whole numbers among the unknowns, and sites summed out; `ModelError`
    for a model that observes nothing; `DataError` for a log likelihood that is NaN or infinite, or of other draws.

    **Source**: Vehtari, Gelman & Gabry (2017), Statistics and Computing 27, 1413-1432, and Vehtari, Simpson, Gelman,
    Yao & Gabry (2024), J. Machine Learning Research 25(72), by `arviz_stats.loo`; moment matching by Paananen,
    Piironen, Bürkner & Vehtari (2021), Statistics and Computing 31, 16.

    **Example**

    >>> found = infer.loo(draws)
    >>> found.site, bool(found.elpd < 0)
    ('y', True)
    >>> mended = infer.loo(draws, moment_match=True)
    >>> bool(mended.pareto_k.max() < found.pareto_k.max())
    True
    """
    if not isinstance(draws, Draws):
        raise OptionError(
            f"infer.loo takes the draws of a run, as infer.sample returns them, got {type(draws).__name__}."
        )
    if not isinstance(moment_match, bool):
        raise OptionError(f"infer.loo: moment_match must be True or False, got {moment_match!r}.")
    if moment_match:
        check_movable(draws)
    if likelihood is None:
        likelihood = log_likelihood(draws)
    site, group = observed_site("infer.loo", likelihood, site)
    values = group.values[site]
    num_chains, num_draws = values.shape[:2]
    if (num_chains, num_draws) != (len(draws.chains), draws.num_draws):
        raise DataError(
            f"infer.loo: the log likelihood has {num_chains} chains x {num_draws} draws, and the run "
            f"{len(draws.chains)} x {draws.num_draws}. Compute it from these draws: infer.log_likelihood(draws)."
        )
    check_finite("infer.loo", values, site)
    relative = relative_ess(draws.sites)
    numbers = leave_one_out(np.asarray(values, np.float64), relative)
    labels = scalar_labels(site, values.shape[2:], group.dims.get(site, ()), group.coords)
    bad = np.flatnonzero(~(numbers["pareto_k"].ravel() <= numbers["good_k"]))
    told: tuple[Notice, ...] = ()
    if moment_match and bad.size:
        before = numbers
        numbers = _with(before, mended(draws, site, _entries(likelihood, site), bad, relative))
        told = (_mended_notice(site, labels, bad, before["pareto_k"].ravel(), numbers),)
    return Loo(
        numbers["elpd"],
        numbers["se"],
        numbers["p"],
        numbers["elpd_i"],
        numbers["pareto_k"],
        numbers["good_k"],
        _observed(likelihood, site),
        num_chains * num_draws,
        site,
        likelihood.model,
        (*_doubts(site, labels, numbers["pareto_k"].ravel(), numbers["good_k"], moment_match), *told),
    )


def _entries(likelihood: LogLikelihood, site: str) -> np.ndarray:
    """Return the place in the whole batch of each entry that counts."""
    is_seen = likelihood.counted.get(site)
    return np.arange(likelihood.sites[site][0, 0].size) if is_seen is None else np.flatnonzero(is_seen)


def _with(numbers: dict[str, Any], found: Mended) -> dict[str, Any]:
    """Put estimates of some observations in the place of the old ones, and sum again."""
    elpd_i, pareto_k = (np.array(numbers[name], np.float64) for name in ("elpd_i", "pareto_k"))
    elpd_i.ravel()[found.which] = found.elpd
    pareto_k.ravel()[found.which] = found.pareto_k
    elpd = float(elpd_i.sum())
    return {
        **numbers,
        "elpd": elpd,
        "se": float(np.sqrt(elpd_i.size * elpd_i.var())),
        "p": numbers["p"] + numbers["elpd"] - elpd,
        "elpd_i": elpd_i,
        "pareto_k": pareto_k,
    }


def _mended_notice(
    site: str, labels: list[str], bad: np.ndarray, before: np.ndarray, numbers: dict[str, Any]
) -> Notice:
    """Say how many observations were mended, and name some, the one with the heaviest tail before first."""
    after = numbers["pareto_k"].ravel()
    good = bad[after[bad] <= numbers["good_k"]]
    worst = good[np.argsort(-before[good], kind="stable")][:_NAMED]
    named = ", ".join(f"{labels[index]} ({before[index]:.2f}, now {after[index]:.2f})" for index in worst)
    more = f" and {good.size - _NAMED} more" if good.size > _NAMED else ""
    return Notice(
        "info",
        "moment_matched",
        f"Moment matching mended {good.size} of {bad.size} observations of {site!r} with Pareto k above "
        f"{numbers['good_k']:.2g}{f': {named}{more}' if named else ''}.",
        "",
        (site,),
    )


def _named(labels: list[str], which: np.ndarray, pareto_k: np.ndarray) -> str:
    """Name some observations, the one with the heaviest tail first."""
    worst = which[np.argsort(-pareto_k[which], kind="stable")][:_NAMED]
    named = ", ".join(f"{labels[index]} ({pareto_k[index]:.2f})" for index in worst)
    return f"{named} and {which.size - _NAMED} more" if which.size > _NAMED else named


def _observed(likelihood: LogLikelihood, site: str) -> np.ndarray | None:
    """Return the observations in the site's batch shape, without masked entries, if known."""
    known, whole = likelihood.observed.get(site), likelihood.sites[site]
    if known is None or np.shape(known)[: whole.ndim - 2] != whole.shape[2:]:
        return None
    is_seen = likelihood.counted.get(site)
    return np.asarray(known) if is_seen is None or is_seen.all() else np.asarray(known)[is_seen]


def _doubts(
    site: str, labels: list[str], pareto_k: np.ndarray, good_k: float, is_mended: bool
) -> tuple[Notice, ...]:
    bad = np.flatnonzero(~(pareto_k <= good_k))
    if not bad.size:
        return ()
    mend = "" if is_mended else " `infer.loo(draws, moment_match=True)` mends most of them."
    return (
        Notice(
            "warning",
            "pareto_k",
            f"Pareto k of {bad.size} of {pareto_k.size} observations of {site!r} is above {good_k:.2g}, where "
            f"leave-one-out may be far off: {_named(labels, bad, pareto_k)}.",
            f"Look at these observations: the model may not expect them.{mend} Sample again without each of them for "
            "its exact value, by `infer.kfold`, or try a likelihood with heavier tails; more draws help where k is "
            "just above.",
            (site,),
        ),
    )
