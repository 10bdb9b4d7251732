"""Settle which entries a plate with `subsample_size` takes: all of them, or a part that two words name."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..handler import AbstractHandler
from ..part import Settled
from ..site import Site
from .seed import key_of_site


class AllEntries(AbstractHandler):
    """Have plates take all of their entries, as if they had no `subsample_size`."""

    def process(self, site: Site) -> Site:
        """Give a plate that asks for its part all of its entries."""
        is_open = site.kind == "subsample" and site.value is None
        return replace(site, value=Settled()) if is_open else site


class OneBatch(AbstractHandler):
    """Have plates take one part of their entries, the same for the same words.

    **Fields**: `words`, shape `(3,)`, whole numbers: two words of a key, and the number of the part, of which
    consecutive ones make an epoch. An array, and so part of the data of a model.
    """

    words: Any

    @staticmethod
    def blank() -> "OneBatch":
        """Return one batch, of the words 0."""
        return OneBatch(np.zeros(3, np.int64))

    def process(self, site: Site) -> Site:
        """Give a plate that asks for its part a key of its own."""
        if site.kind != "subsample" or site.value is not None:
            return site
        words = jnp.asarray(self.words).astype(jnp.uint32)
        key = jax.random.wrap_key_data(words[:2], impl="threefry2x32")
        return replace(site, value=Settled(key_of_site(key, site.name), words[2].astype(jnp.int32)))
