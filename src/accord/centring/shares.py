"""Estimate how much of the information on each entry of a site comes from the data."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.tree import to_numpy
from ..density import LogDensity
from ..density.unknowns import free_of
from ..diagnose.hierarchy import Hierarchical
from ..programs.standalone import compile_alone

_MOST_EXACT = 64  # entries of which the second derivatives are had one by one
_NUM_PROBES = 8


def shares(
    density: LogDensity, values: Mapping[str, np.ndarray], sites: Sequence[Hierarchical]
) -> dict[str, np.ndarray]:
    """Return, by site, the curvature without its own prior over the total, in standardised units.

    **Arguments**: `density`, of the model with all these sites non-centred; `values`, draws of its latent sites, of
    shape `(draw, ...)`, over which the mean is taken.

    **Returns** by site an array in [0, 1] of its auxiliary's shape. In more than 64 entries the second derivatives are
    estimated by products with random signs (Bekas, Kokiopoulou & Saad, 2007, Applied Numerical Mathematics 57), which
    is exact where entries are independent given the other sites.
    """

    def at_draw(density: LogDensity, values: Any) -> dict[str, jax.Array]:
        position = free_of(density.unconstrain(values))
        return {each.site: _share(density, position, each) for each in sites}

    def look(density: LogDensity, values: Any) -> dict[str, jax.Array]:
        every = jax.lax.map(lambda draw: at_draw(density, draw), values)
        return {name: share.mean(axis=0) for name, share in every.items()}

    given = {entry.name: values[entry.name] for entry in density.layout.entries}
    return to_numpy(compile_alone(density, look, given)(given))


def _share(density: LogDensity, position: jax.Array, site: Hierarchical) -> jax.Array:
    entry = density.layout[site.auxiliary]
    own = (*site.config, site.auxiliary)

    def others(piece: jax.Array) -> jax.Array:
        moved = position.at[entry.start : entry.stop].set(piece)
        terms = density.site_terms(moved)
        return sum(
            (term for name, term in terms.items() if name not in own), start=jnp.zeros((), piece.dtype)
        )

    slope, piece = jax.grad(others), position[entry.start : entry.stop]
    size = entry.stop - entry.start
    if size <= _MOST_EXACT:
        curvature = jnp.diagonal(jax.jacfwd(slope)(piece))
    else:
        signs = jax.random.rademacher(jax.random.key(0), (_NUM_PROBES, size), piece.dtype)
        products = jax.lax.map(lambda sign: sign * jax.jvp(slope, (piece,), (sign,))[1], signs)
        curvature = products.mean(axis=0)
    known = jnp.maximum(-curvature, 0.0)
    return (known / (1.0 + known)).reshape(entry.unconstrained_shape)
