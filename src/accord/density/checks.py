"""Judge what tracing found: whether there is a posterior, and whether what is observed are numbers."""

from collections.abc import Iterable
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from ..core.errors import ModelError, SiteError
from ..distributions import ImproperUniform, constraints
from ..distributions.wrappers.wrappers import MaskedDistribution
from ..language import Site
from .layout import Entry, Layout


def check_proper(sites: Iterable[Site]) -> None:
    """Raise `ModelError` where a flat prior on an infinite set meets no data at all: there is no posterior."""
    sites = tuple(sites)
    if any(site.is_observed or site.kind == "factor" for site in sites):
        return
    for site in sites:
        nodes = jax.tree.leaves(site.distribution, is_leaf=lambda node: isinstance(node, ImproperUniform))
        if any(isinstance(node, ImproperUniform) and not _is_bounded(node.constraint) for node in nodes):
            raise ModelError(
                f"site {site.name!r} (at {site.where}) has an improper prior, and the model observes nothing: the "
                "posterior does not integrate to one. Observe data, add a factor, or give the site a proper prior."
            )


def check_finite(entry: Entry, pieces: Iterable[np.ndarray]) -> None:
    """Raise `SiteError` if any of a site's observed values, given in pieces, is NaN or infinite."""
    counts = [(np.count_nonzero(~np.isfinite(piece)), np.count_nonzero(np.isnan(piece))) for piece in pieces]
    count, num_nan = (int(sum(each)) for each in zip(*counts, strict=True))
    if count:
        raise SiteError(non_finite_message(entry, count, num_nan))


def non_finite_message(entry: Entry, count: int, num_nan: int | None = None) -> str:
    """Say how many observed values of a site cannot be used, and what to do."""
    what = {None: "NaN or infinite", count: "NaN", 0: "infinite"}.get(num_nan, f"NaN ({num_nan}) or infinite")
    total = int(np.prod(entry.shape))
    return (
        f"site {entry.name!r}: {count} of {total} observed values are {what}. Leave them out by "
        f"`with handlers.mask(mask=jnp.isfinite({entry.name})):` around the site, or drop them from the data."
    )


def check_same_sites(layout: Layout, sites: Iterable[str]) -> None:
    """Raise `ModelError` where a model has other sites than when it was first traced."""
    known, found = dict.fromkeys(entry.name for entry in layout.sites), dict.fromkeys(sites)
    for name in known:
        if name not in found:
            raise changed_site(name, "is not there now and was")
    for name in found:
        if name not in known:
            raise changed_site(name, "is there now and was not")


def changed_site(name: str, how: str) -> ModelError:
    """The error for a site that another run of the model has, or has not."""
    return ModelError(
        f"site {name!r} {how} when the model was first traced. The sites of a model must not change from one run to "
        "the next: let them depend on its arguments alone, and not on globals, files, random numbers of Python or the "
        "time."
    )


def may_be_hidden(site: Site) -> bool:
    """Whether something may hide observed values, so that they cannot be judged without running the model."""

    def is_mask(node: Any) -> bool:
        return isinstance(node, MaskedDistribution) or getattr(node, "observed", None) is not None

    return site.mask is not None or any(map(is_mask, jax.tree.leaves(site.distribution, is_leaf=is_mask)))


def _is_bounded(constraint: constraints.Constraint) -> bool:
    match constraint:
        case constraints.independent():
            return _is_bounded(constraint.base)
        case constraints.interval() | constraints.open_interval():
            bounds = (constraint.lower, constraint.upper)
            return all(isinstance(bound, Tracer) or bool(np.all(np.isfinite(bound))) for bound in bounds)
        case _:
            return constraint == constraints.simplex
