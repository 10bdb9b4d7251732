"""State how a latent site gets its value, once or at each step of a scan."""

import abc
from collections.abc import Callable
from dataclasses import replace
from typing import Self

import equinox as eqx
import jax
import jax.numpy as jnp

from .site import Site


class AbstractChoice(eqx.Module):
    """A frozen function that gives a settled site its value; what differs between steps is an array in it."""

    @abc.abstractmethod
    def __call__(self, site: Site) -> Site:
        """Return the site with its value, and with `log_det` if that came from an unconstrained position."""

    @abc.abstractmethod
    def for_steps(self, length: int) -> Self:
        """Make a choice for each step of a scan: all arrays get a first axis of that length."""


class Chosen(AbstractChoice):
    """Choose by a function that is the same at each step."""

    function: Callable[[Site], Site] = eqx.field(static=True)

    def __call__(self, site: Site) -> Site:
        return self.function(site)

    def for_steps(self, length: int) -> Self:
        del length
        return self


class AbstractSeries(AbstractChoice):
    """Choose by arrays that have the steps along their first axes already."""

    def for_steps(self, length: int) -> Self:
        del length
        return self


class Wanted(AbstractSeries):
    """Choose `Site.wanted`, which follows from the value that another site shall have, where the two are visited."""

    def __call__(self, site: Site) -> Site:
        return replace(site, value=jnp.asarray(site.wanted))


def key_for_steps(key: jax.Array, length: int) -> jax.Array:
    """Derive keys for each step, shape `(length,)`, from the key and the number of the step."""
    return jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, jnp.arange(length))
