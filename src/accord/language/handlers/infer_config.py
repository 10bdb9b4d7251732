"""Set how inference treats single sites: by which map it finds the unconstrained numbers of an unknown."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx

from ...bijectors import AbstractBijector, Independent
from ...core.errors import OptionError, SiteError, suggest
from ...core.options import checks_options
from ...distributions import biject_to
from ..handler import AbstractHandler
from ..site import Site
from ..treatment import Eliminated, Free, Reparameterised
from .handled import Target, put_on

Settings = Mapping[str, Any]
SettingsBySite = Mapping[str, Settings] | Callable[[Site], Settings | None]
"""Settings by name of site, or a function of the site; None leaves the site as it is."""

_KNOWN = ("bijector",)

NOT_COLLAPSED = (
    "is to be collapsed and has a bijector by `handlers.infer_config`: what is integrated out has no unconstrained "
    "numbers. Leave it out of one of the two."
)


@checks_options
def infer_config(target: Target, config: SettingsBySite) -> Target:
    """Set how inference treats sites, where its own choice is not the best; the posterior is the same.

    **Arguments**: `config`, by site a mapping of settings, as in `{"tau": {"bijector": bijectors.Softplus()}}`; or a
    function from a site to one, or None. The settings are
    - `"bijector"`: the map from unconstrained numbers to the support of a latent site, in place of
      `distributions.biject_to(support)`. Elementwise ones act on every element of an event. A site that has a value has
      no use for it; of one that is reparameterised, name the auxiliary.

    **Raises** `OptionError` for what is none of these; (when the model runs) `SiteError` for a name that is no sample
    site, and for one that is reparameterised or collapsed; (when its log density is made) `SiteError` for a map that
    does not cover the support, where both are without parameters that are arrays.

    **Example**

    >>> @ac.model
    ... def waiting():
    ...     ac.sample("rate", dist.HalfNormal(1))
    >>> soft = handlers.infer_config(waiting(), {"rate": {"bijector": bijectors.Softplus()}})
    >>> print(f"{waiting().log_density().constrain(np.zeros(1))['rate']:.3f}")
    1.000
    >>> print(f"{soft.log_density().constrain(np.zeros(1))['rate']:.3f}")
    0.693
    """
    return put_on(target, InferConfig.of(config))


class InferConfig(AbstractHandler):
    """Give sites their settings."""

    by_name: dict[str, dict[str, Any]]
    choose: Callable[[Site], Settings | None] | None = eqx.field(static=True, default=None)

    @classmethod
    def of(cls, config: SettingsBySite) -> "InferConfig":
        """Check the settings.

        **Raises** `OptionError` for what is neither a mapping to settings nor a function, and for unknown settings.
        """
        if callable(config) and not isinstance(config, Mapping):
            return cls({}, config)
        if not isinstance(config, Mapping):
            raise OptionError(
                'handlers.infer_config: config must be a mapping from site names, like {"tau": {"bijector": '
                f"Softplus()}}}}, or a function of a site; got {config!r}."
            )
        return cls({str(name): _checked(each, repr(str(name))) for name, each in config.items()})

    def process(self, site: Site) -> Site:
        """Set the settings of the site, in place of those from a rule further inside."""
        if site.kind != "sample":
            return site
        found = self.by_name.get(site.name)
        if self.choose is not None:
            chosen = self.choose(site)
            found = (
                None
                if chosen is None
                else _checked(chosen, f"{site.name!r}, for which the function was asked,")
            )
        if found is None:
            return site
        match site.treatment:
            case Eliminated() if found:
                raise SiteError(
                    f"handlers.infer_config: site {site.name!r} (at {site.where}) {NOT_COLLAPSED}"
                )
            case Free() | Reparameterised():
                return replace(site, treatment=replace(site.treatment, **found))
        return site

    def check(self, sites: Mapping[str, Site]) -> None:
        """Refuse names that are not sample sites of the model."""
        known = [name for name, site in sites.items() if site.distribution is not None]
        for name in self.by_name:
            if name not in known:
                what = (
                    f"{name!r} is a {sites[name].kind} site"
                    if name in sites
                    else f"the model has no site {name!r}"
                )
                raise SiteError(
                    f"infer_config: {what}.{suggest(name, known)} The sample sites are "
                    f"{', '.join(map(repr, known)) or 'none'}."
                )


def map_of(site: Site) -> AbstractBijector:
    """Return the map from unconstrained numbers to the support of a sample site, by its settings or its support.

    **Raises** `DistributionError` for a support without a map; `SiteError` for a map of larger events than the site's.
    """
    assert site.distribution is not None
    support = site.distribution.support
    if site.bijector is None:
        return biject_to(support)
    num_missing = support.event_dim - site.bijector.codomain_event_dim
    if num_missing < 0:
        raise SiteError(
            f"site {site.name!r} (at {site.where}): infer_config gives it the bijector {site.bijector!r}, whose values "
            f"have {site.bijector.codomain_event_dim} axes, and one value of the site has {support.event_dim}. Give a "
            "map onto its support."
        )
    return Independent(site.bijector, num_missing) if num_missing else site.bijector


def _checked(settings: Any, where: str) -> dict[str, Any]:
    if not isinstance(settings, Mapping):
        raise OptionError(
            f'handlers.infer_config: site {where} must have settings like {{"bijector": Softplus()}}; got '
            f"{settings!r}."
        )
    for word, value in settings.items():
        if word not in _KNOWN:
            raise OptionError(
                f"handlers.infer_config: site {where} has the setting {word!r}, which nothing reads."
                f"{suggest(str(word), _KNOWN)} Settings are {', '.join(map(repr, _KNOWN))}."
            )
        if isinstance(value, type) and issubclass(value, AbstractBijector):
            raise OptionError(
                f"handlers.infer_config: site {where} has the class {value.__name__}; call it: `{value.__name__}()`."
            )
        if not isinstance(value, AbstractBijector):
            raise OptionError(
                f"handlers.infer_config: site {where} must have a bijector of `accord.bijectors`, got {value!r}."
            )
    return dict(settings)
