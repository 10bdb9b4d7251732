"""Reduce each site of a model to its one number in the log density, with masks and scale."""

import functools
from collections.abc import Collection, Iterable
from typing import Any

import jax
import jax.numpy as jnp

from ..core.errors import SiteError
from ..distributions import AbstractDistribution
from ..distributions.wrappers.counted import counted
from ..distributions.wrappers.family import family
from ..language import Site
from ..language.messages.places import note_site
from ..language.treatment import Whole
from .weights import Parts


def term(site: Site) -> jax.Array | None:
    """Compute what a site adds, shape `()`: sum(mask * scale * log_prob) + log_det; `None` for nothing.

    One sum for each site, and no operation that a mask, scale or Jacobian would need where there is none.
    """
    if site.kind == "deterministic" or site.is_intervened:
        return None
    entries = pointwise(site)
    parts = [part for part in (entries, _jacobian(site)) if part is not None]
    if not parts:
        return None
    if len(parts) == 2 and jnp.shape(parts[0]) == jnp.shape(parts[1]):
        return total(parts[0] + parts[1])
    return sum(map(total, parts[1:]), start=total(parts[0]))


def pointwise(site: Site) -> jax.Array | None:
    """Compute what each batch entry adds, without Jacobians: mask * scale * log_prob; `None` for nothing at all."""
    entries = _log_prob(site) if site.kind == "sample" else site.value if site.kind == "factor" else None
    if entries is not None and site.scale is not None:
        entries = entries * site.scale
    if entries is not None and site.mask is not None:
        entries = jnp.where(jnp.asarray(site.mask), entries, jnp.zeros_like(entries))
    return entries


def counts_of(site: Site) -> jax.Array | None:
    """Say which batch entries count, by masks and by a scale that is not zero; `None` if nothing leaves any out."""
    parts = [counted(site.distribution)]
    parts += [] if site.mask is None else [site.mask]
    parts += [] if site.scale is None else [jnp.asarray(site.scale) != 0]
    found = [jnp.broadcast_to(part, site.batch_shape) for part in parts if part is not None]
    return functools.reduce(jnp.logical_and, found) if found else None


def log_prob_of(sites: Iterable[Site], dtype: Any) -> jax.Array:
    """Compute what some sites add to the log density together, without Jacobians, shape `()`."""
    return _sum(map(pointwise, sites), dtype)


def log_jacobian_of(sites: Iterable[Site], dtype: Any) -> jax.Array:
    """Sum the Jacobians of some sites, shape `()`."""
    return _sum(map(_jacobian, sites), dtype)


def parts_of(sites: Iterable[tuple[str, Site]], latents: Collection[str], dtype: Any) -> Parts:
    """Compute what some sites add to each part of the log density; the prior is that of the latents."""
    counted = [
        (name, site) for name, site in sites if site.kind != "deterministic" and not site.is_intervened
    ]
    return Parts(
        log_prob_of((site for name, site in counted if name in latents), dtype),
        log_jacobian_of((site for _, site in counted), dtype),
        log_prob_of((site for name, site in counted if name not in latents), dtype),
    )


def total(entries: Any) -> jax.Array:
    """Sum all entries of an array, shape `()`."""
    entries = jnp.asarray(entries)
    return jax.lax.reduce_sum(entries, tuple(range(entries.ndim))) if entries.ndim else entries


def num_non_finite(site: Site) -> jax.Array:
    """Count the observed entries that are NaN or infinite and not masked; int32 of shape `()`.

    A distribution's own mask is seen by its log probability, which is finite where the mask hides the value.
    """
    value = jnp.asarray(site.value)
    batch = len(site.batch_shape)
    is_bad = jnp.any(~jnp.isfinite(value), axis=tuple(range(batch, value.ndim)))
    if site.mask is not None:
        is_bad = is_bad & site.mask
    if site.distribution is not None:
        is_bad = is_bad & ~jnp.isfinite(site.distribution.log_prob(value))
    return total(is_bad.astype(jnp.int32))


def _sum(terms: Iterable[Any], dtype: Any) -> jax.Array:
    return sum((total(each) for each in terms if each is not None), start=jnp.zeros((), dtype))


def _jacobian(site: Site) -> jax.Array | None:
    """Return the log determinant of a site; whole numbers have none."""
    return None if isinstance(site.treatment, Whole) else site.log_det


def _log_prob(site: Site) -> jax.Array | None:
    distribution, value = site.distribution, site.value
    if distribution is None or site.mask is False:
        return None
    if site.mask is not None and site.log_det is None:
        # The value too is replaced under the mask: zero times the gradient of a NaN would be NaN.
        value = jnp.where(
            _over_event(site.mask, distribution), value, distribution.support.feasible_like(value)
        )
    try:
        entries = distribution.log_prob(value)
    except Exception as error:
        note_site(error, site, f"the log density of {family(distribution)} was computed")
        raise
    if entries.shape != site.batch_shape:
        raise SiteError(
            f"site {site.name!r} (at {site.where}): log_prob of {family(distribution)} has shape "
            f"{entries.shape}, but the batch shape is {site.batch_shape}. `log_prob` must return "
            "one number for each entry of the batch."
        )
    if isinstance(site.treatment, Whole) and site.log_det is not None:
        return entries + site.log_det
    return entries


def _over_event(mask: Any, distribution: AbstractDistribution) -> jax.Array:
    mask = jnp.asarray(mask)
    return mask.reshape(mask.shape + (1,) * len(distribution.event_shape))
