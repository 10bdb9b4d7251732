"""Build the program that computes sites and parts of log densities from positions: by rows on CPU, else in batches."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..core.position import Position
from ..core.traced import equations
from ..programs.callbacks import is_callback
from ..programs.compiler import spans_devices
from .plan import Plan

OfDraw = Callable[[Position, Array], dict[str, Array]]
"""From the position and the log density of a draw to arrays by name."""

MOST_AT_ONCE = 256
"""Rows of a batch on an accelerator. Each batch takes some kernel launches, as each row by itself would."""

_MOST_BETWEEN = 2**26  # numbers that a batch makes on its way: 512 MiB, if XLA fused none
_MOST_ROOM = 2**24  # numbers of the outputs of one call: 128 MiB


def sites_program(constrain: OfDraw, divide: OfDraw, rows: int, batch: int = 1) -> Callable[..., Any]:
    """Return the function `(positions, log_densities, num_sites, num_parts) -> {name: rows}` to compile.

    For the first `num_sites` rows `constrain(position, log_density)` gives the sites, and for the first `num_parts`
    rows `divide` gives the parts of the log density, both by name; other rows are undefined. It uses two loops, since
    in a fused loop the bits of the sites could depend on the parts; and warm-up draws need only the parts.

    A loop computes `batch` rows at a time; `rows` is a multiple of it. In a batch, the bits of a row may depend on its
    index. So a batch is one row on CPU, where a loop costs nothing. On an accelerator, `columns` gives each draw an
    index that follows from its number.
    """

    def run(
        positions: Position,
        log_densities: Float[Array, " rows"],
        num_sites: Int[Array, ""],
        num_parts: Int[Array, ""],
    ) -> dict[str, Array]:
        def over(function: OfDraw, count: Array) -> dict[str, Array]:
            first = jax.tree.map(lambda rows: rows[0], (positions, log_densities))
            shapes = jax.eval_shape(function, *first)
            out = {name: jnp.zeros((rows, *leaf.shape), leaf.dtype) for name, leaf in shapes.items()}

            def put(row: Array, out: dict[str, Array]) -> dict[str, Array]:
                at = jax.tree.map(
                    lambda rows: jax.lax.dynamic_index_in_dim(rows, row, keepdims=False),
                    (positions, log_densities),
                )
                values = function(*at)
                return {
                    name: jax.lax.dynamic_update_index_in_dim(array, values[name], row, 0)
                    for name, array in out.items()
                }

            def put_batch(number: Array, out: dict[str, Array]) -> dict[str, Array]:
                first = number * batch
                at = jax.tree.map(
                    lambda rows: jax.lax.dynamic_slice_in_dim(rows, first, batch), (positions, log_densities)
                )
                values = jax.vmap(function)(*at)
                return {
                    name: jax.lax.dynamic_update_slice_in_dim(array, values[name], first, 0)
                    for name, array in out.items()
                }

            if not out:
                return out
            if batch == 1:
                return jax.lax.fori_loop(0, count, put, out)
            return jax.lax.fori_loop(0, (count + (batch - 1)) // batch, put_batch, out)

        return over(constrain, num_sites) | over(divide, num_parts)

    return run


def rows_at_once() -> int:
    """Return the most rows of a batch on JAX's default backend. It follows from the kind of the device alone."""
    return 1 if jax.default_backend() == "cpu" else MOST_AT_ONCE


def sizes(of_row: Any, plan: Plan) -> tuple[int, int]:
    """Return `rows` and `batch` of the program of a run; `of_row` is a traced function of a row.

    The memory for all numbers that it makes bounds a batch, and the memory for its results the rows.
    """
    inner = list(equations(of_row))
    # Calls of Python and programs over several devices may not be possible in a batch.
    is_single = bool(plan.shard) or any(is_callback(each) or spans_devices(each) for each in inner)
    batch = max(1, min(1 if is_single else plan.rows_at_once, _MOST_BETWEEN // max(_count(inner), 1)))
    if batch == 1:
        return plan.segment, 1
    row_size = plan.dim + plan.num_whole + sum(math.prod(each.aval.shape) for each in of_row.outvars)
    wanted = -(-plan.lanes * plan.segment // batch)
    return batch * max(1, min(wanted, _MOST_ROOM // (batch * row_size))), batch


def _count(equations: Sequence[Any]) -> int:
    """Count the numbers that traced equations make."""
    made = (variable.aval for equation in equations for variable in equation.outvars)
    return sum(math.prod(aval.shape) for aval in made if hasattr(aval, "shape"))
