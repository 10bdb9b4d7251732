"""Define the distribution over a list of numbers with given probabilities."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, float_type, is_concrete
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...constraint import Independent as IndependentConstraint
from ...parameters import without_gradient
from ...special import log1m_exp, log_of, log_sum_exp
from ..common.countable import AbstractCountable
from ..common.counts import select
from ..common.table_law import draw_from_table


class DiscreteNonParametric(AbstractCountable):
    """Discrete distribution over a list of numbers with given probabilities, such as an empirical distribution.

    Draws are integers if the list is of integers. The numbers of the list have no derivative.

    **Fields**
    - `outcomes`: the numbers, shape `(n,)`, in increasing order.
    - `probs`: their probabilities, shape `(..., n)`, >= 0; they sum to one.

    **Probability**: `probs[i]` at `outcomes[i]`.

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, section 1.2.4.
    """

    outcomes: Any
    probs: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "outcomes": IndependentConstraint(constraints.real, 1),
        "probs": constraints.simplex,
    }

    def __check_init__(self) -> None:
        if np.ndim(self.outcomes) != 1 or np.shape(self.outcomes)[-1] != np.shape(self.probs)[-1]:
            raise self.refuse(
                f"outcomes has shape {np.shape(self.outcomes)} and probs {np.shape(self.probs)}",
                "Give n numbers, shape (n,), and their probabilities, shape (..., n).",
            )
        if is_concrete(self.outcomes) and (np.diff(np.asarray(self.outcomes, float)) <= 0).any():
            raise self.refuse(
                "outcomes do not increase", "Sort them, and add up the probabilities of equal values."
            )

    @property
    def support(self) -> Constraint:
        return OneOf(self.outcomes)

    @property
    def mean(self) -> jax.Array:
        probs, numbers = self._table()
        return (probs * numbers).sum(axis=-1)

    @property
    def variance(self) -> jax.Array:
        probs, numbers = self._table()
        return (probs * (numbers - self.mean[..., None]) ** 2).sum(axis=-1)

    @property
    def mode(self) -> jax.Array:
        probs, numbers = self._table()
        return numbers.reshape(-1)[jnp.argmax(probs, axis=-1)]

    def log_prob(self, value: Any) -> jax.Array:
        x, numbers, probs = self._aligned(value)
        is_this = numbers == x[..., None]
        # Use only the probability of the observed value: the others may be 0.
        prob = jnp.where(is_this, probs, 0.0).sum(axis=-1)
        return select(is_this.any(axis=-1), log_of(prob), jnp.broadcast_to(x, prob.shape))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        probs, _ = self._table()
        index = draw_from_table(key, jnp.moveaxis(log_of(probs), -1, 0), sample_shape)
        return jax.lax.stop_gradient(self._typed())[index]

    def cdf(self, value: Any) -> jax.Array:
        x, numbers, probs = self._aligned(value)
        total = jnp.where(numbers <= x[..., None], probs, 0.0).sum(axis=-1)
        return jnp.where(jnp.isnan(x), jnp.nan, jnp.minimum(total, 1.0))

    def log_cdf(self, value: Any) -> jax.Array:
        return self._tail(value, is_above=False)

    def log_survival(self, value: Any) -> jax.Array:
        return self._tail(value, is_above=True)

    def icdf(self, q: Any) -> jax.Array:
        fixed = without_gradient(self)
        q, numbers, probs = fixed._aligned(jax.lax.stop_gradient(q))
        slack = 16 * float(jnp.finfo(q.dtype).eps)
        # At a level of 1 return the last number with positive probability.
        level = jnp.minimum(q, 1 - slack)[..., None] * (1 - slack)
        is_reached = (jnp.cumsum(probs, axis=-1) >= level) & ((probs > 0) | (q[..., None] == 0))
        found = numbers.reshape(-1)[jnp.argmax(is_reached, axis=-1)]
        return jnp.where((q >= 0) & (q <= 1), found, jnp.nan)

    def entropy(self) -> jax.Array:
        probs, _ = self._table()
        return -(probs * jnp.where(probs > 0, log_of(probs), 0.0)).sum(axis=-1)

    def enumerate_support(self, expand: bool = True) -> jax.Array:
        numbers = self._typed()
        values = numbers.reshape(numbers.shape + (1,) * len(self.batch_shape))
        return jnp.broadcast_to(values, (numbers.size, *self.batch_shape)) if expand else values

    def _typed(self) -> jax.Array:
        """Return the numbers in the dtype of draws."""
        numbers = jnp.asarray(self.outcomes)
        is_whole = jnp.issubdtype(numbers.dtype, jnp.integer)
        return numbers.astype(jnp.result_type(int) if is_whole else self.dtype)

    def _table(self) -> tuple[jax.Array, jax.Array]:
        """Return the probabilities, and the numbers in the same rank."""
        probs = jnp.asarray(self.probs, self.dtype)
        numbers = jax.lax.stop_gradient(jnp.asarray(self.outcomes, self.dtype))
        return probs, numbers.reshape((1,) * (probs.ndim - 1) + (-1,))

    def _aligned(self, value: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the value, numbers and probabilities in one rank, except for the last axis."""
        dtype = float_type(value, self.probs, self.outcomes)
        x, probs = align(jnp.asarray(value, dtype)[..., None], jnp.asarray(self.probs, dtype))
        x = jnp.broadcast_to(x, (*np.broadcast_shapes(x.shape[:-1], probs.shape[:-1]), 1)).squeeze(-1)
        numbers = jax.lax.stop_gradient(jnp.asarray(self.outcomes, dtype))
        return (
            x,
            numbers.reshape((1,) * x.ndim + (-1,)),
            probs.reshape((1,) * (x.ndim + 1 - probs.ndim) + probs.shape),
        )

    def _tail(self, value: Any, *, is_above: bool) -> jax.Array:
        """Return the log probability above the value, or of at most it, accurate where it is small."""
        x, numbers, probs = self._aligned(value)
        log_probs = log_of(probs)
        is_in = (numbers > x[..., None]) == is_above
        ours = log_sum_exp(jnp.where(is_in, log_probs, -jnp.inf))
        others = log_sum_exp(jnp.where(is_in, -jnp.inf, log_probs))
        is_small = ours < -0.5
        rest = log1m_exp(jnp.minimum(jnp.where(is_small, -1.0, others), 0.0))
        return jnp.where(jnp.isnan(x), jnp.nan, jnp.where(is_small, ours, rest))


class OneOf(Constraint):
    """Set of listed numbers, in increasing order."""

    outcomes: Any
    is_discrete: ClassVar[bool] = True
    words: ClassVar[str] = "one of {outcomes}"

    def __call__(self, value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic) and is_concrete(self.outcomes):
            return np.isin(value, np.asarray(self.outcomes, float_type(value, self.outcomes)))
        dtype = float_type(value, self.outcomes)
        x, numbers = jnp.asarray(value, dtype), jnp.asarray(self.outcomes, dtype)
        return (x[..., None] == numbers.reshape((1,) * x.ndim + (-1,))).any(axis=-1)

    def feasible_like(self, value: Any) -> jax.Array:
        first = jnp.asarray(self.outcomes).reshape(-1)[0]
        return jnp.full(np.shape(value), first.astype(jnp.result_type(value)))
