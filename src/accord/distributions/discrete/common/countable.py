"""Define base classes of whole-number distributions: quantiles by search, and lists of the support."""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, is_concrete
from ....core.errors import DistributionError
from ...base import AbstractDistribution
from ...parameters import without_gradient
from ...special import log1m_exp, log_sum_exp, ndtri, one_less_exp

# A cdf within this many units of rounding below `q` counts as having reached it.
_SLACK = 16
_MOST_VALUES = 20_000


class AbstractCountable(AbstractDistribution):
    """Abstract base class of univariate distributions over whole numbers."""

    def enumerate_support(self, expand: bool = True) -> jax.Array:
        """List all values of the support along a new first axis: shape `(n,) + batch_shape`.

        **Arguments**: `expand`: False for shape `(n, 1, ..., 1)`, which broadcasts to it.

        **Raises** `DistributionError` if there are infinitely many values, or if their number is traced.
        """
        del expand
        raise DistributionError(
            f"{type(self).__name__} has infinitely many values, which cannot be listed. Truncate it first."
        )

    def icdf(self, q: Any) -> jax.Array:
        return quantile(self, q, *self._ends())

    def _ends(self) -> tuple[Any, Any]:
        """Return the smallest and the largest value; infinite where there is none."""
        return 0.0, math.inf


class AbstractRare(AbstractCountable):
    """Abstract base class of counts from 0 whose probability of zero may round to 1."""

    @abstractmethod
    def log_prob_above_zero(self, value: Any) -> jax.Array:
        """Return the log probability given a count above zero, without subtracting the chance of zero from 1."""


class AbstractFinite(AbstractCountable):
    """Abstract base class of univariate distributions over few whole numbers, whose summaries are exact sums."""

    @abstractmethod
    def _bounds(self) -> tuple[int, int]:
        """Return the smallest and the largest value over the whole batch, known while tracing."""

    def enumerate_support(self, expand: bool = True) -> jax.Array:
        low, high = self._bounds()
        values = jnp.arange(low, high + 1).reshape((-1,) + (1,) * len(self.batch_shape))
        return jnp.broadcast_to(values, (values.shape[0], *self.batch_shape)) if expand else values

    def cdf(self, value: Any) -> jax.Array:
        x, below, above = self._tails(value)
        is_low = below < -0.5
        low, high = jnp.exp(jnp.where(is_low, below, -1.0)), one_less_exp(jnp.where(is_low, -1.0, above))
        return jnp.where(jnp.isnan(x), jnp.nan, jnp.where(is_low, low, high))

    def log_cdf(self, value: Any) -> jax.Array:
        x, below, above = self._tails(value)
        is_low = below < -0.5
        return jnp.where(
            jnp.isnan(x), jnp.nan, jnp.where(is_low, below, log1m_exp(jnp.where(is_low, -1.0, above)))
        )

    def log_survival(self, value: Any) -> jax.Array:
        x, below, above = self._tails(value)
        is_high = above < -0.5
        return jnp.where(
            jnp.isnan(x), jnp.nan, jnp.where(is_high, above, log1m_exp(jnp.where(is_high, -1.0, below)))
        )

    def icdf(self, q: Any) -> jax.Array:
        (q,) = align(jax.lax.stop_gradient(q))
        fixed = without_gradient(self)
        low, high = self._bounds()
        shape = np.broadcast_shapes(q.shape, self.batch_shape)
        dtype = jnp.promote_types(q.dtype, self.dtype)
        q = jnp.broadcast_to(q.astype(dtype), shape)
        probs = _with_rank(jnp.exp(fixed._log_table()), len(shape)).astype(dtype)
        probs = jnp.broadcast_to(probs, (probs.shape[0], *shape))
        slack = _SLACK * float(jnp.finfo(dtype).eps)
        # At a level of 1 return the last value with positive probability.
        is_short = jnp.cumsum(probs, axis=0) < jnp.minimum(q, 1 - slack)[None] * (1 - slack)
        last = (jnp.where(probs > 0, _ladder(probs), 0.0)).max(axis=0)
        first = is_short.sum(axis=0).astype(dtype)
        found = low + jnp.where(q == 1, last, jnp.minimum(first, float(high - low)))
        return jnp.where((q >= 0) & (q <= 1), found, jnp.nan)

    def entropy(self) -> jax.Array:
        log_probs = self._log_table()
        probs = jnp.exp(log_probs)
        total = -(probs * jnp.where(probs > 0, log_probs, 0.0)).sum(axis=0)
        return jnp.broadcast_to(total, self.batch_shape)

    @property
    def mode(self) -> jax.Array:
        low, _ = self._bounds()
        return jnp.argmax(self._log_table(), axis=0).astype(self.dtype) + low

    def _log_table(self) -> jax.Array:
        """Return log probabilities of all values from the smallest to the largest, shape `(n,) + batch_shape`."""
        values = self.enumerate_support(expand=False)
        table = self.log_prob(values.astype(self.dtype))
        return jnp.broadcast_to(table, (values.shape[0], *self.batch_shape))

    def _tails(self, value: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the value, and log probabilities of at most and above it, each accurate where it is small."""
        table = self._log_table()
        (x,) = align(jnp.asarray(value))
        x = x.astype(jnp.promote_types(x.dtype, table.dtype))
        rank = max(x.ndim, table.ndim - 1)
        low, high = self._bounds()
        k = jnp.arange(low, high + 1, dtype=x.dtype).reshape((-1,) + (1,) * rank)
        x = x.reshape((1,) * (1 + rank - x.ndim) + x.shape)
        table = _with_rank(table, rank).astype(x.dtype)
        below = log_sum_exp(jnp.where(k <= x, table, -jnp.inf), axis=0)
        above = log_sum_exp(jnp.where(k > x, table, -jnp.inf), axis=0)
        return jnp.broadcast_to(x[0], below.shape), jnp.minimum(below, 0.0), jnp.minimum(above, 0.0)


def known_bounds(distribution: AbstractDistribution, low: Any, high: Any) -> tuple[int, int]:
    """Return the smallest lower and largest upper bound, if known while tracing and close enough together."""
    if not (is_concrete(low) and is_concrete(high)):
        raise distribution.refuse(
            "the number of values is known only when the program runs",
            "This needs the sum over all of them: give the bounds as constants.",
        )
    first, last = int(np.min(low)), int(np.max(high))
    if last - first >= _MOST_VALUES:
        raise distribution.refuse(
            f"it has {last - first + 1} values, and this is a sum over all of them",
            f"The sum is computed for up to {_MOST_VALUES} values. Estimate it from draws.",
        )
    return first, last


def quantile(distribution: AbstractDistribution, q: Any, low: Any, high: Any) -> jax.Array:
    """Find the smallest whole number from `low` to `high` at which the cdf is at least `q`; no derivative."""
    (q,) = align(q)
    fixed = without_gradient(distribution)
    shape = np.broadcast_shapes(q.shape, distribution.batch_shape)
    q = jnp.broadcast_to(jax.lax.stop_gradient(q), shape)
    q = q.astype(jnp.promote_types(q.dtype, distribution.dtype))
    mean, variance = (jnp.broadcast_to(m, shape).astype(q.dtype) for m in (fixed.mean, fixed.variance))
    start = mean + jnp.sqrt(variance) * ndtri(jnp.clip(q, 0.001, 0.999))
    return smallest(
        fixed.cdf, q, *jax.lax.stop_gradient((low, high)), jnp.where(jnp.isfinite(start), start, 0.0)
    )


def smallest(
    cdf: Callable[[jax.Array], jax.Array], q: jax.Array, low: Any, high: Any, start: Any
) -> jax.Array:
    """Find the smallest whole number at which the cdf is at least `q`: doubling strides, then bisection.

    **Arguments**: `q`, levels; `low`, `high`, the ends of the support, which may be infinite; `start`, where to begin.
    """
    low, high = (jnp.broadcast_to(jnp.asarray(end, q.dtype), q.shape) for end in (low, high))
    target = q * (1 - _SLACK * float(jnp.finfo(q.dtype).eps))
    is_asked = (q > 0) & (q < 1)
    x = jnp.clip(jnp.floor(start), low, high)

    def is_open(state: tuple[Any, ...]) -> jax.Array:
        below, above, x, _ = state
        return is_asked & (x > below) & (x < above)

    def narrow(state: tuple[Any, ...]) -> tuple[Any, ...]:
        below, above, x, stride = state
        is_going = is_open(state)
        is_reached = cdf(x) >= target
        above = jnp.where(is_going & is_reached, x, above)
        below = jnp.where(is_going & ~is_reached, x, below)
        is_bracketed = jnp.isfinite(below) & jnp.isfinite(above) & ((above - below) <= 2 * stride)
        middle = below + jnp.floor((above - below) / 2)
        step = jnp.where(is_reached, jnp.maximum(above - stride, below + 1), below + stride)
        step = jnp.where(step >= above, above - 1, step)
        return below, above, jnp.where(is_bracketed, middle, step), jnp.where(is_going, 2 * stride, stride)

    # A stride that is lost in rounding would not move.
    stride = jnp.maximum(1.0, 4 * float(jnp.finfo(q.dtype).eps) * jnp.abs(x))
    state = (low - 1, high, jnp.where(x == high, high - 1, x), stride)
    _, found, _, _ = jax.lax.while_loop(lambda state: is_open(state).any(), narrow, state)
    found = jnp.where(q == 0, low, jnp.where(q == 1, high, found))
    return jnp.where((q >= 0) & (q <= 1), found, jnp.nan)


def _with_rank(table: jax.Array, rank: int) -> jax.Array:
    """Insert axes of length 1 between the first axis (the values) and the batch axes."""
    return table.reshape((table.shape[0],) + (1,) * (rank - table.ndim + 1) + table.shape[1:])


def _ladder(probs: jax.Array) -> jax.Array:
    """Return the numbers 0, 1, ... along the first axis."""
    return jnp.arange(probs.shape[0], dtype=probs.dtype).reshape((-1,) + (1,) * (probs.ndim - 1))
