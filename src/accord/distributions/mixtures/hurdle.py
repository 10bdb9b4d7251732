"""Define hurdle distributions: zeros come from a gate, all other values from a base distribution."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import is_concrete
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint, GreaterThan
from ..discrete.common.countable import AbstractFinite, AbstractRare, quantile, smallest
from ..parameters import without_gradient
from ..special import log1m_exp, one_less_exp
from .gated import AbstractGated, draw_gate, ends, ranked, scaled, surprise


class HurdleDistribution(AbstractGated):
    """Hurdle distribution: zero with probability `gate`, else a draw of the base given that it is not zero.

    **Fields**
    - `base_dist`: a univariate distribution, of whole numbers or continuous.
    - `gate`: probability of a zero, in [0, 1]; or, exactly one of the two,
    - `gate_logits`: its log odds, any real.

    **Density**: `gate` at 0; else `(1 - gate) base(x) / (1 - base(0))`, where base(0) is a probability, 0 for a
    continuous base.

    **Source**: Mullahy (1986), J. Econometrics 33(3), 341-365.
    """

    @property
    def support(self) -> Constraint:
        base = self.base_dist.support
        return constraints.nonnegative if isinstance(base, GreaterThan) else base

    @property
    def mean(self) -> jax.Array:
        rank = len(self.batch_shape)
        rest = one_less_exp(self._log_zero(rank))
        return self._full(self._chance().q * (ranked(self.base_dist.mean, rank) / rest))

    @property
    def variance(self) -> jax.Array:
        rank, chance = len(self.batch_shape), self._chance()
        rest = one_less_exp(self._log_zero(rank))
        mean = ranked(self.base_dist.mean, rank) / rest
        # The variance given an open gate, plus the variance between zeros and other values.
        within = ranked(self.base_dist.variance, rank) / rest - mean * mean * (1 - rest)
        return self._full(chance.q * (within + chance.p * mean * mean))

    @property
    def mode(self) -> jax.Array:
        base, zero = self.base_dist, jnp.zeros(self.batch_shape, self.dtype)
        if isinstance(base, AbstractFinite):
            values = ranked(base.enumerate_support(expand=False), 1 + zero.ndim)
            others = jnp.broadcast_to(values, (values.shape[0], *zero.shape)).astype(zero.dtype)
        else:
            # The mode of the base or, if that is zero, the neighbouring value.
            found = jnp.broadcast_to(base.mode, zero.shape).astype(zero.dtype)
            is_zero = (found == 0) & base.is_discrete
            others = jnp.stack([jnp.where(is_zero, side, found) for side in (-1.0, 1.0)])
        values = jnp.concatenate([zero[None], others])
        best = jnp.argmax(self.log_prob(values), axis=0)
        return jnp.take_along_axis(values, best[None], axis=0)[0]

    def log_prob(self, value: Any) -> jax.Array:
        x, chance = self._gate(value)
        is_zero = x == 0
        # Never pass a zero to the base: its support may not contain it.
        shown = jnp.where(is_zero, self.base_dist.support.feasible_like(x), x)
        if isinstance(self.base_dist, AbstractRare):
            opened = scaled(chance.log_q, self.base_dist.log_prob_above_zero(shown))
        else:
            opened = scaled(chance.log_q - log1m_exp(self._log_zero(x.ndim)), self.base_dist.log_prob(shown))
        return jnp.where(is_zero, chance.log_p, opened)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_gate, key_base = jax.random.split(key)
        shape = self._shape(sample_shape)
        is_closed = draw_gate(key_gate, self._chance(), shape)
        base = self.base_dist.expand(self.batch_shape)
        if base.is_discrete:
            draws = _nonzero(key_base, base, shape).astype(jnp.result_type(int))
        else:
            draws = base.sample(key_base, sample_shape).astype(self.dtype)
        return jnp.where(is_closed, jnp.zeros_like(draws), draws)

    def cdf(self, value: Any) -> jax.Array:
        x, chance = self._gate(value)
        negative = jnp.minimum(x, -1.0 if self.is_discrete else 0.0)
        below = chance.q * (self.base_dist.cdf(negative) / one_less_exp(self._log_zero(x.ndim)))
        log_above = self._log_above(x)
        is_high = log_above < -0.5
        high = 1 - chance.q * jnp.exp(log_above)
        low = chance.p + chance.q * one_less_exp(log_above)
        return jnp.where(x < 0, below, jnp.where(is_high, high, low))

    def log_survival(self, value: Any) -> jax.Array:
        x, chance = self._gate(value)
        below = self.cdf(jnp.where(x < 0, x, -1.0))
        return jnp.where(x < 0, jnp.log1p(-below), chance.log_q + self._log_above(x))

    def _log_above(self, x: jax.Array) -> jax.Array:
        """Return the log probability above x >= 0, given an open gate."""
        positive = jnp.where(x >= 0, x, 0.0)
        above = self.base_dist.log_survival(positive) - log1m_exp(self._log_zero(x.ndim))
        # No draw lies between 0 and 1: given a non-zero draw, the base has the same mass above both.
        is_first = self.is_discrete & (positive < 1) & self._is_from_zero()
        return jnp.where(is_first, 0.0, jnp.minimum(above, 0.0))

    def _is_from_zero(self) -> bool:
        """Return whether the base is known to have no value below zero."""
        low = ends(self.base_dist.support)[0]
        return bool(is_concrete(low) and (np.asarray(low) >= 0).all())

    def icdf(self, q: Any) -> jax.Array:
        if self.is_discrete:
            return quantile(self, q, *ends(self.support))
        q, chance = self._gate(q)
        # Three pieces: draws below zero, the zeros, draws above.
        below = chance.q * self.base_dist.cdf(jnp.zeros_like(q))
        is_below, is_above = q < below, q > below + chance.p
        level = jnp.where(is_below, q, jnp.where(is_above, q - chance.p, 0.5 * chance.q)) / chance.q
        found = self.base_dist.icdf(jnp.clip(level, 0.0, 1.0))
        found = jnp.where(is_below | is_above, found, 0.0)
        return jnp.where((q >= 0) & (q <= 1), found, jnp.nan)

    def entropy(self) -> jax.Array:
        rank = len(self.batch_shape)
        chance, log_zero = self._chance(), self._log_zero(rank)
        log_rest = log1m_exp(log_zero)
        others = (ranked(self.base_dist.entropy(), rank) - surprise(log_zero)) / jnp.exp(log_rest) + log_rest
        return self._batched(surprise(chance.log_p) + surprise(chance.log_q) + chance.q * others)


def _nonzero(key: jax.Array, base: AbstractDistribution, shape: Shape) -> jax.Array:
    """Draw non-zero whole numbers by inverting the cdf conditioned on not being zero."""
    fixed = without_gradient(base)
    log_zero = fixed.log_prob(jnp.zeros(base.batch_shape, base.dtype))
    rest, log_rest = one_less_exp(log_zero), log1m_exp(log_zero)
    low, high = jax.lax.stop_gradient(ends(fixed.support))

    def cdf(k: jax.Array) -> jax.Array:
        below = fixed.cdf(jnp.minimum(k, -1.0)) / ranked(rest, k.ndim)
        above = fixed.log_survival(jnp.maximum(k, 0.0)) - ranked(log_rest, k.ndim)
        return jnp.where(k < 0, below, one_less_exp(jnp.minimum(above, 0.0)))

    tiny = float(jnp.finfo(base.dtype).tiny)
    u = jax.random.uniform(key, shape, base.dtype, minval=tiny)
    low = jnp.where(jnp.asarray(low) == 0, 1, jnp.asarray(low)).astype(u.dtype)
    start = ranked(jnp.where(jnp.isfinite(fixed.mean), fixed.mean, 1.0), u.ndim)
    found = smallest(cdf, u, low, high, jnp.broadcast_to(start, shape))
    return jnp.minimum(found, 0.99 * jnp.iinfo(jnp.result_type(int)).max)
