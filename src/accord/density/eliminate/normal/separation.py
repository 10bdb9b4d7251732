"""Verify that the unknowns of a model do not depend on the sites that are integrated out.

The log density needs no more than that it is a quadratic of these. But a value of an unknown has a place in
unconstrained space, and a prior of its own, only where neither depends on them.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....core import precision as precision_scope
from ....core.errors import DataError, ModelError, SiteError
from ....language import Site
from ...dependence.provenance import arguments_seen
from ...latent import bijector_of, concrete
from ...program import ModelProgram
from ...reduction import term
from ...rows.conditions import listed
from .groups import Groups


def check_supports(base: ModelProgram, groups: Groups, data: Mapping[str, Any]) -> None:
    """Raise `SiteError` where the support of another unknown depends on a site of the groups."""
    latents = {entry.name for entry in base.layout.marginal.entries}

    def supports(sites: Mapping[str, Site]) -> dict[str, jax.Array]:
        leaves = {name: jax.tree.leaves(bijector_of(sites[name])) for name in latents}
        return {
            f"{name}/{i}": leaf
            for name, each in leaves.items()
            for i, leaf in enumerate(each)
            if isinstance(leaf, jax.Array)
        }

    for key, seen in sites_seen(base, groups, data, supports).items():
        name = key.rpartition("/")[0]
        raise SiteError(
            f"handlers.collapse: {listed(seen)} cannot be integrated out, since the support of site {name!r} depends "
            "on it, which has to be known without it. Leave it out of `handlers.collapse`."
        )


def check_priors(base: ModelProgram, groups: Groups, data: Mapping[str, Any]) -> None:
    """Raise `ModelError` where the prior of another unknown depends on a site of the groups."""
    latents = {entry.name for entry in base.layout.marginal.drawn if entry.kind != "collapsed"}

    def priors(sites: Mapping[str, Site]) -> dict[str, jax.Array]:
        terms = {name: term(sites[name]) for name in latents}
        return {name: each for name, each in terms.items() if each is not None}

    for name, seen in sites_seen(base, groups, data, priors).items():
        raise ModelError(
            f"the prior of site {name!r} depends on {listed(seen)}, which is collapsed, so that prior and likelihood "
            "of the others cannot be told apart. Leave it out of `handlers.collapse`, or look for the mode of the "
            'posterior, estimator="map".'
        )


def positions_beside(
    base: ModelProgram, groups: Groups, values: Mapping[str, Any], data: Mapping[str, Any]
) -> dict[str, jax.Array]:
    """Compute unconstrained pieces of the other unknowns, from their values or from sites that follow.

    **Raises** `DataError` where a value follows from another unknown together with a site of the groups.
    """
    names = [entry.name for entry in base.layout.marginal.entries]

    def positions(z: Mapping[str, Any]) -> dict[str, jax.Array]:
        found = base.positions({**values, **z}, data)
        return {name: found[name] for name in names}

    zeros = {name: jnp.zeros(shape) for name, shape in groups.sites}
    check_places(positions, zeros, "unconstrain")
    return positions(zeros)


def check_places(
    places: Callable[[Mapping[str, Any]], dict[str, jax.Array]], hidden: Mapping[str, jax.Array], where: str
) -> None:
    """Raise `DataError` where the unconstrained value of a site depends on `hidden`, sites that have none."""
    shapes = {name: jax.ShapeDtypeStruct(each.shape, each.dtype) for name, each in hidden.items()}
    for name, seen in arguments_seen(lambda _, z: places(z), {}, shapes).items():
        if seen:
            raise DataError(
                f"{where}: the place of site {name!r} follows from the values given and from {listed(seen)}, which "
                f"is collapsed. Give the value of {name!r} itself."
            )


def sites_seen(
    base: ModelProgram,
    groups: Groups,
    data: Mapping[str, Any],
    parts: Callable[[Mapping[str, Site]], dict[str, jax.Array]],
) -> dict[str, list[str]]:
    """Return, for each part of the model's sites, the sites of the groups that it depends on."""
    dtype = precision_scope.float_dtype(base.precision)
    others = {
        entry.name: jax.ShapeDtypeStruct(entry.unconstrained_shape, dtype)
        for entry in base.layout.marginal.entries
    }
    # Sites and data may have one name.
    shapes = {f"data/{name}": jax.ShapeDtypeStruct(np.shape(x), x.dtype) for name, x in data.items()}
    shapes |= {f"site/{name}": jax.ShapeDtypeStruct(shape, dtype) for name, shape in groups.sites}

    def look(others: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, jax.Array]:
        z = {name: given[f"site/{name}"] for name in groups.names}
        with concrete(base.constants):
            return parts(base.sites({**others, **z}, {name: given[f"data/{name}"] for name in data}))

    with precision_scope.scope(base.precision):
        found = arguments_seen(look, others, shapes)
    names = {
        part: [each.removeprefix("site/") for each in seen if each.startswith("site/")]
        for part, seen in found.items()
    }
    return {part: seen for part, seen in names.items() if seen}
