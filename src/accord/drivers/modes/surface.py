"""Compile what is asked of an objective: climbs, its derivatives at a point, and its height at several.

All of it in the scope of the density's precision, which the caller enters.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.precision import float_dtype
from ...core.tree import to_numpy
from ...density import LogDensity
from ...density.parts import log_jacobian, log_likelihood, log_posterior
from ..compiled import compile_alone
from .climb import climb

Objective = Callable[[LogDensity, jax.Array], jax.Array]

OBJECTIVES: dict[str, Objective] = {"map": log_posterior, "mle": log_likelihood}
"""By the name of the estimator, what it makes as high as it can."""

MAX_DIM = 1000
"""Up to which second derivatives are computed, of which there are `dim` squared."""

AT_ONCE = 64
"""Points of which the heights, or the values of sites, are worked out in one call."""


@dataclass(frozen=True, eq=False)
class Climbs:
    """Where climbs ended.

    **Fields**
    - `positions`: shape `(start, dim)`. `heights`: shape `(start,)`, NaN for a start without a finite place.
    - `is_settled`: whether it ended where it could gain nothing more. `num_steps` of each.
    """

    positions: np.ndarray
    heights: np.ndarray
    is_settled: np.ndarray
    num_steps: np.ndarray


@dataclass(frozen=True, eq=False)
class View:
    """An objective at a point.

    **Fields**
    - `position`, `gradient`: shape `(dim,)`; `value`; `information`: minus the second derivatives, shape `(dim, dim)`.
    - `sites`: values of latent and deterministic sites. `latents`: the latent ones in one array, shape `(k,)`.
    - `slopes`: derivatives of `latents` by the position, shape `(k, dim)`; `log_jacobian`: log determinant of that map.

    Above `MAX_DIM` both matrices are of shape `(0, 0)`.
    """

    position: np.ndarray
    value: float
    gradient: np.ndarray
    information: np.ndarray
    sites: dict[str, np.ndarray]
    latents: np.ndarray
    slopes: np.ndarray
    log_jacobian: float

    @property
    def is_known(self) -> bool:
        """Whether value and both derivatives are finite, and were computed."""
        parts = (self.value, self.gradient, self.information)
        return self.information.size > 0 and all(np.all(np.isfinite(each)) for each in parts)


def climbing(
    density: LogDensity, objective: Objective, candidates: np.ndarray
) -> Callable[[np.ndarray, int], Climbs]:
    """Compile climbs from candidates of this shape, `(start, place, dim)`, in so many steps at most."""

    def climbs(density: LogDensity, candidates: Any, max_steps: Any) -> dict[str, Any]:
        evaluate = jax.value_and_grad(lambda position: objective(density, position))
        ends = jax.vmap(lambda places: climb(evaluate, places, max_steps))(candidates)
        return {
            "positions": ends.position,
            "heights": jnp.where(jnp.isfinite(ends.value), ends.value, jnp.nan),
            "is_settled": ends.is_settled,
            "num_steps": ends.num_steps,
        }

    program = compile_alone(density, climbs, candidates, np.int32(0))
    return lambda candidates, max_steps: Climbs(**to_numpy(program(candidates, np.int32(max_steps))))


def viewing(density: LogDensity, objective: Objective) -> Callable[[np.ndarray], View]:
    """Compile the view of a position. Columns of matrices are worked out one after the other, by one product each."""
    names = [entry.name for entry in density.layout.entries]

    def view(density: LogDensity, position: Any) -> dict[str, Any]:
        both = jax.value_and_grad(lambda position: objective(density, position))

        def latents(position: Any) -> Any:
            sites = density.constrain(position)
            return jnp.concatenate([jnp.ravel(sites[name]) for name in names])

        def column(direction: Any) -> Any:
            (value, gradient), (_, turn) = jax.jvp(both, (position,), (direction,))
            return value, gradient, -turn, jax.jvp(latents, (position,), (direction,))[1]

        if density.dim <= MAX_DIM:
            # Value and gradient again with each column: one copy of them is to be compiled.
            directions = jnp.eye(density.dim, dtype=position.dtype)
            values, gradients, columns, slopes = jax.lax.map(column, directions)
            value, gradient = values[0], gradients[0]
        else:
            value, gradient = both(position)
            columns = slopes = jnp.zeros((0, 0), position.dtype)
        return {
            "value": value,
            "gradient": gradient,
            "information": (columns + columns.T) / 2,
            "sites": density.constrain(position),
            "latents": latents(position),
            "slopes": slopes.T,
            "log_jacobian": log_jacobian(density, position),
        }

    program = compile_alone(density, view, np.zeros(density.dim, _dtype(density)))

    def run(position: np.ndarray) -> View:
        found = to_numpy(program(position.astype(_dtype(density))))
        value, log_det = float(found.pop("value")), float(found.pop("log_jacobian"))
        return View(position=position, value=value, log_jacobian=log_det, **found)

    return run


def heights(density: LogDensity, objective: Objective) -> Callable[[np.ndarray], np.ndarray]:
    """Compile the objective at positions of shape `(n, dim)`."""

    def values(density: LogDensity, positions: Any) -> Any:
        return jax.lax.map(lambda position: objective(density, position), positions)

    return in_batches(density, values)


def values_of_sites(density: LogDensity) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """Compile the values of latent and deterministic sites at positions of shape `(n, dim)`."""

    def values(density: LogDensity, positions: Any) -> Any:
        return jax.lax.map(density.constrain, positions)

    return in_batches(density, values)


def in_batches(
    density: LogDensity, function: Callable[[LogDensity, Any], Any]
) -> Callable[[np.ndarray], Any]:
    """Compile a function of a batch of positions; the result takes any number of them."""
    example = np.zeros((AT_ONCE, density.dim), _dtype(density))
    program = compile_alone(density, function, example)

    def run(positions: np.ndarray) -> Any:
        count = len(positions)
        padded = np.zeros((max(-(-count // AT_ONCE), 1) * AT_ONCE, density.dim), example.dtype)
        padded[:count] = positions
        parts = [to_numpy(program(batch)) for batch in padded.reshape(-1, AT_ONCE, density.dim)]
        return jax.tree.map(lambda *leaves: np.concatenate(leaves)[:count], *parts)

    return run


def _dtype(density: LogDensity) -> np.dtype:
    return float_dtype(density.program.precision)
