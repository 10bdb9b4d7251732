"""Compile programs of an objective: climbs, and its height at several points.

All of it in the scope of the density's precision, which the caller enters.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import ModelError
from ..core.precision import float_dtype
from ..core.tree import to_numpy
from ..density import LogDensity
from ..density.unknowns import like
from ..density.weights import MAP, MLE
from ..programs.standalone import compile_alone
from .climb import climb

Objective = Callable[[LogDensity, jax.Array], jax.Array]


def _log_posterior(density: LogDensity, position: jax.Array) -> jax.Array:
    return density.value(position, MAP)


def _log_likelihood(density: LogDensity, position: jax.Array) -> jax.Array:
    if not any(entry.kind in ("observed", "factor") for entry in density.layout.sites):
        density.program.check_separate(density.data)
        raise ModelError(
            f"the model {density.program.name!r} observes nothing, so that it has no likelihood: give its data by "
            "`obs=` or a condition."
        )
    return density.value(position, MLE)


OBJECTIVES: dict[str, Objective] = {"map": _log_posterior, "mle": _log_likelihood}
"""By the name of the estimator, what it makes as high as it can."""

AT_ONCE = 64
"""Points of which the heights, or the values of sites, are worked out in one call."""


@dataclass(frozen=True, eq=False)
class Climbs:
    """Ends of climbs.

    **Fields**
    - `positions`: shape `(start, dim)`. `heights`: shape `(start,)`, NaN for a start without a finite candidate.
    - `is_settled`: whether it ended where it could gain nothing more. `num_steps` of each.
    """

    positions: np.ndarray
    heights: np.ndarray
    is_settled: np.ndarray
    num_steps: np.ndarray


def climbing(
    density: LogDensity, objective: Objective, candidates: np.ndarray
) -> Callable[[np.ndarray, int], Climbs]:
    """Compile climbs from candidates of this shape, `(start, candidate, dim)`, in so many steps at most."""

    def climbs(density: LogDensity, candidates: Any, max_steps: Any) -> dict[str, Any]:
        evaluate = jax.value_and_grad(lambda position: objective(density, position))
        ends = jax.vmap(lambda places: climb(evaluate, places, max_steps))(candidates)
        found = ends.state
        return {
            "positions": found.point.position,
            "heights": jnp.where(jnp.isfinite(found.point.log_density), found.point.log_density, jnp.nan),
            "is_settled": found.is_settled,
            "num_steps": found.num_lines,
        }

    program = compile_alone(density, climbs, candidates, np.int32(0))
    return lambda candidates, max_steps: Climbs(**to_numpy(program(candidates, np.int32(max_steps))))


def heights(density: LogDensity, objective: Objective) -> Callable[[Any], np.ndarray]:
    """Compile the objective at positions of shape `(n, dim)`."""

    def values(density: LogDensity, positions: Any) -> Any:
        return jax.lax.map(lambda position: objective(density, position), positions)

    return in_batches(density, values)


def values_of_sites(density: LogDensity) -> Callable[[Any], dict[str, np.ndarray]]:
    """Compile the values of latent and deterministic sites at positions of shape `(n, dim)`."""

    def values(density: LogDensity, positions: Any) -> Any:
        return jax.lax.map(density.constrain, positions)

    return in_batches(density, values)


def in_batches(density: LogDensity, function: Callable[[LogDensity, Any], Any]) -> Callable[[Any], Any]:
    """Compile a function of a batch of positions, or of a `Position` of such rows; it takes any number of them."""
    like_one = like(density.layout, _dtype(density))
    example = jax.tree.map(lambda leaf: np.zeros((AT_ONCE, *leaf.shape), leaf.dtype), like_one)
    program = compile_alone(density, function, example)

    def run(positions: Any) -> Any:
        count = len(jax.tree.leaves(positions)[0])
        rows = max(-(-count // AT_ONCE), 1) * AT_ONCE

        def padded(leaf: np.ndarray) -> np.ndarray:
            found = np.zeros((rows, *leaf.shape[1:]), leaf.dtype)
            found[:count] = leaf
            return found

        every = jax.tree.map(lambda leaf, own: padded(np.asarray(leaf, own.dtype)), positions, example)

        def batch(first: int) -> Any:
            return jax.tree.map(lambda leaf: leaf[first : first + AT_ONCE], every)

        parts = [to_numpy(program(batch(first))) for first in range(0, rows, AT_ONCE)]
        return jax.tree.map(lambda *leaves: np.concatenate(leaves)[:count], *parts)

    return run


def _dtype(density: LogDensity) -> np.dtype:
    return float_dtype(density.program.precision)
