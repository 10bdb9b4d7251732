"""Define the beta-binomial and beta-negative-binomial distributions: counts with a beta-distributed chance."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ...bijectors import align
from .. import constraints
from ..base import Shape
from ..constraint import Constraint
from ..special import log1m_exp, log_factorial_remainder, one_less_exp
from ..special.basic.gamma_ratio import remainder_rise
from .binomial import draw_binomial
from .common.count_entropy import entropy_of_long_tails
from .common.countable import AbstractCountable, AbstractFinite, known_bounds
from .common.counts import filled, polya_urn, select
from .common.gamma_products import log_products_in_order, mean_log
from .poisson import draw_poisson


class BetaBinomial(AbstractFinite):
    """Beta-binomial distribution: successes in `total_count` trials that share a beta-distributed chance.

    The cdf, its inverse and the entropy sum over all values: `total_count` must then be a constant.

    **Fields**
    - `concentration1`: weight of success, > 0.
    - `concentration0`: weight of failure, > 0; both large give the binomial distribution.
    - `total_count`: number of trials, a whole number >= 0.

    **Probability**: `choose(n, k) B(k + a, n - k + b) / B(a, b)`, n = total_count, a, b = the concentrations.

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, section 6.2.2.
    """

    concentration1: Any
    concentration0: Any
    total_count: Any = 1
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
        "total_count": constraints.nonnegative_integer,
    }

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> jax.Array:
        a, b, n = self._arrays("concentration1", "concentration0", "total_count")
        return n * (a / (a + b))

    @property
    def variance(self) -> jax.Array:
        a, b, n = self._arrays("concentration1", "concentration0", "total_count")
        total = a + b
        return n * (a / total) * (b / total) * ((total + n) / (total + 1))

    @property
    def mode(self) -> jax.Array:
        a, b, n = self._arrays("concentration1", "concentration0", "total_count")
        # The probabilities rise as long as (n + 1)(a - 1) > k (a + b - 2).
        rise, slope = (n + 1) * (a - 1), a + b - 2
        inner = jnp.clip(jnp.ceil(rise / jnp.where(slope > 0, slope, 1.0)) - 1, 0.0, n)
        return jnp.where(slope > 0, inner, jnp.where(a > b, n, 0.0))

    def log_prob(self, value: Any) -> jax.Array:
        k, a, b, n = filled(*align(value, self.concentration1, self.concentration0, self.total_count))
        is_inside = (k >= 0) & (k <= n) & (jnp.floor(k) == k)
        k_safe = jnp.where(is_inside, k, 0.0)
        rest, total = n - k_safe, a + b
        coefficient = (
            log_factorial_remainder(n) - log_factorial_remainder(k_safe) - log_factorial_remainder(rest)
        )
        log_prob = coefficient + two_urns(k_safe, rest, a, b, total)
        return select(is_inside, log_prob, k)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_chance, key_count = jax.random.split(key)
        a, b, n = self._arrays("concentration1", "concentration0", "total_count")
        probs = jax.lax.logistic(log_odds(key_chance, a, b, self._shape(sample_shape)))
        return draw_binomial(key_count, n, probs, probs.shape)

    def _bounds(self) -> tuple[int, int]:
        return known_bounds(self, 0, self.total_count)


class BetaNegativeBinomial(AbstractCountable):
    """Beta-negative-binomial distribution: successes before `n` failures that share a beta-distributed chance.

    **Fields**
    - `concentration1`: weight of success, > 0.
    - `concentration0`: weight of failure, > 0; the mean exists above 1, the variance above 2.
    - `n`: number of failures, any real > 0.

    **Probability**: `choose(k + n - 1, k) B(k + a, n + b) / B(a, b)`, a, b = the concentrations, k = 0, 1, 2, ...

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, section 6.2.3.
    """

    concentration1: Any
    concentration0: Any
    n: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
        "n": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative_integer

    @property
    def mean(self) -> jax.Array:
        a, b, n = self._arrays("concentration1", "concentration0", "n")
        return jnp.where(b > 1, n * a / (jnp.where(b > 1, b, 2.0) - 1), jnp.inf)

    @property
    def variance(self) -> jax.Array:
        a, b, n = self._arrays("concentration1", "concentration0", "n")
        safe = jnp.where(b > 2, b, 3.0)
        finite = n * a / (safe - 1) * ((n + safe - 1) / (safe - 1)) * ((a + safe - 1) / (safe - 2))
        return jnp.where(b > 2, finite, jnp.inf)

    @property
    def mode(self) -> jax.Array:
        a, b, n = self._arrays("concentration1", "concentration0", "n")
        # The probabilities rise as long as (n - 1)(a - 1) > k (b + 1).
        return jnp.maximum(jnp.ceil((n - 1) * (a - 1) / (b + 1)) - 1, 0.0)

    def log_prob(self, value: Any) -> jax.Array:
        k, a, b, n = filled(*align(value, self.concentration1, self.concentration0, self.n))
        is_inside = (k >= 0) & (jnp.floor(k) == k) & (k < jnp.inf)
        return select(is_inside, _negative_log_prob(jnp.where(is_inside, k, 0.0), a, b, n), k)

    def cdf(self, value: Any) -> jax.Array:
        k, is_upper, tail = self._tail(value)
        inside = jnp.where(is_upper, one_less_exp(tail), jnp.exp(tail))
        found = jnp.where(k < 0, 0.0, jnp.where(k == jnp.inf, 1.0, inside))
        return jnp.where(jnp.isnan(k), jnp.nan, found)

    def log_cdf(self, value: Any) -> jax.Array:
        return self._log_share(value, is_above=False)

    def log_survival(self, value: Any) -> jax.Array:
        return self._log_share(value, is_above=True)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_chance, key_rate, key_count = jax.random.split(key, 3)
        a, b, n = self._arrays("concentration1", "concentration0", "n")
        shape = self._shape(sample_shape)
        log_noise = jax.random.loggamma(key_rate, n, shape, self.dtype)
        return draw_poisson(key_count, jnp.exp(log_noise + log_odds(key_chance, a, b, shape)), shape)

    def entropy(self) -> jax.Array:
        a, b, n = self._arrays("concentration1", "concentration0", "n")
        typical = a / b * n
        return entropy_of_long_tails(
            lambda k: _negative_log_prob(*filled(k, a[None], b[None], n[None])),
            typical,
            1 / n + 1 / a + 1 / b + 1 / typical,
            40 / b,
        )

    def _log_share(self, value: Any, *, is_above: bool) -> jax.Array:
        """Return the log probability up to the value, or above it."""
        k, is_upper, tail = self._tail(value)
        is_known = is_upper == is_above
        inside = jnp.where(is_known, tail, log1m_exp(jnp.where(is_known, -1.0, tail)))
        is_all, is_none = (k < 0, k == jnp.inf) if is_above else (k == jnp.inf, k < 0)
        found = jnp.where(is_all, 0.0, jnp.where(is_none, -jnp.inf, inside))
        return jnp.where(jnp.isnan(k), jnp.nan, found)

    def _tail(self, value: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the value, whether it is in the upper half, and the log probability beyond it on that side."""
        k, a, b, n = filled(*align(value, self.concentration1, self.concentration0, self.n))
        after = jnp.where((k >= 0) & (k < jnp.inf), jnp.floor(k), 0.0) + 1.0
        # More than k successes come first if a product of gamma variables of shapes k + 1 and b is below one of
        # shapes n and a: the rate is one of n and a over one of b, and k + 1 events take a time of shape k + 1.
        is_upper = mean_log(after) + mean_log(b) > mean_log(n) + mean_log(a)
        small = jnp.where(is_upper, after, n), jnp.where(is_upper, b, a)
        large = jnp.where(is_upper, n, after), jnp.where(is_upper, a, b)
        return k, is_upper, jnp.minimum(log_products_in_order(small, large), 0.0)


def _negative_log_prob(k: jax.Array, a: jax.Array, b: jax.Array, n: jax.Array) -> jax.Array:
    """Return the log probability of k >= 0 successes before n failures, smooth between whole numbers."""
    coefficient = remainder_rise(n, k) - log_factorial_remainder(k)
    return coefficient + two_urns(k, n, a, b, a + b)


def two_urns(k: jax.Array, rest: jax.Array, a: jax.Array, b: jax.Array, total: jax.Array) -> jax.Array:
    """Compute log(B(k + a, rest + b) / B(a, b)), less the growth that it shares with binomial coefficients."""
    number = k + rest
    both = polya_urn(k, a, number, total) + polya_urn(rest, b, number, total)
    return both - remainder_rise(total, number)


def log_odds(key: jax.Array, a: jax.Array, b: jax.Array, shape: Shape) -> jax.Array:
    """Draw log odds of a beta-distributed chance; they neither overflow nor underflow."""
    key_a, key_b = jax.random.split(key)
    return jax.random.loggamma(key_a, a, shape, a.dtype) - jax.random.loggamma(key_b, b, shape, b.dtype)
