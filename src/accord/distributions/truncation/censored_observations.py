"""Define distributions of flagged observations: exact, or known only to lie beyond a limit."""

import abc
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from .. import constraint as c
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..special import log_sum_exp
from .interval_measure import measure
from .interval_support import inside_of
from .truncated import check_univariate


class _FlaggedDistribution(AbstractDistribution):
    """Abstract base class of distributions whose flagged values are limits."""

    base_dist: eqx.AbstractVar[AbstractDistribution]
    censored: eqx.AbstractVar[Any]
    parameters: ClassVar[dict[str, c.Constraint]] = {"censored": constraints.boolean}

    def __check_init__(self) -> None:
        check_univariate(self, self.base_dist)

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(self.base_dist.batch_shape, np.shape(self.censored))

    @property
    def dtype(self) -> np.dtype:
        return self.base_dist.dtype

    @property
    def support(self) -> c.Constraint:
        return self.base_dist.support

    @abc.abstractmethod
    def _log_tail(self, limit: jax.Array) -> jax.Array:
        """Return the log probability of the values that a flagged value represents."""

    def log_prob(self, value: Any) -> jax.Array:
        base = self.base_dist
        x = jnp.asarray(value, float_type(value, *jax.tree.leaves(base)))
        x = jnp.broadcast_to(x, np.broadcast_shapes(x.shape, self.batch_shape))
        flags = jnp.broadcast_to(jnp.asarray(self.censored).astype(bool), x.shape)
        inside = inside_of(base, x)
        # Evaluate each formula only at its own entries.
        observed, tail = (
            base.log_prob(jnp.where(flags, inside, x)),
            self._log_tail(jnp.where(flags, x, inside)),
        )
        return jnp.where(flags, tail, observed)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return _uncensored(self, key, sample_shape)


class LeftCensoredDistribution(_FlaggedDistribution):
    """Left-censored distribution: flagged values are known only to lie below a limit.

    A censored entry holds the limit; its log density is log P(X <= value).

    **Fields**
    - `base_dist`: the distribution before censoring; univariate, with a cdf.
    - `censored`: 1 or True where the value is a limit, 0 or False where it was observed; broadcasts to a batch shape.

    **Density**: `P(X <= x)` where censored, `f(x)` elsewhere.

    **Source**: Klein & Moeschberger (2003), Survival Analysis, section 3.3.
    """

    base_dist: AbstractDistribution
    censored: Any = False

    def _log_tail(self, limit: jax.Array) -> jax.Array:
        return self.base_dist.log_cdf(limit)


class RightCensoredDistribution(_FlaggedDistribution):
    """Right-censored distribution: flagged values lie above a limit, such as lifetimes at the end of a study.

    A censored entry holds the limit; its log density is log P(X > value).

    **Fields**
    - `base_dist`: the distribution before censoring; univariate, with a cdf.
    - `censored`: 1 or True where the value is a limit, 0 or False where it was observed; broadcasts to a batch shape.

    **Density**: `P(X > x)` where censored, `f(x)` elsewhere.

    **Source**: Klein & Moeschberger (2003), Survival Analysis, section 3.2.
    """

    base_dist: AbstractDistribution
    censored: Any = False

    def _log_tail(self, limit: jax.Array) -> jax.Array:
        return self.base_dist.log_survival(limit)


class IntervalCensoredDistribution(AbstractDistribution):
    """Interval-censored distribution: values known only to lie in an interval, below it, above it or outside it.

    An event is the pair [left, right]. Where both are equal and neither flag is set, the value itself was observed.

    **Fields**
    - `base_dist`: the distribution before censoring; univariate, with a cdf.
    - `left_censored`, `right_censored`: 1 or True where the value may lie anywhere below the right end, or above the
      left end; where both are set, the value lies outside the interval. They broadcast to a batch shape.

    **Density**: `P(left < X <= right)`; `P(X <= right)` where left-censored; `P(X > left)` where right-censored;
    `P(X <= left) + P(X > right)` where both; `f(left)` where left = right.

    **Source**: Klein & Moeschberger (2003), Survival Analysis, section 3.3.
    """

    base_dist: AbstractDistribution
    left_censored: Any = False
    right_censored: Any = False
    parameters: ClassVar[dict[str, c.Constraint]] = {
        "left_censored": constraints.boolean,
        "right_censored": constraints.boolean,
    }

    def __check_init__(self) -> None:
        check_univariate(self, self.base_dist)

    @property
    def batch_shape(self) -> Shape:
        flags = (np.shape(self.left_censored), np.shape(self.right_censored))
        return np.broadcast_shapes(self.base_dist.batch_shape, *flags)

    @property
    def event_shape(self) -> Shape:
        return (2,)

    @property
    def dtype(self) -> np.dtype:
        return self.base_dist.dtype

    @property
    def support(self) -> c.Constraint:
        return c.Independent(self.base_dist.support, 1)

    def log_prob(self, value: Any) -> jax.Array:
        base = self.base_dist
        ends = jnp.asarray(value, float_type(value, *jax.tree.leaves(base)))
        ends = jnp.broadcast_to(ends, (*np.broadcast_shapes(ends.shape[:-1], self.batch_shape), 2))
        left, right = ends[..., 0], ends[..., 1]
        flags = (self.left_censored, self.right_censored)
        is_left, is_right = (jnp.broadcast_to(jnp.asarray(f).astype(bool), left.shape) for f in flags)
        inside = inside_of(base, left)
        # Evaluate every formula only at its own entries.
        is_known = (left == right) & ~(is_left | is_right)
        is_between = ~(is_left | is_right | is_known)
        low = jnp.floor(left) + 1 if base.is_discrete else left
        between = measure(
            base, jnp.where(is_between, low, inside), jnp.where(is_between, right, inside), (None, None)
        ).log_mass
        is_empty = is_between & (left > right)
        below = base.log_cdf(jnp.where(is_left, jnp.where(is_right, left, right), inside))
        above = base.log_survival(jnp.where(is_right, jnp.where(is_left, right, left), inside))
        outside = log_sum_exp(jnp.stack([below, above]), axis=0)
        censored = jnp.where(is_left & is_right, outside, jnp.where(is_left, below, above))
        observed = base.log_prob(jnp.where(is_known, left, inside))
        result = jnp.where(is_known, observed, jnp.where(is_between, between, censored))
        result = jnp.where(is_empty, -jnp.inf, result)
        return jnp.where(jnp.isnan(left) | jnp.isnan(right), jnp.nan, result)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        draws = _uncensored(self, key, sample_shape)
        return jnp.stack([draws, draws], axis=-1)


def _uncensored(distribution: Any, key: jax.Array, sample_shape: Shape) -> jax.Array:
    """Draw from the distribution before censoring; flags describe observations, not the underlying values."""
    base = distribution.base_dist
    if base.batch_shape != distribution.batch_shape:
        base = base.expand(distribution.batch_shape)
    return base.sample(key, sample_shape)
