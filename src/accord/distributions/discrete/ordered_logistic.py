"""Define the ordered logistic distribution: ordered categories from thresholds of a noisy predictor."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align
from .. import constraints
from ..base import Shape
from ..constraint import Constraint
from ..special import log1m_exp, logistic, softplus
from .countable import AbstractFinite
from .counts import select


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
        k, low, high, is_first, is_last = self._thresholds(value)
        is_inside = (k >= 0) & (k < self.num_categories) & (k % 1 == 0)
        # logistic(high) - logistic(low) = logistic(high) logistic(-low) (1 - exp(low - high)), each factor exact.
        is_between = ~(is_first | is_last)
        between = log1m_exp(jnp.where(is_between, low - high, -1.0))
        log_prob = (
            -jnp.where(is_last, 0.0, softplus(-high))
            - jnp.where(is_first, 0.0, softplus(low))
            + jnp.where(is_between, between, 0.0)
        )
        return select(is_inside, log_prob, k)

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

    def _weights(self) -> tuple[jax.Array, jax.Array]:
        """Return probabilities of all categories along a new first axis, and their numbers."""
        return jnp.exp(self._log_table()), self.enumerate_support().astype(self.dtype)
