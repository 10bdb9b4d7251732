"""Name a value that is to be estimated and has no prior."""

from typing import Any

import numpy as np

from ..core.errors import SiteError
from ..core.options import checks_options
from ..distributions import ImproperUniform, constraints
from ..distributions.constraint import Constraint
from .interpreter import visit
from .messages.places import caller
from .naming import check_text
from .shapes import as_array, shape_of
from .site import Site
from .treatment import Parameter


@checks_options
def param(name: str, init: Any, *, constraint: Constraint = constraints.real) -> Any:
    """Return the value of a parameter that has no prior: each value that `constraint` allows weighs the same.

    In a log density it is a latent site with a flat prior, which does not integrate to one on an infinite set: the
    data must make the posterior proper. Drawing from the model takes `init`. `handlers.lift` gives it a prior.
    `infer.fit` with a guide that is a model fits the parameters of both, without a distribution.

    **Arguments**
    - `name`: unique in the model.
    - `init`: a number or array inside of the constraint; the value has its shape, repeated over plates around.
    - `constraint`: of `accord.distributions.constraints`; its last `event_dim` axes are one value of it.

    **Raises** `SiteError` for a name that is taken, or an `init` that the constraint does not allow.

    **Example**

    >>> @ac.model
    ... def noisy(y):
    ...     scale = ac.param("scale", 1.0, constraint=constraints.positive)
    ...     with ac.plate("row", len(y)):
    ...         ac.sample("y", dist.Normal(0, scale), obs=y)
    >>> found = infer.find_mode(noisy(np.array([2.0, -2.0])), "mle")
    >>> print(f"{found.values['scale']:.3f}")
    2.000
    """
    where = caller()
    if not isinstance(name, str) or not name:
        raise SiteError(
            f"ac.param (at {where}): the first argument is the site's name, a string that is not empty; got {name!r}."
        )
    check_text(f"ac.param (at {where}): the site's name", name, SiteError)
    if not isinstance(constraint, Constraint):
        raise SiteError(
            f"param {name!r} (at {where}): the constraint must be one of `accord.distributions.constraints`, got "
            f"{constraint!r}."
        )
    init = as_array(init, name)
    shape, num_event = shape_of(init), constraint.event_dim
    if len(shape) < num_event:
        raise SiteError(
            f"param {name!r} (at {where}): one value of the constraint has {num_event} axes, but init has shape "
            f"{shape}."
        )
    if isinstance(init, (bool, int, float, np.ndarray)) and not np.all(constraint(init)):
        raise SiteError(
            f"param {name!r} (at {where}): init is {init!r}, which the constraint does not allow: it must be "
            f"{constraint.describe()}."
        )
    cut = len(shape) - num_event
    flat = ImproperUniform(constraint, shape[:cut], shape[cut:])
    return visit(Site("sample", name, flat, role=Parameter(init), where=where)).value
