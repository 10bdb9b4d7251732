"""Find the parameters with an entry for each copy of a plate of which a step takes a part.

A step moves the entries that it has visited, and no others: of these its gradient says nothing, and what the optimiser
remembers of earlier steps is no reason to move them.
"""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ...core.precision import scope
from ...core.tree import shapes
from ...density.dependence.taken import takes_along
from ...density.minibatch import Minibatch
from ...guides.base import AbstractGuide
from ..plateau import ELBOPlateau
from .guide import Written
from .matched import Sites, parted
from .target import WithGuide

PASSES = 20
"""Passes over the entries of such parameters, in which a fit is to gain nothing before it is said to be over: an entry
moves once in a pass, by about one step size."""


def watched(until: ELBOPlateau | None, guide: AbstractGuide) -> ELBOPlateau | None:
    """Return the rule that may end a fit, with windows of enough passes where a guide has such parameters.

    A window that was given is kept.
    """
    if until is None or until.window is not None or not isinstance(guide, Written) or not guide.known.rows:
        return until
    return replace(until, window=max(until.width, PASSES * guide.known.epoch))


def epoch_of(whole: Sites, part: Sites) -> int:
    """Return the steps in which each entry of every plate comes once, from sites of the guide."""
    sizes = {frame.name: frame.size for site in whole.values() for frame in site.plates}
    counts = {frame.name: frame.size for site in part.values() for frame in site.plates}
    return max((-(-size // counts[name]) for name, size in sizes.items()), default=1)


def rows_in(guide: Written, minibatch: Minibatch, whole: Sites, part: Sites) -> dict[str, int]:
    """Return the axis of these entries by parameter, of guide and model.

    Of such a parameter a step sees the entries that `ac.subsample`, or the index of the plate, takes, and no others.

    `whole` and `part`: sites of the guide with all entries, and with a part of them.
    """
    plates = {plate for name, site in whole.items() for plate in parted(site, part[name])}
    sizes = {frame.size for site in whole.values() for frame in site.plates if frame.name in plates}
    start = guide.known.start
    asked = [
        (name, axis) for name in start for axis, size in enumerate(np.shape(start[name])) if size in sizes
    ]
    if not asked:
        return {}
    words = minibatch.words
    target = WithGuide(minibatch.density, guide.at_part(jnp.asarray(minibatch.density.data[words])))

    def look(params: Any, noise: Any, data: Any) -> list[Array]:
        both = target.with_data(data)
        values, log_q = both.guide.draw(params, noise)
        return [log_q, both.guide.log_joint(both.density, params, values)]

    with scope(minibatch.density.program.precision):
        given: Any = shapes((dict(start), np.zeros(2, np.uint32), dict(target.data)))
        traced = jax.make_jaxpr(look)(*given).jaxpr
    paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(given)[0]]
    named = {words, f"guide: {guide.known.part.words if guide.known.part else ''}"}
    deciding = {place for place, path in enumerate(paths) if path[0].idx == 2 and path[1].key in named}
    places = {path[1].key: place for place, path in enumerate(paths) if path[0].idx == 0}
    return {name: axis for name, axis in asked if takes_along(traced, places[name], axis, deciding)}
