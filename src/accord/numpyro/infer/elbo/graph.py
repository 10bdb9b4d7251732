"""Bound the log evidence where draws of the guide do not move smoothly with its parameters, by their scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ....core.errors import ModelError
from ....density.dependence.entrywise import Axis, axes_seen
from ....density.dependence.provenance import sources
from ....distributions import MaskedDistribution
from ....distributions.pathwise import is_pathwise
from ...messages import Message, Messenger
from ..densities import log_prob_of
from .base import ELBO, Trace, both_traces


class TraceGraph_ELBO(ELBO):  # noqa: N801 - NumPyro's name
    """Bound with the score function at discrete sites of the guide, and slopes along draws at all others.

    The score of a site is multiplied by the terms that depend on its draw alone, entry by entry of the plates where no
    term mixes entries. Which do is seen from the traced programs.

    **Arguments**: as of `ELBO`.

    **Source**: Schulman et al. (2015), "Gradient estimation using stochastic computation graphs", NeurIPS.
    """

    takes_discrete = True

    def begin(self, params: Mapping[str, Any], model: Any, guide: Any, args: Any, kwargs: Any) -> None:
        """See `ELBO.begin`: refuse discrete unknowns that the guide leaves out."""
        for name in left_out(params, model, guide, args, kwargs)[0]:
            raise ModelError(
                f"{type(self).__name__}: site {name!r} is discrete, and the guide does not draw it. Use "
                "`TraceEnum_ELBO()`, which sums it out, or draw it in the guide."
            )

    def loss_with_mutable_state(
        self, rng_key: Any, param_map: Any, model: Any, guide: Any, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """See `ELBO.loss_with_mutable_state`."""

        def particle(key: Any) -> tuple[Any, Any]:
            drawn: dict[str, Message] = {}

            def terms(moves: Mapping[str, Any]) -> tuple[dict[str, Term], Any]:
                sites, own, mutable = both_traces(
                    key, param_map, model, guide, args, kwargs, Held(moves), is_summed=True
                )
                drawn.update(own)
                found = {f"guide {n}": -each for n, each in terms_of(own).items()}
                return {**found, **self.model_terms(sites, own, param_map, model, args, kwargs)}, mutable

            found, mutable = terms({})
            bound = sum((each.entries.sum() for each in found.values()), jnp.zeros(()))
            scored = {n: s for n, s in drawn.items() if is_scored(s)}
            if scored:
                extra = _scores(scored, found, lambda moves: terms(moves)[0])
                bound = bound + extra - jax.lax.stop_gradient(extra)
            return bound, mutable or None

        return self.averaged(particle, rng_key)

    def model_terms(
        self, sites: Trace, drawn: Trace, params: Mapping[str, Any], model: Any, args: Any, kwargs: Any
    ) -> "dict[str, Term]":
        """Return the log densities of the model, given its trace at the draws of the guide."""
        del drawn, params, model, args, kwargs
        return {f"model {name}": each for name, each in terms_of(sites).items()}


@dataclass(frozen=True)
class Term:
    """A term of a bound. **Fields**: `entries`, shape of a batch; `plates`, their dims, from the right, by name."""

    entries: Any
    plates: Mapping[str, int]

    def __neg__(self) -> "Term":
        return Term(-self.entries, self.plates)

    def along(self, kept: Mapping[str, int]) -> Any:
        """Sum over all axes but those of these plates, which stay where they are."""
        count = jnp.ndim(self.entries)
        apart = {count + dim for name, dim in self.plates.items() if kept.get(name) == dim}
        return jnp.sum(self.entries, axis=tuple(i for i in range(count) if i not in apart), keepdims=True)


class Held(Messenger):
    """Hold draws that do not move smoothly, so that no slope goes through them.

    **Arguments**: `moves`, zeros by name that are added to draws: what depends on them depends on the draw.
    """

    def __init__(self, moves: Mapping[str, Any]) -> None:
        self.moves = moves
        super().__init__()

    def postprocess_message(self, msg: Message) -> None:
        """See `Messenger.postprocess_message`."""
        if is_scored(msg):
            value = jax.lax.stop_gradient(msg["value"])
            msg["value"] = value + self.moves[msg["name"]] if msg["name"] in self.moves else value


def is_scored(site: Message) -> bool:
    """Return whether the draw of a site does not move smoothly with the parameters of its distribution."""
    if site["type"] != "sample" or site["is_observed"]:
        return False
    return bool(site["fn"].is_discrete) or not is_pathwise(site["fn"])


def terms_of(sites: Trace) -> dict[str, Term]:
    """Return the log density of each site of a trace."""
    return {
        name: Term(log_prob_of(site), {frame.name: frame.dim for frame in site["cond_indep_stack"]})
        for name, site in sites.items()
        if site["type"] == "sample"
    }


def left_out(
    params: Mapping[str, Any], model: Any, guide: Any, args: Any, kwargs: Any
) -> tuple[list[str], dict[str, int]]:
    """Return the names of discrete unknowns of a model that its guide does not draw, and `parts_of` it."""
    found: list[Any] = []

    def look(key: Any) -> None:
        sites, drawn, _ = both_traces(key, params, model, guide, args, kwargs, is_summed=True)
        found[:] = left_out_of(sites, drawn), parts_of(sites)

    jax.eval_shape(look, jax.random.key(0))
    return found[0], found[1]


def parts_of(sites: Trace) -> dict[str, int]:
    """Return the plates that take a part of their entries, and how many they take."""
    return {
        name: site["args"][1]
        for name, site in sites.items()
        if site["type"] == "plate" and site["args"][1] not in (None, site["args"][0])
    }


def left_out_of(sites: Trace, drawn: Trace) -> list[str]:
    """Return these names for the two traces."""
    return [
        name
        for name, site in sites.items()
        if site["type"] == "sample"
        and not site["is_observed"]
        and site["fn"].is_discrete
        and name not in drawn
    ]


def _scores(scored: Mapping[str, Message], found: Mapping[str, Term], again: Any) -> Any:
    """Return a number whose slope is what the scores of these sites add to that of the bound."""
    moves = {name: jnp.zeros_like(site["value"]) for name, site in scored.items()}
    traced = jax.make_jaxpr(lambda moves: [each.entries for each in again(moves).values()])(moves).jaxpr
    names = sorted(moves)  # the order in which JAX takes a dict apart
    depends = sources(traced, [{i} for i in range(len(names))])
    total = jnp.zeros(())
    for place, name in enumerate(names):
        site = scored[name]
        law = site["fn"]
        while isinstance(law, MaskedDistribution):  # what is drawn does not depend on a mask
            law = law.base
        score = law.log_prob(site["value"])
        apart = _apart(site, place, found, traced)
        costs = [
            jax.lax.stop_gradient(term.along(apart))
            for term, seen in zip(found.values(), depends, strict=True)
            if place in seen
        ]
        for cost in costs:
            extra = max(cost.ndim - score.ndim, 0)  # axes of size one
            total = total + jnp.sum(score * cost.reshape(cost.shape[extra:]))
    return total


def _apart(site: Message, place: int, found: Mapping[str, Term], traced: Any) -> dict[str, int]:
    """Return the plates of a site of whose entries each term sees its own alone."""
    batch = len(site["fn"].batch_shape)
    kept: dict[str, int] = {}
    for frame in site["cond_indep_stack"]:
        sees: list[Axis] = [None] * len(traced.invars)
        sees[place] = batch + frame.dim
        if all(
            term.plates.get(frame.name) != frame.dim
            or axis is None
            or axis == jnp.ndim(term.entries) + frame.dim
            for term, axis in zip(found.values(), axes_seen(traced, sees), strict=True)
        ):
            kept[frame.name] = frame.dim
    return kept
