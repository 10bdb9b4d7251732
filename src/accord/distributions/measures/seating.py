"""Define the Chinese restaurant process: the table of the next customer."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from .. import constraints
from ..base import Shape
from ..constraint import Constraint
from ..discrete.common.countable import AbstractFinite
from ..special import log_of
from .random_measures import AbstractRandomMeasure


class ChineseRestaurantProcess(AbstractFinite):
    """Chinese restaurant process: the next customer's table, given the number of customers at each table.

    Arrays have a fixed length, so empty tables are zeros in `counts`. A new table is the first empty one, or number n,
    just beyond the last, if none is empty. All other empty tables have probability 0. `counts.at[k].add(1)` seats the
    customer.

    **Fields**
    - `rpm`: a `DirichletProcess` or `PitmanYorProcess`.
    - `counts`: customers at each table, whole numbers >= 0, shape `(..., n)`.

    **Probability**: `(counts[k] - d) / (theta + sum(counts))` of a taken table k, `(theta + d * tables) / (theta +
    sum(counts))` of a new one; d = 0 and theta = alpha for the Dirichlet process.

    **Source**: Pitman (2006), Combinatorial Stochastic Processes, section 3.2.
    """

    rpm: AbstractRandomMeasure
    counts: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "counts": constraints.independent(constraints.nonnegative_integer, 1)
    }

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(
            np.shape(self.counts)[:-1], np.shape(self.rpm.discount), np.shape(self.rpm.strength)
        )

    @property
    def dtype(self) -> np.dtype:
        return float_type(self.rpm.discount, self.rpm.strength)

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._bounds()[1])

    @property
    def mean(self) -> jax.Array:
        probs = jnp.exp(self._log_table())
        return (probs * _ladder(probs)).sum(axis=0)

    @property
    def variance(self) -> jax.Array:
        probs = jnp.exp(self._log_table())
        return (probs * (_ladder(probs) - self.mean[None]) ** 2).sum(axis=0)

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        table = self._log_table()
        shape = np.broadcast_shapes(value.shape, self.batch_shape)
        dtype = float_type(value, table)
        x = jnp.broadcast_to(value, shape)
        is_inside = (x >= 0) & (x <= self._bounds()[1]) & (x % 1 == 0)
        index = jnp.where(is_inside, x, 0).astype(jnp.int32)
        table = jnp.broadcast_to(
            table.reshape(table.shape[:1] + (1,) * (len(shape) + 1 - table.ndim) + table.shape[1:]),
            (table.shape[0], *shape),
        )
        chosen = jnp.take_along_axis(table, index[None], axis=0)[0].astype(dtype)
        missing = jnp.where(jnp.isnan(x), x.astype(dtype), -jnp.inf)
        return jnp.where(is_inside, chosen, missing)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        drawn = jax.random.categorical(key, self._log_table(), axis=0, shape=self._shape(sample_shape))
        return drawn.astype(jnp.result_type(int))

    def _bounds(self) -> tuple[int, int]:
        return 0, np.shape(self.counts)[-1]

    def _log_table(self) -> jax.Array:
        """Return log probabilities of tables 0 to n along the first axis."""
        n, shape = self._bounds()[1], self.batch_shape
        counts = jnp.moveaxis(jnp.asarray(self.counts, self.dtype), -1, 0)
        counts = counts.reshape((n,) + (1,) * (len(shape) + 1 - counts.ndim) + counts.shape[1:])
        counts = jnp.broadcast_to(counts, (n, *shape))
        d, theta = (
            jnp.broadcast_to(jnp.asarray(p, self.dtype), shape)
            for p in (self.rpm.discount, self.rpm.strength)
        )
        is_taken = jnp.concatenate([counts > 0, jnp.zeros((1, *shape), bool)])
        is_new = _ladder(is_taken) == jnp.argmin(is_taken, axis=0)[None].astype(self.dtype)
        tables = is_taken.sum(axis=0).astype(self.dtype)
        # In an empty restaurant the first table is certain, whatever its weight.
        is_empty = tables == 0
        fresh = log_of(jnp.where(is_empty, 1.0, theta + d * tables))[None]
        everyone = jnp.log(jnp.where(is_empty, 1.0, theta + counts.sum(axis=0)))[None]
        size = jnp.concatenate([counts, jnp.zeros((1, *shape), self.dtype)]) - d[None]
        taken = jnp.log(jnp.where(is_taken, size, 1.0))
        return jnp.where(is_taken | is_new, jnp.where(is_taken, taken, fresh) - everyone, -jnp.inf)


def _ladder(table: jax.Array) -> jax.Array:
    """Return 0, 1, 2, ... along the first axis, floating, of the rank of `table`."""
    dtype = table.dtype if jnp.issubdtype(table.dtype, jnp.floating) else jnp.result_type(float)
    return jnp.arange(table.shape[0], dtype=dtype).reshape((-1,) + (1,) * (table.ndim - 1))
