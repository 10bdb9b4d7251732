"""Compare models by leave-one-out predictions of the same observations."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import DataError, OptionError
from ..core.notice import Notice, by_severity
from ..core.options import checks_options
from ..core.tracebacks import entry_points
from ..mcmc.draws import Draws
from ..report.arviz import stack
from ..report.table import lay_out, to_dataframe
from .loo import Loo, loo

if TYPE_CHECKING:
    from pandas import DataFrame


@entry_points
@dataclass(frozen=True, eq=False)
class Comparison:
    """Comparison of models by predictive accuracy, best first. Prints itself.

    **Fields**
    - `names`: names of the models, best first.
    - `values`: column name to array, one entry for each model in that order: `elpd`; `elpd_diff`, how far it is
      below the best model; `dse`, standard error of this difference; `weight`, weight of the model in a stacked
      prediction; `num_effective`, the effective number of parameters; `se`, the standard error of `elpd`.
    - `each`: the `Loo` of each model. `notices`: what to know before using it.

    **Example**

    >>> again = infer.sample(eight_schools(sigma, y), draws=200, chains=2, seed=1, quiet=True)
    >>> found = infer.compare({"first": draws, "again": again})
    >>> sorted(found.names), float(found.values["elpd_diff"][0])
    (['again', 'first'], 0.0)
    """

    names: tuple[str, ...]
    values: dict[str, np.ndarray]
    each: dict[str, Loo]
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
def compare(models: Mapping[str, Draws | Loo], *, site: str | None = None) -> Comparison:
    """Rank models of the same observations by leave-one-out, with weights of stacking.

    A difference of a few nats, or of less than two standard errors, does not distinguish models.

    **Arguments**
    - `models`: a mapping from names to draws, or to results of `infer.loo`; two at least.
    - `site`: the observed site to compare; needed if there are several.

    **Raises** `OptionError` for fewer than two models, and what `infer.loo` raises; `DataError` for different
    observations.

    **Source**: Yao, Vehtari, Simpson & Gelman (2018), Bayesian Analysis 13(3), 917-1007, by `arviz_stats.compare`.

    **Example**

    >>> first = infer.loo(draws)
    >>> infer.compare({"a": first, "b": first}).values["weight"].round(2).tolist()
    [0.5, 0.5]
    """
    if not isinstance(models, Mapping):
        raise OptionError(
            "infer.compare takes models by name, as infer.compare({'a': draws_a, 'b': draws_b}); "
            f"got {type(models).__name__}."
        )
    if len(models) < 2:
        raise OptionError(f"infer.compare needs two models at least, and there is {len(models)}.")
    each: dict[str, Loo] = {}
    for name, given in models.items():
        if not isinstance(given, Draws | Loo):
            raise OptionError(
                f"infer.compare: {name!r} is {type(given).__name__}. Give the draws of infer.sample, or what "
                "infer.loo has found."
            )
        each[str(name)] = given if isinstance(given, Loo) else loo(given, site=site)
    _check_same(each)
    num_samples = min(found.num_samples for found in each.values())
    table = stack({name: found.pointwise for name, found in each.items()}, num_samples)
    names = tuple(map(str, table.index))
    values = {
        "elpd": np.array([each[name].elpd for name in names]),
        **{column: table[column].to_numpy(np.float64) for column in ("elpd_diff", "dse", "weight")},
        "num_effective": np.array([each[name].num_effective for name in names]),
        "se": np.array([each[name].se for name in names]),
    }
    notices = [
        replace(found, message=f"Model {name!r}: {found.message}")
        for name in names
        for found in each[name].notices
    ]
    return Comparison(names, values, each, tuple(by_severity(notices)))


def _check_same(each: Mapping[str, Loo]) -> None:
    """Raise `DataError` unless all are of the same observations, as far as that is known."""
    (first, one), *others = each.items()
    for name, other in others:
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
