"""Merge the sites of two branches, of which one is taken."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ...core.errors import DistributionError, SiteError
from ...distributions import AbstractDistribution, biject_to
from ...distributions.constraint import Constraint
from ...distributions.wrappers.either import Either
from ..shapes import shape_of
from ..site import Site

Sites = Mapping[str, Site]
_NEUTRAL = {"value": 0, "mask": True, "scale": 1, "log_det": 0}  # of what the other side has alone


@dataclass(frozen=True)
class _Outline:
    """The facts about a distribution before it has parameters; `support` and `map` are structures alone."""

    batch: tuple[int, ...]
    event: tuple[int, ...]
    dtype: np.dtype
    support: Any
    map: Any
    words: str

    @staticmethod
    def of(site: Site, distribution: AbstractDistribution) -> "_Outline":
        support = distribution.support
        leaves, structure = jax.tree.flatten(support)
        words = (
            type(support).__name__ if any(isinstance(leaf, Tracer) for leaf in leaves) else support.describe()
        )
        dtype = np.dtype(distribution.dtype)
        return _Outline(
            site.batch_shape, tuple(distribution.event_shape), dtype, structure, _map(support), words
        )

    def is_in_space_of(self, other: "_Outline") -> bool:
        """Return whether the same unconstrained numbers stand for values of both."""
        return self.support == other.support or (self.map is not None and self.map == other.map)


@dataclass(frozen=True)
class Side:
    """The sites of one branch, from its first trace.

    **Fields**: `sites`, by name, but keys; `numbers`, shapes and dtypes of values and weights; `arrays`, those of what
    is in distributions, by `structure`, and `rest`, the rest of these; `outlines`, what is known of them beforehand.
    """

    sites: Sites
    numbers: Mapping[str, Mapping[str, Any]]
    arrays: list[Any]
    structure: Any
    rest: Any
    outlines: Mapping[str, _Outline]

    @staticmethod
    def of(function: Callable[..., tuple[Any, Sites]], operands: Any) -> "Side":
        """Trace a branch once, for abstract values."""
        found: dict[str, Any] = {}

        def look(*operands: Any) -> Any:
            sites = _with_values(function(*operands)[1])
            arrays, rest = eqx.partition(_distributions(sites), eqx.is_array)
            leaves, structure = jax.tree.flatten(arrays)
            outlines = {
                name: _Outline.of(site, site.distribution)
                for name, site in sites.items()
                if site.distribution is not None
            }
            found.update(sites=sites, rest=rest, structure=structure, outlines=outlines)
            return _numbers(sites), leaves

        numbers, arrays = jax.eval_shape(look, *operands)
        return Side(numbers=numbers, arrays=arrays, **found)

    def common(self, sites: Sites, other: "Side") -> dict[str, dict[str, jax.Array]]:
        """List values and weights of the sites of both sides, which each side computes or leaves neutral."""
        own = _numbers(_with_values(sites))
        parts = {
            name: {**self.numbers.get(name, {}), **other.numbers.get(name, {})}
            for name in dict.fromkeys(sorted({*self.numbers, *other.numbers}))
        }
        found: dict[str, dict[str, jax.Array]] = {}
        for name, needed in parts.items():
            found[name] = {}
            for part, shape in needed.items():
                dtype = jnp.result_type(
                    *(
                        side.numbers[name][part].dtype
                        for side in (self, other)
                        if part in side.numbers.get(name, {})
                    )
                )
                number = own.get(name, {}).get(part, jnp.full(shape.shape, _NEUTRAL[part], dtype))
                found[name][part] = number.astype(dtype)
        return found

    def parameters(self, sites: Sites) -> list[jax.Array]:
        """List the arrays in this side's distributions."""
        leaves = jax.tree.leaves(eqx.filter(_distributions(_with_values(sites)), eqx.is_array))
        return [jnp.asarray(leaf, known.dtype) for leaf, known in zip(leaves, self.arrays, strict=True)]

    def no_parameters(self) -> list[jax.Array]:
        """List numbers to put in their place where the other side is taken."""
        return [jnp.ones(each.shape, each.dtype) for each in self.arrays]

    def distributions(self, parameters: list[jax.Array]) -> dict[str, Any]:
        """Build the distributions of its sites with these arrays."""
        return eqx.combine(jax.tree.unflatten(self.structure, parameters), self.rest)


def check_agreement(first: Side, second: Side) -> None:
    """Raise `SiteError` for a site that only one side has, or that differs between the sides."""
    for one, other in ((first, second), (second, first)):
        for name, site in one.sites.items():
            if name not in other.sites and site.kind != "factor":
                raise SiteError(_alone(site, "true_fun" if one is first else "false_fun"))
    for name, site in first.sites.items():
        if name in second.sites:
            _check_pair(site, second.sites[name], first.outlines.get(name), second.outlines.get(name))


def merged(
    pred: Any, sides: list[Side], common: Mapping[str, Mapping[str, Any]], first: Any, second: Any
) -> dict[str, Site]:
    """Return the sites of the branch that is taken."""
    one, other = (side.distributions(each) for side, each in zip(sides, (first, second), strict=True))
    found: dict[str, Site] = {}
    for name in dict.fromkeys([*sides[0].sites, *sides[1].sites]):
        site = next(side.sites[name] for side in sides if name in side.sites)
        distribution = None
        if site.distribution is not None:
            outline = sides[0].outlines[name]
            dtype = np.dtype(jnp.result_type(outline.dtype, sides[1].outlines[name].dtype))
            distribution = Either(pred, one[name], other[name], outline.batch, outline.event, dtype)
        weights: dict[str, Any] = dict.fromkeys(_NEUTRAL) | dict(common[name])
        found[name] = replace(site, distribution=distribution, obs_mask=None, **weights)
    return found


def _with_values(sites: Sites) -> dict[str, Site]:
    """Return the sites that are more than keys."""
    return {name: site for name, site in sites.items() if site.kind not in ("key", "subsample")}


def _distributions(sites: Sites) -> dict[str, Any]:
    return {name: site.distribution for name, site in sites.items()}


def _numbers(sites: Sites) -> dict[str, dict[str, jax.Array]]:
    """List values, and weights with an entry for each of the batch, without what a site lacks."""
    found: dict[str, dict[str, jax.Array]] = {}
    for name, site in sites.items():
        batch = shape_of(site.value) if site.distribution is None else site.batch_shape
        found[name] = {"value": jnp.asarray(site.value)}
        for part in ("mask", "scale", "log_det"):
            if getattr(site, part) is not None:
                found[name][part] = jnp.broadcast_to(jnp.asarray(getattr(site, part)), batch)
    return found


def _alone(site: Site, branch: str) -> str:
    what, remedy = {
        (False, "sample"): (
            "is latent",
            f"Both branches must have the same unknowns: write {site.name!r} before `ac.cond`, where it has its prior "
            "also if it is not used, and use its value in the branch.",
        ),
        (True, "sample"): (
            "is observed",
            "Both branches must have the same data: observe it in the other branch too, from the distribution that it "
            "has there, or write it outside, `with handlers.mask(mask=pred):`, if it is to say nothing there.",
        ),
    }.get(
        (site.is_observed, site.kind),
        ("is", "Give it a value in both, or return the value and name it after `ac.cond`."),
    )
    return f"site {site.name!r} (at {site.where}) {what} in {branch} of ac.cond alone. {remedy}"


def _check_pair(first: Site, second: Site, outline: _Outline | None, other: _Outline | None) -> None:
    def differ(what: str, one: Any, two: Any, remedy: str) -> SiteError:
        return SiteError(
            f"site {first.name!r} {what} {one} in true_fun of ac.cond (at {first.where}) and {two} in false_fun (at "
            f"{second.where}). {remedy}"
        )

    if _kind(first) != _kind(second):
        remedy = "Write it the same way in both, or give the two different names."
        raise differ("is", _kind(first), _kind(second), remedy)
    shapes = [shape_of(site.value) for site in (first, second)]
    if shapes[0] != shapes[1]:
        raise differ("has shape", shapes[0], shapes[1], "Whichever is taken, a site has one shape.")
    plates = [[frame.name for frame in (*site.steps, *site.plates)] for site in (first, second)]
    if plates[0] != plates[1]:
        raise differ("is in the plates", plates[0], plates[1], "Write it in the same ones.")
    if outline is None or other is None:
        return
    if outline.batch != other.batch:
        raise differ(
            "has batch shape",
            outline.batch,
            other.batch,
            "Let both distributions have the same batch and event shape.",
        )
    if not first.is_observed and not first.is_intervened and not outline.is_in_space_of(other):
        raise differ(
            "must be",
            outline.words,
            other.words,
            "An unknown is searched for in one space: give it distributions with supports of one kind, or write two "
            "unknowns before `ac.cond`, and use one in each branch.",
        )


def _map(support: Constraint) -> Any:
    """Return the structure of the map from unconstrained numbers to a set; None where there is none."""
    try:
        return jax.tree.structure(biject_to(support))
    except DistributionError:
        return None


def _kind(site: Site) -> str:
    if site.kind != "sample":
        return f"a {site.kind} site"
    return "observed" if site.is_observed else "intervened" if site.is_intervened else "latent"
