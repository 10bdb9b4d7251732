"""Turn a formula and a data frame into a model."""

from collections.abc import Callable, Mapping
from typing import Any

from ...core.errors import OptionError
from ...core.options import checks_options
from ...distributions import AbstractDistribution
from .design import Design, columns_of
from .families import Family, family_of
from .model import FormulaModel, Recipe, WrittenFunction, tell_dropped
from .parse import split
from .table import Missing, Table
from .terms import imported

LEAST_ROWS = 20
"""Rows for each group on average from which its effects are sampled as written, and not in the non-centred form."""


@checks_options
def glm(
    formula: str,
    data: Any,
    family: str = "gaussian",
    *,
    link: str | None = None,
    priors: Mapping[str, AbstractDistribution] | None = None,
    centred: bool | Mapping[str, bool] | None = None,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    missing: Missing = "error",
    quiet: bool = False,
) -> FormulaModel:
    """Make a regression model of a formula, such as `"y ~ x + (x | g)"`, and of the columns that it names.

    The result is a model like others. `print(model.source)` shows its code. Predictors are centred: default priors are
    for the intercept where all predictors have their means, and `Intercept` is the one where they are zero.

    **Arguments**
    - `formula`: `outcome ~ terms`. Terms are columns, functions of them, interactions `x:h` and `x*h`, and effects that
      differ between groups: `(1 | g)`; `(x | g)`, of which intercept and slope are correlated; `(x || g)`, where they
      are not; `(1 | g/h)`, of groups within groups. An outcome of successes is `prop(successes, trials)`.
    - `data`: a data frame of pandas, polars or Arrow, a mapping from names to columns, or a dataset of xarray.
    - `family`: `"gaussian"`, `"t"`, `"bernoulli"`, `"binomial"`, `"poisson"`, `"negativebinomial"`, `"gamma"`,
      `"beta"`, `"lognormal"`, `"categorical"`, `"cumulative"`, `"zero_inflated_..."` or `"hurdle_..."`.
    - `link`: None is the first link of the family.
    - `priors`: by parameter, in place of the default ones: `{"x": dist.Normal(0, 1), "1|g_sd": dist.HalfNormal(1)}`;
      for a term of several columns, one for all, or one with an entry for each.
    - `centred`: whether effects of groups are sampled as written, for all or by term; None does it where there are at
      least 20 rows for each group on average.
    - `functions`: that the formula may call, by name.
    - `missing`: `"error"`, or `"drop"` to leave out rows with missing entries. `quiet`: do not say how many.

    **Raises** `OptionError` for a formula, family, link or prior that cannot be used, and without the package formulae;
    `DataError` for columns that are not there, missing entries, and outcomes that the family cannot have.

    **Source**: Bates et al. (2015), J. Stat. Software 67(1), table 2, for the formulas; the priors are those of
    Capretto et al. (2022), J. Stat. Software 103(15), section 2.2.

    **Example**

    >>> table = {"y": [1.1, 2.3, 2.8, 4.2], "x": [0.0, 1.0, 2.0, 3.0]}
    >>> print(ac.glm("y ~ x", table, priors={"x": dist.Normal(0, 1)}).sites())
    site               kind           shape  dims  distribution
    x                  latent         ()           Normal
    Intercept_centred  latent         ()           Normal
    Intercept          deterministic  ()
    sigma              latent         ()           HalfStudentT
    y                  observed       (4,)   obs   Normal
    """
    imported()
    found, link = family_of(family, link)
    if missing not in ("error", "drop"):
        raise OptionError(f"accord.glm: missing must be 'error' or 'drop', got {missing!r}.")
    _check_priors(priors)
    parts = split(formula)
    table = Table.read(data, columns_of(parts), missing)
    design = Design.of(parts, table, family, found.support, functions or {}, centred, LEAST_ROWS)
    _refuse_unwritten(design)
    _refuse_taken_names(design, found)
    recipe = Recipe(design, found, link, dict(priors or {}))
    if not quiet:
        tell_dropped(table)
    return WrittenFunction.of(recipe.code(), recipe)(**design.arguments())


def _check_priors(priors: Any) -> None:
    """Raise `OptionError` for priors that are no mapping from names."""
    example = '{"x": dist.Normal(0, 1)}'
    if priors is not None and not isinstance(priors, Mapping):
        raise OptionError(
            f"accord.glm: priors must map names of parameters to distributions, such as priors={example}; got "
            f"{priors!r}."
        )
    for name in priors or {}:
        if not isinstance(name, str):
            raise OptionError(
                f"accord.glm: priors has the key {name!r}, and parameters have names, such as priors={example}."
            )


def _refuse_unwritten(design: Design) -> None:
    """Refuse models that have no code. **Raises** `OptionError`."""
    formula = design.formula.text
    if design.support == "categories" and design.offsets:
        raise OptionError(
            f"the formula {formula!r}: the family 'categorical' has no offsets here, since it is not said which "
            "categories they are for. Print `accord.glm(...).source` of the formula without them, and add them to the "
            "code."
        )
    if design.support == "ordered" and not design.has_intercept:
        raise OptionError(
            f"the formula {formula!r}: the thresholds of the family 'cumulative' take the place of the intercept. "
            "Leave out the 0 or -1."
        )


def _refuse_taken_names(design: Design, family: Family) -> None:
    """Refuse columns with the name of a parameter or plate of the model. **Raises** `OptionError`."""
    own = {"Intercept", "Intercept_centred", "obs", *family.parameters}
    own |= {"threshold", "threshold_centred"} if family.support == "ordered" else set()
    outcome = design.outcome.text
    terms = [term.name for term in design.common]
    for name in (*terms, *(group.name for group in design.groups.values()), outcome.name, outcome.trials):
        if name in own:
            raise OptionError(
                f"the formula {design.formula.text!r}: {name!r} is the name of a part of the model of the family "
                f"{design.family!r}. Rename this column."
            )
    if outcome.name in terms:
        raise OptionError(
            f"the formula {design.formula.text!r}: the outcome {outcome.name!r} is a term too. Leave it out."
        )
