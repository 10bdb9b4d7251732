"""Sample sites by way of other variables."""

import abc
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx

from ...core.errors import OptionError, SiteError, suggest
from ...core.options import checks_options
from ..handler import AbstractHandler
from ..model import Model
from ..reparam.base import AbstractReparam
from ..site import Site
from ..treatment import Auxiliary, Computed, Eliminated, Reparameterised
from .handled import Target, put_on


class AbstractWhole(eqx.Module):
    """A way to sample all unknowns of a model together."""

    @abc.abstractmethod
    def rule(self, model: Model) -> AbstractHandler:
        """Return the rule that does so, for this model."""


Config = Mapping[str, AbstractReparam] | Callable[[Site], AbstractReparam | None]
"""A setting by name of site, or a function of the site; None leaves the site as it is."""


COLLAPSED_TOO = (
    "is to be collapsed and reparameterised: what is integrated out is not sampled, by whatever way. Leave it out of "
    "`handlers.reparam`, or collapse the site that it follows from."
)


@checks_options
def reparam(target: Target, config: Config | AbstractWhole) -> Target:
    """Sample sites by way of other variables, whose posterior has a better shape; the model stays as it is.

    A site `theta` keeps its name among the draws, and its distribution: it is computed from the latent site
    `theta_base`. It can be observed, intervened on and replayed as before, and is then not reparameterised.

    **Arguments**: `config`, by site one of `accord.reparam`, as in `{"theta": reparam.LocScale()}`; or a function from
    a site to one of them, or None; or `reparam.Neutra(bijector)`, for all unknowns of a model together.

    **Raises** `OptionError` for what is none of them; (when the model runs) `SiteError` for a name that is no sample
    site, and for a distribution that the reparameterisation is not made for.

    **Example**

    >>> @ac.model
    ... def funnel():
    ...     scale = ac.sample("scale", dist.LogNormal(0, 1))
    ...     ac.sample("x", dist.Normal(0, scale))
    >>> print(handlers.reparam(funnel(), {"x": reparam.LocScale()}).sites())
    site    kind           shape  dims  distribution
    scale   latent         ()           LogNormal
    x       deterministic  ()           Normal
    x_base  latent         ()           Normal
    """
    if isinstance(config, AbstractWhole):
        if not isinstance(target, Model):
            raise OptionError(
                f"handlers.reparam: {type(config).__name__} takes a model with its data, got {target!r}."
            )
        return put_on(target, config.rule(target))
    return put_on(target, Reparam.of(config))


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
