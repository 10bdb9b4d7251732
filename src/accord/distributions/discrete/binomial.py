"""Define the binomial distribution: the number of successes in independent trials."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ...bijectors import align
from .. import constraints
from ..base import Shape
from ..constraint import Constraint
from ..parameters import exactly_one
from .common.count_entropy import entropy_of_counts
from .common.count_tails import Tail, binomial_tail
from .common.countable import AbstractCountable, known_bounds
from .common.counts import Odds, binomial_log_prob, binomial_log_prob_by_logits, odds, select


class Binomial(AbstractCountable):
    """Binomial distribution: successes in `total_count` trials; give exactly one of `probs` and `logits`.

    **Fields**
    - `total_count`: number of trials, a whole number >= 0.
    - `probs`: probability of success in each, in [0, 1].
    - `logits`: log odds of success in each, any real.

    **Probability**: `choose(total_count, k) probs^k (1 - probs)^(total_count - k)`, k = 0, ..., total_count.

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 3.
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
        n, chance = self._trials()
        return n * chance.p

    @property
    def variance(self) -> jax.Array:
        n, chance = self._trials()
        return n * chance.p * chance.q

    @property
    def mode(self) -> jax.Array:
        n, chance = self._trials()
        return jnp.clip(jnp.ceil((n + 1) * chance.p) - 1, 0.0, n)

    def log_prob(self, value: Any) -> jax.Array:
        k, n, parameter = self._counts(value)
        is_inside = (k >= 0) & (k <= n) & (jnp.floor(k) == k)
        safe = jnp.where(is_inside, k, 0.0)
        if self.logits is not None:
            log_prob = binomial_log_prob_by_logits(safe, n, jnp.asarray(parameter, k.dtype))
        else:
            log_prob = binomial_log_prob(safe, n, odds(parameter, None, k.dtype))
        return select(is_inside, log_prob, k)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        n, chance = self._trials()
        return draw_binomial(key, n, chance.p, self._shape(sample_shape))

    def cdf(self, value: Any) -> jax.Array:
        return self._tail("cdf", value)

    def log_cdf(self, value: Any) -> jax.Array:
        return self._tail("log_cdf", value)

    def log_survival(self, value: Any) -> jax.Array:
        return self._tail("log_survival", value)

    def entropy(self) -> jax.Array:
        n, chance = self._trials()
        # Successes and failures have the same entropy; count the rarer, whose mean is at most twice the variance.
        is_rare = chance.p <= chance.q
        swapped = Odds(chance.q, chance.p, chance.log_q, chance.log_p, -chance.lead)
        rarer = Odds(
            *(jnp.where(is_rare, one, other)[None] for one, other in zip(chance, swapped, strict=True))
        )
        return entropy_of_counts(
            lambda k: binomial_log_prob(k, n[None], rarer), n * rarer.p[0], self.variance, n
        )

    def enumerate_support(self, expand: bool = True) -> jax.Array:
        _, last = known_bounds(self, 0, self.total_count)
        values = jnp.arange(last + 1).reshape((-1,) + (1,) * len(self.batch_shape))
        return jnp.broadcast_to(values, (last + 1, *self.batch_shape)) if expand else values

    def _ends(self) -> tuple[Any, Any]:
        return 0.0, self._trials()[0]

    def _trials(self) -> tuple[jax.Array, Odds]:
        """Return the number of trials and the probabilities, each of the batch shape."""
        (n,) = self._arrays("total_count")
        return n, Odds(*(self._batched(part) for part in odds(self.probs, self.logits, self.dtype)))

    def _aligned(self, value: Any) -> tuple[jax.Array, jax.Array, Odds]:
        """Return the value, the number of trials and the probabilities, in one dtype and rank."""
        k, n, parameter = self._counts(value)
        is_logits = self.logits is not None
        return k, n, odds(None, parameter, k.dtype) if is_logits else odds(parameter, None, k.dtype)

    def _counts(self, value: Any) -> tuple[jax.Array, jax.Array, Any]:
        """Return the value, the number of trials, and the logits or probabilities that were given."""
        k, n, parameter = align(value, self.total_count, self.probs if self.logits is None else self.logits)
        k, n = jnp.broadcast_arrays(k, jnp.asarray(n, k.dtype))
        return k, n, parameter

    def _tail(self, tail: Tail, value: Any) -> jax.Array:
        k, n, chance = self._aligned(value)
        return binomial_tail(tail, k, n, chance, is_exact=self.logits is not None)


def draw_binomial(key: jax.Array, n: jax.Array, p: jax.Array, shape: Shape) -> jax.Array:
    """Draw numbers of successes as integers."""
    n, p = jnp.broadcast_to(n, shape), jnp.broadcast_to(p, shape)
    draws = jax.random.binomial(key, n, p, shape, n.dtype)
    return jnp.clip(draws, 0.0, n).astype(jnp.result_type(int))
