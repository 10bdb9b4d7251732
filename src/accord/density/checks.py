"""Judge what tracing found: whether there is a posterior, and whether observed values are finite numbers."""

from collections.abc import Iterable, Mapping
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from ..bijectors import AbstractBijector
from ..core.errors import DistributionError, ModelError, SiteError
from ..distributions import Flat, FlatPos, ImproperUniform, biject_to, constraints
from ..distributions.wrappers.wrappers import MaskedDistribution
from ..language import Site
from ..language.handlers.infer_config import map_of
from .layout import Entry, Layout
from .rows.row_files import pieces_in_memory

_FLAT = (Flat, FlatPos, ImproperUniform)
_BOUNDED = (
    constraints.simplex,
    constraints.boolean,
    constraints.corr_cholesky,
    constraints.corr_matrix,
    constraints.l1_ball,
)
_LEVELS = (-5.0, -2.0, 0.0, 2.0, 5.0)  # unconstrained, at which a map is looked at


def check_proper(sites: Iterable[Site]) -> None:
    """Raise `ModelError` where a flat prior on an infinite set meets no data at all: there is no posterior."""
    sites = tuple(sites)
    if any(site.is_observed or site.kind == "factor" for site in sites):
        return
    site = improper(sites)
    if site is not None:
        raise ModelError(
            f"site {site.name!r} (at {site.where}) has an improper prior, and the model observes nothing: the "
            "posterior does not integrate to one. Observe data, add a factor, or give the site a proper prior."
        )


def improper(sites: Iterable[Site]) -> Site | None:
    """Return the first site with a flat prior on an infinite set; None if there is none."""
    for site in sites:
        nodes = jax.tree.leaves(site.distribution, is_leaf=lambda node: isinstance(node, _FLAT))
        if any(isinstance(node, _FLAT) and not _is_finite(node) for node in nodes):
            return site
    return None


def _is_finite(prior: Any) -> bool:
    return isinstance(prior, ImproperUniform) and _is_bounded(prior.constraint)


def check_maps(sites: Iterable[Site]) -> None:
    """Raise `SiteError` where a map chosen for a latent site does not cover its support, one to one.

    Seen at a few places of both maps, its own and the support's. What has arrays for parameters, which are data of the
    program, is not known yet and not looked at.
    """
    for site in sites:
        if site.bijector is None or site.distribution is None:
            continue
        support = site.distribution.support
        leaves = jax.tree.leaves((support, site.bijector))
        if any(isinstance(leaf, Tracer) for leaf in leaves):
            continue
        shape = (*site.batch_shape, *site.distribution.event_shape)
        with jax.ensure_compile_time_eval():
            own, given = biject_to(support), map_of(site)
            try:
                is_good = all(_covers(given, own.forward(x)) for x in _spread(own.inverse_shape(shape)))
                is_good &= all(
                    bool(np.all(support(given.forward(x)))) for x in _spread(given.inverse_shape(shape))
                )
                problem = None
            except (
                TypeError,
                ValueError,
                DistributionError,
            ) as error:  # such as arrays that do not fit each other
                is_good, problem = False, error
        if not is_good:
            raise SiteError(
                f"site {site.name!r} (at {site.where}): infer_config gives it the bijector {site.bijector!r}, which is "
                f"no map onto its support: values of the site must be {support.describe()}. Give one that is, or leave "
                f"it out for {type(biject_to(support)).__name__}.{'' if problem is None else f' ({problem})'}"
            ) from problem


def _spread(shape: tuple[int, ...]) -> list[np.ndarray]:
    """Return unconstrained values near the centre and out to where maps are steep or flat."""
    random = np.random.default_rng(0)
    return [level + 0.5 * random.normal(size=shape) for level in _LEVELS]


def _covers(bijector: AbstractBijector, value: jax.Array) -> bool:
    """Return whether a value of the support is an image of a map."""
    back, log_det = bijector.forward_and_log_det(bijector.inverse(value))
    tolerance = np.sqrt(np.finfo(value.dtype).eps)
    return bool(np.allclose(back, value, rtol=tolerance, atol=tolerance)) and bool(
        np.all(np.isfinite(log_det))
    )


def check_data_finite(layout: Layout, known: Mapping[str, Any]) -> None:
    """Raise `SiteError` if observed floats that are data as they are, by name, are NaN or infinite.

    Arrays that JAX traces are left to the program.
    """
    for entry in layout.observed:
        value = known[entry.source] if entry.source else None
        if value is None or isinstance(value, Tracer) or np.dtype(value.dtype).kind != "f":
            continue
        check_finite(entry, pieces_in_memory(value))


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
    """Build the error for a site that only one of two runs of the model has."""
    return ModelError(
        f"site {name!r} {how} when the model was first traced. The sites of a model must not change from one run to "
        "the next: let them depend on its arguments alone, and not on globals, files, random numbers of Python or the "
        "time."
    )


def may_be_hidden(site: Site) -> bool:
    """Return whether something may hide observed values, so that only running the model can judge them."""

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
        case constraints.integer_interval():
            return True
        case _:
            return any(constraint == each for each in _BOUNDED)
