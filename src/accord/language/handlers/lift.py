"""Give parameters a prior."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.errors import OptionError, SiteError, suggest
from ...core.options import checks_options
from ...distributions import AbstractDistribution
from ..handler import AbstractHandler
from ..shapes import shape_of
from ..site import Site
from ..treatment import Lifted, Parameter
from .handled import Target, put_on


@checks_options
def lift(target: Target, prior: AbstractDistribution | Mapping[str, AbstractDistribution]) -> Target:
    """Give parameters of `ac.param` a prior: one for all of them, or by name; those that are not named stay.

    **Raises** `OptionError` for what is no distribution; (when the model runs) `SiteError` for a name that is no
    parameter, and for a prior of another shape.

    **Example**

    >>> @ac.model
    ... def noisy(y):
    ...     scale = ac.param("scale", 1.0, constraint=constraints.positive)
    ...     with ac.plate("row", len(y)):
    ...         ac.sample("y", dist.Normal(0, scale), obs=y)
    >>> print(handlers.lift(noisy(y), {"scale": dist.HalfNormal(10)}).sites())
    site   kind      shape  dims  distribution
    scale  latent    ()           HalfNormal
    y      observed  (8,)   row   Normal
    """
    return put_on(target, Lift.of(prior))


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
