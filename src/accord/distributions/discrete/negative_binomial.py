"""Define the negative binomial distribution of overdispersed counts, by each of its three parameterisations."""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from ...bijectors import align
from .. import constraints
from ..base import Shape
from ..constraint import Constraint
from ..parameters import check_parameter, exactly_one
from ..special import excess, log_factorial_remainder
from ..special.basic.gamma_ratio import remainder_rise
from ..special.basic.smooth import expm1_ratio, log1p_ratio
from .common.by_mean import log_prob_by_mean
from .common.count_entropy import entropy_of_long_tails
from .common.count_tails import Tail, negative_binomial_tail, negative_binomial_tail_by_mean
from .common.countable import AbstractRare
from .common.counts import Odds, filled, odds, select
from .poisson import draw_poisson


class Form(NamedTuple):
    """Negative binomial parameters: the number of failures (real), the chances of success and failure, the mean."""

    number: jax.Array
    chance: Odds
    mean: jax.Array
    is_exact: bool


class AbstractNegativeBinomial(AbstractRare):
    """Abstract base class of negative binomial distributions: successes before a (real) number of failures."""

    @abstractmethod
    def _form(self, value: Any) -> tuple[jax.Array, Form]:
        """Return the value and the common form of the parameters, in one dtype and shape."""

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative_integer

    @property
    def mean(self) -> jax.Array:
        return self._whole().mean

    @property
    def variance(self) -> jax.Array:
        form = self._whole()
        return form.mean / form.chance.q

    @property
    def mode(self) -> jax.Array:
        form = self._whole()
        return jnp.maximum(jnp.ceil(form.mean - form.mean / form.number) - 1, 0.0)

    def log_prob(self, value: Any) -> jax.Array:
        k, form = self._form(value)
        is_inside = (k >= 0) & (jnp.floor(k) == k) & (k < jnp.inf)
        return select(is_inside, _log_prob(jnp.where(is_inside, k, 0.0), form.number, form.chance), k)

    def log_prob_above_zero(self, value: Any) -> jax.Array:
        k, form = self._form(value)
        is_inside = (k >= 1) & (jnp.floor(k) == k) & (k < jnp.inf)
        k_safe, n, chance = jnp.where(is_inside, k, 1.0), form.number, form.chance
        # P(k) is P(k - 1) times p (n + k - 1) / k; the chance of some, 1 - q^n, is near n p where p is small.
        is_small = chance.p < 0.1
        low, high = jnp.where(is_small, chance.p, 0.0), jnp.where(is_small, 1.0, chance.p)
        log_odds = jnp.log(jnp.where(is_small, log1p_ratio(-low), -chance.log_q / high))
        several = jnp.log1p((k_safe - 1) / n) - jnp.log(k_safe)
        log_prob = self.log_prob(k_safe - 1) + several - log_odds - jnp.log(expm1_ratio(n * chance.log_q))
        return select(is_inside, log_prob, k)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_rate, key_count = jax.random.split(key)
        form, shape = self._whole(), self._shape(sample_shape)
        # The logarithm of a gamma draw of small concentration does not underflow before it is scaled.
        log_noise = jax.random.loggamma(key_rate, form.number, shape, self.dtype)
        rate = jnp.exp(log_noise + jnp.broadcast_to(form.chance.log_p - form.chance.log_q, shape))
        return draw_poisson(key_count, rate, shape)

    def cdf(self, value: Any) -> jax.Array:
        return self._tail("cdf", value)

    def log_cdf(self, value: Any) -> jax.Array:
        return self._tail("log_cdf", value)

    def log_survival(self, value: Any) -> jax.Array:
        return self._tail("log_survival", value)

    def entropy(self) -> jax.Array:
        form = self._whole()
        spread = 1 / form.number + 1 / jnp.maximum(form.mean, 1e-12)
        return entropy_of_long_tails(self._smooth_log_prob, form.mean, spread, jnp.zeros_like(spread))

    def _smooth_log_prob(self, k: jax.Array) -> jax.Array:
        """Return the log probability of numbers on a new first axis, smooth between whole ones."""
        number, chance = (
            jax.tree.map(lambda x: jnp.broadcast_to(x, k.shape), part) for part in self._whole()[:2]
        )
        return _log_prob(k, number, chance)

    def _whole(self) -> Form:
        """Return the form of the parameters, of the batch shape."""
        return self._form(jnp.zeros(self.batch_shape, self.dtype))[1]

    def _tail(self, tail: Tail, value: Any) -> jax.Array:
        k, form = self._form(value)
        return negative_binomial_tail(tail, k, form.number, form.chance, is_exact=form.is_exact)


class NegativeBinomial(AbstractNegativeBinomial):
    """Negative binomial distribution: successes before `total_count` failures; give one of `probs` and `logits`.

    **Fields**
    - `total_count`: number of failures, any real > 0; a smaller number gives more variable counts.
    - `probs`: probability of success in each trial, in [0, 1).
    - `logits`: log odds of success, any real.

    **Probability**: `choose(k + total_count - 1, k) probs^k (1 - probs)^total_count`, k = 0, 1, 2, ...

    **Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 5.
    """

    total_count: Any
    probs: Any = None
    logits: Any = None
    parameters: ClassVar[dict[str, Constraint]] = {
        "total_count": constraints.positive,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }

    def __check_init__(self) -> None:
        exactly_one(self, "probs", "logits")

    def _form(self, value: Any) -> tuple[jax.Array, Form]:
        is_logits = self.logits is not None
        k, n, parameter = align(value, self.total_count, self.logits if is_logits else self.probs)
        k, n, parameter = filled(k, n, parameter)
        chance = odds(None, parameter, k.dtype) if is_logits else odds(parameter, None, k.dtype)
        mean = n * (jnp.exp(parameter) if is_logits else chance.p / chance.q)
        return k, Form(n, chance, mean, is_exact=is_logits)


class GammaPoisson(AbstractNegativeBinomial):
    """Gamma-Poisson distribution (negative binomial): Poisson counts with gamma-distributed rates.

    **Fields**
    - `concentration`: shape of the gamma distribution, > 0.
    - `rate`: its inverse scale, > 0.

    **Probability**: `choose(k + concentration - 1, k) rate^concentration / (1 + rate)^(k + concentration)`.

    **Source**: Greenwood & Yule (1920), J. Royal Stat. Soc. 83(2), 255-279.
    """

    concentration: Any
    rate: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }

    def _form(self, value: Any) -> tuple[jax.Array, Form]:
        k, a, rate = filled(*align(value, self.concentration, self.rate))
        p, q = 1 / (1 + rate), rate / (1 + rate)
        chance = Odds(p, q, -jnp.log1p(rate), -jnp.log1p(1 / rate))
        return k, Form(a, chance, a / rate, is_exact=True)


class NegativeBinomial2(AbstractNegativeBinomial):
    """Negative binomial distribution by mean and concentration: overdispersed counts in regressions.

    **Fields**
    - `mean`: expected number, > 0.
    - `concentration`: > 0; the variance is `mean + mean^2 / concentration`, so that a large concentration gives the
      Poisson distribution.

    **Probability**: `choose(k + c - 1, k) (mean / (mean + c))^k (c / (mean + c))^c`, c = concentration, k = 0, 1, ...

    **Source**: Cameron & Trivedi (2013), Regression Analysis of Count Data, section 3.3 (NB2).
    """

    expected: Any
    concentration: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "expected": constraints.positive,
        "concentration": constraints.positive,
    }

    # `mean` itself is the property of every distribution, which has the batch shape.
    def __init__(self, mean: Any, concentration: Any):
        self.expected = mean
        self.concentration = concentration

    def __check_init__(self) -> None:
        check_parameter(type(self).__name__, "mean", constraints.positive, self.expected)

    def log_prob(self, value: Any) -> jax.Array:
        k, *parameters = align(value, self.expected, self.concentration)
        mean, c = (jnp.asarray(parameter, k.dtype) for parameter in parameters)
        is_inside = (k >= 0) & (jnp.floor(k) == k) & (k < jnp.inf)
        return select(is_inside, log_prob_by_mean(jnp.where(is_inside, k, 0.0), mean, c), k)

    def log_prob_above_zero(self, value: Any) -> jax.Array:
        k, mean, c = filled(*align(value, self.expected, self.concentration))
        is_inside = (k >= 1) & (jnp.floor(k) == k) & (k < jnp.inf)
        k_safe = jnp.where(is_inside, k, 1.0)
        # As for the other parameterisations; a large concentration uses terms that hardly depend on it.
        is_large, ratio = c >= mean, mean / c
        near = jnp.log1p((k_safe - 1 - mean) / (c + mean)) - jnp.log(log1p_ratio(ratio))
        far = jnp.log1p((k_safe - 1) / c) - jnp.log(jnp.log1p(ratio) * (1 + 1 / ratio))
        log_zero = jnp.where(is_large, log_prob_by_mean(jnp.zeros_like(k), mean, c), -c * jnp.log1p(ratio))
        several = jnp.where(is_large, near, far) - jnp.log(k_safe) - jnp.log(expm1_ratio(log_zero))
        log_prob = log_prob_by_mean(k_safe - 1, mean, c) + several
        return select(is_inside, log_prob, k)

    def _smooth_log_prob(self, k: jax.Array) -> jax.Array:
        mean, c = self._arrays("expected", "concentration")
        return log_prob_by_mean(*filled(k, mean[None], c[None]))

    def _tail(self, tail: Tail, value: Any) -> jax.Array:
        k, mean, c = filled(*align(value, self.expected, self.concentration))
        return negative_binomial_tail_by_mean(tail, k, mean, c, log_prob_by_mean)

    def _form(self, value: Any) -> tuple[jax.Array, Form]:
        k, mean, c = filled(*align(value, self.expected, self.concentration))
        p, q = 1 / (1 + c / mean), 1 / (1 + mean / c)
        return k, Form(c, Odds(p, q, -jnp.log1p(c / mean), -jnp.log1p(mean / c)), mean, is_exact=True)


def _log_prob(k: jax.Array, n: jax.Array, chance: Odds) -> jax.Array:
    """Compute the log probability of k >= 0 successes before n failures; -inf with a zero gradient if impossible."""
    is_possible = ((k == 0) | (chance.p > 0)) & (chance.q > 0)
    k = jnp.where(is_possible, k, 0.0)
    log_total, log_k = jnp.log(n + k), jnp.log(jnp.where(k > 0, k, 1.0))
    # Expected less observed successes, for the observed total of failures and successes.
    gap = n * chance.p - k * chance.q
    log_prob = (
        excess(k, gap, chance.log_p + log_total - log_k)
        + excess(n, -gap, chance.log_q + log_total - jnp.log(n))
        + remainder_rise(n, k)
        - log_factorial_remainder(k)
    )
    return jnp.where(is_possible, log_prob, -jnp.inf)
