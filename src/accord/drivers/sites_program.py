"""Build the program that computes sites and parts of log densities from positions, row by row."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

OfDraw = Callable[[Array, Array], dict[str, Array]]
"""From the position and the log density of a draw to arrays by name."""


def sites_program(constrain: OfDraw, divide: OfDraw, rows: int) -> Callable[..., Any]:
    """Return the function `(positions, log_densities, num_sites, num_parts) -> {name: rows}` to compile.

    For the first `num_sites` rows `constrain(position, log_density)` gives the sites, and for the first `num_parts`
    rows `divide` gives the parts of the log density, both by name; other rows are zero. It computes one row at a time,
    since in a batch the bits of a row could depend on its index. It uses two loops, since in a fused loop the bits of
    the sites could depend on the parts; and warm-up draws need only the parts.
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
