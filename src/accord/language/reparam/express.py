"""Put a site's auxiliary variable and the map from it in the place of the site."""

from collections.abc import Callable
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import DistributionError, SiteError
from ..shapes import fitted
from ..site import Site
from ..treatment import Auxiliary, Computed, Free, Reparameterised
from .base import SUFFIX, AbstractReparam, Parts
from .wrapped import is_masked, parts_of


def express(site: Site, how: Reparameterised, origin: Site, visit: Callable[[Site], Site]) -> Site:
    """Visit the auxiliary variable of a latent site, and return the site with the value that follows from it.

    Where nothing weighs the site, the auxiliary has the log density and the site none. A mask or scale is about the
    density of the site itself: then the site keeps it, and the auxiliary has the Jacobian of the map alone.

    **Arguments**
    - `site`: as the handlers left it, without a value, and its treatment; `origin`: as the statement made it.
    - `visit`: of the interpreter.

    **Raises** `SiteError` where the reparameterisation is not made for the site's distribution, and for a site
    that has a bijector of its own.
    """
    site = fitted(site)
    parts = _parts_of(site, how.reparam)
    if parts is None:
        return replace(site, treatment=Free(how.bijector))
    if how.bijector is not None:
        raise SiteError(
            f"site {site.name!r} (at {site.where}) is reparameterised, and has a bijector by `handlers.infer_config`. "
            f"What is sampled is {origin.name + SUFFIX!r}: name that."
        )
    is_weighted = (
        site.is_weighted_outside
        or site.mask is not None
        or site.scale is not None
        or is_masked(site.distribution)
    )
    auxiliary = replace(
        origin,
        name=origin.name + SUFFIX,
        distribution=parts.auxiliary,
        value=None,
        dims=_dims_of(site, how.reparam, origin, parts),
        wanted=None if site.wanted is None else parts.way.inverse(site.wanted),
        role=Auxiliary(parts.way if is_weighted else None),
    )
    found = visit(auxiliary)
    value = parts.way.forward(found.value)
    site = replace(site, value=value, choose=None, treatment=Computed(found.name))
    if is_weighted and not found.is_intervened:
        return site
    return replace(site, kind="deterministic", mask=None, scale=None)


def as_written(site: Site) -> Site:
    """Return a site without a reparameterisation that changes nothing, so that handlers further out choose its value.

    A distribution that it is not made for is left to `express`: the site may be given a value.
    """
    how, distribution = site.treatment, site.distribution
    if not isinstance(how, Reparameterised) or distribution is None or not site.is_latent:
        return site
    found: list[Parts | None] = []
    try:
        jax.eval_shape(lambda: found.append(parts_of(how.reparam, distribution)))  # nothing of it is computed
    except DistributionError:
        return site
    return replace(site, treatment=Free(how.bijector)) if found == [None] else site


def weighted_by_volume(site: Site) -> Site:
    """Replace the density of an auxiliary variable by the Jacobian of the map from it."""
    if not isinstance(site.role, Auxiliary) or site.role.volume is None or site.is_intervened:
        return site
    volume = site.role.volume.forward_and_log_det(site.value)[1]
    log_det = volume if site.log_det is None else jnp.sum(volume) + jnp.sum(site.log_det)
    return replace(site, log_det=log_det, mask=False, scale=None, role=Auxiliary())


def _parts_of(site: Site, reparam: AbstractReparam) -> Parts | None:
    distribution = site.distribution
    if distribution is None:
        return None
    try:
        parts = parts_of(reparam, distribution)
    except DistributionError as error:
        raise SiteError(
            f"site {site.name!r} (at {site.where}): {type(reparam).__name__} cannot reparameterise it: {error}"
        ) from error
    if parts is None:
        return None
    before, batch = tuple(distribution.batch_shape), tuple(parts.auxiliary.batch_shape)
    if batch != before and not (_spreads(before, batch) and _spreads(batch, site.batch_shape)):
        raise SiteError(
            f"site {site.name!r} (at {site.where}): {type(reparam).__name__} makes of its batch shape "
            f"{site.batch_shape} another one, {batch}; but entries of a batch are independent, and must stay so. What "
            "has a number for each entry needs that shape; axes on which a map acts belong to the event, by "
            "`.to_event(...)`."
        )
    return parts


def _dims_of(
    site: Site, reparam: AbstractReparam, origin: Site, parts: Parts
) -> tuple[tuple[str, tuple[object, ...] | None], ...]:
    """Name the axes of the auxiliary, as far as they are axes of the value."""
    if site.distribution is None or not origin.dims:
        return ()
    is_same = np.array_equal(parts.auxiliary.event_shape, site.distribution.event_shape)
    return origin.dims if is_same and reparam.keeps_axes else ()


def _spreads(shape: tuple[int, ...], batch: tuple[int, ...]) -> bool:
    """Return whether a shape broadcasts to another."""
    try:
        return np.broadcast_shapes(shape, batch) == batch
    except ValueError:
        return False
