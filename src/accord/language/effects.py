"""Define the rules that handlers put on a model, one class for each.

A rule is a frozen pytree. The arrays in it are data like a model's arguments: new values compile nothing.
"""

import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import equinox as eqx
import jax

from ..core.errors import OptionError, SiteError, suggest
from .handler import AbstractHandler
from .shapes import as_array
from .site import Site


class AbstractValues(AbstractHandler):
    """A rule that gives values to sample sites, by name."""

    values: eqx.AbstractVar[dict[str, Any]]
    word: ClassVar[str] = ""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Check that `values` maps names to numbers; lists become NumPy arrays, JAX arrays stay.

        **Raises** `OptionError` for anything else than a mapping; `DataError` for a value that is not numbers.
        """
        if not isinstance(values, Mapping):
            raise OptionError(
                f'{cls.word}: values must be a mapping from site names, like {{"x": 1.0}}; got {values!r}.'
            )
        return cls({str(name): as_array(value, name) for name, value in values.items()})

    def check(self, sites: Mapping[str, Site]) -> None:
        """Refuse names that are not sample sites of the model."""
        sampled = [name for name, site in sites.items() if site.kind == "sample"]
        for name in self.values:
            if name in sites and sites[name].kind != "sample":
                raise SiteError(
                    f"{self.word}: {name!r} is a {sites[name].kind} site (at {sites[name].where}), which has no "
                    "distribution. Only sample sites take values; name the sites that it is computed from."
                )
            if name not in sites:
                known = (
                    f"The sample sites are {', '.join(map(repr, sampled))}."
                    if sampled
                    else "It has no sample site."
                )
                raise SiteError(
                    f"{self.word}: the model has no site {name!r}.{suggest(name, sampled)} {known}"
                )


class Condition(AbstractValues):
    """Observe sites to have the given values."""

    values: dict[str, Any]
    word: ClassVar[str] = "condition"

    def process(self, site: Site) -> Site:
        """Set the value; it keeps its log density."""
        if site.kind != "sample" or site.name not in self.values or site.is_intervened:
            return site
        return replace(site, value=self.values[site.name], is_observed=True)


class Do(AbstractValues):
    """Set sites by intervention."""

    values: dict[str, Any]
    word: ClassVar[str] = "do"

    def process(self, site: Site) -> Site:
        """Set the value; it loses its log density."""
        if site.kind != "sample" or site.name not in self.values:
            return site
        return replace(site, value=self.values[site.name], is_observed=False, is_intervened=True)


class Substitute(AbstractValues):
    """Fix the values of latent sites, as if they had been drawn."""

    values: dict[str, Any]
    word: ClassVar[str] = "substitute"

    def process(self, site: Site) -> Site:
        """Set the value of a latent site; an observed one is an error."""
        if site.kind != "sample" or site.name not in self.values:
            return site
        if site.is_observed:
            raise SiteError(
                f"substitute: site {site.name!r} (at {site.where}) is observed. Use `condition` to give another."
            )
        return replace(site, value=self.values[site.name])


class Replay(AbstractHandler):
    """Give latent sites the values they had in a trace; a site that the trace lacks is left as it is."""

    values: dict[str, Any]

    def process(self, site: Site) -> Site:
        """Set the value of a latent site."""
        return (
            replace(site, value=self.values[site.name])
            if site.is_latent and site.name in self.values
            else site
        )


class Seed(AbstractHandler):
    """Draw latent sites from their distributions.

    A site's key depends on the seed and its name alone, so adding a site changes no other site's draw.
    """

    key: Any

    def process(self, site: Site) -> Site:
        """Say how to draw the site, unless a seed further inside has."""
        return replace(site, choose=self._draw) if site.is_latent and site.choose is None else site

    def _draw(self, site: Site) -> Site:
        distribution = site.distribution
        if distribution is None:
            return site
        key = jax.random.key(self.key) if isinstance(self.key, int) else self.key
        key = jax.random.fold_in(key, zlib.crc32(site.name.encode()))
        batch, own = site.batch_shape, distribution.batch_shape
        return replace(site, value=distribution.sample(key, batch[: len(batch) - len(own)]))


class Block(AbstractHandler):
    """Hide sites from the handlers further out; plates and masks out there do not reach them either."""

    names: tuple[str, ...] = eqx.field(static=True)
    is_hiding: bool = eqx.field(static=True)  # the names are the ones to hide, rather than the ones to leave

    def process(self, site: Site) -> Site:
        """Hide the site if it is to be hidden."""
        return replace(site, is_hidden=True) if (site.name in self.names) == self.is_hiding else site

    def check(self, sites: Mapping[str, Site]) -> None:
        """Refuse names that are not in the model."""
        for name in self.names:
            if name not in sites:
                raise SiteError(f"block: the model has no site {name!r}.{suggest(name, sites)}")


class Mask(AbstractHandler):
    """Leave entries of the log density out where the mask is false."""

    mask: Any

    def process(self, site: Site) -> Site:
        """Combine the mask with those further inside: an entry counts where all are true."""
        if site.kind == "deterministic" or self.mask is True:
            return site
        if site.mask is None or self.mask is False:
            return replace(site, mask=self.mask)
        return site if site.mask is False else replace(site, mask=site.mask & self.mask)


class Scale(AbstractHandler):
    """Multiply the log density."""

    scale: Any

    def process(self, site: Site) -> Site:
        """Combine the scale with those further inside."""
        if site.kind == "deterministic":
            return site
        return replace(site, scale=self.scale if site.scale is None else site.scale * self.scale)
