"""List the log probabilities of a model entry by entry, without scale."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from ....distributions.wrappers.entries import AbstractEntries
from ....language import Site
from ....language.treatment import Whole
from ...program import View
from ...reduction import pointwise
from ...support import num_values

Part = tuple[str, str]
"""A site, and what of it: "entries" or "jacobian"."""


def parts_of(
    sites: Mapping[str, Site], view: View, places: Mapping[str, Any]
) -> Iterator[tuple[Part, Site, jax.Array]]:
    """List what sites in a view add to the log density, entry by entry and without scale.

    **Arguments**: `places`, by discrete site, the number of its value in the support. The prior of one that is summed
    out has no mask: it sums to 1 whatever is masked. A site of missing entries is listed in the plates of the site that
    it belongs to.
    """
    for name, site in view(sites):
        if site.kind == "deterministic" or site.is_intervened:
            continue
        bare = replace(site, scale=None)
        if name in places:
            if isinstance(site.distribution, AbstractEntries):
                site = replace(site, plates=sites[name.removesuffix("_unobserved")].plates)
            yield (name, "entries"), site, _prior(bare, places[name])
            continue
        entries, jacobian = pointwise(bare), site.log_det
        if entries is not None and jacobian is not None and jnp.shape(entries) == jnp.shape(jacobian):
            entries, jacobian = entries + jacobian, None
        if entries is not None:
            yield (name, "entries"), site, entries
        if jacobian is not None:
            yield (name, "jacobian"), site, jacobian


def _prior(site: Site, place: Any) -> jax.Array:
    is_unknown = isinstance(site.treatment, Whole)  # the density is a function of it, as it is masked
    entries = pointwise(site if is_unknown else replace(site, mask=None))
    if entries is None:
        entries = jnp.zeros(site.batch_shape)
    count = num_values(site)
    if site.steps and 0 < count.ndim < entries.ndim:  # of each step, alike for all that there is in it
        count = count.reshape(count.shape + (1,) * (entries.ndim - count.ndim))
    return jnp.where(place < count, entries, -jnp.inf)
