"""Write the statements of a model: sample a value, name a computed one, add to the log density."""

from typing import Any

import jax.tree_util as jtu

from ..core.errors import ModelError, SiteError
from ..core.options import checks_options
from ..distributions import AbstractDistribution
from .interpreter import visit
from .labels import Dims, read_dims
from .messages.places import caller
from .missing import visit_partly
from .model import Model, ModelFunction
from .naming import check_text
from .shapes import as_array, check_real
from .site import Site


@checks_options
def sample(
    name: str,
    distribution: AbstractDistribution | None = None,
    obs: Any = None,
    *,
    obs_mask: Any = None,
    dims: Dims | None = None,
) -> Any:
    """Draw the value of the site `name` from `distribution`, or observe it to be `obs`; return the value.

    The batch shape is the distribution's, broadcast with the plates around the statement.

    **Arguments**
    - `name`: unique in the model.
    - `distribution`: of `accord.distributions`.
    - `obs`: data, of exactly the batch and event shape of the site; `None` makes the site latent.
    - `obs_mask`: bool, of the batch shape: entries where it is false are not observed, whatever `obs` has there, NaN
      included. They are inferred, as the latent site `{name}_unobserved` of shape `(num_missing, *event)`, and the
      value returned has them in their places. None, or all true, observes every entry. Of a multivariate normal
      distribution single elements may be missing: the mask then has the shape of the value.
    - `dims`: names of the axes of the value that no plate has, from left to right: `"covariate"`, `("row", "column")`,
      or with labels, `{"covariate": ["age", "height"]}`. Labels are given once; the same name elsewhere has them too.

    A mask fixes shapes, so that what it is computed from becomes a constant of the program: pass it as an argument of
    its own for new values of `obs` to compile nothing.

    **Raises** `SiteError` where name, distribution or shapes do not fit; `ModelError` outside of a model, or when given
    a model: it is `infer.sample` that draws from a posterior.

    **Example**

    >>> @ac.model
    ... def line(x, y):
    ...     slope = ac.sample("slope", dist.Normal(0, 1))  # latent: to be inferred
    ...     with ac.plate("row", len(x)):
    ...         ac.sample("y", dist.Normal(slope * x, 0.5), obs=y)  # observed
    >>> print(line(np.arange(3.0), np.array([0.1, 1.2, 1.9])).sites())
    site   kind      shape  dims  distribution
    slope  latent    ()           Normal
    y      observed  (3,)   row   Normal
    """
    if isinstance(name, (Model, ModelFunction)):
        raise ModelError(
            f"ac.sample is a statement inside a model, and was given the model {name.name!r}. To draw from its "
            "posterior, call `infer.sample(model, ...)`."
        )
    _check_name("sample", name)
    where = caller()
    if isinstance(distribution, (Model, ModelFunction)):
        raise ModelError(
            f"site {name!r} (at {where}): {distribution.name!r} is a model, and no distribution. Write "
            f"`ac.submodel({distribution.name}(...), prefix={name!r})`: its sites join this model, under the prefix."
        )
    if not isinstance(distribution, AbstractDistribution):
        raise SiteError(
            f"site {name!r} (at {where}): expected a distribution of accord, got {_describe(distribution)}. "
            f"{_right_statement(name, distribution, obs)}"
        )
    for path, parameter in jtu.tree_flatten_with_path(distribution)[0]:
        word = jtu.keystr(path).removeprefix(".")
        check_real(
            f"site {name!r} (at {where}): the parameter {word!r} of {type(distribution).__name__}", parameter
        )
    value = None if obs is None else as_array(obs, name)
    site = Site(
        "sample",
        name,
        distribution,
        value,
        is_observed=obs is not None,
        where=where,
        dims=read_dims("site", name, dims),
    )
    if obs_mask is not None and value is not None:
        return visit_partly(site, obs_mask).value
    return visit(site).value


@checks_options
def deterministic(name: str, value: Any, *, dims: Dims | None = None) -> Any:
    """Record `value` under `name` among the draws, and return it. It adds nothing to the log density.

    **Arguments**: `dims`, as of `sample`.

    **Raises** `SiteError` for a name already taken, and for a value that is not an array or a number.

    **Example**

    >>> @ac.model
    ... def scaled():
    ...     z = ac.sample("z", dist.Normal(0, 1))
    ...     ac.deterministic("x", 100 + 15 * z)  # among the draws, by its name
    >>> print(scaled().sites())
    site  kind           shape  dims  distribution
    z     latent         ()           Normal
    x     deterministic  ()
    """
    _check_name("deterministic", name)
    _check_numbers("deterministic", name, value)
    axes = read_dims("deterministic", name, dims)
    return visit(Site("deterministic", name, value=value, where=caller(), dims=axes)).value


@checks_options
def factor(name: str, log_factor: Any) -> None:
    """Add `log_factor` to the log density: a number, or one for each entry of the plates around the statement.

    Outside of plates an array of any shape is summed.

    **Raises** `SiteError` when the shape is not that of the plates, and for a value that is not an array or a number.

    **Example**

    >>> @ac.model
    ... def bounded_sum():
    ...     a = ac.sample("a", dist.Normal(0, 1))
    ...     b = ac.sample("b", dist.Normal(0, 1))
    ...     ac.factor("sum is near 1", -50 * (a + b - 1) ** 2)
    >>> print(f"{bounded_sum().log_density()(np.array([0.5, 0.5])):.3f}")
    -2.088
    """
    _check_name("factor", name)
    _check_numbers("factor", name, log_factor)
    visit(Site("factor", name, value=log_factor, where=caller()))


def _check_name(statement: str, name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise SiteError(
            f"ac.{statement} (at {caller()}): the first argument is the site's name, a string that is not empty; "
            f"got {_describe(name)}."
        )
    check_text(f"ac.{statement} (at {caller()}): the site's name", name, SiteError)


def _check_numbers(statement: str, name: str, value: Any) -> None:
    if isinstance(value, (bool, int, float, complex)) or hasattr(value, "dtype"):
        check_real(f"ac.{statement} (at {caller()}): the value of site {name!r}", value)
        return
    match value:
        case Model() | ModelFunction():
            remedy = f"Run it: `ac.submodel({value.name}(...), prefix={name!r})` returns its value."
        case None:
            remedy = "Does the function that computed it return it?"
        case list() | tuple():
            remedy = "Make it an array, by `jnp.stack(...)` or `jnp.asarray(...)`."
        case dict():
            remedy = "Write one statement for each of its entries."
        case _:
            remedy = "Give an array or a number."
    raise SiteError(
        f"ac.{statement} (at {caller()}): the value of site {name!r} is {_describe(value)}. {remedy}"
    )


def _right_statement(name: str, distribution: Any, obs: Any) -> str:
    if isinstance(obs, AbstractDistribution):
        return f'The distribution comes before the data: write `ac.sample("{name}", distribution, obs=data)`.'
    if isinstance(distribution, type) and issubclass(distribution, AbstractDistribution):
        return f'Give its parameters: write `ac.sample("{name}", dist.{distribution.__name__}(...))`.'
    return f'Write `ac.sample("{name}", dist.Normal(0, 1))`.'


def _describe(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, type):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    if isinstance(value, (Model, ModelFunction)):
        return f"the model {value.name!r}"
    return f"the class {value.__name__}" if isinstance(value, type) else f"{type(value).__name__} {value!r}"
