"""Settle a site: fit its distribution to the plates, choose its value, and check the value's shape.

Nothing is broadcast into a log density: the value must have exactly the batch and event shape of its site.
"""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import DataError, SiteError
from ..distributions import AbstractDistribution
from ..distributions.wrappers.family import family
from .columns import as_numbers, refuse_levels
from .messages.diagram import diagram, differing, plates_row, shape_row
from .messages.remedies import for_factor, for_parameters, for_value
from .site import Site


def settle(site: Site) -> Site:
    """Return the site with a distribution of the right batch shape and with a value.

    **Raises** `SiteError` when the distribution does not fit the plates, the value does not fit the distribution, a
    mask or scale does not fit the batch shape, or there is no value; `DataError` for a value that is not
    an array of numbers.
    """
    if site.distribution is None:
        if site.kind in ("key", "subsample") and site.value is None:
            raise SiteError(
                f"{'plate' if site.kind == 'subsample' else 'random key'} {site.name!r} (at {site.where}): nothing in "
                "this run gives random numbers. Draw from the model by `handlers.seed(model, key)`."
            )
        return _check_factor(site) if site.kind == "factor" else site
    site = fitted(site)
    if site.value is None:
        if site.choose is None:
            raise SiteError(
                f"site {site.name!r} (at {site.where}) has no value: nothing in this run draws latent sites. Use "
                "`infer.sample` for the posterior, or `handlers.seed(model, key)` to draw from the prior."
            )
        site = site.choose(site)
    _check_value(site)
    _check_weights(site)
    if site.obs_mask is not None and site.obs_mask.ndim > len(site.batch_shape):
        from ..distributions.wrappers.normal_entries import part_of  # loads what few models need

        return replace(site, distribution=part_of(site.distribution, site.batch_shape, site.obs_mask))
    if site.obs_mask is not None and site.mask is not False:
        shown = site.mask is None or site.mask is True
        return replace(site, mask=site.obs_mask if shown else site.obs_mask & site.mask)
    return site


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of an array, a tracer or a Python number."""
    return tuple(value.shape) if hasattr(value, "shape") else np.shape(value)


def as_array(value: Any, name: str) -> Any:
    """Return an observed value as given, or as a NumPy array if it is a list of numbers or a column of a data frame.

    **Raises** `DataError` for anything that is not numbers, and for complex ones.
    """
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, jax.Array):
        check_real(f"site {name!r}: the value given", value)
        return value
    refuse_levels(value, f"site {name!r}")
    value = as_numbers(value, f"site {name!r}: the value given")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise DataError(
            f"site {name!r}: the rows of the value have different lengths. Put them into one array, and say by an "
            "array of integers to which group each entry belongs."
        ) from error
    if array.dtype.kind not in "biufc":
        raise DataError(
            f"site {name!r}: the value given is {type(value).__name__} of dtype {array.dtype}, not numbers. "
            "Convert it first, for instance with `np.asarray(value, float)`."
        )
    check_real(f"site {name!r}: the value given", array)
    return array


def check_real(what: str, value: Any) -> None:
    """Refuse complex numbers, of which a log density would take the real part alone.

    **Raises** `DataError`.
    """
    dtype = getattr(value, "dtype", None)
    is_complex = isinstance(value, complex) if dtype is None else jnp.issubdtype(dtype, jnp.complexfloating)
    if is_complex:
        raise DataError(
            f"{what} is complex ({dtype or 'complex'}), and sites have real numbers, so the imaginary part would "
            "be lost. Give the real and imaginary parts, `z.real` and `z.imag`, each a site or an axis of its own."
        )


def fitted(site: Site) -> Site:
    """Return the site with a distribution of the batch shape that the plates make.

    **Raises** `SiteError` where they do not fit.
    """
    distribution = site.distribution
    if distribution is None:
        return site
    own, plates = tuple(distribution.batch_shape), site.plate_shape
    for frame in site.plates:
        size = own[frame.dim] if -frame.dim <= len(own) else 1
        if size not in (1, frame.size):
            wrong = [f.dim for f in site.plates if -f.dim <= len(own) and own[f.dim] not in (1, f.size)]
            drawn = diagram([plates_row(site.plates), shape_row(_label(distribution), own)], wrong)
            raise SiteError(
                f"site {site.name!r} (at {site.where}): {_label(distribution)} has batch shape {own}, but the plate "
                f"{frame.name!r} has size {frame.size} at dim {frame.dim}. {for_parameters(site.plates, own)}{drawn}"
            )
    batch = np.broadcast_shapes(own, plates)
    # A missing leading part is left to the value's own shape: expanding would only add operations.
    if own == batch[len(batch) - len(own) :]:
        return site
    return replace(site, distribution=distribution.expand(batch))


def _check_factor(site: Site) -> Site:
    wanted, found = (*site.lengths, *site.plate_shape), shape_of(site.value)
    if site.plates and found != wanted:
        drawn = diagram([plates_row(site.plates), shape_row("factor", found)], differing(found, wanted))
        raise SiteError(
            f"factor {site.name!r} (at {site.where}) has shape {found}, but the plates around it make {wanted}; "
            f"nothing is broadcast into a log density. {for_factor(found, wanted)}{drawn}"
        )
    return site


def _check_value(site: Site) -> None:
    distribution = site.distribution
    if distribution is None:
        return
    check_real(f"site {site.name!r} (at {site.where}): the value", site.value)
    batch, event = site.batch_shape, tuple(distribution.event_shape)
    found = shape_of(site.value)
    if found == (*batch, *event):
        return
    plates = "".join(f" Plate {f.name!r} has size {f.size} at dim {f.dim}." for f in site.plates)
    rows = [
        plates_row(site.plates, len(event)),
        shape_row("batch", batch, len(event)),
        shape_row("event", event),
        shape_row("value", found),
    ]
    raise SiteError(
        f"site {site.name!r} (at {site.where}): the value has shape {found}, but {_label(distribution)} needs batch "
        f"{batch} + event {event}.{plates} {for_value(site, found, batch, event)}"
        f"{diagram(rows, differing(found, (*batch, *event)))}"
    )


def _check_weights(site: Site) -> None:
    for word, weight in (("mask", site.mask), ("scale", site.scale)):
        found, batch = shape_of(weight) if weight is not None else (), site.batch_shape
        if found and not _fits(found, batch):
            sizes = dict(zip(range(-len(batch), 0), batch, strict=True))
            wrong = [i for i in range(-len(found), 0) if i not in sizes or found[i] not in (1, sizes[i])]
            rows = [plates_row(site.plates), shape_row("batch", batch), shape_row(word, found)]
            remedy = "Give one entry for each entry of the batch."
            if found == batch[::-1]:
                remedy = f"Transpose it, `{word}.T`, or enter the plates the other way round."
            raise SiteError(
                f"site {site.name!r} (at {site.where}): the {word} has shape {found}, which does not fit the site's "
                f"batch shape {batch}. {remedy}{diagram(rows, wrong)}"
            )


def _fits(shape: tuple[int, ...], batch: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, batch) == batch
    except ValueError:
        return False


def _label(distribution: AbstractDistribution) -> str:
    return family(distribution)
