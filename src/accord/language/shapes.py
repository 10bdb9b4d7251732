"""Settle a site: fit its distribution to the plates, choose its value, and check the value's shape.

Nothing is broadcast into a log density: the value must have exactly the batch and event shape of its site.
"""

import math
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from ..core.errors import DataError, SiteError
from ..distributions import AbstractDistribution
from .site import Site


def settle(site: Site) -> Site:
    """Return the site with a distribution of the right batch shape and with a value.

    **Raises** `SiteError` when the distribution does not fit the plates, the value does not fit the distribution, a
    mask or scale does not fit the batch shape, or nobody says what the value is; `DataError` for a value that is not
    an array of numbers.
    """
    if site.distribution is None:
        return _check_factor(site) if site.kind == "factor" else site
    site = _fit_distribution(site, site.distribution)
    if site.value is None:
        if site.choose is None:
            raise SiteError(
                f"site {site.name!r} (at {site.where}) has no value: nothing in this run draws latent sites. Use "
                "`infer.sample` for the posterior, or `handlers.seed(model, key)` to draw from the prior."
            )
        site = site.choose(site)
    _check_value(site)
    _check_weights(site)
    return site


def shape_of(value: Any) -> tuple[int, ...]:
    """Shape of an array, a tracer or a Python number."""
    return tuple(value.shape) if hasattr(value, "shape") else np.shape(value)


def as_array(value: Any, name: str) -> Any:
    """An observed value as given, or as a NumPy array if it is a list of numbers.

    **Raises** `DataError` for anything that is not numbers.
    """
    if isinstance(value, (jax.Array, bool, int, float)):
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise DataError(
            f"site {name!r}: the value given is {type(value).__name__} of dtype {array.dtype}, not numbers. "
            "Convert it first, for instance with `np.asarray(value, float)`."
        )
    return array


def _fit_distribution(site: Site, distribution: AbstractDistribution) -> Site:
    own, plates = tuple(distribution.batch_shape), site.plate_shape
    for frame in site.plates:
        size = own[frame.dim] if -frame.dim <= len(own) else 1
        if size not in (1, frame.size):
            raise SiteError(
                f"site {site.name!r} (at {site.where}): {_label(distribution)} has batch shape {own}, but the plate "
                f"{frame.name!r} has size {frame.size} at dim {frame.dim}. Give the plate the size {size}, or index "
                "the parameters so that they follow the plate."
            )
    batch = np.broadcast_shapes(own, plates)
    # A missing leading part is left to the value's own shape: expanding would only add operations.
    if own == batch[len(batch) - len(own) :]:
        return site
    return replace(site, distribution=distribution.expand(batch))


def _check_factor(site: Site) -> Site:
    wanted, found = site.plate_shape, shape_of(site.value)
    if site.plates and found != wanted:
        raise SiteError(
            f"factor {site.name!r} (at {site.where}) has shape {found}, but the plates around it make {wanted}; "
            "nothing is broadcast into a log density. Move it out of the plate, or give it one value for each entry."
        )
    return site


def _check_value(site: Site) -> None:
    distribution = site.distribution
    if distribution is None:
        return
    batch, event = site.batch_shape, tuple(distribution.event_shape)
    found = shape_of(site.value)
    if found == (*batch, *event):
        return
    plates = "".join(f" Plate {f.name!r} has size {f.size} at dim {f.dim}." for f in site.plates)
    raise SiteError(
        f"site {site.name!r} (at {site.where}): the value has shape {found}, but {_label(distribution)} needs batch "
        f"{batch} + event {event}.{plates} {_remedy(site, found, (*batch, *event))}"
    )


def _remedy(site: Site, found: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    extra = len(found) - len(wanted)
    if extra > 0 and found[extra:] == wanted:
        lines = [f'with ac.plate("{site.name}_plate{_number(i, extra)}", {found[i]}):' for i in range(extra)]
        return f"If the entries are independent, say so: `{' '.join(lines)}`."
    if math.prod(found) == math.prod(wanted):
        return (
            f"Both have {math.prod(found)} entries in another arrangement: make the parameters' shape {found} (drop a "
            "trailing dimension of 1, for instance by `[:, 0]`), or reshape the value."
        )
    if extra > 0:
        return (
            "The value has more dimensions than the site: reshape the parameters, or add plates of its sizes."
        )
    return "Nothing is broadcast into a log density: give one value for each entry, or index the parameters."


def _number(index: int, count: int) -> str:
    return "" if count == 1 else f"_{index}"


def _check_weights(site: Site) -> None:
    for word, weight in (("mask", site.mask), ("scale", site.scale)):
        found = shape_of(weight) if weight is not None else ()
        if found and not _fits(found, site.batch_shape):
            raise SiteError(
                f"site {site.name!r} (at {site.where}): the {word} has shape {found}, which does not fit the site's "
                f"batch shape {site.batch_shape}. Give one entry for each entry of the batch."
            )


def _fits(shape: tuple[int, ...], batch: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, batch) == batch
    except ValueError:
        return False


def _label(distribution: AbstractDistribution) -> str:
    return type(distribution).__name__
