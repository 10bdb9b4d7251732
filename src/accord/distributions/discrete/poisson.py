"""Define the Poisson distribution: the number of independent events."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ...bijectors import align
from .. import constraints
from ..base import Shape
from ..constraint import Constraint
from .common.count_entropy import entropy_of_counts
from .common.count_tails import Tail, poisson_tail
from .common.countable import AbstractRare
from .common.counts import (
    log_poisson_log_prob_of_any,
    poisson_log_prob,
    poisson_log_prob_above_zero,
    poisson_log_prob_of_any,
    select,
)


class Poisson(AbstractRare):
    """Poisson distribution: the number of independent events at a given rate.

    **Fields**
    - `rate`: expected number, >= 0.

    **Probability**: `rate^k exp(-rate) / k!`, k = 0, 1, 2, ...

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 4.
    """

    rate: Any
    parameters: ClassVar[dict[str, Constraint]] = {"rate": constraints.nonnegative}

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative_integer

    @property
    def mean(self) -> jax.Array:
        return self._full(self.rate)

    @property
    def variance(self) -> jax.Array:
        return self._full(self.rate)

    @property
    def mode(self) -> jax.Array:
        return mode_of_rate(self.mean)

    def log_prob(self, value: Any) -> jax.Array:
        return poisson_log_prob_of_any(*self._aligned(value))

    def log_prob_above_zero(self, value: Any) -> jax.Array:
        k, rate = self._aligned(value)
        is_inside = (k >= 1) & (jnp.floor(k) == k) & (k < jnp.inf)
        return select(is_inside, poisson_log_prob_above_zero(jnp.where(is_inside, k, 1.0), rate), k)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return draw_poisson(key, self.mean, self._shape(sample_shape))

    def cdf(self, value: Any) -> jax.Array:
        return poisson_tail("cdf", *self._aligned(value))

    def log_cdf(self, value: Any) -> jax.Array:
        return poisson_tail("log_cdf", *self._aligned(value))

    def log_survival(self, value: Any) -> jax.Array:
        return poisson_tail("log_survival", *self._aligned(value))

    def entropy(self) -> jax.Array:
        rate = self.mean
        return entropy_of_counts(
            lambda k: poisson_log_prob(k, rate[None]), rate, rate, jnp.full_like(rate, jnp.inf)
        )

    def _aligned(self, value: Any) -> tuple[jax.Array, jax.Array]:
        k, rate = align(value, self.rate)
        return k, jnp.asarray(rate, k.dtype)


class LogPoisson(AbstractRare):
    """Poisson distribution by the logarithm of the rate, for log-linear models.

    **Fields**
    - `log_rate`: logarithm of the expected number, any real.

    **Probability**: `exp(k log_rate - exp(log_rate)) / k!`, k = 0, 1, 2, ...

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 4.
    """

    log_rate: Any
    parameters: ClassVar[dict[str, Constraint]] = {"log_rate": constraints.real}

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative_integer

    @property
    def mean(self) -> jax.Array:
        return jnp.exp(self._full(self.log_rate))

    @property
    def variance(self) -> jax.Array:
        return self.mean

    @property
    def mode(self) -> jax.Array:
        return mode_of_rate(self.mean)

    def log_prob(self, value: Any) -> jax.Array:
        k, log_rate = align(value, self.log_rate)
        return log_poisson_log_prob_of_any(k, jnp.asarray(log_rate, k.dtype))

    def log_prob_above_zero(self, value: Any) -> jax.Array:
        return Poisson(jnp.exp(self.log_rate)).log_prob_above_zero(value)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return draw_poisson(key, self.mean, self._shape(sample_shape))

    def cdf(self, value: Any) -> jax.Array:
        return self._tail("cdf", value)

    def log_cdf(self, value: Any) -> jax.Array:
        return self._tail("log_cdf", value)

    def log_survival(self, value: Any) -> jax.Array:
        return self._tail("log_survival", value)

    def entropy(self) -> jax.Array:
        return Poisson(self.mean).entropy()

    def _tail(self, tail: Tail, value: Any) -> jax.Array:
        k, log_rate = align(value, self.log_rate)
        return poisson_tail(tail, k, jnp.exp(jnp.asarray(log_rate, k.dtype)))


def mode_of_rate(rate: jax.Array) -> jax.Array:
    """Return the most probable number of events; the smaller of two."""
    return jnp.maximum(jnp.ceil(rate) - 1, 0.0)


def draw_poisson(key: jax.Array, rate: jax.Array, shape: Shape) -> jax.Array:
    """Draw numbers of events as integers; rates too large for the integer type are clipped."""
    integer = jnp.result_type(int)
    # Half of the range leaves room for the deviation of the draw.
    rate = jnp.minimum(rate, 0.5 * jnp.iinfo(integer).max)
    return jax.random.poisson(key, rate, shape, integer)
