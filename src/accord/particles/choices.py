"""Choose the values of states: draw them, or take those of a reference or a proposal."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp

from ..density.simulate import DrawOrSay
from ..language import Site
from ..language.choice import AbstractChoice, key_for_steps

_ELSEWHERE = "Give it a value"


class OfParticle(AbstractChoice):
    """The value of a state: drawn from the site's distribution, or known.

    **Fields**: `key`, of the particle; `value` that is known, or None; `is_known`, whether it is taken: True, False, or
    an array where the program decides.
    """

    key: Any
    value: Any = None
    is_known: Any = False

    def __call__(self, site: Site) -> Site:
        if self.is_known is True:
            return replace(site, value=self.value)
        drawn = DrawOrSay(self.key, _ELSEWHERE)(site)
        if self.is_known is False:
            return drawn
        known = jnp.asarray(self.value).astype(jnp.asarray(drawn.value).dtype)
        return replace(site, value=jnp.where(self.is_known, known, drawn.value))

    def for_steps(self, length: int) -> "OfParticle":
        is_known = self.is_known
        if not isinstance(is_known, bool):
            is_known = jnp.broadcast_to(is_known, (length,))
        return OfParticle(key_for_steps(self.key, length), self.value, is_known)
