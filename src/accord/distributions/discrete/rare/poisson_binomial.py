"""Define the Poisson binomial distribution: successes in trials with different probabilities."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...constraint import Independent as IndependentConstraint
from ...special import log1m, log_of
from ..common.countable import AbstractFinite
from ..common.counts import select
from ..common.table_law import draw_from_table, look_up


class PoissonBinomial(AbstractFinite):
    """Poisson binomial distribution: successes in `n` independent trials, each with its own probability.

    All `n + 1` probabilities are computed at once, in about `n^2` operations.

    **Fields**
    - `probs`: probabilities of success, shape `(..., n)`, in [0, 1].

    **Probability**: the coefficient of `z^k` in `prod over i of (1 - probs_i + probs_i z)`, k = 0, ..., n.

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, section 3.12.2; the recursion over
    trials: Chen & Liu (1997), Statistica Sinica 7(4), 875-892.
    """

    probs: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "probs": IndependentConstraint(constraints.unit_interval, 1)
    }

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._size)

    @property
    def mean(self) -> jax.Array:
        return jnp.asarray(self.probs, self.dtype).sum(axis=-1)

    @property
    def variance(self) -> jax.Array:
        p = jnp.asarray(self.probs, self.dtype)
        return (p * (1 - p)).sum(axis=-1)

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        is_inside = (value >= 0) & (value <= self._size) & (value % 1 == 0)
        found = look_up(self._log_table(), jnp.where(is_inside, value, 0).astype(jnp.int32))
        rank = max(value.ndim, found.ndim)
        is_inside = is_inside.reshape((1,) * (rank - value.ndim) + value.shape)
        x = jnp.broadcast_to(value.astype(found.dtype).reshape(is_inside.shape), found.shape)
        return select(is_inside, found, x)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return draw_from_table(key, self._log_table(), sample_shape).astype(jnp.result_type(int))

    @property
    def _size(self) -> int:
        """Return the number of trials."""
        return np.shape(self.probs)[-1]

    def _bounds(self) -> tuple[int, int]:
        return 0, self._size

    def _log_table(self) -> jax.Array:
        p = jnp.moveaxis(jnp.asarray(self.probs, self.dtype), -1, 0)
        none = jnp.full((1, *p.shape[1:]), -jnp.inf, p.dtype)

        def try_once(log_table: jax.Array, chance: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
            log_p, log_q = chance
            moved = jnp.concatenate([none, log_table[:-1]])
            return _log_add(log_table + log_q[None], moved + log_p[None]), None

        start = jnp.concatenate([jnp.zeros_like(none), *[none] * self._size])
        return jax.lax.scan(try_once, start, (log_of(p), log1m(p)))[0]


def _log_add(x: jax.Array, y: jax.Array) -> jax.Array:
    """Compute the log of the sum of two exponentials; -inf with zero gradients where both are 0."""
    top = jnp.maximum(x, y)
    is_empty = top == -jnp.inf
    safe = jax.lax.stop_gradient(jnp.where(is_empty, 0.0, top))
    x, y = (jnp.where(part == -jnp.inf, -jnp.inf, part - safe) for part in (x, y))
    total = _exp(x) + _exp(y)
    return jnp.where(is_empty, -jnp.inf, jnp.log(jnp.where(is_empty, 1.0, total)) + safe)


def _exp(x: jax.Array) -> jax.Array:
    """Compute the exponential, with a zero gradient at -inf."""
    is_none = x == -jnp.inf
    return jnp.where(is_none, 0.0, jnp.exp(jnp.where(is_none, 0.0, x)))
