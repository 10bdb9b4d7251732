"""Estimate by WAIC how well a model predicts new data."""

from dataclasses import dataclass

import numpy as np

from ..core.errors import DataError
from ..core.notice import Notice
from ..core.options import checks_options
from ..core.tracebacks import entry_points
from .observed_site import check_finite, observed_site
from .results import LogLikelihood

_TOO_VARIED = 0.4  # variance of an observation's log likelihood, from which WAIC is unreliable


@entry_points
@dataclass(frozen=True, eq=False)
class Waic:
    """Predictive accuracy for new data by WAIC. Prints itself.

    **Fields**
    - `elpd`: expected log pointwise predictive density of new data like those observed; higher is better.
    - `se`: its standard error over observations; NaN for one.
    - `num_effective`: the effective number of parameters.
    - `pointwise`: contribution of each observation to `elpd`; `variances`: to `num_effective`. Both have the batch
      shape of the site, or are flat if entries are masked.
    - `site`: the observed site. `model`: its name.
    - `notices`: warnings about the result.

    **Example**

    >>> found = infer.waic(infer.log_likelihood(draws))
    >>> found.pointwise.shape, found.se > 0
    ((8,), True)
    """

    elpd: float
    se: float
    num_effective: float
    pointwise: np.ndarray
    variances: np.ndarray
    site: str
    model: str
    notices: tuple[Notice, ...]

    def __str__(self) -> str:
        head = (
            f"WAIC of {self.model}, site {self.site!r}, {self.pointwise.size} observations: "
            f"elpd {self.elpd:.2f} +- {self.se:.2f}, {self.num_effective:.2f} effective parameters"
        )
        return "\n".join([head, *map(str, self.notices)])

    __repr__ = __str__


@checks_options
def waic(likelihood: LogLikelihood, site: str | None = None) -> Waic:
    """Compute the widely applicable information criterion, an estimate of predictive accuracy.

    Prefer leave-one-out (`infer.loo`), which estimates the same with better accuracy and better warnings. Use WAIC if
    you need the criterion itself. Compare models only on the same observations.

    **Arguments**
    - `likelihood`: from `infer.log_likelihood(draws)`; masked entries are left out.
    - `site`: an observed site; needed if there are several.

    **Raises** `OptionError` for other values than a log likelihood, and for a site that it lacks; `DataError` for fewer
    than two draws, and for a log likelihood that is NaN or infinite.

    **Source**: Watanabe (2010), J. Machine Learning Research 11, 3571-3594; in the form and on the scale of Vehtari,
    Gelman & Gabry (2017), Statistics and Computing 27, 1413-1432, from which the warning is too.

    **Example**

    >>> found = infer.waic(infer.log_likelihood(draws))
    >>> found.site, bool(found.num_effective > 0)
    ('y', True)
    """
    site, group = observed_site("infer.waic", likelihood, site)
    values = group.values[site]
    draws = np.reshape(values, (-1, *values.shape[2:])).astype(np.float64)
    if len(draws) < 2:
        raise DataError(f"infer.waic needs two draws at least, and there is {len(draws)}.")
    check_finite("infer.waic", draws, site)
    most = draws.max(axis=0)
    density = most + np.log(np.mean(np.exp(draws - most), axis=0))
    variances = draws.var(axis=0, ddof=1)
    pointwise = density - variances
    size = pointwise.size
    se = float(np.sqrt(size * pointwise.var(ddof=1))) if size > 1 else float("nan")
    notices = _doubts(site, variances)
    return Waic(
        float(pointwise.sum()),
        se,
        float(variances.sum()),
        pointwise,
        variances,
        site,
        likelihood.model,
        notices,
    )


def _doubts(site: str, variances: np.ndarray) -> tuple[Notice, ...]:
    num_varied = int(np.count_nonzero(variances > _TOO_VARIED))
    if not num_varied:
        return ()
    return (
        Notice(
            "warning",
            "waic_variance",
            f"The log likelihood of {num_varied} of {variances.size} observations of {site!r} has a variance above "
            f"{_TOO_VARIED} (up to {variances.max():.2g}), where WAIC may be far off.",
            "Use infer.loo, which shows for each observation whether its estimate is reliable.",
            (site,),
        ),
    )
