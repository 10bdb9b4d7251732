"""Estimate by K-fold cross-validation how well a model predicts observations that it has not seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import keys
from ..core.defaults import DEFAULT_CHAINS, DEFAULT_DRAWS
from ..core.errors import DataError
from ..core.notice import Notice
from ..core.options import checks_options, positive_count
from ..core.precision import Precision
from ..core.tracebacks import entry_points
from ..executors import AbstractExecutor
from ..kernels import NUTS, AbstractKernel
from ..language import Model
from ..mcmc.draws import Draws
from .refit import (
    Observations,
    Refits,
    check_predicted,
    log_mean,
    model_to_refit,
    notices_of,
    standard_error,
)


@entry_points
@dataclass(frozen=True, eq=False)
class KFold:
    """Predictive accuracy by K-fold cross-validation: each fold predicted from all others. Prints itself.

    **Fields**
    - `elpd`: expected log pointwise predictive density, in nats; higher is better. `se`: its standard error over
      observations.
    - `pointwise`: contribution of each observation to `elpd`; `folds`: the number of its fold. Both have the batch
      shape of the site, or are flat if entries are masked.
    - `observed`: observations in the same shape, if known. `num_samples`: draws of all chains of a fold.
    - `site`: the observed site. `model`: its name. `notices`: warnings about the runs of the folds.

    **Example**

    >>> found = infer.kfold(eight_schools(sigma, y), folds=2, draws=200, chains=2)
    >>> found.pointwise.shape, sorted(set(found.folds.tolist()))
    ((8,), [0, 1])
    """

    elpd: float
    se: float
    pointwise: np.ndarray
    folds: np.ndarray
    observed: np.ndarray | None
    num_samples: int
    site: str
    model: str
    notices: tuple[Notice, ...]

    def __str__(self) -> str:
        head = (
            f"{len(np.unique(self.folds))}-fold cross-validation of {self.model}, site {self.site!r}, "
            f"{self.pointwise.size} observations: elpd {self.elpd:.2f} +- {self.se:.2f}"
        )
        return "\n".join([head, *map(str, self.notices)])

    __repr__ = __str__


@checks_options
def kfold(
    target: Model | Draws,
    sampler: AbstractKernel = NUTS(),  # noqa: B008 - a frozen value
    *,
    folds: Any = 10,
    site: str | None = None,
    draws: int = DEFAULT_DRAWS,
    warmup: int | None = None,
    chains: int | Sequence[int] = DEFAULT_CHAINS,
    seed: int = 0,
    executor: AbstractExecutor | None = None,
    precision: Precision = "float64",
) -> KFold:
    """Estimate predictive accuracy by sampling again without each fold of the observations, and predicting it.

    It needs no importance weights, so it holds where `infer.loo` warns, at the cost of a run for each fold. As many
    folds as observations make it leave-one-out. The observations left out are masked, so that all runs share one
    program.

    **Arguments**
    - `target`: a model called with its data; or draws of a run, of which the model is taken.
    - `folds`: how many, at least 2, at random and of equal size; or the number of the fold of each observation, whole
      numbers of the batch shape of the site. Give the same number to all observations of a group to leave groups out.
    - `site`: an observed site; needed if there are several. The others are never left out.
    - `sampler`, `draws`, `warmup`, `chains`, `executor`, `precision`: of each run, as for `infer.sample`.
    - `seed`: of the folds and of the runs.

    **Raises** `OptionError` for folds that cannot be, a site that is not observed, and fewer than two observations;
    `ModelError` for a model that observes nothing; `DataError` for folds of another shape, and where the model calls
    observations impossible; what `infer.sample` raises.

    **Source**: Vehtari, Gelman & Gabry (2017), Statistics and Computing 27, 1413-1432, section 2.3.

    **Example**

    >>> school = np.arange(8)  # as many folds as observations
    >>> found = infer.kfold(draws, folds=school, draws=200, chains=2)
    >>> found.folds.tolist(), bool(abs(found.elpd - infer.loo(draws).elpd) < 1)
    ([0, 1, 2, 3, 4, 5, 6, 7], True)
    """
    model = model_to_refit("infer.kfold", target)
    found = Observations.of("infer.kfold", model, site, sampler, precision)
    numbers = _folds_of(folds, found, seed)
    refits = Refits(model, found, sampler, draws, warmup, chains, seed, executor, precision)
    pointwise = np.zeros(found.counted.shape)
    runs, num_samples, observed = [], 0, None
    for number, fold in enumerate(np.unique(numbers[found.counted])):
        held = (numbers == fold) & found.counted
        refit = refits.without(number, held)
        pointwise[held] = log_mean(refit.values[:, held])
        runs.append((f"without fold {fold}", refit.draws))
        num_samples, observed = len(refit.values), refit.observed
    is_whole = bool(found.counted.all())
    seen = pointwise if is_whole else pointwise[found.counted]
    check_predicted("infer.kfold", seen, found.site)
    return KFold(
        float(seen.sum()),
        standard_error(seen),
        seen,
        numbers if is_whole else numbers[found.counted],
        observed if observed is None or is_whole else np.asarray(observed)[found.counted],
        num_samples,
        found.site,
        model.name,
        notices_of(runs),
    )


def _folds_of(folds: Any, found: Observations, seed: int) -> np.ndarray:
    """Return the number of the fold of each entry; those that do not count have that of fold 0, or what is given."""
    shape, size = found.counted.shape, int(np.count_nonzero(found.counted))
    if np.ndim(folds) == 0:
        count = positive_count("infer.kfold: folds", folds, 2)
        if count > size:
            raise DataError(
                f"infer.kfold: folds={count} is more than there are observations of site {found.site!r}, {size}."
            )
        rng = keys.generator(keys.chain_key(seed, 0), keys.USE_FOLDS, 0)
        numbers = np.zeros(shape, int)
        numbers[found.counted] = rng.permutation(np.arange(size) % count)
        return numbers
    numbers = np.asarray(folds)
    if numbers.shape != shape or numbers.dtype.kind not in "iu":
        raise DataError(
            f"infer.kfold: folds has shape {numbers.shape} and dtype {numbers.dtype}, and site {found.site!r} has "
            f"observations of shape {shape}. Give a whole number for each of them, or the number of folds."
        )
    if len(np.unique(numbers[found.counted])) < 2:
        raise DataError(
            "infer.kfold: all observations are in one fold, so that none are left to learn from. Give two at least."
        )
    return numbers
