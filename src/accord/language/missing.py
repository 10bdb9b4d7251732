"""Observe some entries of a site, and let the others be latent."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.errors import SiteError
from ..distributions.wrappers.entries import Entries
from .interpreter import handlers_around, visit
from .plate import Plate
from .shapes import shape_of
from .site import Frame, Site


def visit_partly(site: Site, obs_mask: Any) -> Site:
    """Visit a site of which only the entries where `obs_mask` is true are observed.

    The others are a latent site of their own, `{name}_unobserved`, with one entry for each, in the order of the
    flattened batch. They are distributed as the site is.

    **Raises** `SiteError` for a mask that is not bool or has not the batch shape.
    """
    mask = _checked(site, obs_mask)
    plates = tuple(each.frame for each in reversed(handlers_around()) if isinstance(each, Plate))
    distribution = site.distribution
    if distribution is None or mask.all():
        return visit(site)
    try:
        batch = replace(site, plates=plates).batch_shape
    except ValueError:
        return visit(site)  # which says how distribution and plates do not fit
    if shape_of(site.value) != (*batch, *distribution.event_shape):
        return visit(site)  # the same for the value
    if mask.shape != batch:
        raise SiteError(
            f"site {site.name!r} (at {site.where}): obs_mask has shape {mask.shape}, but the batch shape is {batch}. "
            "Give one entry for each entry of the batch: an event is observed whole or not at all."
        )
    (index,) = np.nonzero(~mask.reshape(-1))
    missing = visit(
        Site(
            "sample",
            f"{site.name}_unobserved",
            Entries(distribution, batch, index),
            plates=(Frame(f"{site.name}_missing", len(index), -1, _labels(index, batch)),),
            where=site.where,
        )
    ).value
    flat = jnp.reshape(jnp.asarray(site.value), (-1, *distribution.event_shape))
    flat = flat.astype(jnp.result_type(flat, missing)).at[index].set(missing)
    return visit(replace(site, value=flat.reshape(shape_of(site.value)), obs_mask=mask))


def _checked(site: Site, obs_mask: Any) -> np.ndarray:
    # Of a traced mask NumPy says that it has no numbers; a log density then makes a constant of the data it is from.
    mask = np.asarray(obs_mask)
    if mask.dtype != np.bool_:
        raise SiteError(
            f"site {site.name!r} (at {site.where}): obs_mask must be an array of True and False, got dtype "
            f"{mask.dtype}. Compare: `obs_mask=(m == 1)`."
        )
    return mask


def _labels(index: np.ndarray, batch: tuple[int, ...]) -> tuple[Any, ...]:
    """The places of entries as labels: their number along the one axis, `"row,column"` where there are several."""
    if len(batch) == 1:
        return tuple(index.tolist())
    places = zip(*(axis.tolist() for axis in np.unravel_index(index, batch)), strict=True)
    return tuple(",".join(map(str, place)) for place in places)
