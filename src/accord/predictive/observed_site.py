"""Choose the observed site that a criterion of predictive accuracy judges, and check its log likelihood."""

from typing import Any

import numpy as np

from ..core.errors import DataError, OptionError, suggest
from ..report.arviz import Group
from .results import LogLikelihood


def observed_site(function: str, likelihood: Any, site: str | None) -> tuple[str, Group]:
    """Return the name of the site, and the group that holds its log likelihood without masked entries.

    - `function`: the public function, for messages. `site`: None takes the only one.

    **Raises** `OptionError` for anything but a log likelihood, and for a site that it lacks.
    """
    if not isinstance(likelihood, LogLikelihood):
        raise OptionError(
            f"{function}: likelihood is what infer.log_likelihood(draws) returns, got {type(likelihood).__name__}."
        )
    found = {name: group for group in likelihood.groups for name in group.values}
    if site is None and len(found) == 1:
        (site,) = found
    if site is None or site not in found:
        there = ", ".join(map(repr, found)) or "none that is not masked"
        asked = "say which site, by site=" if site is None else f"there is no observed site {site!r}"
        raise OptionError(f"{function}: {asked}.{suggest(site or '', found)} There are: {there}.")
    return site, found[site]


def check_finite(function: str, values: np.ndarray, site: str) -> None:
    """Raise `DataError` for a log likelihood that is NaN or infinite, as its means over draws would be."""
    num_bad = np.count_nonzero(~np.isfinite(values))
    if num_bad:
        raise DataError(
            f"{function}: {num_bad} of {values.size} log likelihoods of site {site!r} are NaN or infinite. "
            "`infer.check(model)` looks for the cause."
        )
