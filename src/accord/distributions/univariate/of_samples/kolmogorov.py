"""Define Kolmogorov's limiting distribution of the distance between an empirical cdf and the true one."""

import math
from typing import Any

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...constraint import Constraint
from ...special import log1m_exp
from ...special.basic.tails import solve_tails
from ..common.two_tails import AbstractTwoTailed, with_ends

# One series converges fast below this value, the other above it.
_MIDDLE = 1.0
_RATE = math.pi**2 / 8
_ODD = (3.0, 5.0, 7.0)
_WHOLE = (2.0, 3.0, 4.0, 5.0)
# Below the first value the first series is one term and its cdf 0; above the second the tail is 0.
_LEAST, _MOST = 0.03, 30.0


class Kolmogorov(AbstractTwoTailed):
    """Kolmogorov's distribution: root-n times the largest distance of an empirical cdf from the true one.

    This is the limiting distribution; for a given number of draws see `KolmogorovSmirnov`.

    **Density**: `8 x sum((-1)^(k - 1) k^2 exp(-2 k^2 x^2))` over k = 1, 2, ..., for x > 0.

    **Source**: Kolmogorov (1933), Giornale dell'Istituto Italiano degli Attuari 4, 83-91; for small values, the series
    of Feller (1948), Ann. Math. Stat. 19(2), 177-189.
    """

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        return self._full(_MEAN)

    @property
    def variance(self) -> jax.Array:
        return self._full(_VARIANCE)

    @property
    def mode(self) -> jax.Array:
        return self._full(_MODE)

    def log_prob(self, value: Any) -> jax.Array:
        (x,) = align(value)
        is_outside = (x <= 0) | (x == jnp.inf)
        inside = _log_density(jnp.where(is_outside, 1.0, x))
        return jnp.where(is_outside, -jnp.inf, inside)

    def icdf(self, q: Any) -> jax.Array:
        (q,) = align(q)
        is_inside = (q > 0) & (q < 1)
        found = solve_tails(_tails, jnp.where(is_inside, q, 0.5), _LEAST, _MOST, jnp.full_like(q, _MEAN))
        ends = jnp.where(q == 0, 0.0, jnp.where(q == 1, jnp.inf, jnp.nan))
        return jnp.where(is_inside, found, ends)

    def entropy(self) -> jax.Array:
        return self._batched(_ENTROPY)

    def _log_tails(self, value: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(value)
        is_below, is_above = x <= 0, x == jnp.inf
        return with_ends(is_below, is_above, _tails(jnp.where(is_below | is_above, 1.0, x)))


def _parts(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return safe values for the first and for the second series, and whether the first applies."""
    is_low = x < _MIDDLE
    return jnp.where(is_low, x, _MIDDLE), jnp.where(is_low, _MIDDLE, x), is_low


def _log_density(x: jax.Array) -> jax.Array:
    """Return the log density of x > 0."""
    low, high, is_low = _parts(x)
    square = low * low
    # In terms of x^2 nothing overflows sooner than the result.
    near = jnp.maximum(low, _LEAST)
    total = 2 * _RATE - square
    for m in _ODD:
        total = total + (2 * m * m * _RATE - square) * jnp.exp((1 - m * m) * _RATE / (near * near))
    below = jnp.log(total) - 4 * jnp.log(low) - _RATE / square + 0.5 * math.log(2 * math.pi)
    square = high * high
    total = -sum((-1) ** k * k * k * jnp.exp((2 - 2 * k * k) * square) for k in _WHOLE)
    above = jnp.log1p(total) + jnp.log(8 * high) - 2 * square
    return jnp.where(is_low, below, above)


def _tails(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return log probabilities below and above x > 0."""
    low, high, is_low = _parts(x)
    near = jnp.maximum(low, _LEAST)
    total = sum(jnp.exp((1 - m * m) * _RATE / (near * near)) for m in _ODD)
    below = jnp.log1p(total) - _RATE / (low * low) - jnp.log(low) + 0.5 * math.log(2 * math.pi)
    square = high * high
    total = -sum((-1) ** k * jnp.exp((2 - 2 * k * k) * square) for k in _WHOLE)
    above = jnp.log1p(total) - 2 * square + math.log(2)
    return (
        jnp.where(is_low, below, log1m_exp(jnp.where(is_low, -1.0, above))),
        jnp.where(is_low, log1m_exp(jnp.where(is_low, below, -1.0)), above),
    )


_MEAN = math.sqrt(math.pi / 2) * math.log(2)
_VARIANCE = math.pi**2 / 12 - _MEAN**2
# The root of the derivative of the density, and the integral, computed with 30 digits.
_MODE = 0.735467907916572
_ENTROPY = 0.0008903226544026737
