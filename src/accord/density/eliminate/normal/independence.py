"""Find which entries of some sites depend on each other, once all other unknowns are known.

Second derivatives between entries of different groups are zero then, so that a product with a vector that is scaled
group by group is the product with that vector, scaled so. By powers of two it is the same to the last bit, and it is
not where anything, however small, comes from another group. What is found must hold for other data of the same shapes,
which JAX may trace: it is tried with the model's own, and with such as have neither its zeros nor its order.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....core.errors import SiteError
from ...program import ModelProgram
from ...quick import quickly
from ...rows.conditions import listed
from ...unknowns import pieces_of
from .exactness import SPREADS
from .groups import Groups, possible_groups

MAX_SIZE = 2000
"""Entries of a group, at most: a matrix of as many rows is factored at each gradient."""

_NEARBY = 1e-3
_ELSEWHERE = 0.5  # standard deviations of the sites from zero, where a log density is no quadratic of them


def independent_groups(base: ModelProgram, data: Mapping[str, Any]) -> Groups:
    """Find the smallest groups of the sites that are to be collapsed; in the scope of float64.

    **Arguments**: `data`, of the whole model, in memory.

    **Raises** `SiteError` where a group has too many entries.
    """
    ways = possible_groups([entry for entry in base.layout.sites if entry.name in base.layout.to_collapse])
    found = _first_that_holds(base, data, ways) if len(ways) > 1 else ways[-1]
    if found.size > MAX_SIZE:
        raise SiteError(
            f"handlers.collapse: the {found.size} entries of {listed(found.names)} depend on each other given all "
            f"other unknowns, and a matrix of as many rows would be factored at each gradient; {MAX_SIZE} is the most. "
            "Leave some of the sites out of `handlers.collapse`. For a linear series, "
            "`dist.LinearGaussianStateSpace` costs less."
        )
    return found


def _first_that_holds(base: ModelProgram, data: Mapping[str, Any], ways: Sequence[Groups]) -> Groups:
    *tried, last = ways
    alone, entries = Groups(last.sites), base.layout.marginal.entries
    generator = np.random.default_rng(20)
    dim, num_points = base.layout.marginal.dim, len(SPREADS)
    positions = SPREADS[:, None] * generator.standard_normal((num_points, dim))
    vectors = generator.standard_normal((num_points, alone.num, 1))
    scales = [_powers_of_two(generator, (num_points, each.num, 1)) for each in tried]

    def at_point(data: Any, position: Any, vector: Any, scales: Any) -> tuple[jax.Array, jax.Array]:
        others = pieces_of(position, entries)

        def log_density(z: Any) -> Any:
            return sum(base.terms_at({**others, **alone.unstack(z)}, data).values())

        # A log density that is not quadratic may hide at zero what it shows elsewhere.
        at = jnp.zeros_like(vector) if base.layout.by is None else _ELSEWHERE * vector
        _, product = jax.linearize(jax.grad(log_density), at)

        def regrouped(groups: Groups, stacked: Any) -> Any:
            return groups.stack(alone.unstack(stacked))

        scaled = [
            alone.stack(groups.unstack(scale * regrouped(groups, vector)))
            for groups, scale in zip(tried, scales, strict=True)
        ]
        # By one piece of code for all, which rounds alike.
        own, *others_scaled = jax.lax.map(product, jnp.stack([vector, *scaled]))
        are_equal = [
            jnp.all(regrouped(groups, each) == scale * regrouped(groups, own))
            for groups, scale, each in zip(tried, scales, others_scaled, strict=True)
        ]
        return jnp.isfinite(own).all(), jnp.stack(are_equal)

    def look(data: Any, *points: Any) -> Any:
        return jax.lax.map(lambda point: at_point(data, *point), points)

    look = quickly(look)
    holds = np.ones(len(tried), bool)
    for each in (data, otherwise(data, generator)):
        is_finite, are_equal = map(np.asarray, look(each, positions, vectors, scales))
        holds &= is_finite.any() & are_equal[is_finite].all(axis=0)
    return next((groups for groups, does in zip(tried, holds, strict=True) if does), last)


def _powers_of_two(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.choice([-1.0, 1.0], shape) * 2.0 ** generator.integers(-3, 4, shape)


def otherwise(data: Mapping[str, Any], generator: np.random.Generator) -> dict[str, Any]:
    """Change data to what it might have been: floats near its own, without zeros; counts in another order."""

    def moved(value: np.ndarray) -> np.ndarray:
        if value.dtype.kind != "f":
            return generator.permutation(value.reshape(-1)).reshape(value.shape)
        known = np.abs(value[np.isfinite(value)])
        least = np.where(value == 0, known.mean() if known.any() else 1.0, 0.0)
        shift = _NEARBY * generator.uniform(0.5, 1.5, value.shape)
        return (value * (1 + shift) + least * shift).astype(value.dtype)

    return {name: moved(np.asarray(value)) for name, value in data.items()}
