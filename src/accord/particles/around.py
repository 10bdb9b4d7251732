"""Say what the sites around a scan add to the weight of a particle."""

from collections.abc import Collection
from typing import Any

import jax
import jax.numpy as jnp

from ..density.reduction import term
from ..language import Site
from ..language.handler import Recorder
from ..language.interpreter import handlers_around


def sites_so_far() -> dict[str, Site]:
    """Return the sites that the whole model has visited."""
    recorders = [each for each in handlers_around() if isinstance(each, Recorder)]
    return {name: site for name, site in recorders[0].sites.items() if not site.is_hidden}


def weight_before(left_out: Collection[str], dtype: Any) -> jax.Array:
    """Return what the sites that the model has visited so far add to a log weight, shape `()`."""
    return weight_of(sites_so_far().values(), left_out, dtype)


def weight_of(sites: Any, left_out: Collection[str], dtype: Any) -> jax.Array:
    """Return what sites add to a log weight, shape `()`."""
    found = jnp.zeros((), dtype)
    for site in sites:
        added = term(site) if site.name not in left_out and site.kind in ("sample", "factor") else None
        found = found if added is None else found + added.astype(dtype)
    return found
