"""Draw the latent sites of a model."""

import zlib
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from ...core.errors import OptionError
from ...core.options import checks_options
from ..choice import AbstractChoice, key_for_steps
from ..handler import AbstractHandler
from ..site import Site
from ..treatment import Parameter
from .handled import Target, put_on


@checks_options
def seed(target: Target, key: jax.Array | int) -> Target:
    """Draw the latent sites of `target` from their distributions, with a JAX key or an integer seed.

    The draw of a site depends on the key and its name alone.

    **Example**

    >>> simulate = handlers.seed(coin(1000), 1)
    >>> simulate().shape
    (1000,)
    >>> bool((simulate() == simulate()).all())
    True
    """
    if isinstance(key, bool) or not (isinstance(key, int) or hasattr(key, "dtype")):
        raise OptionError(f"handlers.seed: key must be a JAX random key or an integer, got {key!r}.")
    return put_on(target, Seed(key))


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
