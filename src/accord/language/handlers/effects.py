"""Define the rules that draw, hide and weigh sites, one class for each.

A rule is a frozen pytree. The arrays in it are data like a model's arguments: new values compile nothing.
"""

import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ...core.errors import SiteError, suggest
from ...distributions.wrappers.entries import AbstractEntries
from ..choice import AbstractChoice, key_for_steps
from ..handler import AbstractHandler
from ..site import Site
from ..treatment import Parameter

_WITH_DENSITY = ("sample", "factor")


class Seed(AbstractHandler):
    """Draw latent sites from their distributions.

    A site's key depends on the seed and its name alone, so adding a site changes no other site's draw.
    """

    key: Any

    def process(self, site: Site) -> Site:
        """Say how to draw the site, unless a seed further inside has."""
        if site.kind in ("key", "subsample") and site.value is None:
            return replace(site, value=key_of_site(self._key(), site.name))
        return replace(site, choose=Draw(self._key())) if site.is_latent and site.choose is None else site

    def _key(self) -> jax.Array:
        return jax.random.key(self.key) if isinstance(self.key, int) else self.key


class Draw(AbstractChoice):
    """Draw a value from the site's distribution, by a key and the site's name."""

    key: Any

    def __call__(self, site: Site) -> Site:
        distribution = site.distribution
        if distribution is None:
            return site
        if isinstance(site.role, Parameter):
            shape = (*site.batch_shape, *distribution.event_shape)
            return replace(
                site, value=jnp.broadcast_to(jnp.asarray(site.role.init, distribution.dtype), shape)
            )
        batch, own = site.batch_shape, distribution.batch_shape
        key = key_of_site(self.key, site.name)
        return replace(site, value=distribution.sample(key, batch[: len(batch) - len(own)]))

    def for_steps(self, length: int) -> "Draw":
        return Draw(key_for_steps(self.key, length))


def key_of_site(key: Any, name: str) -> jax.Array:
    """Derive the key of a site."""
    return jax.random.fold_in(key, zlib.crc32(name.encode()))


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
        if site.kind not in _WITH_DENSITY or self.mask is True:
            return site
        mask = _of_entries(self.mask, site)
        if site.mask is None or mask is False:
            return replace(site, mask=mask)
        return site if site.mask is False else replace(site, mask=site.mask & mask)


class Scale(AbstractHandler):
    """Multiply the log density."""

    scale: Any

    def process(self, site: Site) -> Site:
        """Combine the scale with those further inside."""
        if site.kind not in _WITH_DENSITY:
            return site
        scale = _of_entries(self.scale, site)
        return replace(site, scale=scale if site.scale is None else site.scale * scale)


def _of_entries(weight: Any, site: Site) -> Any:
    """Take from a mask or scale over a batch the entries that a site has of that batch."""
    return site.distribution.take(weight) if isinstance(site.distribution, AbstractEntries) else weight
