"""Define the exact Kolmogorov-Smirnov distributions for a given number of draws."""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special.basic.tails import solve_tails
from .empirical_band import both_log_density, both_log_tails
from .empirical_excess import excess_log_density, excess_log_tails

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
# Number of draws up to which the kinks between pieces of the density matter.
_ROUGH = 16
# In units of sqrt(size): the probability beyond the upper end is 1e-33, below the lower end 1e-16.
_FAR, _NEAR = 6.2, 0.18

_MOST_DRAWS = 1000
_GOLDEN, _NARROWINGS = 0.6180339887498949, 50


class AbstractDistance(AbstractDistribution):
    """Abstract base class of distances between an empirical cdf and the true, continuous one.

    **Class variables**
    - `is_two_sided`: whether the distance counts both signs of the difference.
    - `least_steps`: the lower end of the support, times `size`.
    """

    size: eqx.AbstractVar[int]
    is_two_sided: ClassVar[bool]
    least_steps: ClassVar[float]

    def __check_init__(self) -> None:
        if type(self.size) is not int or not 1 <= self.size <= _MOST_DRAWS:
            raise self.refuse(
                f"size is {self.size!r}",
                f"Give a Python integer from 1 to {_MOST_DRAWS}. For more draws use the limit of sqrt(size) times "
                "the distance: `Kolmogorov` for two sides, a `Rayleigh` of scale 1/2 for one.",
            )

    @property
    def support(self) -> Constraint:
        return constraints.interval(self._least, 1.0)

    @property
    def mean(self) -> jax.Array:
        points, weights = self._weighted()
        return (weights * points).sum()

    @property
    def variance(self) -> jax.Array:
        points, weights = self._weighted()
        return (weights * (points - self.mean) ** 2).sum()

    @property
    def mode(self) -> jax.Array:
        # The density has one peak, which may be a jump: keep the best point seen.
        least = jnp.asarray(self._least, self.dtype)
        state = (least, jnp.ones_like(least), least, self.log_prob(least))
        return jax.lax.fori_loop(0, _NARROWINGS, self._narrow, state)[2]

    def log_prob(self, value: Any) -> jax.Array:
        (x,) = align(value)
        steps = self.size * x
        # With two draws or more the density is 0 at both ends, except at the lower end of the one-sided distance.
        is_outside = x > 1 if self.size == 1 else x >= 1
        has_low_end = self.size == 1 or not self.is_two_sided
        is_outside = is_outside | (steps < self.least_steps if has_low_end else steps <= self.least_steps)
        is_nan = jnp.isnan(x)
        inside = self._log_density(jnp.where(is_outside | is_nan, self._safe, x))
        return jnp.where(is_nan, x, jnp.where(is_outside, -jnp.inf, inside))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        # Sums of exponential variables over their total are ordered uniform ones.
        gaps = jax.random.exponential(key, (*sample_shape, self.size + 1), self.dtype)
        sums = jnp.cumsum(gaps, axis=-1)
        ordered = sums[..., :-1] / sums[..., -1:]
        steps = jnp.arange(self.size + 1, dtype=self.dtype) / self.size
        steps = steps.reshape((1,) * len(sample_shape) + (-1,))
        found = (steps[..., 1:] - ordered).max(axis=-1)
        if self.is_two_sided:
            found = jnp.maximum(found, (ordered - steps[..., :-1]).max(axis=-1))
        return keep_inside(found, self._least, 1.0)

    def cdf(self, value: Any) -> jax.Array:
        return jnp.exp(self.log_cdf(value))

    def log_cdf(self, value: Any) -> jax.Array:
        return self._tails(value)[0]

    def log_survival(self, value: Any) -> jax.Array:
        return self._tails(value)[1]

    def icdf(self, q: Any) -> jax.Array:
        (q,) = align(q)
        if self.size == 1:
            return jnp.where((q >= 0) & (q <= 1), self._least + (1 - self._least) * q, jnp.nan)
        start = jnp.full_like(q, min(self._safe, 0.8 * self.size**-0.5))
        return solve_tails(self._log_tails, q, self._least, 1.0, start)

    def entropy(self) -> jax.Array:
        points, weights = self._weighted()
        # A point that rounds to an end has no weight.
        return -jnp.where(weights > 0, weights * self.log_prob(points), 0.0).sum()

    @property
    def _least(self) -> float:
        """Return the lower end of the support."""
        return self.least_steps / self.size

    @property
    def _safe(self) -> float:
        """Return a value inside the support."""
        return 0.75 if self.size == 1 else 0.5

    @abstractmethod
    def _log_density(self, x: jax.Array) -> jax.Array:
        """Return the log density inside the support."""

    @abstractmethod
    def _log_tails(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return log probabilities below and above a value inside the support."""

    def _tails(self, value: Any) -> tuple[jax.Array, jax.Array]:
        """Return log probabilities below and above any value."""
        (x,) = align(value)
        is_below, is_above, is_nan = self.size * x <= self.least_steps, x >= 1, jnp.isnan(x)
        below, above = self._log_tails(jnp.where(is_below | is_above | is_nan, self._safe, x))
        below = jnp.where(is_below, -jnp.inf, jnp.where(is_above, 0.0, below))
        above = jnp.where(is_below, 0.0, jnp.where(is_above, -jnp.inf, above))
        return jnp.where(is_nan, x, below), jnp.where(is_nan, x, above)

    def _weighted(self) -> tuple[jax.Array, jax.Array]:
        """Return points and their probabilities."""
        points, weights = _distance_rule(self.size, is_two_sided=self.is_two_sided)
        points = jnp.asarray(points, self.dtype)
        return points, jnp.asarray(weights, self.dtype) * jnp.exp(self.log_prob(points))

    def _narrow(self, _: Any, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        """Take one golden-section step: return the bracket, and the best point with its log density."""
        low, high, best, most = state
        reach = _GOLDEN * (high - low)
        left, right = high - reach, low + reach
        first, second = self.log_prob(jnp.stack([left, right]))
        is_right = second > first
        point, level = jnp.where(is_right, right, left), jnp.where(is_right, second, first)
        is_best = level > most
        low, high = jnp.where(is_right, left, low), jnp.where(is_right, high, right)
        return low, high, jnp.where(is_best, point, best), jnp.where(is_best, level, most)


class KolmogorovSmirnov(AbstractDistance):
    """Kolmogorov-Smirnov distribution: the largest distance of an empirical cdf of `size` draws from the true one.

    The distribution is exact. Its density has kinks, and for two draws a jump, at multiples of `1 / (2 size)`, where
    the left limit is returned. An evaluation takes about `100 size^2` operations.

    **Fields**
    - `size`: number of draws, a Python integer from 1 to 1000.

    **Density**: the derivative of `n! / n^n * (H^n)[k, k]` for x in [1 / (2 n), 1]; n = size, k = ceil(n x), and H is
    the matrix of m = 2 k - 1 rows of Marsaglia, Tsang & Wang, in h = k - n x.

    **Source**: Durbin (1973), Distribution Theory for Tests Based on the Sample Distribution Function; Marsaglia, Tsang
    & Wang (2003), J. Stat. Softw. 8(18).
    """

    size: int = eqx.field(static=True)
    is_two_sided: ClassVar[bool] = True
    least_steps: ClassVar[float] = 0.5

    def _log_density(self, x: jax.Array) -> jax.Array:
        return both_log_density(x, self.size)

    def _log_tails(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return both_log_tails(x, self.size)


class KolmogorovSmirnovOneSided(AbstractDistance):
    """One-sided Kolmogorov-Smirnov distribution: the largest excess of an empirical cdf over the true one.

    The distribution is exact. Its density falls by 1 at `1 / size`, where the left limit is returned, and has kinks
    further on.

    **Fields**
    - `size`: number of draws, a Python integer from 1 to 1000.

    **Density**: minus the derivative of `x * sum(choose(n, j) (x + j/n)^(j - 1) (1 - x - j/n)^(n - j))` over
    j = 0, ..., floor(n (1 - x)), for x in [0, 1]; n = size.

    **Source**: Birnbaum & Tingey (1951), Ann. Math. Stat. 22(4), 592-596.
    """

    size: int = eqx.field(static=True)
    is_two_sided: ClassVar[bool] = False
    least_steps: ClassVar[float] = 0.0

    def _log_density(self, x: jax.Array) -> jax.Array:
        return excess_log_density(x, self.size)

    def _log_tails(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return excess_log_tails(x, self.size)


def _distance_rule(size: int, *, is_two_sided: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return points in the support and weights: Gauss-Legendre rules on pieces where the density is smooth.

    At the outer ends of the first and last piece the density may be a power (times its logarithm in the entropy):
    points are denser there.
    """
    first = max(0.5, np.floor(2 * _NEAR * np.sqrt(size)) / 2) if is_two_sided else 0.0
    ends = np.arange(first, min(size, _ROUGH) + 0.25, 0.5)
    last = min(size, _FAR * np.sqrt(size))
    if last > _ROUGH:
        ends = np.append(ends, np.linspace(_ROUGH, last, int(2 * (last - _ROUGH) / np.sqrt(size)) + 2)[1:])
    low, width = ends[:-1, None], np.diff(ends)[:, None]
    unit, weights = 0.5 * (1 + _NODES), 0.5 * _WEIGHTS
    points, weights = low + width * unit, width * weights
    points[0] = ends[0] + width[0] * unit**3
    weights[0] *= 3 * unit**2
    if len(points) > 1:
        points[-1] = ends[-1] - width[-1] * unit**3
        weights[-1] *= 3 * unit**2
    return points.reshape(-1) / size, weights.reshape(-1) / size
