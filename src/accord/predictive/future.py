"""Estimate by leave-future-out how well a model predicts the next observation of a series from those before it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.defaults import DEFAULT_CHAINS, DEFAULT_DRAWS
from ..core.errors import OptionError
from ..core.notice import Notice
from ..core.options import checks_options, positive_count
from ..core.precision import Precision
from ..core.tracebacks import entry_points
from ..executors import AbstractExecutor
from ..kernels import NUTS, AbstractKernel
from ..language import Model
from ..mcmc.draws import Draws
from ..report.weights import good_k, relative_ess, smoothed
from .refit import Observations, Refits, check_predicted, model_to_refit, notices_of, standard_error


@entry_points
@dataclass(frozen=True, eq=False)
class LeaveFutureOut:
    """Predictive accuracy by leave-future-out: each time predicted from all times before it. Prints itself.

    **Fields**
    - `elpd`: expected log predictive density of the predicted times, in nats; higher is better. `se`: its standard
      error over times.
    - `pointwise`: contribution of each predicted time to `elpd`; `times`: their numbers; `pareto_k`: tail heaviness of
      the importance weights from the last run, 0 where that run knows all times before; shape `(time,)`.
    - `refits`: times from which on observations were left out of a run, the first one included.
    - `observed`: observations at the predicted times, if known. `num_samples`: draws of all chains of a run.
    - `site`: the observed site. `model`: its name. `notices`: warnings about the runs.

    **Example**

    >>> found = infer.leave_future_out(eight_schools(sigma, y), first=6, draws=200, chains=2)
    >>> found.times.tolist(), found.refits[0]
    ([6, 7], 6)
    """

    elpd: float
    se: float
    pointwise: np.ndarray
    times: np.ndarray
    pareto_k: np.ndarray
    refits: tuple[int, ...]
    observed: np.ndarray | None
    num_samples: int
    site: str
    model: str
    notices: tuple[Notice, ...]

    def __str__(self) -> str:
        runs = f"{len(self.refits)} run{'s' * (len(self.refits) != 1)}"
        head = (
            f"Leave-future-out of {self.model}, site {self.site!r}, {self.pointwise.size} predicted times, {runs}: "
            f"elpd {self.elpd:.2f} +- {self.se:.2f}"
        )
        return "\n".join([head, *map(str, self.notices)])

    __repr__ = __str__


@checks_options
def leave_future_out(
    target: Model | Draws,
    sampler: AbstractKernel = NUTS(),  # noqa: B008 - a frozen value
    *,
    first: int,
    site: str | None = None,
    draws: int = DEFAULT_DRAWS,
    warmup: int | None = None,
    chains: int | Sequence[int] = DEFAULT_CHAINS,
    seed: int = 0,
    executor: AbstractExecutor | None = None,
    precision: Precision = "float64",
) -> LeaveFutureOut:
    """Estimate how well a model predicts each observation of a series from those before it.

    The first run leaves out all times from `first` on. As time goes on, its draws are weighted by the likelihood of
    what has been seen since. Where Pareto k of these weights is above 0.7 (less for fewer than 2200 draws), the model
    is sampled again. The observations left out are masked, so that all runs share one program.

    **Arguments**
    - `target`: a model called with its data; or draws of a run, of which the model is taken.
    - `first`: the first time that is predicted, counted from zero along the first batch axis of the site; at least 1.
      Observations along other axes are predicted together.
    - `site`: an observed site; needed if there are several. The others are never left out.
    - `sampler`, `draws`, `warmup`, `chains`, `executor`, `precision`: of each run, as for `infer.sample`.
    - `seed`: of the runs.

    **Raises** `OptionError` for a `first` beyond the series, a site that is not observed, or is no series; `ModelError`
    for a model that observes nothing; `DataError` where the model calls observations impossible; what `infer.sample`
    raises.

    **Source**: Bürkner, Gabry & Vehtari (2020), J. Statistical Computation and Simulation 90(14), 2499-2523, for one
    step ahead.

    **Example**

    >>> again = infer.leave_future_out(draws, first=7, draws=200, chains=2)
    >>> again.pointwise.shape, again.refits
    ((1,), (7,))
    """
    function = "infer.leave_future_out"
    model = model_to_refit(function, target)
    found = Observations.of(function, model, site, sampler, precision)
    first = positive_count(f"{function}: first", first)
    num_times = found.counted.shape[0]
    if first >= num_times:
        raise OptionError(
            f"{function}: first={first} leaves nothing to predict: site {found.site!r} has {num_times} times. Give "
            f"{num_times - 1} at most."
        )
    refits = Refits(model, found, sampler, draws, warmup, chains, seed, executor, precision)
    time = np.arange(num_times).reshape(-1, *[1] * (found.counted.ndim - 1))
    is_seen = found.counted.reshape(num_times, -1).any(axis=1)
    times = [int(each) for each in np.flatnonzero(is_seen) if each >= first]
    begun: list[int] = []
    runs, pointwise, shapes = [], [], []
    refit, heights, relative = None, np.zeros((0, 0)), 1.0
    for now in times:
        is_new, k = refit is None, 0.0
        weights = np.zeros(0)
        if not is_new:
            weights, k = smoothed(heights[:, begun[-1] : now].sum(axis=1), relative)
            is_new = not k <= good_k(len(heights))
        if is_new:
            refit = refits.without(len(begun), np.broadcast_to(time >= now, found.counted.shape))
            heights = refit.values.reshape(len(refit.values), num_times, -1).sum(axis=2)
            weights, k = np.full(len(heights), -np.log(len(heights))), 0.0
            relative = relative_ess(refit.draws.sites)
            begun.append(now)
            runs.append((f"without times from {now} on", refit.draws))
        pointwise.append(float(np.logaddexp.reduce(weights + heights[:, now])))
        shapes.append(k)
    predicted = np.array(pointwise)
    check_predicted(function, predicted, found.site)
    observed = None if refit is None or refit.observed is None else np.asarray(refit.observed)[times]
    return LeaveFutureOut(
        float(predicted.sum()),
        standard_error(predicted),
        predicted,
        np.array(times),
        np.array(shapes),
        tuple(begun),
        observed,
        len(heights),
        found.site,
        model.name,
        notices_of(runs),
    )
