"""Read the outcome of a formula, and refuse values that its family cannot have."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ...core.errors import DataError, OptionError
from .table import Table
from .terms import Term, names_in, numbers_of_expression

_NAME = r"`[^`]+`|[A-Za-z_]\w*"
_COLUMN = re.compile(rf"^({_NAME})$")
_LEVEL = re.compile(rf"^({_NAME})\s*\[\s*(['\"])(.*)\2\s*\]$")
_PROPORTION = re.compile(rf"^(?:p|prop|proportion)\(\s*({_NAME})\s*,\s*({_NAME}|\d+)\s*\)$")


@dataclass(frozen=True)
class OutcomeText:
    """The left-hand side of a formula, as text.

    **Fields**
    - `name`: of the site. `text`: as it is written.
    - `columns`: that it takes from the data; of a proportion without the column of `trials`.
    - `level`: the one that counts as 1, in `y['level']`.
    - `trials`: a column or a number, in `prop(successes, trials)`.
    - `is_computed`: it is a function of columns.
    """

    name: str
    text: str
    columns: frozenset[str]
    level: str | None = None
    trials: str | int | None = None
    is_computed: bool = False

    @staticmethod
    def of(text: str) -> "OutcomeText":
        """Read the left-hand side."""
        if found := _COLUMN.match(text):
            name = found[1].strip("`")
            return OutcomeText(name, text, frozenset({name}))
        if found := _LEVEL.match(text):
            name = found[1].strip("`")
            return OutcomeText(name, text, frozenset({name}), level=found[3])
        if found := _PROPORTION.match(text):
            name, trials = found[1].strip("`"), found[2].strip("`")
            is_number = trials.isdigit()
            return OutcomeText(name, text, frozenset({name}), trials=int(trials) if is_number else trials)
        return OutcomeText(text, text, names_in(text), is_computed=True)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome in the data.

    **Fields**
    - `values`: shape `(row,)`: numbers, or codes of `levels`; None to predict it.
    - `levels`: labels of categories, in order; None for numbers.
    - `trials`: of a proportion, shape `(row,)`.
    - `term`: of a computed one, which evaluates new data by the same numbers.
    """

    text: OutcomeText
    values: np.ndarray | None
    levels: tuple[Any, ...] | None = None
    trials: np.ndarray | None = None
    term: Term | None = None


@dataclass(frozen=True)
class Support:
    """The values that outcomes of a family have: `holds` says which, `words` describe one, `is_whole`."""

    words: str
    holds: Callable[[np.ndarray], np.ndarray]
    is_whole: bool = False


SUPPORTS: Mapping[str, Support] = MappingProxyType(
    {
        "real": Support("a finite number", np.isfinite),
        "positive": Support("a positive number", lambda v: np.isfinite(v) & (v > 0)),
        "non_negative": Support("zero or a positive number", lambda v: np.isfinite(v) & (v >= 0)),
        "unit": Support("between 0 and 1, without these", lambda v: (v > 0) & (v < 1)),
        "count": Support("a count: 0, 1, 2, ...", lambda v: (v >= 0) & (v == np.round(v)), True),
        "binary": Support("0 or 1", lambda v: (v == 0) | (v == 1), True),
    }
)
"""Supports by name; families of categories have "categories" or "ordered" instead."""


def read_outcome(
    text: OutcomeText, table: Table, family: str, support: str, formula: str, functions: Mapping[str, Any]
) -> Outcome:
    """Read and check the outcome of the data of a fit.

    **Raises** `OptionError` for a form that the family does not take; `DataError` for values that it cannot have.
    """
    if (text.trials is None) != (not family.endswith("binomial") or family.endswith("negativebinomial")):
        form = "prop(successes, trials)" if text.trials is None else "a column, without trials"
        raise OptionError(f"the formula {formula!r}: the outcome of the family {family!r} is {form}.")
    if support in ("categories", "ordered"):
        return _categories(text, table, family, support, formula)
    if text.is_computed:
        term = numbers_of_expression(text.text, formula, table, functions)
        return Outcome(text, _checked(term.values, text, family, support), term=term)
    return Outcome(text, _numbers(text, table, family, support), trials=trials_of(text, table))


def read_new(outcome: Outcome, table: Table, family: str, support: str) -> np.ndarray | None:
    """Read the outcome of new data, or None where these lack it."""
    text = outcome.text
    if not text.columns <= set(table.columns):
        return None
    if outcome.levels is not None:
        return table.levels(text.name, outcome.levels).codes
    if outcome.term is not None:
        return _checked(outcome.term.of_new(table), text, family, support)
    return _numbers(text, table, family, support)


def trials_of(text: OutcomeText, table: Table) -> np.ndarray | None:
    """Return the numbers of trials, shape `(row,)`; None for an outcome without."""
    if text.trials is None:
        return None
    if isinstance(text.trials, int):
        return np.full(table.num_rows, text.trials, np.int64)
    values = np.asarray(table.numbers(text.trials), float)
    _refuse(values, SUPPORTS["count"].holds(values), f"the number of trials {text.trials!r} must be a count")
    return values.astype(np.int64)


def _numbers(text: OutcomeText, table: Table, family: str, support: str) -> np.ndarray:
    column = table.columns[text.name]
    if text.level is not None:
        levels = table.levels(text.name)
        known = {str(label): place for place, label in enumerate(levels.levels)}
        if text.level not in known:
            raise DataError(f"accord.glm: {text.text}: the column has the levels {', '.join(known)}.")
        return _checked((levels.codes == known[text.level]).astype(float), text, family, support)
    if column.is_text:
        levels = table.levels(text.name).levels
        remedy = (
            f"Write `{text.name}['{levels[-1]}'] ~ ...` for the level that counts as 1."
            if support == "binary"
            else "Of categories, the families are bernoulli, categorical and cumulative."
        )
        raise DataError(
            f"accord.glm: the outcome {text.name!r} of the family {family!r} must be {SUPPORTS[support].words}; the "
            f"column holds words, such as {levels[0]!r}. {remedy}"
        )
    values = _checked(np.asarray(table.numbers(text.name), float), text, family, support)
    trials = trials_of(text, table)
    if trials is not None:
        _refuse(values, values <= trials, f"the outcome {text.text} must have no more successes than trials")
    return values


def _checked(values: np.ndarray, text: OutcomeText, family: str, support: str) -> np.ndarray:
    allowed = SUPPORTS[support]
    what = f"the outcome {text.text!r} of the family {family!r} must be {allowed.words}"
    _refuse(values, allowed.holds(values), what)
    return values.astype(np.int64) if allowed.is_whole else values


def _refuse(values: np.ndarray, holds: np.ndarray, what: str) -> None:
    if holds.all():
        return
    row, others = int(np.argmin(holds)), int((~holds).sum()) - 1
    more = f", and {others} other{'s' * (others > 1)} are not either" if others else ""
    raise DataError(f"accord.glm: {what}; row {row}, counted from 0, has {values[row]:g}{more}.")


def _categories(text: OutcomeText, table: Table, family: str, support: str, formula: str) -> Outcome:
    if text.is_computed or text.level is not None:
        raise OptionError(
            f"the formula {formula!r}: the outcome of the family {family!r} is a column of categories."
        )
    column = table.columns[text.name]
    if support == "ordered" and column.is_text and column.categories is None:
        raise DataError(
            f"accord.glm: the outcome {text.name!r} of the family {family!r} holds words without an order. Give it "
            "one, as `pandas.Categorical(column, categories=[...], ordered=True)`, or pass whole numbers."
        )
    levels = table.levels(text.name)
    if levels.num_levels < 2:
        raise DataError(f"accord.glm: the outcome {text.name!r} has one category only, {levels.levels[0]!r}.")
    return Outcome(text, np.asarray(levels.codes), levels.levels)
