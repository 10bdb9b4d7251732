"""Define the ordered logistic distribution: ordered categories from thresholds of a noisy predictor."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align
from ...bijectors.elementwise import log1p_of_positive
from .. import constraints
from ..base import Shape
from ..constraint import Constraint
from ..special import log1m_exp, logistic, softplus
from .common.countable import AbstractFinite
from .common.counts import select

_MOST_COMPARED = 16


class OrderedLogistic(AbstractFinite):
    """Ordered logistic distribution over `n + 1` categories: how many of `n` thresholds a noisy predictor passes.

    **Fields**
    - `predictor`: any real; a larger one makes higher categories more probable.
    - `cutpoints`: the thresholds, shape `(..., n)`, increasing.

    **Probability**: `logistic(cutpoints[k] - predictor) - logistic(cutpoints[k - 1] - predictor)`, k = 0, ..., n.

    **Source**: McCullagh (1980), Regression models for ordinal data, J. Royal Stat. Soc. B 42(2), 109-142.
    """

    predictor: Any
    cutpoints: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "predictor": constraints.real,
        "cutpoints": constraints.ordered_vector,
    }

    @property
    def num_categories(self) -> int:
        """Number of categories: one more than the number of thresholds."""
        return np.shape(self.cutpoints)[-1] + 1

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.num_categories - 1)

    @property
    def mean(self) -> jax.Array:
        probs, k = self._weights()
        return (probs * k).sum(axis=0)

    @property
    def variance(self) -> jax.Array:
        probs, k = self._weights()
        return (probs * (k - self.mean[None]) ** 2).sum(axis=0)

    def log_prob(self, value: Any) -> jax.Array:
        # logistic(high) - logistic(low) = logistic(high) logistic(-low) (1 - exp(low - high)), each factor exact.
        if np.size(self.cutpoints) == self.num_categories - 1:
            k, low, high, log_width = self._between(value)
        else:
            k, low, high, is_first, is_last = self._thresholds(value)
            is_between = ~(is_first | is_last)
            log_width = jnp.where(is_between, log1m_exp(jnp.where(is_between, low - high, -1.0)), 0.0)
            low, high = jnp.where(is_first, -jnp.inf, low), jnp.where(is_last, jnp.inf, high)
        is_inside = (k >= 0) & (k < self.num_categories) & (jnp.floor(k) == k)
        return select(is_inside, _log_both(low, high) + log_width, k)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape = self._shape(sample_shape)
        predictor, cutpoints = self._parts(len(shape))
        noise = jnp.expand_dims(jax.random.logistic(key, shape, self.dtype), -1)
        return (predictor + noise > cutpoints).sum(axis=-1).astype(jnp.result_type(int))

    def cdf(self, value: Any) -> jax.Array:
        k, _, high, _, is_last = self._thresholds(jnp.floor(jnp.asarray(value, self._dtype(value))))
        inside = jnp.where(is_last, 1.0, logistic(high))
        return jnp.where(jnp.isnan(k), jnp.nan, jnp.where(k < 0, 0.0, inside))

    def log_cdf(self, value: Any) -> jax.Array:
        k, _, high, _, is_last = self._thresholds(jnp.floor(jnp.asarray(value, self._dtype(value))))
        return select(k >= 0, jnp.where(is_last, 0.0, -softplus(-high)), k)

    def log_survival(self, value: Any) -> jax.Array:
        k, _, high, _, is_last = self._thresholds(jnp.floor(jnp.asarray(value, self._dtype(value))))
        return select((k < 0) | ~is_last, jnp.where(k < 0, 0.0, -softplus(high)), k)

    def _bounds(self) -> tuple[int, int]:
        return 0, self.num_categories - 1

    def _dtype(self, value: Any) -> np.dtype:
        """Return the floating dtype that holds the value and the parameters."""
        return align(jnp.asarray(value), jnp.zeros((), self.dtype))[0].dtype

    def _parts(self, rank: int) -> tuple[jax.Array, jax.Array]:
        """Return predictor and thresholds, both with the thresholds last and `rank` batch axes."""
        predictor = jnp.asarray(self.predictor, self.dtype)
        cutpoints = jnp.asarray(self.cutpoints, self.dtype)
        predictor = predictor.reshape((1,) * (rank - predictor.ndim) + predictor.shape + (1,))
        return predictor, cutpoints.reshape((1,) * (rank + 1 - cutpoints.ndim) + cutpoints.shape)

    def _thresholds(self, value: Any) -> tuple[jax.Array, ...]:
        """Return the value, the thresholds around it less the predictor, and whether it is first, last."""
        k = jnp.asarray(value, self._dtype(value))
        shape = np.broadcast_shapes(k.shape, self.batch_shape)
        k = jnp.broadcast_to(k, shape)
        predictor, cutpoints = self._parts(len(shape))
        distance = (cutpoints - predictor).astype(k.dtype)
        distance = jnp.broadcast_to(distance, (*shape, distance.shape[-1]))
        last = distance.shape[-1]
        index = jnp.expand_dims(jnp.clip(jnp.nan_to_num(k), 0, last).astype(jnp.int32), -1)
        low = jnp.take_along_axis(distance, jnp.maximum(index - 1, 0), axis=-1).squeeze(-1)
        high = jnp.take_along_axis(distance, jnp.minimum(index, last - 1), axis=-1).squeeze(-1)
        return k, low, high, k <= 0, k >= last

    def _between(self, value: Any) -> tuple[jax.Array, ...]:
        """Return the value, the thresholds around it less the predictor, and log(1 - exp(-width)) of its interval.

        For thresholds that all entries share: widths are those of a few categories, and not of every entry.
        """
        k = jnp.asarray(value, self._dtype(value))
        shape = np.broadcast_shapes(k.shape, self.batch_shape)
        index = jnp.clip(jnp.nan_to_num(k), 0, self.num_categories - 1).astype(jnp.int32)
        index = index.reshape((1,) * (len(shape) - index.ndim) + index.shape)
        predictor = jnp.asarray(self.predictor, k.dtype)
        predictor = predictor.reshape((1,) * (len(shape) - predictor.ndim) + predictor.shape)
        cuts = jnp.asarray(self.cutpoints, k.dtype).reshape(-1)
        low, high = _both_entries(cuts, index)
        low = jnp.where(index == 0, -jnp.inf, low - predictor)
        high = jnp.where(index == cuts.size, jnp.inf, high - predictor)
        log_widths = log1m_exp(cuts[:-1] - cuts[1:])
        log_width, _ = _both_entries(jnp.pad(log_widths, (0, 1)), index)
        return jnp.broadcast_to(k, shape), low, high, jnp.where(index == 0, 0.0, log_width)

    def _weights(self) -> tuple[jax.Array, jax.Array]:
        """Return probabilities of all categories along a new first axis, and their numbers."""
        return jnp.exp(self._log_table()), self.enumerate_support().astype(self.dtype)


def _both_entries(table: jax.Array, index: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the entries before an index and at it; 0, or another entry, beyond the table.

    Those of a small table are found by comparing, since the gradient of an index is a loop over all entries.
    """
    if table.size > _MOST_COMPARED:
        return table[jnp.maximum(index - 1, 0)], table[jnp.minimum(index, table.size - 1)]
    before = at = jnp.zeros(index.shape, table.dtype)
    for number in range(table.size):
        entry = jnp.broadcast_to(table[number], index.shape)  # once, so that its slope is one sum
        before = jnp.where(index == number + 1, entry, before)
        at = jnp.where(index == number, entry, at)
    return before, at


@jax.custom_jvp
def _log_both(low: jax.Array, high: jax.Array) -> jax.Array:
    """Compute log(logistic(high) logistic(-low)) from one logarithm; either may be infinite."""
    from_low, from_high = jnp.exp(-jnp.abs(low)), jnp.exp(-jnp.abs(high))
    # Not a product of both, which XLA would compute as a third exponential.
    rest = log1p_of_positive(from_low + from_high * (1.0 + from_low))
    return jnp.minimum(high, 0.0) - jnp.maximum(low, 0.0) - rest


@_log_both.defjvp
def _log_both_jvp(
    primals: tuple[jax.Array, jax.Array], tangents: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    (low, high), (low_dot, high_dot) = primals, tangents
    return _log_both(low, high), _tail(high) * high_dot - logistic(low) * low_dot


@jax.custom_jvp
def _tail(x: jax.Array) -> jax.Array:
    """Compute logistic(-x) from the exponential that `_log_both` has computed already."""
    small = jnp.exp(-jnp.abs(x))
    return jnp.where(x > 0, small, 1.0) / (1.0 + small)


@_tail.defjvp
def _tail_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (x_dot,) = primals, tangents
    return _tail(x), -_tail(x) * logistic(x) * x_dot
