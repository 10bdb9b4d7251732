"""Define the multinomial and Dirichlet-multinomial distributions of counts of several outcomes."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..constraint import Independent as IndependentConstraint
from ..constraint import Multinomial as CountsWithSum
from ..parameters import exactly_one
from ..special import excess, log_factorial_remainder, log_of, log_sum_exp
from ..special.basic.gamma_ratio import remainder_rise
from .common.counts import polya_urn


class Multinomial(AbstractDistribution):
    """Multinomial distribution: counts of `n` outcomes in `total_count` trials; give one of `probs` and `logits`.

    **Fields**
    - `total_count`: number of trials, a whole number >= 0.
    - `probs`: probabilities, shape `(..., n)`, >= 0; they sum to one.
    - `logits`: logarithms of weights that need not sum to one, shape `(..., n)`.

    **Probability**: `total_count! prod_i probs[i]^x[i] / x[i]!`, for x[i] that sum to `total_count`.

    **Source**: Johnson, Kotz & Balakrishnan (1997), Discrete Multivariate Distributions, ch. 35.
    """

    total_count: Any = 1
    probs: Any = None
    logits: Any = None
    parameters: ClassVar[dict[str, Constraint]] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }

    def __check_init__(self) -> None:
        exactly_one(self, "probs", "logits")

    @property
    def event_shape(self) -> Shape:
        return np.shape(self.probs if self.logits is None else self.logits)[-1:]

    @property
    def support(self) -> Constraint:
        return CountsWithSum(self.total_count)

    @property
    def mean(self) -> jax.Array:
        n, probs, _ = self._parts(len(self.batch_shape))
        return self._full(n * probs)

    @property
    def variance(self) -> jax.Array:
        n, probs, _ = self._parts(len(self.batch_shape))
        return self._full(n * probs * (1 - probs))

    def log_prob(self, value: Any) -> jax.Array:
        x, inside = counts(value, self)
        n, probs, log_probs = self._parts(x.ndim - 1)
        x, n, probs, log_probs = jnp.broadcast_arrays(x, n, probs, log_probs)
        is_possible = inside & ((x == 0) | (probs > 0)).all(axis=-1)
        x = jnp.where(jnp.expand_dims(is_possible, -1), x, 0.0)
        log_share = jnp.log(jnp.where(n > 0, n, 1.0)) - jnp.log(jnp.where(x > 0, x, 1.0))
        terms = excess(x, n * probs - x, log_probs + log_share) - log_factorial_remainder(x)
        total = terms.sum(axis=-1) + log_factorial_remainder(n[..., 0])
        return jnp.where(is_possible, total, _outside(value, total))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape = self._shape(sample_shape)
        n, probs, _ = self._parts(len(self.batch_shape))
        n, probs = jnp.broadcast_to(n[..., 0], shape[:-1]), jnp.broadcast_to(probs, shape)
        return _whole(jax.random.multinomial(key, n, probs, dtype=self.dtype))

    def _parts(self, rank: int) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the trials, the probabilities and their logarithms, with `rank` batch axes and the event axis."""
        if self.logits is None:
            probs = jnp.asarray(self.probs, self.dtype)
            log_probs = log_of(probs)
        else:
            logits = jnp.asarray(self.logits, self.dtype)
            log_probs = logits - jnp.expand_dims(log_sum_exp(logits), -1)
            probs = jnp.exp(log_probs)
        n = _columns(self.total_count, self.dtype, rank)
        shape = (1,) * (rank + 1 - probs.ndim) + probs.shape
        return n, probs.reshape(shape), log_probs.reshape(shape)


class DirichletMultinomial(AbstractDistribution):
    """Dirichlet-multinomial distribution: counts of `n` outcomes whose probabilities are Dirichlet-distributed.

    **Fields**
    - `concentration`: the weight of each kind, shape `(..., n)`, > 0; all large give the multinomial distribution.
    - `total_count`: number of trials, a whole number >= 0.

    **Probability**: `N! Gamma(A) / Gamma(N + A) prod_i Gamma(x[i] + a[i]) / (Gamma(a[i]) x[i]!)`, N = total_count,
    a = concentration, A = its sum.

    **Source**: Johnson, Kotz & Balakrishnan (1997), Discrete Multivariate Distributions, section 35.13.1.
    """

    concentration: Any
    total_count: Any = 1
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration": IndependentConstraint(constraints.positive, 1),
        "total_count": constraints.nonnegative_integer,
    }

    @property
    def event_shape(self) -> Shape:
        return np.shape(self.concentration)[-1:]

    @property
    def support(self) -> Constraint:
        return CountsWithSum(self.total_count)

    @property
    def mean(self) -> jax.Array:
        n, a, total = self._parts(len(self.batch_shape))
        return self._full(n * (a / total))

    @property
    def variance(self) -> jax.Array:
        n, a, total = self._parts(len(self.batch_shape))
        share = a / total
        return self._full(n * share * (1 - share) * ((total + n) / (total + 1)))

    def log_prob(self, value: Any) -> jax.Array:
        x, inside = counts(value, self)
        x, n, a, total = jnp.broadcast_arrays(x, *self._parts(x.ndim - 1))
        x = jnp.where(jnp.expand_dims(inside, -1), x, 0.0)
        terms = polya_urn(x, a, n, total) - log_factorial_remainder(x)
        whole = log_factorial_remainder(n[..., 0]) - remainder_rise(total[..., 0], n[..., 0])
        result = terms.sum(axis=-1) + whole
        return jnp.where(inside, result, _outside(value, result))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_chance, key_count = jax.random.split(key)
        shape = self._shape(sample_shape)
        n, a, _ = self._parts(len(self.batch_shape))
        # In logarithms, because gamma draws of small concentrations underflow all at once.
        log_noise = jax.random.loggamma(key_chance, jnp.broadcast_to(a, shape), shape, self.dtype)
        probs = jax.nn.softmax(log_noise, axis=-1)
        n = jnp.broadcast_to(n[..., 0], shape[:-1])
        return _whole(jax.random.multinomial(key_count, n, probs, dtype=self.dtype))

    def _parts(self, rank: int) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the number of trials, the weights and their sum, with `rank` batch axes and the event axis."""
        a = jnp.asarray(self.concentration, self.dtype)
        a = a.reshape((1,) * (rank + 1 - a.ndim) + a.shape)
        return _columns(self.total_count, self.dtype, rank), a, a.sum(axis=-1, keepdims=True)


def counts(value: Any, distribution: AbstractDistribution) -> tuple[jax.Array, jax.Array]:
    """Return the value with at least the distribution's axes, and which of its events lie in the support."""
    (x,) = align(jnp.asarray(value))
    x = x.astype(distribution.dtype) if not jnp.issubdtype(jnp.result_type(value), jnp.floating) else x
    shape = np.broadcast_shapes(x.shape[:-1], distribution.batch_shape)
    x = jnp.broadcast_to(x, (*shape, x.shape[-1]))
    return x, distribution.support(x)


def _columns(number: Any, dtype: Any, rank: int) -> jax.Array:
    """Return a batched number with an event axis of length 1 and `rank` batch axes."""
    array = jnp.asarray(number, dtype)
    return array.reshape((1,) * (rank - array.ndim) + array.shape + (1,))


def _outside(value: Any, like: jax.Array) -> jax.Array:
    """Return -inf where an event is impossible, and NaN where it contains NaN."""
    has_nan = jnp.isnan(align(jnp.asarray(value))[0]).any(axis=-1)
    return jnp.where(has_nan, jnp.nan, -jnp.inf).astype(like.dtype)


def _whole(draws: jax.Array) -> jax.Array:
    """Convert draws to integers."""
    return draws.astype(jnp.result_type(int))
