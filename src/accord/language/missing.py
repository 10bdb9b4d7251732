"""Observe some entries of a site, and let the others be latent."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import SiteError
from ..core.masked import unmasked
from ..distributions import AbstractDistribution
from ..distributions.wrappers.entries import Entries
from .interpreter import handlers_around, visit
from .loops.boundary import Boundary
from .plate import Plate
from .shapes import shape_of
from .site import Frame, Site

OF_STEPS = "An obs_mask that is computed in a step of a scan or in a branch: site "
"""How the note begins that stands beside JAX's exception there."""

_REMEDY = (
    "It must leave the same entries at each step, since it says how many unknowns there are. Where nothing else "
    "depends on missing values, leave them out: `with handlers.mask(mask=...):` around the site, in place of "
    "`obs_mask=`."
)


def visit_partly(site: Site, obs_mask: Any) -> Site:
    """Visit a site of which only the entries where `obs_mask` is true are observed.

    The others are a latent site of their own, `{name}_unobserved`, with one entry for each, in the order of the
    flattened batch. They are distributed as the site is; elements of normal vectors, as given the elements observed.

    **Raises** `SiteError` for a mask that is not bool, and for one that has not the batch shape, nor that of the values
    of a multivariate normal distribution.
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
    (index,) = np.nonzero(~mask.reshape(-1))
    if mask.shape == batch:
        event, entries = distribution.event_shape, Entries(distribution, batch, index)
    else:
        event, entries = (), _elements(site, distribution, batch, mask, index)
    missing = visit(
        Site(
            "sample",
            f"{site.name}_unobserved",
            entries,
            plates=(
                Frame(f"{site.name}_missing", len(index), -1, _labels(index, mask.shape, len(batch), plates)),
            ),
            where=site.where,
        )
    ).value
    flat = jnp.reshape(jnp.asarray(site.value), (-1, *event))
    flat = flat.astype(jnp.result_type(flat, missing)).at[index].set(missing)
    return visit(replace(site, value=flat.reshape(shape_of(site.value)), obs_mask=mask))


def _elements(
    site: Site,
    distribution: AbstractDistribution,
    batch: tuple[int, ...],
    mask: np.ndarray,
    index: np.ndarray,
) -> AbstractDistribution:
    """Return the distribution of missing elements of vectors, given the others."""
    from ..distributions.wrappers.normal_entries import NormalEntries, normal_of  # loads what few models need

    whole, normal = (*batch, *distribution.event_shape), normal_of(distribution)
    if mask.shape == whole and normal is not None:
        return NormalEntries(normal, batch, index, jnp.where(mask, jnp.asarray(site.value), 0.0))
    why = (
        f"an event of {type(distribution).__name__} is observed whole or not at all."
        if normal is None
        else f"or one for each element, shape {whole}."
    )
    raise SiteError(
        f"site {site.name!r} (at {site.where}): obs_mask has shape {mask.shape}, but the batch shape is {batch}. "
        f"Give one entry for each entry of the batch{': ' if normal is None else ', '}{why}"
    )


def _checked(site: Site, obs_mask: Any) -> np.ndarray:
    # Of a traced mask NumPy says that it has no numbers; a log density then makes a constant of the data it is from.
    try:
        mask = np.asarray(unmasked(obs_mask, f"site {site.name!r} (at {site.where}): obs_mask"))
    except jax.errors.TracerArrayConversionError as error:
        for each in handlers_around():
            if isinstance(each, Plate) and each.whole is not None:
                raise SiteError(
                    f"site {site.name!r} (at {site.where}): obs_mask says how many unknowns there are, and the plate "
                    f"{each.name!r} takes other {each.size} of its {each.whole} entries at each step. Where nothing "
                    "else depends on missing values, leave them out: `with handlers.mask(mask=ac.subsample(...)):` "
                    "around the site, in place of `obs_mask=`. Or leave subsample_size out and use infer.NUTS()."
                ) from None
        if any(isinstance(each, Boundary) for each in handlers_around()):
            error.add_note(f"{OF_STEPS}{site.name!r} (at {site.where}). {_REMEDY}")
        raise
    if mask.dtype != np.bool_:
        raise SiteError(
            f"site {site.name!r} (at {site.where}): obs_mask must be an array of True and False, got dtype "
            f"{mask.dtype}. Compare: `obs_mask=(m == 1)`."
        )
    return mask


def _labels(
    index: np.ndarray, shape: tuple[int, ...], num_batch: int, plates: tuple[Frame, ...]
) -> tuple[Any, ...]:
    """Label the places of entries by the labels of plates along an axis, else by numbers.

    They are as they stand along the one axis, and `"row,column"` where there are several.
    """
    coords = {frame.dim: frame.coords for frame in plates if frame.coords is not None}
    places = [
        [labels[place] for place in axis.tolist()]
        if (labels := coords.get(number - num_batch))
        else axis.tolist()
        for number, axis in enumerate(np.unravel_index(index, shape))
    ]
    if len(places) == 1:
        return tuple(places[0])
    return tuple(",".join(map(str, place)) for place in zip(*places, strict=True))
