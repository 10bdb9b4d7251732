"""Evaluate the terms of a formula by the package formulae, first for the data of a fit and then for new data."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np

from ...core.errors import DataError, OptionError, suggest
from .parse import Formula
from .table import Table

FUNCTIONS: Mapping[str, Any] = MappingProxyType(
    {
        name: getattr(np, name)
        for name in ("abs", "cos", "exp", "expm1", "log", "log10", "log1p", "log2", "sin", "sqrt", "tanh")
    }
)
"""Functions that formulas may call, beside the transformations of formulae, `np`, and those that the user passes."""


WRITTEN_ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "cbind": "Successes of trials are `prop(successes, trials) ~ ...`, with the family 'binomial'.",
        "trials": "Successes of trials are `prop(successes, trials) ~ ...`, with the family 'binomial'.",
        "factor": "A column as categories is `C(h)`.",
        "ns": "A spline is `bs(x, df=4)`.",
        "s": "A spline is `bs(x, df=4)`.",
    }
)
"""The words of this language for functions of others, by their names there."""


@dataclass(frozen=True, eq=False)
class Term:
    """A term of a formula with its columns in the design.

    **Fields**
    - `name`: as formulae writes it.
    - `values`: shape `(row,)`, or `(row, column)` if it has `labels`, one for each column.
    - `is_categorical`: all its columns are indicators.
    - `evaluated`: formulae's term, which evaluates new data by the same levels, knots and scales.
    """

    name: str
    values: np.ndarray
    labels: tuple[str, ...] | None
    is_categorical: bool
    evaluated: Any

    @property
    def num_columns(self) -> int:
        """The number of its columns, each with a coefficient."""
        return 1 if self.labels is None else len(self.labels)

    def of_new(self, table: Table) -> np.ndarray:
        """Evaluate the term for new data, in the shape of `values`.

        **Raises** `DataError` for levels that the first data did not have, and for values that are not finite.
        """
        names = self.evaluated.var_names
        components = getattr(self.evaluated, "components", ())
        for each in components:
            if each.kind == "categoric" and each.name in table.columns and each.levels is not None:
                table.levels(each.name, tuple(each.levels))  # refuses a label that is not known
        try:
            found = self.evaluated.eval_new_data(
                table.frame([name for name in names if name in table.columns])
            )
        except (ValueError, TypeError) as error:
            raise DataError(f"accord.glm: the term {self.name!r} of the new data: {error}") from error
        return _finite(np.asarray(found, float).reshape(table.num_rows, *self.values.shape[1:]), self.name)


def names_in(formula: str) -> frozenset[str]:
    """Return the columns that a right-hand side names.

    **Raises** `OptionError` for what formulae cannot parse.
    """
    return frozenset(_described(formula).var_names) - {""}


def common_terms(
    formula: Formula, table: Table, functions: Mapping[str, Any]
) -> tuple[list[Term], list[Term], bool]:
    """Evaluate the common terms; return terms, offsets, and whether there is an intercept."""
    design = _evaluated(formula.common, table, functions, formula.text)
    evaluated = {} if design.common is None else design.common.terms
    terms = [_term(each) for each in evaluated.values() if each.kind not in ("intercept", "offset")]
    offsets = [_term(each) for each in evaluated.values() if each.kind == "offset"]
    return terms, offsets, any(each.kind == "intercept" for each in evaluated.values())


def group_terms(
    text: str, formula: Formula, table: Table, functions: Mapping[str, Any]
) -> dict[tuple[str, ...], list[Term]]:
    """Evaluate `(effects | factor)`; return the terms of the effects by the columns that make the groups.

    The term of the intercept is called "1", and has ones for values.
    """
    design = _evaluated(text, table, functions, formula.text)
    found: dict[tuple[str, ...], list[Term]] = {}
    for each in design.group.terms.values():
        columns = tuple(component.name for component in each.factor.components)
        for name in columns:
            if name not in table.columns:
                raise OptionError(
                    f"the formula {formula.text!r}: groups are columns of the data, or combinations such as g:h; got "
                    f"{name!r}. Make it a column first."
                )
        if each.kind == "intercept":
            term = Term("1", np.ones(table.num_rows), None, is_categorical=True, evaluated=each.expr)
        else:
            term = _term(each.expr)
        found.setdefault(columns, []).append(term)
    return found


def numbers_of_expression(text: str, formula: str, table: Table, functions: Mapping[str, Any]) -> Term:
    """Evaluate an outcome that is computed, such as `log(y)`."""
    design = _evaluated(f"0 + {text}", table, functions, formula)
    terms = [] if design.common is None else list(design.common.terms.values())
    if len(terms) != 1 or terms[0].kind != "numeric" or np.ndim(terms[0].data) != 1:
        raise OptionError(
            f"the formula {formula!r}: the outcome {text!r} is not one column of numbers. It is a column, a function "
            "of one, `y['level']`, or `prop(successes, trials)`."
        )
    return _term(terms[0])


def _evaluated(text: str, table: Table, functions: Mapping[str, Any], formula: str) -> Any:
    names = names_in(text)
    known = {**FUNCTIONS, "np": np, **functions}
    frame = table.frame([name for name in names if name in table.columns])
    formulae = imported()
    try:
        return formulae.design_matrices(text, frame, na_action="pass", env=formulae.Environment([known]))
    except KeyError as error:
        name = str(error.args[0])
        if name in WRITTEN_ELSEWHERE:
            raise OptionError(
                f"the formula {formula!r}: there is no function {name!r}. {WRITTEN_ELSEWHERE[name]}"
            ) from error
        raise OptionError(
            f"the formula {formula!r}: the function {name!r} is not known.{suggest(name, known)} It knows "
            f"{', '.join(known)} and the transformations of formulae; pass others by "
            f"`functions={{{name!r}: {name}}}`."
        ) from error
    except (ValueError, TypeError) as error:
        raise OptionError(f"the formula {formula!r} cannot be evaluated: {error}") from error


def _described(text: str) -> Any:
    try:
        return imported().model_description(text)
    except Exception as error:  # of its scanner, parser and resolver, which have errors of their own
        raise OptionError(f"the terms {text!r} are not those of a formula: {error}.{_hint(text)}") from error


def _hint(text: str) -> str:
    """Say what is written otherwise here."""
    if "^" in text:
        return " '^' is `**` here: (x + z)**2 for interactions, I(x**2) for a square."
    if re.search(r"(?<![\w.])\.(?!\w)", text):
        return " Name the columns: '.' does not stand for all of them."
    return ""


def imported() -> Any:
    """Import the three names of formulae that are used. **Raises** `OptionError` without the package."""
    try:
        from formulae import design_matrices
        from formulae.environment import Environment
        from formulae.model_description import model_description
    except ImportError as error:
        raise OptionError(
            "accord.glm needs the packages formulae and pandas. Install them with: pip install 'accord[glm]'"
        ) from error
    return SimpleNamespace(
        design_matrices=design_matrices, Environment=Environment, model_description=model_description
    )


def _term(evaluated: Any) -> Term:
    values = np.asarray(evaluated.data, float)
    labels: tuple[str, ...] | None = None
    if values.ndim == 2:
        levels = evaluated.levels or range(values.shape[1])
        labels = tuple(map(str, levels))
    components = getattr(evaluated, "components", ())
    is_categorical = bool(components) and all(each.kind == "categoric" for each in components)
    return Term(evaluated.name, _finite(values, evaluated.name), labels, is_categorical, evaluated)


def _finite(values: np.ndarray, name: str) -> np.ndarray:
    bad = np.logical_not(np.isfinite(values.reshape(len(values), -1)).all(axis=1))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"accord.glm: the term {name!r} is {values[row]} in row {row}, counted from 0, and in {int(bad.sum())} of "
            f"{len(values)} rows not finite."
        )
    return values
