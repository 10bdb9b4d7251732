"""Mark sites to be sampled by way of another variable."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx

from ...core.errors import OptionError, SiteError, suggest
from ..handler import AbstractHandler
from ..site import Site
from ..treatment import Auxiliary, Computed, Eliminated, Reparameterised
from .base import AbstractReparam

Config = Mapping[str, AbstractReparam] | Callable[[Site], AbstractReparam | None]
"""A setting by name of site, or a function of the site; None leaves the site as it is."""


COLLAPSED_TOO = (
    "is to be collapsed and reparameterised: what is integrated out is not sampled, by whatever way. Leave it out of "
    "`handlers.reparam`, or collapse the site that it follows from."
)


class Reparam(AbstractHandler):
    """Mark sites to be reparameterised; `visit` does so if the site is left without a value."""

    by_name: dict[str, AbstractReparam]
    choose: Callable[[Site], AbstractReparam | None] | None = eqx.field(static=True, default=None)

    @classmethod
    def of(cls, config: Config) -> "Reparam":
        """Check the configuration.

        **Raises** `OptionError` for what is neither a mapping to reparameterisations nor a function.
        """
        if callable(config) and not isinstance(config, (Mapping, type, AbstractReparam)):
            return cls({}, config)
        if not isinstance(config, Mapping):
            raise OptionError(
                'handlers.reparam: config must be a mapping from site names, like {"theta": LocScale()}, or a '
                f"function of a site; got {config!r}."
            )
        for name, each in config.items():
            _check(each, f"{str(name)!r}")
        return cls({str(name): each for name, each in config.items()})

    def process(self, site: Site) -> Site:
        """Mark the site, in place of what a rule further inside has said."""
        if site.kind != "sample":
            return site
        found = self.by_name.get(site.name)
        if self.choose is not None and not isinstance(site.role, Auxiliary) and not site.is_observed:
            found = self.choose(site)
            if found is not None:
                _check(found, f"{site.name!r}, for which the function was asked,")
        if found is None or isinstance(site.treatment, Computed):
            return site
        if isinstance(site.treatment, Eliminated):
            raise SiteError(f"handlers.reparam: site {site.name!r} (at {site.where}) {COLLAPSED_TOO}")
        return replace(site, treatment=Reparameterised(found, site.bijector))

    def check(self, sites: Mapping[str, Site]) -> None:
        """Refuse names that are not sample sites of the model."""
        known = [name for name, site in sites.items() if site.distribution is not None]
        for name in self.by_name:
            if name in sites and sites[name].distribution is None:
                raise SiteError(
                    f"reparam: {name!r} is a {sites[name].kind} site (at {sites[name].where}), which has no "
                    "distribution. Name the sample sites that it is computed from."
                )
            if name not in sites:
                raise SiteError(
                    f"reparam: the model has no site {name!r}.{suggest(name, known)} The sample sites are "
                    f"{', '.join(map(repr, known)) or 'none'}."
                )


def _check(given: Any, where: str) -> None:
    if isinstance(given, AbstractReparam):
        return
    if isinstance(given, type) and issubclass(given, AbstractReparam):
        raise OptionError(
            f"handlers.reparam: site {where} has the class {given.__name__}; call it: `{given.__name__}()`."
        )
    raise OptionError(
        f"handlers.reparam: site {where} must have one of `accord.reparam`, such as LocScale(); got {given!r}."
    )
