"""Integrate or sum sites out of a part of the rows, where no other part depends on them."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import SiteError
from ...language import Site
from ..dependence.provenance import arguments_seen
from ..reduction import pointwise
from ..support import bounds_of, is_discrete
from .conditions import Terms, listed


def discrete_of(sites: Mapping[str, Site], hidden: Collection[str]) -> frozenset[str]:
    """Return which of the sites that are eliminated are discrete."""
    return frozenset(name for name in hidden if is_discrete(sites[name]))


def check_apart(
    terms: Terms,
    shapes: Mapping[str, jax.ShapeDtypeStruct],
    data: Mapping[str, jax.ShapeDtypeStruct],
    hidden: Collection[str],
    reason: str,
    *,
    are_discrete: bool,
) -> None:
    """Raise `SiteError` where a term depends on `hidden`, sites that are eliminated from the other terms.

    **Arguments**: `terms`, of unconstrained values (of discrete sites, numbers of values) and data of these shapes;
    `reason`, in words, why rows are cut; `are_discrete`, whether the sites are summed out and not integrated out.
    """
    # Sites and data may have one name.
    others = {f"site/{name}": shape for name, shape in shapes.items() if name not in hidden}
    others |= {f"data/{name}": shape for name, shape in data.items()}

    def of_hidden(given: Mapping[str, jax.Array], within: Mapping[str, jax.Array]) -> Mapping[str, jax.Array]:
        pieces = {name: given[f"site/{name}"] for name in shapes if name not in hidden}
        return terms({**pieces, **within}, {name: given[f"data/{name}"] for name in data})

    for name, seen in arguments_seen(of_hidden, others, {name: shapes[name] for name in hidden}).items():
        if seen and are_discrete:
            raise SiteError(
                f"{listed(seen)} cannot be summed out where {reason}: site {name!r} depends on it across rows, so that "
                "the sum needs all rows at once. Keep the rows together, or give each row a label of its own."
            )
        if seen:
            raise SiteError(
                f"handlers.collapse: {listed(seen)} cannot be integrated out where {reason}: site {name!r} depends on "
                "it across rows, so that second derivatives of all rows are needed at once. Keep the rows together, or "
                f"leave {listed(seen)} out of `handlers.collapse`."
            )


def normal_where_not(mask: jax.Array, site: Site) -> Site:
    """Give a site that is integrated out the density exp(-pi z**2) where a mask hides it.

    Its integral is one, and so is its highest value: it adds nothing, to the term of the site or to the volume.
    """
    entries = pointwise(site)
    each = -np.pi * jnp.asarray(site.value) ** 2
    alone = each.sum(axis=tuple(range(len(site.batch_shape), each.ndim)))
    # A site that `mask=False` leaves out adds nothing in rows that are no copies.
    value = jnp.where(mask, jnp.zeros_like(alone) if entries is None else entries, alone)
    return replace(site, kind="factor", value=value, mask=None, scale=None, log_det=None)


def first_where_not(mask: jax.Array, site: Site) -> Site:
    """Let a site that is summed out have the first of its values for certain where a mask hides it.

    So its probabilities sum to one there, also where a chosen value ends the sum.
    """
    entries = pointwise(replace(site, mask=None, scale=None))
    is_first = jnp.asarray(site.value) == jnp.asarray(bounds_of(site)[0])
    alone = jnp.where(is_first, 0.0, -jnp.inf)
    each = jnp.zeros_like(alone) if entries is None else entries
    return replace(
        site, kind="factor", value=jnp.where(mask, each, alone.astype(each.dtype)), mask=None, log_det=None
    )
