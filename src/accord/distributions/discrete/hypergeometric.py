"""Define hypergeometric distributions: successes among items drawn from a finite population."""

import abc
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align, is_concrete
from .. import constraints
from ..base import Shape
from ..constraint import Constraint
from ..special import log_of, log_sum_exp
from .common.countable import AbstractFinite, known_bounds
from .common.counts import Odds, binomial_log_prob, filled, select
from .common.table_law import draw_from_table, look_up


class Hypergeometric(AbstractFinite):
    """Hypergeometric distribution: successes among `total_count` items drawn without replacement.

    Draws, the cdf, its inverse and the entropy sum over all values: the counts must then be constants.

    **Fields**
    - `num_successes`: successes in the population, a whole number >= 0.
    - `num_failures`: failures in the population, a whole number >= 0.
    - `total_count`: number of items drawn, a whole number from 0 to `num_successes + num_failures`.

    **Probability**: `choose(a, k) choose(b, n - k) / choose(a + b, n)`, k = max(0, n - b), ..., min(a, n);
    a = num_successes, b = num_failures, n = total_count.

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 6.
    """

    num_successes: Any
    num_failures: Any
    total_count: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "num_successes": constraints.nonnegative_integer,
        "num_failures": constraints.nonnegative_integer,
        "total_count": constraints.nonnegative_integer,
    }

    def __check_init__(self) -> None:
        check_taken(self)

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(*ends(self))

    @property
    def mean(self) -> jax.Array:
        a, b, n = self._counts()
        return n * _share(a, a + b)

    @property
    def variance(self) -> jax.Array:
        a, b, n = self._counts()
        total = a + b
        return n * _share(a, total) * _share(b, total) * _share(total - n, total - 1)

    @property
    def mode(self) -> jax.Array:
        a, b, n = self._counts()
        low, high = (jnp.asarray(end, self.dtype) for end in ends(self))
        return jnp.clip(jnp.ceil((n + 1) * (a + 1) / (a + b + 2)) - 1, low, high)

    def log_prob(self, value: Any) -> jax.Array:
        k, a, b, n = filled(*align(value, *_counts_of(self)))
        is_inside = _is_possible(k, a, b, n)
        safe = jnp.where(is_inside, k, jnp.maximum(n - b, 0.0))
        return select(is_inside, hypergeometric_log_prob(safe, a, b, n), k)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        index = draw_from_table(key, self._log_table(), sample_shape)
        return self._bounds()[0] + index.astype(jnp.result_type(int))

    def _bounds(self) -> tuple[int, int]:
        return known_bounds(self, *ends(self))

    def _counts(self) -> tuple[jax.Array, ...]:
        """Return successes, failures and items drawn, each of the batch shape."""
        return self._arrays("num_successes", "num_failures", "total_count")


class AbstractOddsHypergeometric(AbstractFinite):
    """Abstract base class of hypergeometric distributions in which successes and failures differ in weight."""

    num_successes: int = eqx.field(static=True)
    num_failures: int = eqx.field(static=True)
    total_count: int = eqx.field(static=True)
    odds: Any
    parameters: ClassVar[dict[str, Constraint]] = {"odds": constraints.positive}

    def __check_init__(self) -> None:
        for name in Hypergeometric.parameters:
            found = getattr(self, name)
            if type(found) is not int or found < 0:
                raise self.refuse(f"{name} is {found!r}", "Give a Python integer of at least 0.")
        check_taken(self)

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(*self._bounds())

    @property
    def mean(self) -> jax.Array:
        values, probs = self._table()
        return (probs * values).sum(axis=0)

    @property
    def variance(self) -> jax.Array:
        values, probs = self._table()
        return (probs * (values - self.mean[None]) ** 2).sum(axis=0)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        index = draw_from_table(key, self._log_table(), sample_shape)
        return self._bounds()[0] + index.astype(jnp.result_type(int))

    def _bounds(self) -> tuple[int, int]:
        return known_bounds(self, *ends(self))

    @abc.abstractmethod
    def _log_table(self) -> jax.Array:
        """Return log probabilities of all values, along a first axis before the batch axes."""

    def _table(self) -> tuple[jax.Array, jax.Array]:
        """Return all values and their probabilities."""
        probs = jnp.exp(self._log_table())
        return self.enumerate_support(expand=False).astype(probs.dtype), probs


class NoncentralHypergeometric(AbstractOddsHypergeometric):
    """Fisher's noncentral hypergeometric distribution: exposed cases in a two-by-two table, by the odds ratio.

    The density, too, is normalised by a sum over all values.

    **Fields**
    - `num_successes`, `num_failures`, `total_count`: as for `Hypergeometric`, but Python integers.
    - `odds`: odds of drawing a success relative to a failure, > 0; 1 gives the hypergeometric distribution.

    **Probability**: `choose(a, k) choose(b, n - k) odds^k / sum over j of choose(a, j) choose(b, n - j) odds^j`;
    a = num_successes, b = num_failures, n = total_count.

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, section 6.11.
    """

    def log_prob(self, value: Any) -> jax.Array:
        k, odds = filled(*align(value, self.odds))
        low, high = self._bounds()
        is_inside = (k >= low) & (k <= high) & (k % 1 == 0)
        safe = jnp.where(is_inside, k, float(low))
        # The sum of the probabilities of all values, relative to k's.
        values, log_weights = self._weights(k.dtype, k.ndim)
        own = look_up(log_weights.reshape(-1), (safe - low).astype(jnp.int32))
        terms = log_weights - own[None] + (values - safe[None]) * jnp.log(odds)[None]
        return select(is_inside, -log_sum_exp(terms, axis=0), k)

    def _log_table(self) -> jax.Array:
        (odds,) = self._arrays("odds")
        values, log_weights = self._weights(odds.dtype, odds.ndim)
        terms = log_weights + values * jnp.log(odds)[None]
        return terms - log_sum_exp(terms, axis=0)[None]

    def _weights(self, dtype: Any, rank: int) -> tuple[jax.Array, jax.Array]:
        """Return all values along a first axis before `rank` more, and their log probabilities at odds of 1."""
        low, high = self._bounds()
        k = jnp.arange(low, high + 1, dtype=dtype)
        log_weights = hypergeometric_log_prob(*filled(k, *(jnp.full(1, count) for count in _counts_of(self))))
        shape = (-1,) + (1,) * rank
        return k.reshape(shape), log_weights.reshape(shape)


def hypergeometric_log_prob(k: jax.Array, a: jax.Array, b: jax.Array, n: jax.Array) -> jax.Array:
    """Compute the log probability of k possible successes among n items drawn from a successes and b failures.

    **Source**: Loader (2000), as for the binomial distribution: binomial numbers of successes and of failures taken,
    with the same chance, given their sum.
    """
    # They are whole numbers: there is nothing to differentiate by.
    k, a, b, n = jax.lax.stop_gradient((k, a, b, n))
    total = a + b
    p, q = _share(n, total), _share(total - n, total)
    chance = Odds(p, q, log_of(p), log_of(q))
    return (
        binomial_log_prob(k, a, chance)
        + binomial_log_prob(n - k, b, chance)
        - binomial_log_prob(n, total, chance)
    )


def check_taken(distribution: Any) -> None:
    """Refuse to draw more items than there are, where both numbers are known now."""
    a, b, n = _counts_of(distribution)
    if is_concrete(a) and is_concrete(b) and is_concrete(n) and (np.add(a, b) < n).any():
        raise distribution.refuse(
            f"total_count is {np.max(n)}, more than the population of {np.min(np.add(a, b))}",
            "It must be at most num_successes + num_failures.",
        )


def ends(distribution: Any) -> tuple[Any, Any]:
    """Return the smallest and the largest possible number of successes."""
    a, b, n = _counts_of(distribution)
    if is_concrete(a) and is_concrete(b) and is_concrete(n):
        return np.maximum(np.subtract(n, b), 0), np.minimum(a, n)
    a, b, n = distribution._arrays("num_successes", "num_failures", "total_count")
    return jnp.maximum(n - b, 0.0), jnp.minimum(a, n)


def _counts_of(distribution: Any) -> tuple[Any, Any, Any]:
    """Return successes, failures and items drawn, as they were given."""
    return distribution.num_successes, distribution.num_failures, distribution.total_count


def _is_possible(k: jax.Array, a: jax.Array, b: jax.Array, n: jax.Array) -> jax.Array:
    """Return whether a number of successes is in the support."""
    return (k >= jnp.maximum(n - b, 0.0)) & (k <= jnp.minimum(a, n)) & (k % 1 == 0)


def _share(part: jax.Array, whole: jax.Array) -> jax.Array:
    """Divide a part by its whole; 0 where both are 0."""
    return part / jnp.where(whole > 0, whole, 1.0)
