"""Define zero-inflated distributions: counts with additional zeros."""

from typing import Any

import jax
import jax.numpy as jnp

from ..base import Shape
from ..constraint import Constraint
from ..discrete.countable import quantile
from ..special import one_less_exp
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
        # Where the base is mostly zero, the complement is exact and the sum of two parts is not.
        is_sure = (x == 0) & (base > -0.5)
        missing = chance.q * one_less_exp(jnp.where(is_sure, base, -0.5))
        at_zero = jnp.where(is_sure, jnp.log1p(-missing), either(chance.log_p, opened))
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
