"""Distribute counts and categories: Bernoulli, binomial, Poisson, categorical."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from ..bijectors import align
from . import constraints
from .base import AbstractDistribution, Shape, exactly_one
from .constraint import Constraint
from .constraint import Independent as IndependentConstraint
from .special import log_factorial_remainder, log_sum_exp, softplus, xlog


class Bernoulli(AbstractDistribution):
    """A success (1) or a failure (0); give exactly one of `probs` and `logits`.

    **Fields**
    - `probs`: probability of success, in [0, 1].
    - `logits`: log odds of success, any real. Prefer it where there is a linear predictor: it is exact in both tails.
    """

    probs: Any = None
    logits: Any = None
    parameters: ClassVar[dict[str, Constraint]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }

    def __check_init__(self) -> None:
        exactly_one(self, "probs", "logits")

    @property
    def support(self) -> Constraint:
        return constraints.boolean

    @property
    def mean(self) -> jax.Array:
        return self._full(_probs(self, self.dtype))

    @property
    def variance(self) -> jax.Array:
        return self.mean * (1 - self.mean)

    def log_prob(self, value: Any) -> jax.Array:
        if self.logits is not None:
            k, logits = align(value, self.logits)
            # One softplus of the signed log odds is exact in both tails and has the right gradient at 0.
            result = -softplus((1 - 2 * k) * logits)
        else:
            k, probs = align(value, self.probs)
            is_one = k == 1
            result = jnp.log(jnp.where(is_one, probs, 1.0)) + jnp.log1p(jnp.where(is_one, 0.0, -probs))
        return jnp.where((k == 0) | (k == 1), result, -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape = self._shape(sample_shape)
        draws = jax.random.bernoulli(key, jnp.broadcast_to(self.mean, shape), shape)
        return draws.astype(jnp.result_type(int))

    def cdf(self, value: Any) -> jax.Array:
        k, failure = align(value, 1 - self.mean)
        return jnp.where(k < 0, 0.0, jnp.where(k < 1, failure, 1.0))

    def entropy(self) -> jax.Array:
        p = self.mean
        return -(xlog(p, p) + xlog(1 - p, 1 - p))


class Binomial(AbstractDistribution):
    """The number of successes in `total_count` trials; give exactly one of `probs` and `logits`.

    **Fields**
    - `total_count`: number of trials, a whole number >= 0.
    - `probs`: probability of success in each, in [0, 1].
    - `logits`: log odds of success in each, any real.
    """

    total_count: Any = 1
    probs: Any = None
    logits: Any = None
    parameters: ClassVar[dict[str, Constraint]] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }

    def __check_init__(self) -> None:
        exactly_one(self, "probs", "logits")

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> jax.Array:
        (n,) = self._arrays("total_count")
        return n * self._full(_probs(self, self.dtype))

    @property
    def variance(self) -> jax.Array:
        return self.mean * (1 - self._full(_probs(self, self.dtype)))

    def log_prob(self, value: Any) -> jax.Array:
        parameter = self.probs if self.logits is None else self.logits
        k, n, parameter = align(value, self.total_count, parameter)
        is_inside = (k >= 0) & (k <= n) & (k % 1 == 0)
        k = jnp.where(is_inside, k, 0.0)
        failures = n - k
        if self.logits is None:
            log_likelihood = xlog(k, parameter) + _xlog1m(failures, parameter)
        else:
            # Successes over failures times the log odds, minus one softplus, is exact in both tails.
            log_likelihood = -k * softplus(-parameter) - failures * softplus(parameter)
        return jnp.where(is_inside, log_likelihood + _log_choose(n, k), -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        (n,) = self._arrays("total_count")
        probs = self._full(_probs(self, self.dtype))
        draws = jax.random.binomial(key, n, probs, self._shape(sample_shape), self.dtype)
        return draws.astype(jnp.result_type(int))

    def cdf(self, value: Any) -> jax.Array:
        k, n, p = align(value, self.total_count, _probs(self, self.dtype))
        k = jnp.floor(k)
        is_within = (k >= 0) & (k < n)
        safe = jnp.where(is_within, k, 0.0)
        trials = jnp.where(is_within, n - safe, 1.0)
        inside = jsp.betainc(trials, safe + 1, jnp.broadcast_to(1 - p, safe.shape))
        return jnp.where(is_within, inside, jnp.where(k < 0, 0.0, 1.0))


class Poisson(AbstractDistribution):
    """The number of events when they come independently at a given rate.

    **Fields**
    - `rate`: expected number, >= 0.
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

    def log_prob(self, value: Any) -> jax.Array:
        k, rate = align(value, self.rate)
        is_inside = (k >= 0) & (k % 1 == 0)
        is_positive = is_inside & (k > 0)
        safe = jnp.where(is_positive, k, 1.0)
        # The rate is compared with the count before the logarithm is taken, so that large counts do not cancel.
        log_ratio = jnp.log(jnp.where(is_positive, rate / safe, 1.0))
        k = jnp.where(is_inside, k, 0.0)
        return jnp.where(is_inside, k * log_ratio + (k - rate) - log_factorial_remainder(k), -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return jax.random.poisson(key, self.mean, self._shape(sample_shape), jnp.result_type(int))

    def cdf(self, value: Any) -> jax.Array:
        k, rate = align(value, self.rate)
        k = jnp.floor(k)
        inside = jsp.gammaincc(jnp.maximum(k, 0.0) + 1, jnp.broadcast_to(rate, k.shape))
        return jnp.where(k < 0, 0.0, inside)


class Categorical(AbstractDistribution):
    """One of `n` categories, numbered from 0; give exactly one of `probs` and `logits`.

    **Fields**
    - `probs`: probabilities, shape `(..., n)`, >= 0; they sum to one.
    - `logits`: logarithms of weights that need not sum to one, shape `(..., n)`.
    """

    probs: Any = None
    logits: Any = None
    parameters: ClassVar[dict[str, Constraint]] = {
        "probs": constraints.simplex,
        "logits": IndependentConstraint(constraints.real, 1),
    }

    def __check_init__(self) -> None:
        exactly_one(self, "probs", "logits")

    @property
    def num_categories(self) -> int:
        """The number of categories."""
        return np.shape(self.probs if self.logits is None else self.logits)[-1]

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.num_categories - 1)

    @property
    def mean(self) -> jax.Array:
        probs = jnp.exp(self.log_weights())
        return (probs * _ladder(probs)).sum(axis=-1)

    @property
    def variance(self) -> jax.Array:
        probs = jnp.exp(self.log_weights())
        spread = _ladder(probs) - jnp.expand_dims(self.mean, -1)
        return (probs * spread**2).sum(axis=-1)

    def log_weights(self) -> jax.Array:
        """Normalised log probabilities of the categories, shape `(..., n)`."""
        if self.logits is None:
            return jnp.log(jnp.asarray(self.probs, self.dtype))
        logits = jnp.asarray(self.logits, self.dtype)
        return logits - jnp.expand_dims(log_sum_exp(logits), -1)

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        is_inside = (value >= 0) & (value < self.num_categories) & (value % 1 == 0)
        index = jnp.where(is_inside, value, 0).astype(jnp.int32)
        if self.logits is None:
            # Only the category that was seen is looked at: log(0) of another would make the gradient NaN.
            return jnp.where(is_inside, jnp.log(_take(jnp.asarray(self.probs, self.dtype), index)), -jnp.inf)
        logits = jnp.asarray(self.logits, self.dtype)
        chosen, total = align(_take(logits, index), log_sum_exp(logits))
        return jnp.where(is_inside, chosen - total, -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return jax.random.categorical(
            key, self.log_weights(), axis=-1, shape=self._shape(sample_shape)
        ).astype(jnp.result_type(int))

    def cdf(self, value: Any) -> jax.Array:
        value = jnp.floor(jnp.asarray(value, self.dtype))
        index = jnp.clip(value, 0, self.num_categories - 1).astype(jnp.int32)
        inside = _take(jnp.cumsum(jnp.exp(self.log_weights()), axis=-1), index)
        return jnp.where(value < 0, 0.0, jnp.where(value >= self.num_categories - 1, 1.0, inside))

    def entropy(self) -> jax.Array:
        log_probs = self.log_weights()
        probs = jnp.exp(log_probs)
        return -(probs * jnp.where(probs > 0, log_probs, 0.0)).sum(axis=-1)


def _probs(distribution: Bernoulli | Binomial, dtype: np.dtype) -> jax.Array:
    """Probability of success, whichever way it was given."""
    if distribution.logits is None:
        return jnp.asarray(distribution.probs, dtype)
    return jax.lax.logistic(jnp.asarray(distribution.logits, dtype))


def _xlog1m(weight: jax.Array, p: Any) -> jax.Array:
    """Compute weight * log(1 - p), and 0 where `weight` is 0."""
    is_zero = weight == 0
    return jnp.where(is_zero, 0.0, weight * jnp.log1p(-jnp.where(is_zero, 0.0, p)))


def _log_choose(n: Any, k: jax.Array) -> jax.Array:
    """Logarithm of the binomial coefficient, from the remainders of log-factorials; constant in the parameters."""
    n = jnp.broadcast_to(jnp.asarray(n, k.dtype), jnp.broadcast_shapes(np.shape(n), k.shape))
    k = jnp.broadcast_to(k, n.shape)
    rest = n - k
    remainders = log_factorial_remainder(n) - log_factorial_remainder(k) - log_factorial_remainder(rest)
    return remainders - xlog(k, k / jnp.where(n > 0, n, 1.0)) - xlog(rest, rest / jnp.where(n > 0, n, 1.0))


def _ladder(probs: jax.Array) -> jax.Array:
    """The numbers of the categories, broadcast to the shape of `probs`."""
    return jnp.broadcast_to(jnp.arange(probs.shape[-1], dtype=probs.dtype), probs.shape)


def _take(table: jax.Array, index: jax.Array) -> jax.Array:
    """table[..., index], batch axes broadcasting against those of `index`."""
    if table.ndim == 1:
        return table[index]
    shape = np.broadcast_shapes(table.shape[:-1], index.shape)
    table = jnp.broadcast_to(table, (*shape, table.shape[-1]))
    index = jnp.broadcast_to(index, shape)
    return jnp.take_along_axis(table, jnp.expand_dims(index, -1), axis=-1).squeeze(-1)
