"""Sum a user's own function over the rows of data, which are shared out over devices."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import DataError
from ...core.tracebacks import entry_point
from .blocks import devices_in_use, mesh_of, sum_over_blocks
from .cutting import Cut


@entry_point
def sharded_sum(
    function: Callable[..., Any], data: Any, *parameters: Any, devices: Sequence[Any] | None = None
) -> jax.Array:
    """Sum `function(row, *parameters)` over the rows of `data`, on several devices at once; shape `()`.

    The function sees one row at a time, so that no term can be dropped, counted twice or coupled to another row. The
    sum has the same bits on any number of devices up to 16, and derivatives by the parameters up to the second, in
    every way that JAX differentiates.

    **Arguments**
    - `function`: from one row, a pytree like `data` without its first axis, and the parameters, to one number.
    - `data`: pytree of arrays with the rows along the first axis, all of the same length; not to be differentiated by.
    - `parameters`: pytrees of arrays; derivatives are by the real ones among them.
    - `devices`: where to compute; None is the devices of the run, and outside of a run all local ones.

    **Raises** `DataError` for data without a common first axis, and where `function` does not return one number.
    `ModelError` for derivatives by the data, and for third derivatives.

    **Example**

    >>> rows = np.array([1.0, 2.0, 3.0])
    >>> print(density.sharded_sum(lambda row, power: row**power, rows, 2.0))
    14.0
    """
    sizes = {np.shape(leaf)[:1] for leaf in jax.tree.leaves(data)}
    if len(sizes) != 1 or () in sizes:
        raise DataError(
            f"sharded_sum: all arrays of data must have the rows along their first axis; found {sorted(sizes)}."
        )
    ((num_rows,),) = sizes
    free, fixed = eqx.partition(parameters, lambda leaf: jnp.issubdtype(jnp.result_type(leaf), jnp.floating))
    free = jax.tree.map(jnp.asarray, free)
    if not num_rows:
        return jnp.zeros((), jnp.result_type(float))

    def summand(free: Any, own: Any, blocks: Any, fixed: Any) -> jax.Array:
        del own
        rows, is_real = blocks
        terms = jax.vmap(lambda row: function(row, *eqx.combine(free, fixed)))(rows)
        if getattr(terms, "shape", None) != is_real.shape:
            raise DataError(
                "sharded_sum: the function must return one number, shape (), for the one row that it is given; it "
                f"returned shape {np.shape(terms)[1:]}."
            )
        return jnp.sum(jnp.where(is_real, terms, jnp.zeros_like(terms)))

    cut = Cut.of(num_rows)
    blocks = jax.tree.map(lambda leaf: cut.blocks(leaf, 0), data), cut.is_real
    mesh = mesh_of(devices or devices_in_use())
    return sum_over_blocks(summand, mesh, free, (), blocks, fixed)
