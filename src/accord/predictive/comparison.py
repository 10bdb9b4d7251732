"""Compare models by leave-one-out predictions of the same observations."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ..core.errors import DataError, OptionError
from ..core.notice import Notice, by_severity
from ..core.options import checks_options
from ..core.tracebacks import entry_points
from ..mcmc.draws import Draws
from ..report.table import lay_out, to_dataframe
from .future import LeaveFutureOut
from .kfold import KFold
from .loo import Loo, loo
from .weights import bootstrap_shares, pseudo_bma, stacking

if TYPE_CHECKING:
    from pandas import DataFrame

Judged = Loo | KFold | LeaveFutureOut
"""Predictive accuracy of a model, by observation."""

Weights = Literal["stacking", "pseudo_bma"]


@entry_points
@dataclass(frozen=True, eq=False)
class Comparison:
    """Comparison of models by predictive accuracy, best first. Prints itself.

    **Fields**
    - `names`: names of the models, best first.
    - `values`: column name to array, one entry for each model in that order: `elpd`; `elpd_diff`, how far it is
      below the best model; `dse`, standard error of this difference; `weight`, weight of the model in a mixture of
      predictions; `num_effective`, the effective number of parameters, NaN where that is not known; `se`, the standard
      error of `elpd`.
    - `each`: the `Loo`, `KFold` or `LeaveFutureOut` of each model. `notices`: what to know before using it.

    **Example**

    >>> again = infer.sample(eight_schools(sigma, y), draws=200, chains=2, seed=1, quiet=True)
    >>> found = infer.compare({"first": draws, "again": again})
    >>> sorted(found.names), float(found.values["elpd_diff"][0])
    (['again', 'first'], 0.0)
    """

    names: tuple[str, ...]
    values: dict[str, np.ndarray]
    each: dict[str, Judged]
    notices: tuple[Notice, ...]

    def to_dataframe(self) -> "DataFrame":
        """Return all rows as a pandas data frame, numbers unrounded. Raises `ImportError` without pandas."""
        return to_dataframe(self.names, self.values, name="model")

    def __str__(self) -> str:
        rows = [
            [name, *(f"{column[index]:.2f}" for column in self.values.values())]
            for index, name in enumerate(self.names)
        ]
        table = lay_out(["", *self.values], rows, len(rows))
        return "\n".join([table, *map(str, self.notices)])

    __repr__ = __str__


@checks_options
def compare(
    models: Mapping[str, Draws | Judged],
    *,
    site: str | None = None,
    weights: Weights = "stacking",
    seed: int = 0,
) -> Comparison:
    """Rank models of the same observations by predictive accuracy, with weights for a mixture of their predictions.

    A difference of a few nats, or of less than two standard errors, does not distinguish models.

    **Arguments**
    - `models`: a mapping from names to draws, which are judged by `infer.loo`, or to results of `infer.loo`,
      `infer.kfold` or `infer.leave_future_out`; two at least, all of one kind.
    - `site`: the observed site to compare; needed if there are several.
    - `weights`: `"stacking"`, the mixture that predicts best; or `"pseudo_bma"`, in proportion to exp(elpd), averaged
      over a Bayesian bootstrap of the observations (pseudo-BMA+). Of models that predict alike, stacking may drop all
      but one.
    - `seed`: of the bootstrap.

    **Raises** `OptionError` for fewer than two models, other weights, results of different kinds, and what `infer.loo`
    raises; `DataError` for different observations.

    **Source**: Yao, Vehtari, Simpson & Gelman (2018), Bayesian Analysis 13(3), 917-1007.

    **Example**

    >>> first = infer.loo(draws)
    >>> infer.compare({"a": first, "b": first}).values["weight"].round(2).tolist()
    [0.5, 0.5]
    >>> infer.compare({"a": first, "b": first}, weights="pseudo_bma").values["weight"].round(2).tolist()
    [0.5, 0.5]
    """
    if not isinstance(models, Mapping):
        raise OptionError(
            "infer.compare takes models by name, as infer.compare({'a': draws_a, 'b': draws_b}); "
            f"got {type(models).__name__}."
        )
    if len(models) < 2:
        raise OptionError(f"infer.compare needs two models at least, and there is {len(models)}.")
    if weights not in get_args(Weights):
        raise OptionError(
            f"infer.compare: weights must be one of {', '.join(get_args(Weights))}, got {weights!r}."
        )
    each: dict[str, Judged] = {}
    for name, given in models.items():
        if not isinstance(given, Draws | Judged):
            raise OptionError(
                f"infer.compare: {name!r} is {type(given).__name__}. Give the draws of infer.sample, or what "
                "infer.loo, infer.kfold or infer.leave_future_out has found."
            )
        each[str(name)] = loo(given, site=site) if isinstance(given, Draws) else given
    _check_same(each)
    names = tuple(sorted(each, key=lambda name: -each[name].elpd))
    pointwise = np.stack([each[name].pointwise.ravel() for name in names], axis=1)
    below = pointwise[:, :1] - pointwise
    shares = bootstrap_shares(len(pointwise), seed) if weights == "pseudo_bma" else None
    values = {
        "elpd": np.array([each[name].elpd for name in names]),
        "elpd_diff": below.sum(axis=0),
        "dse": np.sqrt(len(below) * below.var(axis=0)),
        "weight": stacking(pointwise) if shares is None else pseudo_bma(pointwise, shares),
        "num_effective": np.array([_num_effective(each[name]) for name in names]),
        "se": np.array([each[name].se for name in names]),
    }
    notices = [
        replace(found, message=f"Model {name!r}: {found.message}")
        for name in names
        for found in each[name].notices
    ]
    return Comparison(names, values, each, tuple(by_severity(notices)))


def _num_effective(found: Judged) -> float:
    return found.num_effective if isinstance(found, Loo) else float("nan")


def _check_same(each: Mapping[str, Judged]) -> None:
    """Raise unless all are of one kind, and of the same observations, as far as that is known."""
    (first, one), *others = each.items()
    for name, other in others:
        if type(one) is not type(other):
            raise OptionError(
                f"infer.compare: {first!r} is judged by {type(one).__name__}, and {name!r} by {type(other).__name__}. "
                "Judge all models in the same way."
            )
        if one.pointwise.size != other.pointwise.size:
            raise DataError(
                f"infer.compare: {first!r} has {one.pointwise.size} observations of {one.site!r}, and {name!r} has "
                f"{other.pointwise.size} of {other.site!r}. Fit both models to the same observations."
            )
        if one.observed is None or other.observed is None or one.observed.shape != other.observed.shape:
            continue
        differs = ~np.isclose(one.observed, other.observed, rtol=1e-6, atol=0.0, equal_nan=True)
        if differs.any():
            where = tuple(int(index) for index in np.argwhere(differs)[0])
            raise DataError(
                f"infer.compare: {first!r} and {name!r} are of other data: {np.count_nonzero(differs)} of "
                f"{differs.size} observed values differ, the first at row {where[0] if where else 0}: "
                f"{one.observed[where]} and {other.observed[where]}. "
                "Fit both models to the same observations in the same order, in the same unit."
            )
