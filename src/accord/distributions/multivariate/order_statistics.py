"""Define distributions of order statistics: one element of a sorted sample, or several together."""

import itertools
import math
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align, float_type, is_concrete
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint, GreaterThan, GreaterThanOrEqual, Real
from ..constraint.base import repeat
from ..parameters import without_gradient
from ..special import beta_log_odds_quantile, log1m, log_beta, log_of, softplus, solve_increasing
from ..special.gamma_beta.incomplete_beta import log_beta_tail
from ..summary.integrated import AbstractIntegrated
from ..summary.levels import levels, spread
from ..truncation.interval_measure import measure
from ..truncation.interval_support import ends

_MOST_SORTED = 4
"""For so many draws of the whole sample for each that is asked for, to sort them costs less than quantiles do."""


class OrderStatistic(AbstractIntegrated):
    """Order statistic: the `rank`-th smallest of `total_count` independent draws of a continuous distribution.

    **Fields**
    - `base_distribution`: of one draw; continuous and univariate, with a cdf.
    - `total_count`: number of draws, a whole number >= 1.
    - `rank`: from 1, the smallest, to `total_count`, the largest.

    **Density**: `n! / ((r - 1)! (n - r)!) F(x)^(r - 1) (1 - F(x))^(n - r) f(x)`, n = total_count, r = rank, f and F the
    density and the cdf of the base.

    **Source**: David & Nagaraja (2003), Order Statistics, section 2.1.
    """

    base_distribution: AbstractDistribution
    total_count: Any
    rank: Any
    has_smooth_mode: ClassVar[bool] = True
    parameters: ClassVar[dict[str, Constraint]] = {
        "total_count": constraints.positive_integer,
        "rank": constraints.positive_integer,
    }

    def __check_init__(self) -> None:
        check_base(self, self.base_distribution)
        is_known = is_concrete(self.rank) and is_concrete(self.total_count)
        if is_known and (np.asarray(self.rank) > self.total_count).any():
            raise self.refuse(
                f"rank is {self.rank}, of {self.total_count} draws", "It must be at most total_count."
            )

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(
            self.base_distribution.batch_shape, np.shape(self.total_count), np.shape(self.rank)
        )

    @property
    def dtype(self) -> np.dtype:
        return self.base_distribution.dtype

    @property
    def support(self) -> Constraint:
        return self.base_distribution.support

    def log_prob(self, value: Any) -> jax.Array:
        x, low, high = self._aligned(value)
        log_density = self.base_distribution.log_prob(x)
        is_outside = log_density == -jnp.inf
        safe = jnp.where(is_outside, self.support.feasible_like(x), x)
        below = _times(low - 1, self.base_distribution.log_cdf(safe))
        above = _times(high - 1, self.base_distribution.log_survival(safe))
        return jnp.where(is_outside, -jnp.inf, log_density + below + above - log_beta(low, high))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_low, key_high = jax.random.split(key)
        shape, dtype = self._shape(sample_shape), self.dtype
        low, high = self._weights(dtype)
        odds = jax.random.loggamma(key_low, low, shape, dtype) - jax.random.loggamma(
            key_high, high, shape, dtype
        )
        return self._at_odds(odds)

    def cdf(self, value: Any) -> jax.Array:
        return jnp.exp(self.log_cdf(value))

    def log_cdf(self, value: Any) -> jax.Array:
        return self._tail(value, is_lower=True)

    def log_survival(self, value: Any) -> jax.Array:
        return self._tail(value, is_lower=False)

    def icdf(self, q: Any) -> jax.Array:
        q, low, high = self._aligned(q)
        odds = beta_log_odds_quantile(low, high, log_of(q), log1m(q))
        return self._at_odds(odds)

    def _knots(self) -> jax.Array:
        knots = self.icdf(levels(self.batch_shape, self.dtype)).astype(self.dtype)
        base = self.base_distribution._knots().astype(self.dtype)
        return jnp.concatenate([knots, spread(base, self.batch_shape)])

    def _at_odds(self, odds: jax.Array) -> jax.Array:
        """Return the quantile of the base at given log odds; the level itself may round to 1."""
        base, is_end, is_lower = self.base_distribution, jnp.isinf(odds), odds < 0
        inside = jnp.where(is_end, 0.0, odds)
        target = jnp.where(is_lower, -softplus(-inside), softplus(inside))

        def level(x: jax.Array) -> jax.Array:
            return jnp.where(is_lower, base.log_cdf(x), -base.log_survival(x))

        start = without_gradient(base).icdf(_open(jax.lax.logistic(inside)))
        low, high = (jnp.broadcast_to(jnp.asarray(e, odds.dtype), odds.shape) for e in ends(base.support))
        found = solve_increasing(level, target, low, high, start)
        # Keep draws inside an open support.
        found = jnp.where((found > low) & (found < high), found, start)
        return jnp.where(is_end, jnp.where(is_lower, low, high), found)

    def _tail(self, value: Any, *, is_lower: bool) -> jax.Array:
        """Return the log probability of at most, or above, the value."""
        x, low, high = self._aligned(value)
        odds = self.base_distribution.log_cdf(x) - self.base_distribution.log_survival(x)
        return log_beta_tail(low, high, odds, jnp.full(x.shape, is_lower))

    def _weights(self, dtype: Any) -> tuple[jax.Array, jax.Array]:
        """Return the parameters of the beta distribution of F at the order statistic, of the batch shape."""
        count, rank = (
            jnp.broadcast_to(jnp.asarray(n, dtype), self.batch_shape) for n in (self.total_count, self.rank)
        )
        return jax.lax.stop_gradient((rank, count - rank + 1))

    def _aligned(self, value: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the value and the parameters of the beta distribution, of one shape."""
        x = jnp.asarray(value, float_type(value, *jax.tree.leaves(self.base_distribution)))
        x, low, high = align(x, *self._weights(x.dtype))
        x, low, high = jnp.broadcast_arrays(x, low, high)
        return x, low, high


class JointOrderStatistics(AbstractDistribution):
    """Joint order statistics: several elements of a sorted sample of `total_count` independent draws.

    **Fields**
    - `base_distribution`: of one draw; continuous and univariate, with a cdf.
    - `total_count`: number of draws, a Python integer.
    - `ranks`: which elements, increasing integers from 1 to `total_count`; all of them by default.

    **Density**: `n! prod f(x_i) prod (F(x_i) - F(x_(i-1)))^(g_i) / g_i!` for increasing x, with F = 0 before the first
    and 1 after the last, n = total_count, g_i the number of draws between two ranks.

    **Source**: David & Nagaraja (2003), Order Statistics, section 2.2.
    """

    base_distribution: AbstractDistribution
    total_count: int = eqx.field(static=True)
    ranks: tuple[int, ...] = eqx.field(static=True)

    def __init__(
        self,
        base_distribution: AbstractDistribution,
        total_count: int,
        ranks: tuple[int, ...] | None = None,
    ):
        self.base_distribution = base_distribution
        self.total_count = total_count
        self.ranks = tuple(range(1, total_count + 1)) if ranks is None else tuple(ranks)

    def __check_init__(self) -> None:
        check_base(self, self.base_distribution)
        ladder = (0, *self.ranks, self.total_count + 1)
        if not self.ranks or any(low >= high for low, high in itertools.pairwise(ladder)):
            raise self.refuse(
                f"ranks are {self.ranks}, of {self.total_count} draws",
                "They must increase, from at least 1 to at most total_count.",
            )

    @property
    def batch_shape(self) -> Shape:
        return self.base_distribution.batch_shape

    @property
    def event_shape(self) -> Shape:
        return (len(self.ranks),)

    @property
    def dtype(self) -> np.dtype:
        return self.base_distribution.dtype

    @property
    def support(self) -> Constraint:
        base = self.base_distribution.support
        if isinstance(base, Real):
            return constraints.ordered_vector
        is_bounded_by_zero = isinstance(base, (GreaterThan, GreaterThanOrEqual))
        if is_bounded_by_zero and isinstance(base.lower, (int, float)) and base.lower == 0:
            return constraints.positive_ordered_vector
        return IncreasingWithin(base)

    def log_prob(self, value: Any) -> jax.Array:
        base = self.base_distribution
        x = jnp.asarray(value, float_type(value, *jax.tree.leaves(base)))
        x = jnp.broadcast_to(x, np.broadcast_shapes(x.shape, self._shape()))
        is_inside = IncreasingWithin(base.support)(x) | jnp.isnan(x).any(axis=-1)
        inside = IncreasingWithin(base.support).feasible_like(x)
        x = jnp.moveaxis(jnp.where(is_inside[..., None], x, inside), -1, 0)
        total = base.log_prob(x).sum(axis=0)
        first, *between, last = self._gaps
        if first:
            total = total + first * base.log_cdf(x[0])
        if last:
            total = total + last * base.log_survival(x[-1])
        some = [i for i, gap in enumerate(between) if gap]
        if some:
            index = np.asarray(some)
            masses = measure(base, x[index], x[index + 1], (None, None)).log_mass
            gaps = np.asarray([between[i] for i in some], x.dtype)
            total = total + (gaps.reshape((-1,) + (1,) * (x.ndim - 1)) * masses).sum(axis=0)
        constant = math.lgamma(self.total_count + 1) - sum(math.lgamma(gap + 1) for gap in self._gaps)
        return jnp.where(is_inside, total + constant, -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        if self.total_count <= _MOST_SORTED * len(self.ranks):
            draws = jnp.sort(self.base_distribution.sample(key, (self.total_count, *sample_shape)), axis=0)
            return jnp.moveaxis(draws[np.asarray(self.ranks) - 1], 0, -1)
        # Uniform order statistics are partial sums of gamma variables, over their total.
        weights = np.asarray([gap + 1 for gap in self._gaps], self.dtype)
        shape = (*sample_shape, *self.batch_shape, weights.size)
        spacings = jax.random.gamma(key, weights, shape, self.dtype)
        sums = jnp.cumsum(spacings, axis=-1)
        uniform = jnp.moveaxis(_open(sums[..., :-1] / sums[..., -1:]), -1, 0)
        return jnp.moveaxis(self.base_distribution.icdf(uniform), 0, -1)

    @property
    def _gaps(self) -> tuple[int, ...]:
        """Return the numbers of draws below the first rank, between neighbouring ranks, and above the last."""
        ladder = (0, *self.ranks, self.total_count + 1)
        return tuple(high - low - 1 for low, high in itertools.pairwise(ladder))


class IncreasingWithin(Constraint):
    """Vectors of strictly increasing elements, each within a set of numbers."""

    base: Constraint
    event_dim: ClassVar[int] = 1
    words: ClassVar[str] = "increasing along the last axis, with elements in {base}"

    def __call__(self, value: Any) -> Any:
        move: Any = jnp.moveaxis if isinstance(value, jax.Array) else np.moveaxis
        elements = self.base(move(value, -1, 0)).all(axis=0)
        return constraints.ordered_vector(value) & elements

    def feasible_like(self, value: Any) -> jax.Array:
        middle = self.base.feasible_like(value)
        # Steps small enough to stay in the set, which is open or has a middle.
        steps = repeat(np.arange(np.shape(value)[-1]) / 64, middle)
        return jnp.where(middle == 0, steps, middle * (1 + steps))


def check_base(distribution: AbstractDistribution, base: AbstractDistribution) -> None:
    """Refuse a base that is discrete or not univariate."""
    if base.event_shape or base.is_discrete:
        raise distribution.refuse(
            f"{type(base).__name__} is discrete or has event shape {base.event_shape}",
            "Give a continuous univariate distribution.",
        )


def _times(count: jax.Array, log_mass: jax.Array) -> jax.Array:
    """Multiply a number of draws by a log mass; 0 for no draws, whatever the mass."""
    is_none = count == 0
    return jnp.where(is_none, 0.0, count * jnp.where(is_none, 0.0, log_mass))


def _open(u: jax.Array) -> jax.Array:
    """Keep levels strictly between 0 and 1, where quantiles are finite."""
    limits = jnp.finfo(u.dtype)
    return jnp.clip(u, float(limits.tiny), 1 - float(limits.epsneg))
