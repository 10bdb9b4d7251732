"""Find the sites whose scale depends on other latent sites."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax

from ..core import precision as precisions
from ..core.errors import DistributionError
from ..core.tree import shapes
from ..density.dependence.provenance import arguments_seen
from ..density.latent import concrete
from ..density.program import ModelProgram
from ..distributions import AbstractDistribution
from ..distributions.wrappers.each_step import EachStep
from ..language.reparam.base import SUFFIX, AbstractReparam, Parts
from ..language.reparam.loc_scale import LocScale, is_loc_scale
from ..language.reparam.structured import Structured
from ..language.reparam.transform import Transform
from ..language.reparam.wrapped import core_of, parts_of


@dataclass(frozen=True)
class Hierarchical:
    """A latent site whose scale depends on others: `scale_from`, their names.

    `chain` is how to take location and scale out of its law: one reparameterisation of the site, or first one of the
    site and then one of its auxiliary. `is_in_steps`: it is a site of the steps of a scan, around which it is done.
    """

    site: str
    scale_from: tuple[str, ...]
    chain: tuple[AbstractReparam, ...]
    is_in_steps: bool = False

    @property
    def config(self) -> dict[str, AbstractReparam]:
        """Config of the non-centred form for `handlers.reparam`."""
        return {self.site + SUFFIX * i: each for i, each in enumerate(self.chain)}

    @property
    def auxiliary(self) -> str:
        """Name of the auxiliary site that is sampled then."""
        return self.site + SUFFIX * len(self.chain)


def hierarchical_sites(program: ModelProgram, data: Mapping[str, Any]) -> tuple[Hierarchical, ...]:
    """Trace the model, and find the latent sites on which the scale of each site depends."""
    dtype = precisions.float_dtype(program.precision)
    pieces = {
        entry.name: jax.ShapeDtypeStruct(entry.unconstrained_shape, dtype) for entry in program.layout.entries
    }
    # Latent sites and data may have one name.
    given = {f"data/{name}": shape for name, shape in shapes(data).items()}
    chains: dict[str, tuple[AbstractReparam, ...]] = {}
    in_steps: set[str] = set()

    def scales(_: Any, both: Mapping[str, Any]) -> dict[str, jax.Array]:
        found: dict[str, jax.Array] = {}
        values = {name.removeprefix("data/"): both[name] for name in given}
        with concrete(program.constants):
            sites = program.sites({name: both[f"latent/{name}"] for name in pieces}, values)
            for name in pieces:
                if name in program.layout.to_collapse:
                    continue
                law = sites[name].distribution
                if isinstance(law, EachStep):
                    in_steps.add(name)
                    chain, ways = _taken_out_of_steps(law)
                else:
                    chain, parts = ((), ()) if law is None else _taken_out(law)
                    ways = [part.way for part in parts]
                if chain:
                    chains[name] = chain
                    leaves = _without_location(ways)
                    found |= {f"{name}:{i}": leaf for i, leaf in enumerate(leaves)}
        return found

    latents = {f"latent/{name}": shape for name, shape in pieces.items()}
    with precisions.scope(program.precision):
        seen = arguments_seen(scales, {}, {**latents, **given})
    found = []
    for name, chain in chains.items():
        names = {each for key, names in seen.items() if key.rpartition(":")[0] == name for each in names}
        sources = tuple(each for each in pieces if f"latent/{each}" in names)
        if sources:
            found.append(Hierarchical(name, sources, chain, name in in_steps))
    return tuple(found)


def _taken_out(law: AbstractDistribution) -> tuple[tuple[AbstractReparam, ...], tuple[Parts, ...]]:
    """Return the reparameterisations that remove location and scale from a distribution, with their parts."""
    ways: list[AbstractReparam] = [Structured(), Transform()]
    if _has_scale_alone(core_of(law)):
        ways = [LocScale()]
    for reparam in ways:
        try:
            parts = parts_of(reparam, law)
        except DistributionError:
            continue
        if parts is None:
            continue
        if not isinstance(reparam, Transform):
            return (reparam,), (parts,)
        inner, more = _taken_out(parts.auxiliary)
        if inner:
            return (reparam, *inner), (parts, *more)
    return (), ()


def _taken_out_of_steps(law: EachStep) -> tuple[tuple[AbstractReparam, ...], Any]:
    """Return the reparameterisation of a step by location and scale, with its scales, of all steps together."""
    core: Any = law
    while isinstance(core, EachStep):
        core = core_of(core.base)
    return ((LocScale(),), [core.scale]) if _has_scale_alone(core) else ((), [])


def _has_scale_alone(core: AbstractDistribution) -> bool:
    """Return whether location and scale can be taken out; bounds that move with the scale would stay."""
    return is_loc_scale(core) and not hasattr(core, "low") and not hasattr(core, "high")


def _without_location(ways: Any) -> list[jax.Array]:
    """The traced numbers in maps that are no location, on which only the place depends and not the spread."""
    paths = jax.tree_util.tree_flatten_with_path(ways)[0]
    return [
        leaf for path, leaf in paths if isinstance(leaf, jax.Array) and getattr(path[-1], "name", "") != "loc"
    ]
