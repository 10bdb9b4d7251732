"""Tell a kernel where the sites of a density lie, before its run."""

from dataclasses import replace

from ..core.precision import scope
from ..density import LogDensity
from ..density.bounds import bounds_of
from ..density.halves import check_halves
from ..density.minibatch import minibatch_of
from ..kernels import AbstractKernel
from ..kernels.places import Place, Places
from ..particles.marginal import series_of
from .together import at_once


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
    with scope(density.program.precision):
        series = series_of(density, type(sampler).__name__) if sampler.needs_series else ()
    places = Places(sites, known_as, series=series)
    found = sampler.placed(places)
    tabled = tuple(
        each
        for names in dict.fromkeys(found.at_once)
        for each in at_once(density, [site for site in sites if site.name in names])
    )
    return sampler.placed(replace(places, tabled=tabled)) if tabled else found
