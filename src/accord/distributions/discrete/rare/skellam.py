"""Define the Skellam distribution: the difference of two Poisson counts."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...special import log1m_exp, one_less_exp
from ..common.count_entropy import entropy_of_counts
from ..common.countable import AbstractCountable
from ..common.counts import filled, select
from ..poisson import draw_poisson
from .skellam_contour import skellam_log_prob, skellam_log_tails


class Skellam(AbstractCountable):
    """Skellam distribution: the difference of two independent Poisson counts, such as goals of two teams.

    **Fields**
    - `rate1`: expected count of the added events, > 0.
    - `rate2`: expected count of the subtracted events, > 0.

    **Probability**: `exp(-rate1 - rate2) (rate1 / rate2)^(k/2) I_k(2 sqrt(rate1 rate2))`, k any whole number, with
    the modified Bessel function `I_k`.

    **Source**: Skellam (1946), J. Royal Statistical Society A 109(3), 296.
    """

    rate1: Any
    rate2: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "rate1": constraints.positive,
        "rate2": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return Whole()

    @property
    def mean(self) -> jax.Array:
        rate1, rate2 = self._arrays("rate1", "rate2")
        return rate1 - rate2

    @property
    def variance(self) -> jax.Array:
        rate1, rate2 = self._arrays("rate1", "rate2")
        return rate1 + rate2

    @property
    def mode(self) -> jax.Array:
        # The probabilities are log-concave, and the largest is within one of the mean.
        near = jnp.floor(self.mean) + jnp.arange(-1.0, 3.0, dtype=self.dtype).reshape(
            (-1,) + (1,) * len(self.batch_shape)
        )
        best = jnp.argmax(self.log_prob(near), axis=0)
        return near[0] + best.astype(near.dtype)

    def log_prob(self, value: Any) -> jax.Array:
        k, rate1, rate2 = filled(*align(value, self.rate1, self.rate2))
        is_inside = (k % 1 == 0) & (jnp.abs(k) < jnp.inf)
        return select(is_inside, skellam_log_prob(jnp.where(is_inside, k, 0.0), rate1, rate2), k)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key1, key2 = jax.random.split(key)
        shape = self._shape(sample_shape)
        rate1, rate2 = self._arrays("rate1", "rate2")
        return draw_poisson(key1, rate1, shape) - draw_poisson(key2, rate2, shape)

    def cdf(self, value: Any) -> jax.Array:
        k, below, above = self._tails(value)
        is_low = below < -0.5
        low, high = jnp.exp(jnp.where(is_low, below, -1.0)), one_less_exp(jnp.where(is_low, -1.0, above))
        return self._with_ends(k, jnp.where(is_low, low, high), 0.0, 1.0)

    def log_cdf(self, value: Any) -> jax.Array:
        k, below, above = self._tails(value)
        is_low = below < -0.5
        inside = jnp.where(is_low, below, log1m_exp(jnp.where(is_low, -1.0, above)))
        return self._with_ends(k, inside, -jnp.inf, 0.0)

    def log_survival(self, value: Any) -> jax.Array:
        k, below, above = self._tails(value)
        is_high = above < -0.5
        inside = jnp.where(is_high, above, log1m_exp(jnp.where(is_high, -1.0, below)))
        return self._with_ends(k, inside, 0.0, -jnp.inf)

    def entropy(self) -> jax.Array:
        mean, variance = self.mean, self.variance
        rate1, rate2 = self._arrays("rate1", "rate2")
        # Counted from a point with negligible mass below it.
        first = jnp.where(variance > 64, mean - 12.5 * jnp.sqrt(variance), jnp.floor(mean) - 150)
        return entropy_of_counts(
            lambda k: skellam_log_prob(*filled(k + first[None], rate1[None], rate2[None])),
            mean - first,
            variance,
            jnp.full_like(mean, jnp.inf),
        )

    def _ends(self) -> tuple[Any, Any]:
        return -math.inf, math.inf

    def _tails(self, value: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the value, and log probabilities of at most and above it."""
        k, rate1, rate2 = filled(*align(value, self.rate1, self.rate2))
        whole = jnp.floor(jnp.where(jnp.isfinite(k), k, 0.0))
        return k, *skellam_log_tails(whole, rate1, rate2)

    def _with_ends(self, k: jax.Array, inside: jax.Array, lowest: float, highest: float) -> jax.Array:
        """Extend a tail to infinite and missing values."""
        ends = jnp.where(k == -jnp.inf, lowest, jnp.where(k == jnp.inf, highest, jnp.nan))
        return jnp.where(jnp.isfinite(k), inside, ends.astype(k.dtype))


class Whole(Constraint):
    """Set of all whole numbers, of integer or floating dtype."""

    is_discrete: ClassVar[bool] = True
    words: ClassVar[str] = "a whole number"

    def __call__(self, value: Any) -> Any:
        return value % 1 == 0

    def feasible_like(self, value: Any) -> jax.Array:
        return jnp.zeros_like(value)
