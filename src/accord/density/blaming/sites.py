"""Compare the values, parameters and supports of a model's sites with each other at one position."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ...core.errors import DistributionError
from ...distributions import AbstractDistribution
from ...distributions.constraint import Constraint
from ...distributions.wrappers.family import family
from ...language import Site
from ...language.handlers.infer_config import map_of
from ..latent import concrete
from ..layout import Layout
from ..quick import quickly
from ..unknowns import pieces_at
from .result import BadParameter, BadTerm
from .whole import Whole

_NUM_SHOWN = 3  # entries of a site


@dataclass(frozen=True)
class Judged:
    """The faults of some sites: their terms and parameters; `written`: by site, its line and distribution."""

    terms: tuple[BadTerm, ...]
    parameters: tuple[BadParameter, ...]
    written: Mapping[str, tuple[str, str]]


def judge(whole: Whole, layout: Layout, position: Any, bad: Mapping[str, float]) -> Judged:
    """Examine the sites in `bad`, which holds their log densities."""
    program = whole.program.whole
    kinds = dict.fromkeys(bad, "factor") | {entry.name: entry.kind for entry in layout.sites}
    kinds |= {entry.name: "latent" for entry in layout.whole}
    if program is None:
        reason = whole.program.said(whole.at(position))
        terms = tuple(BadTerm(name, "function", term, reason=reason) for name, term in bad.items())
        return Judged(terms, (), {})
    words: dict[str, Any] = {}

    def look(position: Any, data: Any) -> Any:
        pieces = pieces_at(whole.at(position), program.layout)
        with concrete(program.constants):
            sites = program.sites(pieces, data)
            return {name: _arrays(sites[name], words) for name in bad}

    found = jax.tree.map(np.asarray, quickly(look)(position, whole.data))
    terms, parameters = [], []
    for name, term in bad.items():
        terms.append(_bad_term(name, kinds[name], term, found[name], words[name]))
        parameters += list(_bad_parameters(name, found[name]["parameters"], words[name]["parameters"]))
    written = {name: (words[name]["where"], words[name]["distribution"]) for name in bad}
    return Judged(tuple(terms), tuple(parameters), written)


def _arrays(site: Site, words: dict[str, Any]) -> dict[str, Any]:
    """Collect what is known of a site, as arrays; what is not an array goes to `words`."""
    value = jnp.asarray(site.value)
    words[site.name] = {"where": site.where, "parameters": [], "distribution": ""}
    arrays: dict[str, Any] = {"value": value, "parameters": []}
    distribution = site.distribution
    if distribution is None:
        return arrays
    words[site.name]["distribution"] = family(distribution)
    arrays["support"], words[site.name]["support"] = eqx.partition(distribution.support, eqx.is_array)
    inside = jnp.asarray(distribution.support(value))
    is_bad = ~jnp.isfinite(distribution.log_prob(value))
    if site.log_det is not None and jnp.shape(site.log_det) == is_bad.shape:
        is_bad = is_bad | ~jnp.isfinite(site.log_det)
    if site.mask is not None:
        is_bad = is_bad & jnp.broadcast_to(jnp.asarray(site.mask), is_bad.shape)
    arrays |= {"is_bad": is_bad, "is_outside": jnp.broadcast_to(~inside, is_bad.shape)}
    arrays["is_edge"] = is_bad & _is_edge(site, distribution, value, is_bad.ndim)
    for owner, name, constraint, parameter in _parameters(distribution):
        words[site.name]["parameters"].append((type(owner).__name__, name, _described(constraint)))
        arrays["parameters"].append((jnp.asarray(parameter), jnp.asarray(constraint(parameter))))
    return arrays


def _is_edge(site: Site, distribution: AbstractDistribution, value: Any, num_batch: int) -> Any:
    """Return whether events lie on the edge of the support, where no unconstrained number leads."""
    if distribution.is_discrete:
        return False
    try:
        unconstrained = map_of(site).inverse(value)
    except DistributionError:  # a set that no map covers, or whose distribution cannot be latent
        return False
    return jnp.any(~jnp.isfinite(unconstrained), axis=tuple(range(num_batch, unconstrained.ndim)))


def _parameters(node: Any) -> Iterator[tuple[AbstractDistribution, str, Constraint, Any]]:
    """Collect the parameters of a distribution and of those that it is made of."""
    if isinstance(node, Sequence) and not isinstance(node, str):
        for each in node:
            yield from _parameters(each)
    if not isinstance(node, AbstractDistribution):
        return
    for name, constraint in node.parameters.items():
        value = getattr(node, name)
        if isinstance(value, jax.Array | np.ndarray | np.generic | int | float):
            yield node, name, constraint, value
    for each in fields(node):
        yield from _parameters(getattr(node, each.name))


def _described(constraint: Constraint) -> str:
    """Describe a set in words, with its bounds where they are known and few."""
    leaves = jax.tree.leaves(constraint)
    is_long = any(isinstance(leaf, Tracer) or np.size(leaf) > 1 for leaf in leaves)
    return "within its bounds" if is_long else constraint.describe()


def _bad_term(name: str, kind: str, term: float, found: Any, words: Any) -> BadTerm:
    value = found["value"]
    if "is_bad" not in found:
        is_bad = ~np.isfinite(value)
        entries = _entries(value, is_bad)
        return BadTerm(name, kind, term, entries, int(is_bad.sum()), "")
    is_bad = found["is_bad"]
    entries = _entries(value, is_bad)
    count = int(is_bad.sum())
    if entries and not any(np.all(np.isfinite(entry)) for _, entry in entries):
        return BadTerm(name, kind, term, entries, count, f"which {'is' if count == 1 else 'are'} not finite")
    is_outside = is_bad & found["is_outside"]
    if not is_outside.any():
        return BadTerm(name, kind, term, entries, count, is_edge=bool(found["is_edge"].any()))
    support = eqx.combine(found["support"], words["support"])
    reason = f"outside of the support of {words['distribution']}: it must be {_described(support)}"
    return BadTerm(
        name, kind, term, _entries(value, is_outside), int(is_outside.sum()), reason, True, is_edge=True
    )


def _entries(value: np.ndarray, is_bad: np.ndarray) -> tuple[tuple[tuple[int, ...], Any], ...]:
    places = [tuple(int(i) for i in place) for place in np.argwhere(is_bad)[:_NUM_SHOWN]]
    value = np.broadcast_to(value, (*is_bad.shape, *value.shape[is_bad.ndim :]))
    return tuple((place, value[place]) for place in places)


def _bad_parameters(name: str, found: Any, words: Any) -> Iterator[BadParameter]:
    for (value, is_inside), (distribution, parameter, must_be) in zip(found, words, strict=True):
        if np.all(is_inside):
            continue
        place = tuple(int(i) for i in np.argwhere(~is_inside)[0])
        yield BadParameter(name, distribution, parameter, value[place], place, must_be)
