"""Find discrete sites that are better drawn at once than one entry after the other."""

import hashlib
from collections.abc import Sequence

import numpy as np
from jax.errors import JaxRuntimeError

from ..core.errors import AccordError, SiteError
from ..density import LogDensity
from ..density.eliminate.discrete.redrawn import Check, Redraw
from ..density.rows.row_files import in_memory
from ..kernels.entries import num_evaluations
from ..kernels.places import AtOnce, Place
from ..programs.cache import ProgramCache

MAX_SITES = 8
"""Sites for which tables are tried: of 25 labels in a loop, they take ten times longer to compile than visits."""

_PLANS: ProgramCache[tuple[Redraw, Check] | None] = ProgramCache(16)
"""Plans of the last models: runs of a calibration differ in their data alone."""


def at_once(density: LogDensity, sites: Sequence[Place]) -> tuple[AtOnce, ...]:
    """Return sets of the sites of a block, each to be drawn at once given all else: one of all, or of some each.

    All sites are drawn together where they can be. Else this is each one that can be drawn given the others, and these
    are one set if they can be drawn together. A set counts if its draw takes no more log probabilities than to visit
    its entries, and if it has at most `MAX_SITES` sites.
    """
    if len(sites) <= MAX_SITES and (found := _together(density, sites)):
        return (found,)
    # What is drawn at once is evaluated too, so that this pays for no site of one entry.
    several = [site for site in sites if len(site.bounds or ()) > 1]
    if len(sites) == 1 or len(several) > MAX_SITES:
        return ()
    each = [(site, _together(density, [site])) for site in several]
    alone = [(site, found) for site, found in each if found is not None]
    if 1 < len(alone) < len(sites) and (found := _together(density, [site for site, _ in alone])):
        return (found,)
    return tuple(found for _, found in alone)


def _together(density: LogDensity, sites: Sequence[Place]) -> AtOnce | None:
    redraw = _planned(density, sites)
    if redraw is None:
        return None
    num_visits = sum(map(num_evaluations, sites))
    is_less = redraw.num_all + redraw.num_each <= redraw.num_each * num_visits
    return AtOnce(tuple(site.name for site in sites), redraw) if is_less else None


def _planned(density: LogDensity, sites: Sequence[Place]) -> Redraw | None:
    """Plan a draw, or find the plan that other data of the same model had."""
    names = tuple(site.name for site in sites)

    def plan() -> tuple[Redraw, Check] | None:
        try:
            return Redraw.of(density, names)
        except (AccordError, NotImplementedError, TypeError, ValueError, JaxRuntimeError):
            # No tables: the sites are visited. Beside accord's own reasons, a model's code may not be made for several
            # values at once, such as an operation without a rule for `vmap`, or a callback that refuses some.
            return None

    bounds = tuple(end for site in sites for each in site.bounds or () for end in each)
    if None in bounds:  # how many values there are may be a matter of the data
        found = plan()
        return found and found[0]
    found, is_known = _PLANS.get((density.program, names, bounds, _unobserved(density)), plan)
    if found is not None and is_known:
        try:
            found[1](density.data)
        except SiteError:
            found = plan()
    return found and found[0]


def _unobserved(density: LogDensity) -> tuple[tuple[str, str], ...]:
    """Return digests of the data that are not just observed: indices among them decide which entries meet."""
    sources = {entry.source for entry in density.layout.observed}
    return tuple(
        (name, hashlib.sha256(np.asarray(value).tobytes()).hexdigest())
        for name, value in in_memory(density.data).items()
        if name not in sources
    )
