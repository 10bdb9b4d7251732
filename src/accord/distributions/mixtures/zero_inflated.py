"""Define zero-inflated distributions: counts with additional zeros."""

from typing import Any

import jax
import jax.numpy as jnp

from ..base import Shape
from ..constraint import Constraint
from ..discrete.common.countable import quantile
from ..special import one_less_exp
from ..special.basic.excess import log_of_ratio
from .gated import AbstractGated, draw_gate, either, ends, ranked, scaled, surprise


class ZeroInflatedDistribution(AbstractGated):
    """Zero-inflated distribution: zero with probability `gate`, else a draw of the base, which may be zero too.

    **Fields**
    - `base_dist`: a univariate distribution of whole numbers.
    - `gate`: probability of the additional zeros, in [0, 1]; or, exactly one of the two,
    - `gate_logits`: its log odds, any real.

    **Probability**: `gate [k = 0] + (1 - gate) base(k)`.

    **Source**: Lambert (1992), Technometrics 34(1), 1-14.
    """

    def __check_init__(self) -> None:
        if not self.base_dist.is_discrete:
            raise self.refuse(
                f"{type(self.base_dist).__name__} is continuous, so zeros cannot be added to its own",
                "Use `HurdleDistribution`.",
            )

    @property
    def support(self) -> Constraint:
        return self.base_dist.support

    @property
    def mean(self) -> jax.Array:
        return self._full(self._chance().q * ranked(self.base_dist.mean, len(self.batch_shape)))

    @property
    def variance(self) -> jax.Array:
        rank, chance = len(self.batch_shape), self._chance()
        mean, variance = ranked(self.base_dist.mean, rank), ranked(self.base_dist.variance, rank)
        return self._full(chance.q * (variance + chance.p * mean * mean))

    @property
    def mode(self) -> jax.Array:
        mode = jnp.broadcast_to(self.base_dist.mode, self.batch_shape)
        is_higher = self.log_prob(mode) > self.log_prob(jnp.zeros_like(mode))
        return jnp.where(is_higher, mode, jnp.minimum(mode, 0.0))

    def log_prob(self, value: Any) -> jax.Array:
        x, chance = self._gate(value)
        base = self.base_dist.log_prob(x)
        opened = scaled(chance.log_q, base)
        # At a zero of its own, since compilers would otherwise compute the base in every place that uses it.
        log_zero = self._log_zero(x.ndim).astype(x.dtype)
        at_zero = _log_at_zero(chance.log_p, chance.q, scaled(chance.log_q, log_zero), log_zero)
        return jnp.where(x == 0, at_zero, opened)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_gate, key_base = jax.random.split(key)
        is_closed = draw_gate(key_gate, self._chance(), self._shape(sample_shape))
        draws = self.base_dist.expand(self.batch_shape).sample(key_base, sample_shape)
        return jnp.where(is_closed, jnp.zeros_like(draws), draws)

    def cdf(self, value: Any) -> jax.Array:
        x, chance = self._gate(value)
        below = self.base_dist.cdf(x)
        # In the upper tail a sum would lose the complement and its derivatives.
        is_high = (x >= 0) & (below > 0.5)
        above = jnp.exp(self.base_dist.log_survival(x))
        low = jnp.where(x >= 0, chance.p, 0.0) + chance.q * below
        return jnp.where(is_high, 1 - chance.q * above, low)

    def log_survival(self, value: Any) -> jax.Array:
        x, chance = self._gate(value)
        opened = chance.log_q + self.base_dist.log_survival(x)
        return jnp.where(x < 0, either(chance.log_p, opened), opened)

    def icdf(self, q: Any) -> jax.Array:
        return quantile(self, q, *ends(self.support))

    def entropy(self) -> jax.Array:
        rank = len(self.batch_shape)
        chance, log_zero = self._chance(), self._log_zero(rank)
        at_zero = either(chance.log_p, chance.log_q + log_zero)
        others = ranked(self.base_dist.entropy(), rank) - surprise(log_zero)
        scaled = chance.q * others + surprise(chance.log_q) * one_less_exp(log_zero)
        return self._batched(surprise(at_zero) + scaled)

    def enumerate_support(self, expand: bool = True) -> jax.Array:
        """List all values of the support: see `AbstractCountable`. Raises for a base without such a list."""
        values = self.base_dist.enumerate_support(expand=False)  # pyright: ignore[reportAttributeAccessIssue]
        values = values.reshape((-1,) + (1,) * len(self.batch_shape))
        return jnp.broadcast_to(values, (values.shape[0], *self.batch_shape)) if expand else values


@jax.custom_jvp
def _log_at_zero(log_p: jax.Array, q: jax.Array, opened: jax.Array, base: jax.Array) -> jax.Array:
    """Compute log(p + q exp(base)), p + q = 1, from one logarithm; -inf with a zero gradient where it is impossible.

    **Arguments**: `log_p`, log(p); `opened`, log(q) + base. All have one shape. The slopes by `log_p` and `q` are those
    of p = 1 - q and `opened` that belong to them.
    """
    # Where the base is mostly zero, the complement is exact and the sum of two parts is not.
    is_sure = base > -0.5
    fall = q * _less_one(base)
    ratio = 1.0 + _smaller_over_larger(log_p, opened)
    return jnp.where(is_sure, 0.0, jnp.maximum(log_p, opened)) + log_of_ratio(fall, ratio, is_sure)


@_log_at_zero.defjvp
def _log_at_zero_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    (log_p, q, opened, base), (log_p_dot, q_dot, _, base_dot) = primals, tangents
    is_sure = base > -0.5
    small = _smaller_over_larger(log_p, opened)
    is_opened = opened > log_p
    closed = jnp.where(is_opened, small, 1.0) / (1.0 + small)
    open_ = jnp.where(is_opened, 1.0, jnp.where(opened > -jnp.inf, small, 0.0)) / (1.0 + small)
    fall = _less_one(base)
    by_log_p = jnp.where(is_sure | (log_p == -jnp.inf), 0.0, -closed * fall)
    by_q = jnp.where(is_sure, fall / (1.0 + q * fall), 0.0)
    return _log_at_zero(log_p, q, opened, base), by_log_p * log_p_dot + by_q * q_dot + open_ * base_dot


def _less_one(log_p: jax.Array) -> jax.Array:
    """Compute exp(log_p) - 1, for log_p <= 0; XLA computes this tangent in half of the time of its expm1."""
    half = jnp.tanh(0.5 * log_p)
    return 2.0 * half / (1.0 - half)


def _smaller_over_larger(log_p: jax.Array, log_q: jax.Array) -> jax.Array:
    """Return the smaller of two probabilities over the larger, from their logarithms; 1 if both are 0."""
    gap = jnp.abs(log_p - jnp.where(log_p == log_q, log_p, log_q))
    return jnp.exp(-jnp.where(log_p == log_q, 0.0, gap))
