"""Make a model of the code that a formula means, and give it new data."""

import functools
import hashlib
import linecache
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from ...core.errors import OptionError
from ...core.notice import Notice
from ...core.options import checks_options
from ...core.tracebacks import entry_points
from ...language import ModelFunction
from ...model import Model
from ...report import tell
from .design import Design
from .families import Family
from .groups import NewGroups
from .priors import Priors
from .table import Missing, Table
from .write import source_of


@dataclass(frozen=True)
class Recipe:
    """The parts from which the code and the arguments of a formula's model are made, also for new data."""

    design: Design
    family: Family
    link: str
    priors: Mapping[str, Any]

    def code(self, average: frozenset[str] = frozenset()) -> str:
        """Write the code. **Raises** `OptionError` for priors of what is not a parameter."""
        priors = Priors(self.design, self.family, self.link, self.priors)
        found = source_of(self.design, self.family, self.link, priors, average)
        priors.check()
        return found


@dataclass(frozen=True)
class WrittenFunction(ModelFunction["FormulaModel"]):
    """The function of a formula's model. `print` shows its code; a worker process makes it of the code again."""

    code: str = ""
    recipe: Recipe | None = field(default=None, compare=False, repr=False)

    @staticmethod
    def of(code: str, recipe: Recipe | None = None) -> "WrittenFunction":
        """Run the code, and keep it."""
        return WrittenFunction(_function_of(code), FormulaModel, code, recipe)

    @property
    def __doc__(self) -> str | None:
        return self.function.__doc__

    def __str__(self) -> str:
        return self.code

    def __reduce__(self) -> tuple[Any, ...]:
        return WrittenFunction.of, (self.code,)


@entry_points
class FormulaModel(Model):
    """A model that `accord.glm` wrote. It is used as any other; `with_data` gives it new data.

    **Fields**
    - `source`: the function; `print(model.source)` shows its code, which called as `glm(**model.arguments)` is the same
      model.
    - `arguments`, `handlers`: as of `accord.Model`.

    **Example**

    >>> table = {"y": [1.1, 2.3, 2.8, 4.2], "x": [0.0, 1.0, 2.0, 3.0]}
    >>> model = ac.glm("y ~ x", table)
    >>> print(model.with_data({"x": [4.0, 5.0]}).sites())
    site               kind           shape  dims  distribution
    x                  latent         ()           Normal
    Intercept_centred  latent         ()           Normal
    Intercept          deterministic  ()
    sigma              latent         ()           HalfStudentT
    y                  latent         (2,)   obs   Normal
    """

    @checks_options
    def with_data(
        self,
        data: Any,
        *,
        new_groups: NewGroups = "error",
        missing: Missing = "error",
        quiet: bool = False,
    ) -> Self:
        """Return the model of new data: with the same priors, levels, knots and scales as before.

        Predict by `infer.predict(draws, model.with_data(new))`. Where the new data lack the outcome, it is left out.

        **Arguments**
        - `data`: columns, as for `accord.glm`.
        - `new_groups`: what to do with groups that the first data did not have. `"error"`; `"population"`, by which
          `infer.predict` draws the effects of each from the distribution of its population, by seed and label; or
          `"average"`, by which their effects are zero.
        - `missing`: `"error"`, or `"drop"` to leave out rows with missing entries. `quiet`: do not say how many.

        **Raises** `DataError` for missing columns and entries, new levels of terms that are not groups, and new groups;
        `OptionError` for a model that another process or file gave, which has only its code.
        """
        if new_groups not in ("error", "population", "average"):
            raise OptionError(
                f"with_data: new_groups must be 'error', 'population' or 'average', got {new_groups!r}."
            )
        recipe = self._recipe()
        arguments, table = recipe.design.of_new(data, new_groups, missing)
        if not quiet:
            tell_dropped(table)
        source: Any = self.source
        if new_groups == "average":
            source = WrittenFunction.of(
                recipe.code(frozenset(_with_strangers(recipe.design, arguments))), recipe
            )
        return replace(self, source=source, arguments=source(**arguments).arguments)

    @property
    def redrawn(self) -> tuple[str, ...]:
        """Effects of groups that the first data did not have: predictions draw them from their population."""
        recipe = getattr(self.source, "recipe", None)
        if recipe is None:
            return ()
        names = recipe.design.names
        return tuple(
            block.name if block.is_centred else f"{block.name}_base"
            for block in recipe.design.blocks
            if len(self.arguments[names["group", block.group.factor]].levels) > block.group.levels.num_levels
        )

    def _recipe(self) -> Recipe:
        recipe = getattr(self.source, "recipe", None)
        if recipe is None:
            raise OptionError(
                "with_data: this model was made of its code alone, as in another process. Make it by accord.glm, with "
                "the formula and the data of the fit."
            )
        return recipe


def tell_dropped(table: Table) -> None:
    """Say how many rows were left out."""
    if table.num_dropped:
        num_rows = table.num_rows + table.num_dropped
        tell(
            [
                Notice(
                    "info",
                    "rows_dropped",
                    f"{table.num_dropped} of {num_rows} rows have missing entries and are left out.",
                    "Look whether those are like the others.",
                )
            ]
        )


def _with_strangers(design: Design, arguments: Mapping[str, Any]) -> list[str]:
    """Return the factors some of whose rows have a code behind the last group."""
    return [
        group.factor
        for name, group in design.groups.items()
        if (arguments[name].codes >= group.levels.num_levels).any()
    ]


@functools.lru_cache(maxsize=256)
def _function_of(code: str) -> Callable[..., Any]:
    """Run code that defines `glm`; the same code gives the same function, so that programs are compiled once."""
    file = f"<accord.glm {hashlib.sha256(code.encode()).hexdigest()[:12]}>"
    # Errors and notices quote lines of the model.
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "accord_glm"}
    exec(compile(code, file, "exec"), namespace)
    return namespace["glm"].function
