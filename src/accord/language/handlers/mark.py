"""Mark sites by their names with what inference is to do with them."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import equinox as eqx

from ...core.errors import SiteError
from ..handler import AbstractHandler
from ..site import Site
from ..treatment import Treatment
from .values import check_sampled


class AbstractMark(AbstractHandler):
    """Mark the sample sites of these names; those that are latent in the end are treated so.

    **Class variables**: `treatment`, what inference does with the sites; `asked`, what asks for it, as errors begin.

    **Fields**: `names`, of sites.

    **Raises** (when the model runs) `SiteError` for a name that is no sample site, for one that `block` keeps from the
    model, and for what `reason_against` says.
    """

    treatment: ClassVar[Treatment]
    asked: ClassVar[str]
    names: tuple[str, ...] = eqx.field(static=True)

    @abstractmethod
    def reason_against(self, site: Site) -> str:
        """Say why a site cannot be treated so, in words that continue "site ..."; empty if nothing is against it."""

    def treatment_of(self, name: str) -> Treatment:
        """Return the treatment of a site; the same for all by default."""
        del name
        return self.treatment

    def process(self, site: Site) -> Site:
        """Mark the site, or say why it cannot be."""
        if site.kind != "sample" or site.name not in self.names:
            return site
        reason = self.reason_against(site)
        if reason:
            raise SiteError(f"{self.asked}: site {site.name!r} (at {site.where}) {reason}")
        return replace(site, treatment=self.treatment_of(site.name))

    def check(self, sites: Mapping[str, Site]) -> None:
        """Refuse names that are not sample sites of the model, or that `block` keeps from it."""
        check_sampled(self.asked, self.names, sites)
        for name in self.names:
            if not isinstance(sites[name].treatment, type(self.treatment)):
                raise SiteError(
                    f"{self.asked}: site {name!r} (at {sites[name].where}) is hidden by `handlers.block`, so that it "
                    "is not an unknown of the model. Leave it out of one of the two."
                )
