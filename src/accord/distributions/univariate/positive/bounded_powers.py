"""Define the log-uniform and doubly truncated power-law distributions between positive bounds."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...noise import open_uniform
from ...special.basic.smooth import expm1_ratio, log_from_both, log_ratio, shrink, stretch
from ..common.on_interval import AbstractOnInterval


class LogUniform(AbstractOnInterval):
    """Log-uniform distribution between positive bounds, for a scale of unknown order of magnitude.

    **Fields**
    - `low`, `high`: > 0, `low < high`; ends of the support, both included.

    **Density**: `1 / (x log(high / low))`.

    **Source**: Hamming (1970), Bell System Technical Journal 49, 1609-1625 (the reciprocal distribution).
    """

    low: Any
    high: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "low": constraints.positive,
        "high": constraints.positive,
    }

    @property
    def mean(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return (high - low) / log_ratio(high, low)

    @property
    def variance(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        # With t half the width of log x the mean is m sinh(t) / t, and the variance mean * m * (cosh(t) - sinh(t) / t).
        t = 0.5 * log_ratio(high, low)
        is_narrow = t < 0.5
        square, series = jnp.where(is_narrow, t * t, 0.0), jnp.zeros_like(t)
        for k in range(9, 0, -1):
            series = square * (2 * k / math.factorial(2 * k + 1) + series)
        narrow = jnp.sqrt(low) * jnp.sqrt(high) * series
        return self.mean * jnp.where(is_narrow, narrow, low + 0.5 * (high - low) - self.mean)

    @property
    def mode(self) -> jax.Array:
        return self._full(self.low)

    def log_prob(self, value: Any) -> jax.Array:
        is_outside, x, _, _, span = _distances(value, self.low, self.high)
        return jnp.where(is_outside, -jnp.inf, -jnp.log(x) - jnp.log(span))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return self.icdf(open_uniform(key, self._shape(sample_shape), self.dtype))

    def cdf(self, value: Any) -> jax.Array:
        return _choose_side(*self._shares(value))

    def icdf(self, q: Any) -> jax.Array:
        q, low, high = align(q, self.low, self.high)
        low, high = jnp.asarray(low, q.dtype), jnp.asarray(high, q.dtype)
        return _from_nearer_end(q, 0.0, low, high)

    def log_cdf(self, value: Any) -> jax.Array:
        return log_from_both(*self._shares(value))

    def log_survival(self, value: Any) -> jax.Array:
        below, above = self._shares(value)
        return log_from_both(above, below)

    def entropy(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return jnp.log(log_ratio(high, low)) + 0.5 * (jnp.log(low) + jnp.log(high))

    def _shares(self, value: Any) -> tuple[jax.Array, jax.Array]:
        """Return probabilities below and above, each exact where it is small."""
        _, _, to_low, to_high, span = _distances(value, self.low, self.high)
        return to_low / span, to_high / span


class DoublyTruncatedPowerLaw(AbstractOnInterval):
    """Doubly truncated power law between positive bounds: accurate through `alpha` -1, where it is log-uniform.

    **Fields**
    - `alpha`: exponent of the density, any real.
    - `low`, `high`: > 0, `low < high`; ends of the support, both included.

    **Density**: `(1 + alpha) x^alpha / (high^(1 + alpha) - low^(1 + alpha))`, at -1 `1 / (x log(high / low))`.

    **Source**: Aban, Meerschaert & Panorska (2006), J. American Statistical Association 101, 270-277.
    """

    alpha: Any
    low: Any
    high: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "alpha": constraints.real,
        "low": constraints.positive,
        "high": constraints.positive,
    }

    @property
    def mean(self) -> jax.Array:
        return self._moment(1)

    @property
    def variance(self) -> jax.Array:
        return jnp.maximum(self._moment(2) - self._moment(1) ** 2, 0.0)

    @property
    def mode(self) -> jax.Array:
        alpha, low, high = self._arrays("alpha", "low", "high")
        return jnp.where(alpha > 0, high, low)

    def log_prob(self, value: Any) -> jax.Array:
        is_outside, x, near, _, span, rate, _ = self._from_mode(value)
        log_mass = jnp.log(-stretch(-span, rate))
        return jnp.where(is_outside, -jnp.inf, -jnp.log(x) - rate * near - log_mass)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return self.icdf(open_uniform(key, self._shape(sample_shape), self.dtype))

    def cdf(self, value: Any) -> jax.Array:
        return _choose_side(*self._shares(value))

    def icdf(self, q: Any) -> jax.Array:
        q, alpha, low, high = align(q, self.alpha, self.low, self.high)
        low, high = jnp.asarray(low, q.dtype), jnp.asarray(high, q.dtype)
        return _from_nearer_end(q, alpha + 1, low, high)

    def log_cdf(self, value: Any) -> jax.Array:
        return log_from_both(*self._shares(value))

    def log_survival(self, value: Any) -> jax.Array:
        below, above = self._shares(value)
        return log_from_both(above, below)

    def entropy(self) -> jax.Array:
        alpha, low, high = self._arrays("alpha", "low", "high")
        is_rising, rate = _rate(alpha)
        span = log_ratio(high, low)
        # The mean distance of log x from the mode's end: 1 / rate - span / (exp(rate span) - 1).
        v = rate * span
        is_small = v < 0.05
        small, large = jnp.where(is_small, v, 0.0), jnp.where(is_small, 1.0, v)
        series = 0.5 - small / 12 * (1 - small**2 / 60 * (1 - small**2 / 42 * (1 - small**2 / 40)))
        distance = span * jnp.where(is_small, series, 1 / large - jnp.exp(-large) / -jnp.expm1(-large))
        mean_log = jnp.where(is_rising, jnp.log(high) - distance, jnp.log(low) + distance)
        return mean_log + rate * distance + jnp.log(-stretch(-span, rate))

    def _moment(self, order: int) -> jax.Array:
        """Return the mean of a power of x, from the end that keeps the exponentials small."""
        alpha, low, high = self._arrays("alpha", "low", "high")
        slope, span = alpha + 1, log_ratio(high, low)
        total, is_falling = slope + order, slope < 0
        bulk = expm1_ratio(jnp.where(is_falling, slope, -slope) * span)
        ratio = expm1_ratio(jnp.where(total < 0, total, -total) * span) / bulk
        from_high = high**order * jnp.exp(jnp.where(is_falling, slope, 0.0) * span)
        return ratio * jnp.where(total < 0, low**order, from_high)

    def _from_mode(self, value: Any) -> tuple[Any, ...]:
        """Return whether x is outside, a safe x, log distances from the mode's and the other end, span, rate, side."""
        x, alpha, low, high = align(value, self.alpha, self.low, self.high)
        is_outside, x, to_low, to_high, span = _distances(x, low, high)
        is_rising, rate = _rate(alpha)
        near, far = jnp.where(is_rising, to_high, to_low), jnp.where(is_rising, to_low, to_high)
        return is_outside, x, near, far, span, rate, is_rising

    def _shares(self, value: Any) -> tuple[jax.Array, jax.Array]:
        """Return probabilities below and above, each exact where it is small."""
        _, _, near, far, span, rate, is_rising = self._from_mode(value)
        mass = stretch(-span, rate)
        inner = stretch(-near, rate) / mass
        outer = jnp.exp(-rate * near) * stretch(-far, rate) / mass
        return jnp.where(is_rising, outer, inner), jnp.where(is_rising, inner, outer)


def _distances(value: Any, low: Any, high: Any) -> tuple[jax.Array, ...]:
    """Return whether x is outside, x clipped, its log distances from both ends, and the ends' log distance."""
    x, low, high = align(value, low, high)
    low, high = jnp.asarray(low, x.dtype), jnp.asarray(high, x.dtype)
    is_below, is_above = x < low, x > high
    x = jnp.where(is_below, low, jnp.where(is_above, high, x))
    to_low = jnp.where(is_below, 0.0, log_ratio(x, low))
    to_high = jnp.where(is_above, 0.0, log_ratio(high, x))
    return is_below | is_above, x, to_low, to_high, log_ratio(high, low)


def _rate(alpha: Any) -> tuple[jax.Array, jax.Array]:
    """Return whether the density of log x rises, and its rate of fall from its mode, at that end."""
    slope = alpha + 1
    return slope >= 0, jnp.where(slope >= 0, slope, -slope)


def _choose_side(below: jax.Array, above: jax.Array) -> jax.Array:
    """Return the probability below, from the smaller of both tails."""
    return jnp.where(below < 0.5, below, 1 - above)


def _from_nearer_end(q: jax.Array, slope: Any, low: jax.Array, high: jax.Array) -> jax.Array:
    """Return the quantile when log x has density exp(slope log x), measured from the end nearer in rank."""
    span, from_low = log_ratio(high, low), q < 0.5
    p = jnp.where(from_low, q, 1 - q)
    slope = jnp.where(from_low, slope, -slope)
    # The distance is log(1 + p (exp(slope span) - 1)) / slope; if that is most of the span, measure the rest.
    is_steep = slope * span + jnp.log(p) > 0
    gentle, steep = jnp.where(is_steep, 0.0, slope), jnp.where(is_steep, slope, 1.0)
    rest = -jnp.log(jnp.where(is_steep, p + (1 - p) * jnp.exp(-steep * span), 1.0)) / steep
    distance = jnp.where(is_steep, rest, shrink(p * stretch(span, gentle), gentle))
    x = jnp.where(from_low ^ is_steep, low * jnp.exp(distance), high * jnp.exp(-distance))
    # Rounding may have moved it past an end.
    return jnp.where(x < low, low, jnp.where(x > high, high, x))
