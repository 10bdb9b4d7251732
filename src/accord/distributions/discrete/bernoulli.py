"""Define the Bernoulli and geometric distributions: one trial, and failures before the first success."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ...bijectors import align
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..parameters import exactly_one
from ..special import log1m_exp, one_less_exp, softplus
from .common.countable import AbstractCountable, AbstractFinite
from .common.counts import Odds, odds, select, success

_PARAMETERS: dict[str, Constraint] = {"probs": constraints.unit_interval, "logits": constraints.real}


class Bernoulli(AbstractFinite):
    """Bernoulli distribution of one trial: success (1) or failure (0); give exactly one of `probs` and `logits`.

    **Fields**
    - `probs`: probability of success, in [0, 1].
    - `logits`: log odds of success, any real. Prefer it where there is a linear predictor: it is exact in both tails.

    **Probability**: `probs^k (1 - probs)^(1 - k)`, k = 0, 1.

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, section 3.2.
    """

    probs: Any = None
    logits: Any = None
    parameters: ClassVar[dict[str, Constraint]] = _PARAMETERS

    def __check_init__(self) -> None:
        exactly_one(self, "probs", "logits")

    @property
    def support(self) -> Constraint:
        return constraints.boolean

    @property
    def mean(self) -> jax.Array:
        return self._full(success(self.probs, self.logits, self.dtype))

    @property
    def variance(self) -> jax.Array:
        chance = odds(self.probs, self.logits, self.dtype)
        return self._full(chance.p * chance.q)

    @property
    def mode(self) -> jax.Array:
        chance = odds(self.probs, self.logits, self.dtype)
        return self._full(chance.p > chance.q)

    def log_prob(self, value: Any) -> jax.Array:
        if self.logits is not None:  # one side's probability is all that is needed
            k, logits = align(value, self.logits)
            is_one = k == 1
            return select(is_one | (k == 0), -softplus(jnp.where(is_one, -logits, logits)), k)
        k, chance = with_odds(self, value)
        is_one = k == 1
        return select(is_one | (k == 0), jnp.where(is_one, chance.log_p, chance.log_q), k)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape = self._shape(sample_shape)
        draws = jax.random.bernoulli(key, jnp.broadcast_to(self.mean, shape), shape)
        return draws.astype(jnp.result_type(int))

    def cdf(self, value: Any) -> jax.Array:
        k, chance = with_odds(self, value)
        return jnp.where(jnp.isnan(k), jnp.nan, jnp.where(k < 0, 0.0, jnp.where(k < 1, chance.q, 1.0)))

    def log_cdf(self, value: Any) -> jax.Array:
        k, chance = with_odds(self, value)
        return select(k >= 0, jnp.where(k < 1, chance.log_q, 0.0), k)

    def log_survival(self, value: Any) -> jax.Array:
        k, chance = with_odds(self, value)
        return select(k < 1, jnp.where(k < 0, 0.0, chance.log_p), k)

    def entropy(self) -> jax.Array:
        chance = odds(self.probs, self.logits, self.dtype)
        return self._batched(_surprise(chance.p, chance.log_p) + _surprise(chance.q, chance.log_q))

    def _bounds(self) -> tuple[int, int]:
        return 0, 1


class Geometric(AbstractCountable):
    """Geometric distribution: failures before the first success; give exactly one of `probs` and `logits`.

    **Fields**
    - `probs`: probability of success in each trial, in (0, 1].
    - `logits`: log odds of success, any real.

    **Probability**: `(1 - probs)^k probs`, k = 0, 1, 2, ...

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, section 5.2.
    """

    probs: Any = None
    logits: Any = None
    parameters: ClassVar[dict[str, Constraint]] = _PARAMETERS

    def __check_init__(self) -> None:
        exactly_one(self, "probs", "logits")

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative_integer

    @property
    def mean(self) -> jax.Array:
        chance = odds(self.probs, self.logits, self.dtype)
        return self._full(chance.q / chance.p)

    @property
    def variance(self) -> jax.Array:
        chance = odds(self.probs, self.logits, self.dtype)
        return self._full(chance.q / chance.p / chance.p)

    @property
    def mode(self) -> jax.Array:
        return self._full(0.0)

    def log_prob(self, value: Any) -> jax.Array:
        k, chance = with_odds(self, value)
        is_inside = (k >= 0) & (jnp.floor(k) == k) & (k < jnp.inf)
        # A certain success comes at once, and an impossible one never.
        is_possible = is_inside & ((k == 0) | (chance.q > 0)) & (chance.p > 0)
        k_safe = jnp.where(is_possible & (k > 0), k, 0.0)
        log_q = jnp.where(k_safe > 0, chance.log_q, 0.0)
        return select(is_possible, k_safe * log_q + chance.log_p, k)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape = self._shape(sample_shape)
        chance = odds(self.probs, self.logits, self.dtype)
        # The waiting time of a Poisson process, rounded down: exact also where the probability is tiny.
        waited = jax.random.exponential(key, shape, self.dtype) / -jnp.broadcast_to(chance.log_q, shape)
        integer = jnp.result_type(int)
        return jnp.floor(jnp.minimum(waited, 0.99 * jnp.iinfo(integer).max)).astype(integer)

    def cdf(self, value: Any) -> jax.Array:
        log_above, k = self._log_above(value)
        return jnp.where(k < 0, 0.0, one_less_exp(log_above))

    def log_cdf(self, value: Any) -> jax.Array:
        log_above, k = self._log_above(value)
        return select(k >= 0, log1m_exp(jnp.where(k >= 0, log_above, -1.0)), k)

    def log_survival(self, value: Any) -> jax.Array:
        return self._log_above(value)[0]

    def entropy(self) -> jax.Array:
        chance = odds(self.probs, self.logits, self.dtype)
        surprise = _surprise(chance.p, chance.log_p) + _surprise(chance.q, chance.log_q)
        return self._batched(surprise / chance.p)

    def _log_above(self, value: Any) -> tuple[jax.Array, jax.Array]:
        """Return the log probability of more failures than `value`, and `value` rounded down."""
        k, chance = with_odds(self, value)
        k = jnp.floor(k)
        is_certain = chance.q == 0
        log_q = jnp.where(is_certain, -1.0, chance.log_q)
        trials = jnp.where((k < 0) | (k == jnp.inf), 0.0, k + 1)
        above = jnp.where(is_certain | (k == jnp.inf), -jnp.inf, trials * log_q)
        return jnp.where(k < 0, 0.0, above), k


def with_odds(distribution: AbstractDistribution, value: Any) -> tuple[jax.Array, Odds]:
    """Return the value and the probabilities of success and failure, in one dtype and rank."""
    probs, logits = distribution.probs, distribution.logits  # pyright: ignore[reportAttributeAccessIssue]
    k, parameter = align(value, probs if logits is None else logits)
    if logits is None:
        return k, odds(parameter, None, k.dtype)
    return k, odds(None, parameter, k.dtype)


def _surprise(p: jax.Array, log_p: jax.Array) -> jax.Array:
    """Compute -p log p; 0 at 0."""
    return -p * jnp.where(p > 0, log_p, 0.0)
