"""Compile the look at a point of an objective: its derivatives up to the second, and the values of the sites there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.precision import float_dtype
from ..core.tree import to_numpy
from ..density import LogDensity
from ..programs.standalone import compile_alone
from .surface import Objective

MAX_DIM = 1000
"""Up to which second derivatives are computed, of which there are `dim` squared."""


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
        """Return whether value and both derivatives were computed and are finite."""
        parts = (self.value, self.gradient, self.information)
        return self.information.size > 0 and all(np.all(np.isfinite(each)) for each in parts)


def viewing(density: LogDensity, objective: Objective) -> Callable[[np.ndarray], View]:
    """Compile the view of a position.

    Columns of matrices are worked out one after the other, each by a product with the matrix, or, where the model has a
    function that JAX can only differentiate backward (`jax.custom_vjp`, as in solvers of equations), by a difference.
    """
    example = np.zeros(density.dim, float_dtype(density.program.precision))
    try:
        program = compile_alone(density, _view_with(objective, products), example)
    except TypeError as error:
        if "custom_vjp" not in str(error):
            raise
        program = compile_alone(density, _view_with(objective, differences), example)

    def run(position: np.ndarray) -> View:
        found = to_numpy(program(position.astype(example.dtype)))
        value, log_det = float(found.pop("value")), float(found.pop("log_jacobian"))
        return View(position=position, value=value, log_jacobian=log_det, **found)

    return run


_Derivatives = Callable[[Callable[[Any], Any], Any], tuple[Any, Any]]
"""From a function and a position, shape `(dim,)`: its results, and its derivatives, by coordinate first."""


def _view_with(objective: Objective, derivatives: _Derivatives) -> Callable[[LogDensity, Any], Any]:
    def view(density: LogDensity, position: Any) -> dict[str, Any]:
        names = [entry.name for entry in density.layout.entries]

        def first_order(position: Any) -> Any:
            sites = density.program.means(position, density.data)
            latents = jnp.concatenate([jnp.ravel(sites[name]) for name in names])
            return jax.value_and_grad(lambda position: objective(density, position))(position), latents

        if density.dim <= MAX_DIM:
            found, ((_, turns), slopes) = derivatives(first_order, position)
        else:
            found, turns = first_order(position), jnp.zeros((0, 0), position.dtype)
            slopes = turns
        (value, gradient), latents = found
        return {
            "value": value,
            "gradient": gradient,
            "information": -(turns + turns.T) / 2,
            "sites": density.program.means(position, density.data),
            "latents": latents,
            "slopes": slopes.T,
            "log_jacobian": density.program.parts(position, density.data).jacobian,
        }

    return view


def products(function: Callable[[Any], Any], position: Any) -> tuple[Any, Any]:
    """Return a function's results at a position, and its derivatives, by coordinate first; traced.

    **Raises** `TypeError` that names `custom_vjp` for a function that JAX can only differentiate backward.
    """

    # The results again with each column: one copy of the function is to be compiled.
    def column(direction: Any) -> Any:
        return jax.jvp(function, (position,), (direction,))

    found, columns = jax.lax.map(column, jnp.eye(position.size, dtype=position.dtype))
    return jax.tree.map(lambda leaf: leaf[0], found), columns


def differences(function: Callable[[Any], Any], position: Any) -> tuple[Any, Any]:
    """Return them by differences, for functions that JAX can only differentiate backward; traced."""
    # The cube root balances what is rounded against what is curved.
    steps = jnp.finfo(position.dtype).eps ** (1 / 3) * (1 + jnp.abs(position))
    moves = jnp.diag(steps)
    found = jax.lax.map(function, jnp.concatenate([position[None], position + moves, position - moves]))

    def column_by_column(leaf: Any) -> Any:
        ahead, behind = jnp.split(leaf[1:], 2)
        return jax.vmap(lambda above, below, step: (above - below) / (2 * step))(ahead, behind, steps)

    return jax.tree.map(lambda leaf: leaf[0], found), jax.tree.map(column_by_column, found)
