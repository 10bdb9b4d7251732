"""Tell a kernel where the sites of a density lie, before its run, and what a pilot finds."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.precision import scope
from ..density import LogDensity
from ..density.bounds import bounds_of
from ..density.halves import check_halves
from ..density.minibatch import minibatch_of
from ..kernels import AbstractKernel
from ..kernels.places import Place, Places
from .start.base import AbstractStart


def placed_and_piloted(
    sampler: AbstractKernel, density: LogDensity, seed: int, stored: Mapping[str, Any] | None = None
) -> tuple[AbstractKernel, AbstractStart | None]:
    """Return a sampler for positions of a density, and where chains may start by its pilot; None without one.

    `stored` is the description of the sampler in a run that is taken up. Raises as `placed` and `piloted`.
    """
    sampler = placed(sampler, density)
    if not sampler.needs_series:
        return sampler, None
    from .pilot import piloted  # loads filters, which few runs need

    return piloted(sampler, density, seed, stored)


def placed(sampler: AbstractKernel, density: LogDensity) -> AbstractKernel:
    """Return a sampler for positions of a density.

    **Raises** `OptionError` for sites that it cannot move; `ModelError` for a density that it cannot temper, or take a
    part of; `SiteError` for one without a series, if it needs that.
    """
    if sampler.needs_halves:
        check_halves(density, f"infer.{type(sampler).__name__}")
    if sampler.needs_minibatch:
        minibatch_of(density, f"infer.{type(sampler).__name__}")
    layout, bounds = density.layout, bounds_of(density)
    sites = tuple(
        Place(each.name, each.start, each.stop, each.kind == "whole", bounds.get(each.name, ()))
        for each in layout.unknowns
    )
    known_as = tuple((name, site) for name, site in layout.settable.items() if name != site)
    places = Places(sites, known_as, series=_series_of(density, sampler))
    found = sampler.placed(places)
    sets = dict.fromkeys(found.at_once)
    if not sets:
        return found
    from .together import at_once  # loads what only models with discrete unknowns need

    tabled = tuple(
        each for names in sets for each in at_once(density, [site for site in sites if site.name in names])
    )
    return sampler.placed(replace(places, tabled=tabled)) if tabled else found


def _series_of(density: LogDensity, sampler: AbstractKernel) -> tuple[str, ...]:
    if not sampler.needs_series:
        return ()
    from ..particles.marginal import series_of  # loads filters

    with scope(density.program.precision):
        return series_of(density, type(sampler).__name__)
