"""Define the arcsine and triangular distributions on a bounded interval."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, is_concrete
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...noise import keep_inside, open_uniform
from ...special import log
from ...special.basic.smooth import log_from_both
from ..common.on_interval import AbstractOnInterval, AbstractSymmetricOnInterval


class Arcsine(AbstractSymmetricOnInterval):
    """Arcsine distribution on an interval: density is unbounded at both ends, as for a swinging pendulum.

    **Fields**
    - `low`, `high`: ends of the interval, `low < high`; the density is infinite there.

    **Density**: `1 / (pi sqrt((x - low) (high - x)))`.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 25.
    """

    low: Any = 0.0
    high: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"low": constraints.real, "high": constraints.real}

    @property
    def variance(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return (high - low) ** 2 / 8

    def log_prob(self, value: Any) -> jax.Array:
        x, low, high = align(value, self.low, self.high)
        is_outside, _, to_low, to_high = self._distances(value)
        log_prob = -0.5 * (jnp.log(to_low) + jnp.log(to_high)) - math.log(math.pi)
        return jnp.where(is_outside, jnp.where((x == low) | (x == high), jnp.inf, -jnp.inf), log_prob)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        draws = self.icdf(open_uniform(key, self._shape(sample_shape), self.dtype))
        return keep_inside(draws, *self._arrays("low", "high"))

    def cdf(self, value: Any) -> jax.Array:
        is_outside, is_below, to_low, to_high = self._distances(value)
        return jnp.where(is_outside, jnp.where(is_below, 0.0, 1.0), _angle(to_low, to_high))

    def icdf(self, q: Any) -> jax.Array:
        q, low, high = align(q, self.low, self.high)
        from_low = q < 0.5
        share = jnp.sin((0.5 * math.pi) * jnp.where(from_low, q, 1 - q)) ** 2
        return jnp.where(from_low, low + (high - low) * share, high - (high - low) * share)

    def log_cdf(self, value: Any) -> jax.Array:
        is_outside, is_below, to_low, to_high = self._distances(value)
        inside = log_from_both(_angle(to_low, to_high), _angle(to_high, to_low))
        return jnp.where(is_outside, jnp.where(is_below, -jnp.inf, 0.0), inside)

    def log_survival(self, value: Any) -> jax.Array:
        is_outside, is_below, to_low, to_high = self._distances(value)
        inside = log_from_both(_angle(to_high, to_low), _angle(to_low, to_high))
        return jnp.where(is_outside, jnp.where(is_below, 0.0, -jnp.inf), inside)

    def entropy(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return jnp.log(high - low) + math.log(math.pi / 4)

    def _distances(self, value: Any) -> tuple[jax.Array, ...]:
        """Return whether x is outside or on an end, whether low, and its safe distances from both ends."""
        x, low, high = align(value, self.low, self.high)
        is_below, is_above = x <= low, x >= high
        is_outside = is_below | is_above
        return (
            is_outside,
            is_below,
            jnp.where(is_outside, 1.0, x - low),
            jnp.where(is_outside, 1.0, high - x),
        )


class Triangular(AbstractOnInterval):
    """Triangular distribution on an interval: a quantity with known ends and a best guess.

    The slope of the log density at the peak does not exist and is given as 0.

    **Fields**
    - `low`, `high`: ends of the interval, `low < high`.
    - `peak`: the mode, from `low` to `high`, both included.

    **Density**: `2 (x - low) / ((high - low) (peak - low))` up to the peak,
    `2 (high - x) / ((high - low) (high - peak))` beyond it.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 26, section 9.
    """

    low: Any = 0.0
    high: Any = 1.0
    peak: Any = 0.5
    parameters: ClassVar[dict[str, Constraint]] = {
        "low": constraints.real,
        "high": constraints.real,
        "peak": constraints.real,
    }

    def __check_init__(self) -> None:
        if all(is_concrete(bound) for bound in (self.low, self.high, self.peak)):
            low, high, peak = (np.asarray(bound) for bound in (self.low, self.high, self.peak))
            if ((peak < low) | (peak > high)).any():
                raise self.refuse(
                    f"peak must be from low to high, got peak={peak}, low={low} and high={high}",
                    "Check the order of the arguments.",
                )

    @property
    def mean(self) -> jax.Array:
        low, high, peak = self._arrays("low", "high", "peak")
        return low + ((high - low) + (peak - low)) / 3

    @property
    def variance(self) -> jax.Array:
        low, high, peak = self._arrays("low", "high", "peak")
        width, left = high - low, peak - low
        return (width**2 - width * left + left**2) / 18

    @property
    def mode(self) -> jax.Array:
        return self._full(self.peak)

    def log_prob(self, value: Any) -> jax.Array:
        x, low, high, peak = align(value, self.low, self.high, self.peak)
        is_left, is_right = x < peak, x > peak
        # At an end the density is 0, unless the peak is there.
        is_outside = (is_left & (x <= low)) | (is_right & (x >= high))
        left = _share(is_left & ~is_outside, x - low, peak - low)
        right = _share(is_right & ~is_outside, high - x, high - peak)
        return jnp.where(
            is_outside, -jnp.inf, jnp.log(left) + jnp.log(right) + (math.log(2) - log(high - low))
        )

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        draws = self.icdf(open_uniform(key, self._shape(sample_shape), self.dtype))
        return keep_inside(draws, *self._arrays("low", "high"))

    def cdf(self, value: Any) -> jax.Array:
        below, above = self._tails(value)
        return jnp.where(below < 0.5, below, 1 - above)

    def icdf(self, q: Any) -> jax.Array:
        q, low, high, peak = align(q, self.low, self.high, self.peak)
        is_left = q * (high - low) < peak - low
        # The product of all three under one root might underflow.
        width = jnp.sqrt(high - low)
        from_low = _root(jnp.where(is_left, q, 0.0)) * _root(peak - low) * width
        from_high = _root(jnp.where(is_left, 0.0, 1 - q)) * _root(high - peak) * width
        return jnp.where(is_left, low + from_low, high - from_high)

    def log_cdf(self, value: Any) -> jax.Array:
        return log_from_both(*self._tails(value))

    def log_survival(self, value: Any) -> jax.Array:
        below, above = self._tails(value)
        return log_from_both(above, below)

    def entropy(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return 0.5 - math.log(2) + jnp.log(high - low)

    def _tails(self, value: Any) -> tuple[jax.Array, jax.Array]:
        """Return probabilities below and above."""
        x, low, high, peak = align(value, self.low, self.high, self.peak)
        x = jnp.where(x < low, low, jnp.where(x > high, high, x))
        width, is_left, is_right = high - low, x < peak, x >= peak
        left = (x - low) / width * _share(is_left, x - low, peak - low)
        right = (high - x) / width * _share(is_right, high - x, high - peak)
        return jnp.where(is_left, left, 1 - right), jnp.where(is_left, 1 - left, right)


def _angle(opposite: jax.Array, adjacent: jax.Array) -> jax.Array:
    """Return the angle, in right angles, whose tangent is the root of a ratio."""
    return (2 / math.pi) * jnp.arctan2(jnp.sqrt(opposite), jnp.sqrt(adjacent))


def _share(is_there: jax.Array, part: jax.Array, whole: Any) -> jax.Array:
    """Divide part by whole where it is used, else return 1."""
    is_there = is_there & (whole > 0)
    return jnp.where(is_there, part, 1.0) / jnp.where(is_there, whole, 1.0)


def _root(square: Any) -> jax.Array:
    """Compute the square root, with a slope of 0 at 0."""
    return jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)
