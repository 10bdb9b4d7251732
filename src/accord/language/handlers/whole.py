"""Mark discrete latent sites to be sampled as whole numbers."""

from collections.abc import Mapping
from dataclasses import replace

import equinox as eqx

from ...core.errors import SiteError
from ...distributions.wrappers.family import family
from ..handler import AbstractHandler
from ..site import Site
from ..treatment import Free, Whole
from .values import check_sampled


class SampleWhole(AbstractHandler):
    """Mark the sites of these names: a log density takes the values of those that are latent in the end.

    **Raises** (when the model runs) `SiteError` for a name that is no discrete latent site.
    """

    names: tuple[str, ...] = eqx.field(static=True)

    def process(self, site: Site) -> Site:
        """Mark the site, or say why it cannot be."""
        if site.kind != "sample" or site.name not in self.names:
            return site
        reason = _reason_against(site)
        if reason:
            raise SiteError(
                f"site {site.name!r} (at {site.where}) is to be sampled as whole numbers, and {reason}"
            )
        return replace(site, treatment=Whole())

    def check(self, sites: Mapping[str, Site]) -> None:
        """Refuse names that are not sample sites of the model, or that `block` keeps from it."""
        check_sampled("sampling whole numbers", self.names, sites)
        for name in self.names:
            if not isinstance(sites[name].treatment, Whole):
                raise SiteError(
                    f"site {name!r} (at {sites[name].where}) is to be sampled as whole numbers, and is hidden by "
                    "`handlers.block`, so that it is not an unknown of the model. Leave it out of one of the two."
                )


def _reason_against(site: Site) -> str:
    """Say why a site cannot be sampled so; empty if nothing is against it."""
    if site.is_observed or site.value is not None:
        return "has a value. Leave it out of the names that the sampler moves, or its value out of the model."
    if not isinstance(site.treatment, Free):
        return "a handler has it sampled in another way. Leave it out of one of the two."
    if site.distribution is None or not site.distribution.support.is_discrete:
        return (
            f"is continuous ({family(site.distribution)}). A sampler finds it among the free numbers: leave it out of "
            "the names of whole ones."
        )
    return ""
