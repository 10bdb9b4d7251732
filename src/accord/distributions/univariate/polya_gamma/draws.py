"""Define the truncated Polya-Gamma distribution, for logistic regression by augmentation."""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special import log_ndtr, solve_increasing
from ...special.basic.quadrature import rule_on_unit
from .law import PolyaGamma

_BOUND = 2.5
# Two series for the density: the first converges fast below this value, the second above.
_MIDDLE = 0.16
_ODD = (3, 5, 7, 9)  # 2 n + 1 for n = 1, 2, ...; the next term is below rounding


class TruncatedPolyaGamma(AbstractDistribution):
    """Truncated Polya-Gamma distribution: PG(1, 0) below 2.5, which omits 6 in a million.

    **Fields**
    - `shape`: the batch shape, given as `batch_shape=` or in first place.

    **Density**: `sum((-1)**n * (2 * n + 1) * exp(-(2 * n + 1)**2 / (8 * x))) / sqrt(2 * pi * x**3)` over n = 0, 1, ...,
    divided by the probability of being below 2.5.

    **Source**: Polson, Scott & Windle (2013), J. Am. Stat. Assoc. 108(504), 1339-1349; the second series, for large
    values, by Devroye (2009), Stat. Probab. Lett. 79(21), 2251-2259.
    """

    shape: Shape = eqx.field(static=True)

    def __init__(self, batch_shape: Shape = ()):
        self.shape = tuple(batch_shape)

    @property
    def batch_shape(self) -> Shape:
        return self.shape

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(jnp.result_type(float))

    @property
    def support(self) -> Constraint:
        return constraints.interval(0.0, _BOUND)

    @property
    def mean(self) -> jax.Array:
        return self._full(_MEAN)

    @property
    def variance(self) -> jax.Array:
        return self._full(_VARIANCE)

    @property
    def mode(self) -> jax.Array:
        return self._full(PolyaGamma(jnp.ones((), self.dtype)).mode)

    def log_prob(self, value: Any) -> jax.Array:
        (x,) = align(value)
        is_outside = (x <= 0) | (x > _BOUND)
        low, high, is_low = _parts(jnp.where(is_outside, _MIDDLE, x))
        below = -1 / (8 * low) - 1.5 * jnp.log(low) - 0.5 * math.log(2 * math.pi)
        below = below + jnp.log1p(_alternating(lambda m: m * jnp.exp(-(m * m - 1) / (8 * low))))
        rate = 0.5 * math.pi**2
        above = math.log(2 * math.pi) - rate * high
        above = above + jnp.log1p(_alternating(lambda m: m * jnp.exp(-(m * m - 1) * rate * high)))
        inside = jnp.where(is_low, below, above) - _LOG_BELOW
        return self._over_batch(jnp.where(is_outside, -jnp.inf, inside))

    def cdf(self, value: Any) -> jax.Array:
        return jnp.exp(self.log_cdf(value))

    def log_cdf(self, value: Any) -> jax.Array:
        (x,) = align(value)
        inside, _ = _log_tails(jnp.where((x <= 0) | (x >= _BOUND), _MIDDLE, x))
        return self._over_batch(jnp.where(x <= 0, -jnp.inf, jnp.where(x >= _BOUND, 0.0, inside)))

    def log_survival(self, value: Any) -> jax.Array:
        (x,) = align(value)
        _, inside = _log_tails(jnp.where((x <= 0) | (x >= _BOUND), _MIDDLE, x))
        return self._over_batch(jnp.where(x <= 0, 0.0, jnp.where(x >= _BOUND, -jnp.inf, inside)))

    def icdf(self, q: Any) -> jax.Array:
        (q,) = align(q)
        is_inside = (q > 0) & (q < 1)
        level = jnp.where(is_inside, q, 0.5)

        def log_odds(x: jax.Array) -> jax.Array:
            below, above = _log_tails(x)
            return below - above

        # Below 1e-4 the cdf is less than exp(-1000).
        found = solve_increasing(log_odds, jnp.log(level) - jnp.log1p(-level), 1e-4, _BOUND * (1 - 1e-6), 0.2)
        ends = jnp.where(q == 0, 0.0, jnp.where(q == 1, _BOUND, jnp.nan))
        return self._over_batch(jnp.where(is_inside, found, ends))

    def entropy(self) -> jax.Array:
        # By the logarithm of x; below the first point the mass is negligible.
        start, end = math.log(2e-3), math.log(_BOUND)
        nodes, weights = rule_on_unit(jnp.zeros((), self.dtype))
        x = jnp.exp(start + (end - start) * nodes)
        log_prob = TruncatedPolyaGamma().log_prob(x)
        return self._batched(-((end - start) * weights * x * jnp.exp(log_prob) * log_prob).sum())

    def _over_batch(self, result: jax.Array) -> jax.Array:
        """Broadcast the result over the batch shape too."""
        return jnp.broadcast_to(result, np.broadcast_shapes(result.shape, self.shape))


def _parts(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return safe values for the first and for the second series, and whether the first applies."""
    is_low = x < _MIDDLE
    return jnp.where(is_low, x, _MIDDLE), jnp.where(is_low, _MIDDLE, x), is_low


def _alternating(term: Any) -> Any:
    """Return the terms of an alternating series after its first, which is 1."""
    return sum(term(float(m)) * (-1) ** (n + 1) for n, m in enumerate(_ODD))


def _log_tails(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return log probabilities below and above a value inside (0, 2.5)."""
    low, high, is_low = _parts(x)
    u = 0.5 / jnp.sqrt(low)
    first = log_ndtr(-u)
    ratios = _alternating(lambda m: jnp.exp(log_ndtr(-m * u) - first))
    log_below = math.log(4) + first + jnp.log1p(ratios) - _LOG_BELOW
    above = jnp.clip((_beyond(high) - _beyond(_BOUND)) / math.exp(_LOG_BELOW), 1e-30, 1.0)
    return (
        jnp.where(is_low, log_below, jnp.log1p(-jnp.where(is_low, 0.5, above))),
        jnp.where(is_low, jnp.log1p(-jnp.exp(jnp.where(is_low, log_below, -1.0))), jnp.log(above)),
    )


def _beyond(x: Any) -> Any:
    """Return the probability that PG(1, 0) is above `x`, for x >= 0.16."""
    exp = math.exp if isinstance(x, float) else jnp.exp
    return (
        4
        / math.pi
        * sum((-1) ** n / m * exp(-(m * m) * (0.5 * math.pi**2) * x) for n, m in enumerate((1, *_ODD)))
    )


def _moments() -> tuple[float, float]:
    """Return mean and variance below the bound: 1/4 and 1/24 of PG(1, 0), corrected for the mass beyond."""
    first, second = _BOUND * _beyond(_BOUND), _BOUND**2 * _beyond(_BOUND)
    for n, m in enumerate((1, *_ODD)):
        rate = 0.5 * math.pi**2 * m * m
        height = 4 / math.pi * (-1) ** n / m * math.exp(-rate * _BOUND)
        first += height / rate
        second += 2 * height * (_BOUND / rate + 1 / rate**2)
    below = math.exp(_LOG_BELOW)
    mean = (0.25 - first) / below
    return mean, (1 / 24 + 1 / 16 - second) / below - mean**2


_LOG_BELOW = math.log1p(-_beyond(_BOUND))
_MEAN, _VARIANCE = _moments()
