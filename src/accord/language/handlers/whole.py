"""Mark discrete latent sites to be sampled as whole numbers."""

from dataclasses import replace
from types import EllipsisType
from typing import ClassVar

import equinox as eqx

from ...distributions.wrappers.family import family
from ..handler import AbstractHandler
from ..site import Site
from ..treatment import Free, Treatment, Whole
from .mark import AbstractMark


class SampleWhole(AbstractMark):
    """Mark the discrete sites of these names; a log density takes the values of those that are latent in the end."""

    treatment: ClassVar[Treatment] = Whole()
    asked: ClassVar[str] = "sampling whole numbers"

    def reason_against(self, site: Site) -> str:
        """Say why a site cannot be sampled as whole numbers."""
        if site.is_observed or site.value is not None:
            return "has a value. Leave it out of the names that the sampler moves, or its value out of the model."
        if not isinstance(site.treatment, Free):
            return "a handler has it sampled in another way. Leave it out of one of the two."
        if site.distribution is None or not site.distribution.support.is_discrete:
            return (
                f"is continuous ({family(site.distribution)}). A sampler finds it among the free numbers: leave it out "
                "of the names of whole ones."
            )
        return ""


class SampleDiscrete(AbstractHandler):
    """Mark the discrete latent ones among the sites of these names, or among all (`...`)."""

    names: tuple[str, ...] | EllipsisType = eqx.field(static=True)

    def process(self, site: Site) -> Site:
        """Mark the site if it is to be sampled as whole numbers."""
        is_named = self.names is ... or site.name in self.names
        if site.kind != "sample" or not is_named or _WHOLE.reason_against(site):
            return site
        return replace(site, treatment=_WHOLE.treatment)


_WHOLE = SampleWhole(())
