"""Make functions models, and give models what users ask of them: sites, graph, log density, draws from the prior.

The language sees a model as statements alone. What rooms above it make of a model is loaded when it is first asked
for: a program that only writes models needs none.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import language
from .core.errors import OptionError
from .core.options import checks_options
from .core.tracebacks import entry_point, entry_points
from .language import ModelFunction

if TYPE_CHECKING:
    from .core.precision import Precision
    from .density import LogDensity, SiteTable
    from .predictive.results import Predictions
    from .report.model_graph import ModelGraph


@entry_point
def model(function: Callable[..., Any]) -> ModelFunction["Model"]:
    """Make a function of statements (`ac.sample`, `ac.plate`, ...) into a model; calling it binds its data.

    Within a class it makes a method a model: `study.measured(y)` has `study` as `self`. What `self` holds is fixed, as
    are other things that a function closes over; arrays in it may change from one instance to the next without a new
    program.

    **Raises** `OptionError` for what is not a function.

    **Example**

    >>> @ac.model
    ... def measured(y):
    ...     mean = ac.sample("mean", dist.Normal(0, 10))
    ...     with ac.plate("measurement", len(y)):
    ...         ac.sample("y", dist.Normal(mean, 1), obs=y)
    >>> print(measured(np.array([1.2, 0.8, 1.0])).sites())
    site  kind      shape  dims         distribution
    mean  latent    ()                  Normal
    y     observed  (3,)   measurement  Normal
    """
    if isinstance(function, (language.Model, ModelFunction)):
        raise OptionError(f"ac.model: {function.name!r} is a model already. Write `@ac.model` once.")
    if isinstance(function, (classmethod, staticmethod)):  # written below it in place of above
        method: Any = type(function)(model(function.__func__))
        return method
    if not callable(function):
        raise OptionError(
            f"ac.model takes a function of statements, got {function!r}. Write `@ac.model` above `def`."
        )
    return ModelFunction(function, Model)


@entry_points
class Model(language.Model):
    """A function of statements with its data bound, and the handlers put on it. Frozen: to change is to build.

    **Fields**
    - `source`: the decorated function.
    - `arguments`: mapping from argument name to the value as given; columns of data frames are NumPy arrays.
    - `handlers`: innermost first.

    **Example**

    >>> model = coin(4, heads)
    >>> print(model.sites())
    site  kind      shape  dims  distribution
    p     latent    ()           Beta
    y     observed  (4,)   toss  Bernoulli
    >>> print(f"{model.log_density()(np.zeros(1)):.4f}")
    -3.7534
    >>> fixed = model.condition({"p": 0.5})
    >>> model.prior(draws=3)["y"].shape
    (1, 3, 4)
    """

    @checks_options
    def prior(
        self,
        *,
        draws: int = 1000,
        sites: Sequence[str] | None = None,
        seed: int = 0,
        precision: "Precision" = "float64",
        quiet: bool = False,
    ) -> "Predictions":
        """Draw the unknowns from their priors and the observations given them: `infer.prior_predictive`.

        What is observed, by `obs=` or `.condition`, is drawn too, and may be left out; what `.do` has set stays.
        Arguments and errors are those of `infer.prior_predictive`.
        """
        from .predictive.prior import prior_predictive

        return prior_predictive(self, draws=draws, sites=sites, seed=seed, precision=precision, quiet=quiet)

    def log_density(self) -> "LogDensity":
        """Return the log density of the latent sites given the data, over unconstrained vectors."""
        from .density import LogDensity

        return LogDensity.from_model(self)

    def sites(self) -> "SiteTable":
        """Return a table of the sites in the model's order: name, kind, shape, dims, distribution."""
        from .density import describe

        return describe(self)

    def graph(self) -> "ModelGraph":
        """Return the sites with arrows from what each depends on; a notebook draws it, `.save("model.svg")` a file.

        **Raises** as `sites`, but takes discrete unknowns.
        """
        from .density import graph_of

        return graph_of(self)
