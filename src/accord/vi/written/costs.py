"""Take the difference of log densities of a model and a guide apart: by site, and by the entries of their plates.

The score of an entry is multiplied by the costs that depend on what was drawn there. Which do is found in the trace of
draws and log densities together, so that it holds for all draws and data: where an entry of a plate depends on another
one, the plate has one cost.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ...core.precision import scope
from ...core.tree import shapes
from ...density import LogDensity
from ...density.dependence.entrywise import Axis, axes_seen
from ...density.latent import concrete
from ...density.program import ModelProgram
from ...density.reduction import pointwise
from ...guides.base import Params
from ...language import Site
from ...language.treatment import Parameter
from .divergence import divergence, sites_of_both
from .guide import Written
from .program import Values, constrained
from .target import WithGuide


@dataclass(frozen=True)
class Cost:
    """Term of a site in the difference. **Fields**: `entries`; `plates`, the axis of each by name, from the right."""

    entries: Array
    plates: Mapping[str, int]

    def along(self, kept: Mapping[str, int], rank: int) -> Array:
        """Sum over all but the plates at these axes, of an array of so many axes."""
        ndim = self.entries.ndim
        apart = {ndim + axis for name, axis in self.plates.items() if kept.get(name) == axis}
        summed = jnp.sum(self.entries, axis=tuple(i for i in range(ndim) if i not in apart), keepdims=True)
        return summed.reshape(summed.shape[max(ndim - rank, 0) :])


def costs_of(
    guide: Written, density: LogDensity, params: Params, values: Values, of_q: Params
) -> dict[str, Cost]:
    """Evaluate the log density of a model and minus that of the guide, with parameters `of_q`; traced.

    Of sites of the guide that are `closed`, minus their divergences: with all parameters, since no slope of these is
    noise alone.
    """
    own = guide.program.sites(constrained(of_q, guide.known.own), values, guide.data)
    kept = [name for name in guide.program.names if name not in guide.closed]
    found = {f"guide {name}": _cost(own[name]) for name in kept}
    costs = {name: Cost(-each.entries, each.plates) for name, each in found.items() if each is not None}
    program = density.program
    is_whole = isinstance(program, ModelProgram)
    if not is_whole:  # some sites are no longer in it, or it is evaluated row by row
        costs["model"] = Cost(guide.log_joint(density, params, values), {})
    if is_whole or guide.closed:
        own, sites = sites_of_both(guide, density, params, values)
        with concrete(program.constants):
            costs |= {f"both {name}": _divergence(own[name], sites[name]) for name in guide.closed}
            rest = {
                name: _cost(site) for name, site in sites.items() if is_whole and name not in guide.closed
            }
        costs |= {f"model {name}": each for name, each in rest.items() if each is not None}
    return costs


def apart_in(guide: Written, density: LogDensity) -> dict[str, dict[str, int]]:
    """Find, for each site whose scores are taken, the plates whose entries depend on no others, with their axes.

    `density`, of a part of the data where the guide draws a part.
    """
    return axes_of(guide, density, guide.scored)[0]


def axes_of(
    guide: Written, density: LogDensity, names: Collection[str]
) -> tuple[dict[str, dict[str, int]], dict[str, Mapping[str, int]]]:
    """Find these plates for sites of these names; return the plates of each cost too, with their axes."""
    pair, target = guide.known, WithGuide(density, guide)
    costs: dict[str, Mapping[str, int]] = {}  # by name, their plates
    drawn: dict[str, Site] = {}

    def draw(
        params: Any, words: Any, data: Any, moves: Mapping[str, Array]
    ) -> tuple[WithGuide, dict[str, Any]]:
        both = target.with_data(data)
        drawn.update(both.guide.program.drawn(constrained(params, pair.own), words, both.guide.data, moves))
        return both, {name: jnp.asarray(drawn[name].value) for name in both.guide.program.names}

    def look(moves: Any, params: Any, words: Any, data: Any) -> list[Array]:
        both, values = draw(params, words, data, moves)
        found = costs_of(both.guide, both.density, params, values, params)
        costs.update((name, each.plates) for name, each in found.items())
        return [each.entries for each in found.values()]

    with scope(density.program.precision):
        given: Any = shapes((dict(pair.start), np.zeros(2, np.uint32), dict(target.data)))
        values = jax.eval_shape(lambda params, words, data: draw(params, words, data, {})[1], *given)
        moves = {name: values[name] for name in names if not drawn[name].steps}
        traced = jax.make_jaxpr(look)(moves, *given).jaxpr
    found: dict[str, dict[str, int]] = {}
    for place, name in enumerate(sorted(moves)):
        found[name] = {}
        for plate, axis in _plates(drawn[name], len(drawn[name].batch_shape)).items():
            sees: list[Axis] = [None] * len(traced.invars)
            sees[place] = len(drawn[name].batch_shape) + axis
            seen = axes_seen(traced, sees)
            if all(
                plates.get(plate) != axis or each is None or each == len(out.aval.shape) + axis
                for plates, each, out in zip(costs.values(), seen, traced.outvars, strict=True)
            ):
                found[name][plate] = axis
    return found, costs


def _cost(site: Site) -> Cost | None:
    if site.kind == "deterministic" or site.is_intervened or isinstance(site.role, Parameter):
        return None
    entries = pointwise(site)
    return None if entries is None else Cost(jnp.asarray(entries), _plates(site, jnp.ndim(entries)))


def _divergence(own: Site, theirs: Site) -> Cost:
    """Return minus the divergence of a site; along the plates that the guide and the model have at the same axis."""
    entries = divergence(own, theirs)
    both = _plates(own, entries.ndim).items() & _plates(theirs, entries.ndim).items()
    return Cost(-entries, dict(both))


def _plates(site: Site, ndim: int) -> dict[str, int]:
    """Return the axes of the plates of an array of so many axes, with an entry for each copy; of one of steps, none."""
    axes = {} if site.steps else {frame.name: frame.dim for frame in site.plates}
    return {name: axis for name, axis in axes.items() if ndim + axis >= 0}
