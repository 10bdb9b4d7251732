"""Mark discrete latent sites to be sampled as whole numbers."""

from typing import ClassVar

from ...distributions.wrappers.family import family
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
