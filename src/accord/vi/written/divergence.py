"""Take the divergence of a site of a guide from that of the model in closed form, where that is right.

The mean of `log q - log p` over draws of a site is a divergence if neither distribution depends on what is drawn there,
nor on what follows from it. Which do is found in the trace of draws and distributions together: the order of statements
does not tell, since a model may draw sites in another order than its guide.

**Source**: Kingma & Welling (2014), "Auto-encoding variational Bayes", ICLR, equation 10.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from ...core.errors import DistributionError, OptionError
from ...core.precision import scope
from ...core.tree import shapes
from ...density import LogDensity
from ...density.dependence.provenance import sources
from ...density.eliminate.discrete.summed import SummedProgram
from ...density.latent import concrete
from ...density.minibatch import Minibatch
from ...density.program import Given, ModelProgram
from ...distributions import AbstractDistribution
from ...distributions.kl import kl_divergence
from ...distributions.wrappers.masked import MaskedDistribution
from ...distributions.wrappers.wrappers import ExpandedDistribution
from ...guides.base import Params
from ...language import Site
from .guide import Written
from .program import Values, constrained
from .target import WithGuide


def with_closed(guide: Written, density: LogDensity, minibatch: Minibatch | None) -> Written:
    """Return a guide whose divergences are taken in closed form where they can be.

    **Raises** `OptionError` where none can, with the reason for each site.
    """
    at_step = density if minibatch is None else minibatch.density
    drawing = guide if minibatch is None else guide.at_part(at_step.data[minibatch.words])
    closed, why = closed_in(drawing, at_step)
    if closed:
        return replace(guide, closed=closed)
    reasons = "; ".join(f"{name!r}: {reason.removesuffix('.')}" for name, reason in why.items())
    raise OptionError(
        f'objective: ELBO(kl="analytic") takes divergences in closed form, and no site of the guide {guide.function!r} '
        f"has one ({reasons}). Leave kl out."
    )


def closed_in(guide: Written, density: LogDensity) -> tuple[tuple[str, ...], dict[str, str]]:
    """Find the sites of a guide whose divergences are taken in closed form, and why the others are not, by name.

    `density`, of a part of the data where the guide draws a part.
    """
    names, why = guide.program.names, dict[str, str]()
    program = density.program
    if not isinstance(program, ModelProgram | SummedProgram):
        return (), dict.fromkeys(
            names, "the model is evaluated chunk by chunk, or sites are integrated out of it"
        )
    if isinstance(program, SummedProgram):
        touched = {name for (name, _), _ in program.plan.seen}
        why.update({name: "it depends on what is summed out" for name in names if name in touched})
    pair, target = guide.known, WithGuide(density, guide)
    drawn: dict[str, Site] = {}
    found: list[str] = []

    def draw(
        params: Any, words: Any, data: Any, moves: Mapping[str, Array]
    ) -> tuple[WithGuide, dict[str, Any]]:
        both = target.with_data(data)
        drawn.update(both.guide.program.drawn(constrained(params, pair.own), words, both.guide.data, moves))
        return both, {name: jnp.asarray(drawn[name].value) for name in names}

    def look(moves: Any, params: Any, words: Any, data: Any) -> list[Array]:
        both, values = draw(params, words, data, moves)
        own, theirs = sites_of_both(both.guide, both.density, params, values)
        entries = {}
        for name in moves:
            try:
                entries[name] = divergence(own[name], theirs[name])
            except DistributionError as error:
                why[name] = str(error)
        found[:] = entries
        return list(entries.values())

    with scope(density.program.precision):
        given: Any = shapes((dict(pair.start), np.zeros(2, np.uint32), dict(target.data)))
        values = jax.eval_shape(lambda params, words, data: draw(params, words, data, {})[1], *given)
        why.update({name: "it is drawn within the steps of a scan" for name in names if drawn[name].steps})
        why.update(dict.fromkeys(guide.pinned, "it is held at a point"))
        moves = {name: values[name] for name in sorted(names) if name not in why}
        traced = jax.make_jaxpr(look)(moves, *given).jaxpr
    of_moves: list[set[int]] = [
        {place} if place < len(moves) else set() for place in range(len(traced.invars))
    ]
    places = {name: place for place, name in enumerate(moves)}
    for name, seen in zip(found, sources(traced, of_moves), strict=True):
        if places[name] in seen:
            why[name] = (
                "its distribution, in the guide or in the model, depends on what follows from its own draw"
            )
    return tuple(name for name in names if name not in why), why


def sites_of_both(
    guide: Written, density: LogDensity, params: Params, values: Values
) -> tuple[dict[str, Site], dict[str, Site]]:
    """Run a guide and a model for their sites at values that the guide drew; what is summed out is at any; traced."""
    own = guide.program.sites(constrained(params, guide.known.own), values, guide.data)
    whole, data = density.program.whole, density.program.whole_data(density.data)
    assert whole is not None
    with concrete(whole.constants):
        chosen: Any = {**values, **constrained(params, guide.known.theirs)}
        theirs = whole.sites({name: Given(value) for name, value in chosen.items()}, data)
    return own, theirs


def divergence(own: Site, theirs: Site) -> Array:
    """Compute the mean of what a site adds to `log q - log p`, by batch entry: with masks and scales; traced.

    **Raises** `DistributionError` where there is no formula.
    """
    (q, in_q), (p, in_p) = _unmasked(own.distribution), _unmasked(theirs.distribution)
    if _has_mask(q) or _has_mask(p):
        raise DistributionError("a mask is within its events")
    shape = own.batch_shape
    if shape != theirs.batch_shape:
        raise DistributionError(
            f"it has batches of shape {shape} in the guide and {theirs.batch_shape} in the model"
        )
    entries = jnp.broadcast_to(kl_divergence(q, p), shape)
    weight_q, weight_p = _weight(own, in_q, entries), _weight(theirs, in_p, entries)
    found = entries if weight_p is None else jnp.where(weight_p == 0, 0.0, weight_p * entries)
    if _are_same(weight_q, weight_p):
        return found
    # What counts for more in one of the two: the mean of log q is minus the entropy.
    one = jnp.ones((), entries.dtype)
    more = (one if weight_q is None else weight_q) - (one if weight_p is None else weight_p)
    entropy = jnp.broadcast_to(q.entropy(), shape)
    return found - jnp.where(more == 0, 0.0, more * entropy)


def _unmasked(distribution: Any) -> tuple[AbstractDistribution, Any]:
    """Return a distribution without the mask that it has, and that mask, or None."""
    if isinstance(distribution, MaskedDistribution):
        base, mask = _unmasked(distribution.base)
        where = jnp.asarray(distribution.where)
        return base.expand(distribution.batch_shape), where if mask is None else where & mask
    if isinstance(distribution, ExpandedDistribution):
        base, mask = _unmasked(distribution.base)
        return base.expand(distribution.shape), mask
    return distribution, None


def _has_mask(distribution: AbstractDistribution) -> bool:
    parts = jax.tree.leaves(distribution, is_leaf=lambda part: isinstance(part, MaskedDistribution))
    return any(isinstance(part, MaskedDistribution) for part in parts)


def _weight(site: Site, mask: Any, like: Array) -> Any:
    """Return the weights of the entries of a site in a log density; None for one everywhere."""
    parts = [jnp.asarray(part, like.dtype) for part in (mask, site.mask) if part is not None]
    parts += [] if site.scale is None else [site.scale]
    if not parts:
        return None
    if not any(isinstance(part, Tracer) for part in parts):
        return np.prod(np.broadcast_arrays(*parts, np.ones(like.shape)), axis=0).astype(like.dtype)
    weight = jnp.ones(like.shape, like.dtype)
    for part in parts:
        weight = weight * part
    return weight


def _are_same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return not (isinstance(one, Tracer) or isinstance(other, Tracer)) and np.array_equal(one, other)
