"""Build the program that turns the positions of draws into what is kept of them, row by row."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

OfDraw = Callable[[Array, Array], dict[str, Array]]
"""From the position and the log density of a draw to arrays by name."""


def sites_program(constrain: OfDraw, divide: OfDraw, rows: int) -> Callable[..., Any]:
    """The function `(positions, log_densities, num_sites, num_parts) -> {name: rows}` to compile.

    Of so many rows, `constrain(position, log_density)` gives the sites, and `divide` the parts of the log density, both
    by name; the others are left zero. One row at a time: in a batch, a row's bits could depend on where in it the row
    stands. In two loops, since fused into one the bits of the sites would depend on what the parts are; and draws of
    warm-up need the parts alone.
    """

    def run(
        positions: Float[Array, "rows dim"],
        log_densities: Float[Array, " rows"],
        num_sites: Int[Array, ""],
        num_parts: Int[Array, ""],
    ) -> dict[str, Array]:
        def over(function: OfDraw, count: Array) -> dict[str, Array]:
            shapes = jax.eval_shape(function, positions[0], log_densities[0])
            out = {name: jnp.zeros((rows, *leaf.shape), leaf.dtype) for name, leaf in shapes.items()}

            def put(row: Array, out: dict[str, Array]) -> dict[str, Array]:
                position = jax.lax.dynamic_index_in_dim(positions, row, keepdims=False)
                values = function(position, jax.lax.dynamic_index_in_dim(log_densities, row, keepdims=False))
                return {
                    name: jax.lax.dynamic_update_index_in_dim(array, values[name], row, 0)
                    for name, array in out.items()
                }

            return jax.lax.fori_loop(0, count, put, out) if out else out

        return over(constrain, num_sites) | over(divide, num_parts)

    return run
