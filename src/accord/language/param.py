"""Name a value that is to be estimated and has no prior, and give it one from outside."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.errors import OptionError, SiteError, suggest
from ..core.options import checks_options
from ..distributions import AbstractDistribution, ImproperUniform, constraints
from ..distributions.constraint import Constraint
from .handler import AbstractHandler
from .interpreter import visit
from .messages.places import caller
from .naming import check_text
from .shapes import as_array, shape_of
from .site import Site
from .treatment import Lifted, Parameter


@checks_options
def param(name: str, init: Any, *, constraint: Constraint = constraints.real) -> Any:
    """Return the value of a parameter that has no prior: each value that `constraint` allows weighs the same.

    In a log density it is a latent site with a flat prior, which does not integrate to one on an infinite set: the
    data must make the posterior proper. Drawing from the model takes `init`. `handlers.lift` gives it a prior.

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


class Lift(AbstractHandler):
    """Give parameters a prior: one for all of them, or by name."""

    prior: Any

    @classmethod
    def of(cls, prior: Any) -> "Lift":
        """Check the prior.

        **Raises** `OptionError` for what is no distribution, and no mapping from names to distributions.
        """
        found = list(prior.values()) if isinstance(prior, Mapping) else [prior]
        if not all(isinstance(each, AbstractDistribution) for each in found):
            raise OptionError(
                'handlers.lift: the prior must be a distribution, or a mapping like {"a": dist.Normal(0, 1)}; got '
                f"{prior!r}."
            )
        return cls(dict(prior) if isinstance(prior, Mapping) else prior)

    def process(self, site: Site) -> Site:
        """Replace the flat density of a parameter, unless a rule further inside has."""
        prior = self.prior.get(site.name) if isinstance(self.prior, dict) else self.prior
        if not isinstance(site.role, Parameter) or prior is None:
            return site
        shape = shape_of(site.role.init)
        cut = len(shape) - len(prior.event_shape)
        batch, own = shape[: max(cut, 0)], tuple(prior.batch_shape)
        if cut < 0 or shape[cut:] != tuple(prior.event_shape) or not _fits(own, batch):
            raise SiteError(
                f"handlers.lift: the prior of {site.name!r} (at {site.where}) has batch {own} + event "
                f"{tuple(prior.event_shape)}, but the parameter has shape {shape}."
            )
        return replace(site, distribution=prior if own == batch else prior.expand(batch), role=Lifted())

    def check(self, sites: Mapping[str, Site]) -> None:
        """Refuse names that are not parameters of the model."""
        known = [name for name, site in sites.items() if isinstance(site.role, Parameter | Lifted)]
        for name in self.prior if isinstance(self.prior, dict) else ():
            if name not in known:
                raise SiteError(
                    f"lift: the model has no parameter {name!r}.{suggest(name, known)} Its parameters are "
                    f"{', '.join(map(repr, known)) or 'none'}; `ac.param` makes one."
                )


def _fits(own: tuple[int, ...], batch: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(own, batch) == batch
    except ValueError:
        return False
