"""Arrange the sites that a trace has found in a layout: their kinds, shapes, dims and places in a position."""

from collections.abc import Collection, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..core.errors import DistributionError, SiteError
from ..distributions import constraint
from ..distributions.constraint.each_step import EachStep
from ..distributions.wrappers.family import family
from ..language import Site
from ..language.integrals import Integral
from ..language.shapes import shape_of
from ..language.treatment import Computed, Eliminated
from .checks import improper, may_be_hidden
from .layout import Entry, Layout, chunked_plate
from .naming import check_dims, dims_of, labels_of

_TAKEN_WHOLE = constraint.Simplex | constraint.ZeroSum | constraint.Sphere | constraint.L1Ball


def layout_of(
    sites: list[Site],
    shapes: Mapping[str, tuple[int, ...]],
    names: Mapping[int, str],
    whole: Collection[str] = (),
    summed: Collection[str] = (),
) -> Layout:
    """Arrange the sites of a model in a layout.

    **Arguments**
    - `sites`: in the model's order.
    - `shapes`: by latent site, the shape of its unconstrained value.
    - `names`: by the identity of an array, the argument that it is.
    - `whole`: latent sites whose numbers are whole.
    - `summed`: latent sites that are discrete, and summed out.
    """
    entries: list[Entry] = []
    starts = [0, 0]  # of free numbers, and of whole ones
    for site in sites:
        is_latent = site.name in shapes
        if site.kind == "factor":
            kind = "factor"
        elif site.kind == "deterministic" or isinstance(site.treatment, Computed):
            kind = "deterministic"
        elif site.is_intervened:
            kind = "intervened"
        elif site.name in summed:
            kind = "collapsed"
        elif is_latent:
            kind = "whole" if site.name in whole else "latent"
        else:
            kind = "observed"
        shape = shape_of(site.value)
        unconstrained = shapes.get(site.name, ())
        start = starts[kind == "whole"]
        stop = start + int(np.prod(unconstrained)) if is_latent else start
        low, high = _bounds_of(site) if kind in ("whole", "collapsed") else (None, None)
        entries.append(
            Entry(
                name=site.name,
                kind=kind,
                shape=shape,
                dtype=str(jnp.result_type(site.value)),
                dims=dims_of(site, shape),
                start=start if is_latent else 0,
                stop=stop if is_latent else 0,
                unconstrained_shape=unconstrained,
                distribution=family(site.distribution),
                source=names.get(id(site.value), "")
                if kind == "observed" and not may_be_hidden(site)
                else "",
                auxiliary=site.treatment.auxiliary if isinstance(site.treatment, Computed) else "",
                plates=tuple(frame.name for frame in reversed(site.plates)),
                num_steps=len(site.steps),
                num_event=0 if site.distribution is None else len(site.distribution.event_shape),
                taken=_taken_of(site) if is_latent else "any",
                low=low,
                high=high,
                upto=_upto(site) if kind == "collapsed" else None,
                is_flat=is_latent and improper([site]) is not None,
            )
        )
        starts[kind == "whole"] = stop
    _check_named(sites, summed)
    labels = labels_of(sites)
    check_dims(tuple(entries))
    to_collapse = tuple(
        site.name for site in sites if isinstance(site.treatment, Eliminated) and site.name in shapes
    )
    return Layout(tuple(entries), labels, chunked_plate(sites), to_collapse, _integral_of(sites, to_collapse))


def _integral_of(sites: list[Site], names: Collection[str]) -> Integral | None:
    """Return the approximation by which sites are integrated out.

    **Raises** `SiteError` where they are not all by the same.
    """
    asked = {
        site.name: site.treatment.by
        for site in sites
        if site.name in names and isinstance(site.treatment, Eliminated)
    }
    by = next(iter(asked.values()), None)
    other = next((name for name, each in asked.items() if each != by), None)
    if other is not None:
        words = [
            f"{name!r} {'exactly' if asked[name] is None else f'by {asked[name]}'}"
            for name in (next(iter(asked)), other)
        ]
        raise SiteError(
            f"handlers.collapse: {' and '.join(words)} would be integrated out of one model. Sites are integrated out "
            "together: name all with one `by`. Laplace's approximation is exact for those that are normal given the "
            "rest."
        )
    return by


def _check_named(sites: list[Site], summed: Collection[str]) -> None:
    """Raise `SiteError` where `collapse` names some of the sites to be summed out."""
    named = [site.name for site in sites if site.name in summed and isinstance(site.treatment, Eliminated)]
    others = [site for site in sites if site.name in summed and site.name not in named]
    if named and others:
        first = others[0]
        raise SiteError(
            f"site {first.name!r} (at {first.where}) is latent and discrete, and handlers.collapse names others alone "
            f"({', '.join(map(repr, named))}). Name it too, so that it is summed out, or let the sampler move it."
        )


def _upto(site: Site) -> int | None:
    """Return the largest value of the sum over a site, where that leaves some of its values out or may do so."""
    upto = site.treatment.upto if isinstance(site.treatment, Eliminated) else None
    support = _support_of(site)
    upper = getattr(support.base if isinstance(support, EachStep) else support, "upper", None)
    is_known = upper is not None and not isinstance(upper, Tracer) and np.size(upper)
    return None if upto is None or (is_known and np.max(np.asarray(upper)) <= upto) else upto


def _bounds_of(site: Site) -> tuple[int | None, int | None]:
    """Return the least and the largest whole number that each entry of a site may have; None if it is not known."""
    if site.distribution is None:
        return None, None
    support = _support_of(site)
    if isinstance(support, constraint.Boolean):
        return 0, 1
    return _number(getattr(support, "lower", None)), _number(getattr(support, "upper", None))


def _support_of(site: Site) -> Any:
    """Return the support of one number, whatever is one event; None without one."""
    support = None if site.distribution is None else site.distribution.support
    while isinstance(support, constraint.Independent):
        support = support.base
    return support


def _number(bound: Any) -> int | None:
    """Return a bound that is one finite number for all entries, and known while the model is traced."""
    if bound is None or isinstance(bound, Tracer) or np.size(bound) == 0:
        return None
    values = np.unique(np.asarray(bound))
    return int(values[0]) if len(values) == 1 and np.isfinite(values[0]) else None


def _taken_of(site: Site) -> str:
    """Say which entries of an event are values too: see `Entry.taken`."""
    if site.distribution is None or not site.distribution.event_shape:
        return "any"
    try:
        support = site.distribution.support
    except DistributionError:  # which says why there is none, where it is needed
        return "none"
    while isinstance(support, constraint.Independent):
        support = support.base
    if not support.event_dim:
        return "any"
    if isinstance(support, constraint.PositiveDefinite):
        return "alike"
    return "all" if isinstance(support, _TAKEN_WHOLE) else "none"
