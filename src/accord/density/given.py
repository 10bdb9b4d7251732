"""Find the position at which some latent sites have given values."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from ..core import precision as precision_scope
from ..core.tree import shapes
from ..language import Site
from ..language.choice import AbstractChoice, Chosen, Wanted
from ..language.treatment import Whole
from .eliminate.normal.separation import check_places
from .latent import bijector_of, concrete, sites_of
from .logdensity import LogDensity
from .program import FromPosition, Given, ModelProgram
from .simulate import DrawOrSay
from .support import first_value
from .unknowns import Unknowns, joined, like

_GIVE = "Begin at `infer.from_values({...})` with a value of it"


def position_with(
    density: LogDensity, values: Mapping[str, Any], elsewhere: jax.Array, key: jax.Array | None = None
) -> tuple[Unknowns, dict[str, jax.Array]]:
    """Find the position where some sites have these values, and the others are as at a position.

    Other whole numbers are drawn from their distributions, given the sites before them.

    The support of a site may depend on those before it, so that no part of a position stands for a value by itself.

    **Arguments**
    - `values`: by site whose value settles a latent one, of its shape. `elsewhere`: shape `(dim,)`, unconstrained.
    - `key`: a JAX random key, needed where whole numbers are drawn.

    **Returns** the position; and by site of `values` whether it is inside of its support, shape `()`.

    **Raises** `DataError` where the place of a value depends on a site that is collapsed.
    """
    pieces = density.program.pieces(elsewhere)
    given = {name: jnp.asarray(value, elsewhere.dtype) for name, value in values.items()}
    whole = density.program.whole
    if whole is not None:
        data = density.program.whole_data(density.data)
        _check_separate(density, whole, data, given, pieces)
        pieces, is_inside = _of_model(whole, data, given, pieces, key)
    else:
        values = density.program.values(elsewhere, density.data) | given
        pieces = density.program.positions(values, density.data)
        is_inside = {name: jnp.all(jnp.isfinite(pieces[name])) for name in given}
    return joined(pieces, density.layout), is_inside


def support_in_words(density: LogDensity, name: str) -> str:
    """Describe the values that a latent site may have, as in "above 0"; empty where they depend on others."""
    program = density.program.whole
    if program is None:
        return ""
    found: dict[str, str] = {}

    def look(position: Unknowns, data: Mapping[str, Any]) -> None:
        for site in program.sites(density.program.pieces(position), data).values():
            if site.name == name and site.distribution is not None:
                support = site.distribution.support
                is_known = not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(support))
                found[name] = support.describe() if is_known else ""

    position = like(density.layout, precision_scope.float_dtype(program.precision))
    with precision_scope.scope(program.precision), concrete(program.constants):
        jax.eval_shape(look, position, shapes(density.data))
    return found.get(name, "")


def _check_separate(
    density: LogDensity,
    whole: ModelProgram,
    data: Mapping[str, Any],
    given: Mapping[str, jax.Array],
    elsewhere: Mapping[str, jax.Array],
) -> None:
    """Raise `DataError` where the unconstrained value of a site depends on sites that are integrated out."""
    entries = {entry.name for entry in density.layout.entries}
    hidden = {name: piece for name, piece in elsewhere.items() if name not in entries}
    if not hidden:
        return
    names = whole.layout.latents_of(given, "init")

    def places(z: Mapping[str, Any]) -> dict[str, jax.Array]:
        pieces, _ = _of_model(whole, data, given, {**elsewhere, **z})
        return {name: pieces[name] for name in names}

    check_places(places, hidden, "init")


def _of_model(
    program: ModelProgram,
    data: Mapping[str, Any],
    given: Mapping[str, jax.Array],
    elsewhere: Mapping[str, jax.Array],
    key: jax.Array | None = None,
) -> tuple[dict[str, jax.Array], dict[str, jax.Array]]:
    pieces: dict[str, jax.Array] = {}
    is_inside: dict[str, jax.Array] = {}
    names = program.layout.latents_of(given, "init")

    def choice_of(site: Site) -> AbstractChoice:
        if site.name in program.layout.collapsed:
            return Chosen(first_value)
        is_whole = isinstance(site.treatment, Whole)
        if site.name not in names:
            return DrawOrSay(key, _GIVE) if is_whole else FromPosition(elsewhere[site.name])
        if is_whole:
            return Given(given[site.name].astype(jnp.result_type(int)))
        return Given(given[site.name]) if site.name in given else Wanted()

    with concrete(program.constants):
        sites = sites_of(program.model(data, jnp.result_type(float)), choice_of, given)
        for name, other in elsewhere.items():
            site, distribution = sites[name], sites[name].distribution
            if name not in names or distribution is None:
                pieces[name] = other
                continue
            pieces[name] = bijector_of(site).inverse(site.value)
            is_finite = jnp.all(jnp.isfinite(pieces[name]))
            is_inside[names[name]] = jnp.all(distribution.support(site.value)) & is_finite
        for entry in program.layout.whole:
            site, distribution = sites[entry.name], sites[entry.name].distribution
            pieces[entry.name] = jnp.asarray(site.value)
            if entry.name in given and distribution is not None:  # as given: it need not be whole
                is_inside[entry.name] = jnp.all(distribution.support(given[entry.name]))
    return pieces, is_inside
