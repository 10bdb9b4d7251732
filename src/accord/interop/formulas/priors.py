"""Choose default priors that are as wide as the data suggest, and write those that a user gives as code.

Numbers from the data are rounded to six digits: so the text of a model is short, and the same on every machine.

**Source**: Capretto et al. (2022), Bambi, J. Stat. Software 103(15), section 2.2, with the factor 2.5 of Gelman, Hill &
Vehtari (2020), Regression and Other Stories, section 9.5.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ... import distributions as dist
from ...core.errors import DataError, OptionError, suggest
from ...distributions import AbstractDistribution
from .design import Design
from .families import Family
from .groups import Block
from .terms import Term

_DIGITS = 6
_MOST_NAMED, _MOST_LETTERS = 5, 200  # in errors

WIDTH = 2.5
"""Standard deviations of the linear predictor's scale that a change of one standard deviation of a term may make."""


def number(value: Any) -> str:
    """Write a number, or an array of them, as code."""
    values = np.asarray(value, float)
    if values.ndim == 0:
        return repr(float(values))
    return f"jnp.array([{', '.join(number(each) for each in values)}])"


def width(value: Any) -> str:
    """Write positive numbers as code, rounded."""
    values = np.asarray(value, float)
    rounded = np.array([float(f"{each:.{_DIGITS}g}") for each in values.ravel()])
    return number(rounded.reshape(values.shape))


def mean_of(values: np.ndarray) -> str:
    """Write the means of columns as code, rounded to digits that matter beside their standard deviations."""
    return number(_rounded(values.mean(axis=0), values.std(axis=0)))


def _rounded(mean: Any, spread: Any) -> Any:
    """Round means to a multiple of a power of ten about a millionth of the standard deviation."""
    unit = 10.0 ** (np.floor(np.log10(spread)) - _DIGITS)
    # A quotient, since a power below 1 has an inverse without rounding: 0.3, and not 0.30000000000000004.
    whole = np.round(np.asarray(mean) / unit)
    return np.where(unit < 1, whole / np.round(1 / np.minimum(unit, 1)), whole * unit) + 0.0


class Priors:
    """Priors of the sites of a formula as code; `given` are those of the user, by site."""

    def __init__(self, design: Design, family: Family, link: str, given: Mapping[str, Any]):
        self.distributions = given
        self.given = {site: written(prior, site) for site, prior in given.items()}
        self.sites: list[str] = []
        self.is_of_odds = design.family in ("bernoulli", "binomial") and link in ("logit", "probit")
        self.mean, self.sd, self.outcome_sd = _scales(design, family, link)
        own = [term for term in design.common if term.name not in self.given]
        means = np.concatenate([np.atleast_1d(term.values.mean(0)) for term in own]) if own else np.zeros(0)
        widths = np.concatenate([np.atleast_1d(self._slope_sd(term)) for term in own]) if own else np.zeros(0)
        self.intercept_sd = float(np.sqrt((WIDTH * self.sd) ** 2 + np.sum(widths**2 * means**2)))

    def of(
        self, site: str, default: str, labels: Sequence[Any] | None = None, words: str = "which is one number"
    ) -> str:
        """Return the prior of a site, and note that there is such a site.

        `labels` of its entries, each with a prior; None where the prior is that of one number, for the reason `words`.

        **Raises** `OptionError` for a prior of another shape that the user gave.
        """
        self.sites.append(site)
        if site in self.given:
            _check_shape(self.distributions[site], site, labels, words)
        return self.given.get(site, default)

    def of_factor(self, site: str, size: int) -> str:
        """Return the prior of the Cholesky factor of a matrix of correlations, shape `(size, size)`.

        **Raises** `OptionError` for a prior of something else that the user gave.
        """
        self.sites.append(site)
        default = f"dist.LKJCholesky({size}, 1)"
        if site in self.given:
            _check_factor(self.distributions[site], site, size, default)
        return self.given.get(site, default)

    def of_intercept(self, levels: Sequence[Any] | None = None) -> str:
        """Return the prior of the intercept, for predictors at their means; `levels`, if there is one for each."""
        if self.is_of_odds:
            return self.of("Intercept", "dist.Normal(0, 1.5)", levels)
        default = f"dist.Normal({number(_rounded(self.mean, self.sd))}, {width(self.intercept_sd)})"
        return self.of("Intercept", default, levels)

    def of_slope(self, term: Term, levels: Sequence[Any] | None = None) -> str:
        """Return the prior of the coefficients of a common term; `levels`, of one with a coefficient for each."""
        labels = levels if term.labels is None else term.labels
        return self.of(term.name, f"dist.Normal(0, {width(self._slope_sd(term))})", labels)

    def of_block(self, block: Block, levels: Sequence[Any] | None = None) -> str:
        """Return the prior of the standard deviations of effects between groups; `levels`, if there is one for each."""
        widths: list[float] = []
        for term in block.terms:
            columns = WIDTH * self.sd / _spread(term) if term.name != "1" else self.intercept_sd
            widths += np.atleast_1d(columns).tolist()
        several = len(widths) > 1
        default = f"dist.HalfNormal({width(widths if several else widths[0])})"
        return self.of(f"{block.name}_sd", default, block.labels if several else levels)

    def check(self) -> None:
        """Refuse priors for sites that do not exist. **Raises** `OptionError`."""
        for site in self.given:
            if site not in self.sites:
                raise OptionError(
                    f"accord.glm: priors has {site!r}, which is not a parameter.{suggest(site, self.sites)} There are: "
                    f"{', '.join(map(repr, self.sites))}."
                )

    def _slope_sd(self, term: Term) -> np.ndarray:
        """Return the width of the prior for each column; shape `()` or `(column,)`."""
        spread = _spread(term)
        if self.is_of_odds:
            return np.ones_like(spread) if term.is_categorical else 1 / spread
        return WIDTH * self.sd / spread


def _spread(term: Term) -> np.ndarray:
    # Equal numbers may have a standard deviation of 1e-17, by rounding of their mean.
    spread = np.where(np.ptp(term.values, axis=0) == 0, 0.0, np.std(term.values, axis=0))
    if np.any(spread == 0):
        column = "" if term.labels is None else f" of {term.labels[int(np.argmin(spread))]!r}"
        raise DataError(
            f"accord.glm: the term {term.name!r}{column} is the same in all rows, so that its effect cannot be told "
            "from the intercept. Leave it out."
        )
    return spread


def _scales(design: Design, family: Family, link: str) -> tuple[float, float, float]:
    """Return mean and standard deviation of the linear predictor's scale, and that of the outcome."""
    values = design.outcome.values
    if family.scale == "unit" or values is None:
        return 0.0, 1.0, 1.0
    numbers = np.log(values[values > 0]) if family.scale == "log" else values
    spread = float(np.std(numbers)) if len(numbers) else 0.0
    if spread == 0 or np.ptp(numbers) == 0:
        raise DataError(
            f"accord.glm: the outcome {design.outcome.text.name!r} is the same in all rows, so that there is nothing "
            "to explain."
        )
    if link != "identity":
        return 0.0, 1.0, spread
    return float(np.mean(numbers)), spread, spread


def _check_shape(prior: AbstractDistribution, site: str, labels: Sequence[Any] | None, words: str) -> None:
    """Refuse a prior of other than one number for each label. **Raises** `OptionError`."""
    batch, event = tuple(prior.batch_shape), tuple(prior.event_shape)
    if not event and (batch == () or (labels is not None and batch == (len(labels),))):
        return
    what = f"an event of shape {event}" if event else f"numbers of shape {batch}"
    if labels is None:
        wanted = f"{words}. Give the prior of one number, such as dist.Normal(0, 1)."
    else:
        named = ", ".join(repr(str(label)) for label in labels[:_MOST_NAMED])
        more = f" and {len(labels) - _MOST_NAMED} more" if len(labels) > _MOST_NAMED else ""
        wanted = (
            f"which has {len(labels)} numbers ({named}{more}). Give one prior for all, such as dist.Normal(0, 1), or "
            f"one whose parameters have the shape ({len(labels)},)."
        )
    raise OptionError(
        f"accord.glm: the prior of {site!r}, {_shown(prior)}, is of {what}, not of {site!r}, {wanted}"
    )


def _check_factor(prior: AbstractDistribution, site: str, size: int, default: str) -> None:
    """Refuse a prior of other than Cholesky factors of correlations of this size. **Raises** `OptionError`."""
    is_factor = prior.support == dist.LKJCholesky(size, 1).support
    batch, event = tuple(prior.batch_shape), tuple(prior.event_shape)
    if is_factor and (batch, event) == ((), (size, size)):
        return
    raise OptionError(
        f"accord.glm: the prior of {site!r}, {_shown(prior)}, has the batch shape {batch} and the event shape {event}, "
        f"and {site!r} is the Cholesky factor of a matrix of correlations, of shape {(size, size)}. Give one such as "
        f"{default}."
    )


def _shown(prior: AbstractDistribution) -> str:
    text = " ".join(repr(prior).split())
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}..."


def written(prior: Any, site: str) -> str:
    """Write a distribution as code.

    **Raises** `OptionError` for what is not one of `accord.distributions` with numbers.
    """
    if not isinstance(prior, AbstractDistribution):
        raise OptionError(
            f"accord.glm: the prior of {site!r} is a distribution such as dist.Normal(0, 1), got {prior!r}."
        )
    try:
        code = _code(prior)
        again = eval(code, {"dist": dist, "jnp": jax.numpy})
        same = jax.tree.structure(again) == jax.tree.structure(prior) and all(
            np.array_equal(a, b) for a, b in zip(jax.tree.leaves(again), jax.tree.leaves(prior), strict=True)
        )
    except (AttributeError, TypeError, ValueError, OptionError):
        same, code = False, ""
    if not same:
        raise OptionError(
            f"accord.glm: the prior of {site!r}, {prior!r}, cannot be written as code. Give one of "
            "accord.distributions with numbers; for others, change the code that `print(model.source)` shows."
        )
    return code


def _code(value: Any) -> str:
    if isinstance(value, AbstractDistribution):
        fields = [(each.name, getattr(value, each.name)) for each in dataclasses.fields(value) if each.init]
        arguments = ", ".join(f"{name}={_code(each)}" for name, each in fields if each is not None)
        return f"dist.{type(value).__name__}({arguments})"
    if isinstance(value, np.generic | np.ndarray | jax.Array):
        listed = np.asarray(value).tolist()
        return f"jnp.array({_code(listed)})" if np.ndim(value) else _code(listed)
    if isinstance(value, list):
        return f"[{', '.join(map(_code, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{'-' * (value < 0)}jnp.inf"  # no distribution takes NaN
    if isinstance(value, bool | str | int | float):
        return repr(value)
    if isinstance(value, tuple):
        return f"({''.join(f'{_code(each)}, ' for each in value)})"
    raise TypeError(f"{value!r} is not a number")
