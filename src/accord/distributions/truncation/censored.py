"""Define censored distributions: variables recorded only up to a limit of detection."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from .. import constraint as c
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..parameters import check_bounds
from ..special.normal.normal_mass import choose, is_there
from ..summary.counts import count_entropy_of, count_mean_of, count_variance_of
from ..summary.levels import levels
from ..summary.peak import whole_mode_of
from .interval_measure import measure
from .interval_support import inside_of, restrict
from .truncated import check_univariate, truncate
from .whole_summaries import unless_infinite


class CensoredDistribution(AbstractDistribution):
    """Censored distribution: a univariate variable, recorded as the nearer bound when it is beyond one.

    The distribution is mixed: a density inside the bounds, and a probability at each of them; its mode and entropy
    refer to `log_prob`, which is a log density or log probability. An infinite bound, traced or not, gives the same
    value and derivatives as no bound.

    **Fields**
    - `base_dist`: the distribution before censoring; univariate, with a cdf.
    - `low`, `high`: bounds, `low < high`; None, -inf or inf for no bound. They may depend on other sites.

    **Density**: `f(x)` for low < x < high; `P(X <= low)` at low and `P(X >= high)` at high.

    **Source**: Tobin (1958), Econometrica 26(1), 24-36.
    """

    base_dist: AbstractDistribution
    low: Any = None
    high: Any = None
    parameters: ClassVar[dict[str, c.Constraint]] = {"low": constraints.real, "high": constraints.real}

    def __check_init__(self) -> None:
        check_univariate(self, self.base_dist)
        check_bounds(self, self.low, self.high)

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(self.base_dist.batch_shape, np.shape(self.low), np.shape(self.high))

    @property
    def dtype(self) -> np.dtype:
        return float_type(self.low, self.high, *jax.tree.leaves(self.base_dist))

    @property
    def support(self) -> c.Constraint:
        known = (is_there(self.low, -np.inf), is_there(self.high, np.inf))
        return restrict(self.base_dist.support, self.low, self.high, known)

    @property
    def mean(self) -> jax.Array:
        if self.is_discrete:
            return unless_infinite(
                self.base_dist, self.high, lambda: self.base_dist.mean, count_mean_of(self, self._knots())
            )
        inner, low, high, at_low, at_high, between = self._split()
        return at_low * low + at_high * high + between * _if_there(between, inner.mean)

    @property
    def variance(self) -> jax.Array:
        if self.is_discrete:
            return unless_infinite(
                self.base_dist,
                self.high,
                lambda: self.base_dist.variance,
                count_variance_of(self, self._knots()),
            )
        inner, low, high, at_low, at_high, between = self._split()
        middle = _if_there(between, inner.mean)
        mean = at_low * low + at_high * high + between * middle
        within = _if_there(between, inner.variance) + jnp.where(between > 0, middle - mean, 0.0) ** 2
        return at_low * (low - mean) ** 2 + at_high * (high - mean) ** 2 + between * within

    @property
    def mode(self) -> jax.Array:
        if self.is_discrete:
            return whole_mode_of(self, self._knots())
        # Compare probabilities with densities to find the mode.
        mode, low, high, has_low, has_high = self._align(self.base_dist.mode)
        mode = jnp.clip(mode, low, high)
        stacked = jnp.stack([choose(has_low, low, mode), mode, choose(has_high, high, mode)])
        best = jnp.argmax(self.log_prob(stacked), axis=0)
        return jnp.take_along_axis(stacked, best[None], axis=0)[0]

    def entropy(self) -> jax.Array:
        if self.is_discrete:
            return count_entropy_of(self, self._knots())
        inner, _, _, at_low, at_high, between = self._split()
        chances = jnp.stack(jnp.broadcast_arrays(at_low, at_high, between))
        which = -(chances * jnp.log(jnp.where(chances > 0, chances, 1.0))).sum(axis=0)
        return which + between * _if_there(between, inner.entropy())

    def log_prob(self, value: Any) -> jax.Array:
        x, low, high, has_low, has_high = self._align(value)
        base = self.base_dist
        is_low, is_high = self._at(x, low, high, has_low, has_high)
        result = base.log_prob(choose(is_low, inside_of(base, x), choose(is_high, inside_of(base, x), x)))
        if has_low is not False:
            # Evaluate at the bound itself, so that the value there changes neither the mass nor its gradient.
            result = choose(is_low, base.log_cdf(choose(has_low, low, inside_of(base, low))), result)
        if has_high is not False:
            result = choose(is_high, self._log_above(choose(has_high, high, inside_of(base, high))), result)
        beyond = choose(has_low, x < low, False) | choose(has_high, x > high, jnp.zeros(x.shape, bool))
        return jnp.where(beyond, -jnp.inf, result)

    def cdf(self, value: Any) -> jax.Array:
        x, low, high, has_low, has_high = self._align(value)
        below, above = choose(has_low, x < low, False), choose(has_high, x >= high, False)
        return choose(below, 0.0, choose(above, 1.0, self.base_dist.cdf(x)))

    def log_cdf(self, value: Any) -> jax.Array:
        x, low, high, has_low, has_high = self._align(value)
        below, above = choose(has_low, x < low, False), choose(has_high, x >= high, False)
        return choose(below, -jnp.inf, choose(above, 0.0, self.base_dist.log_cdf(x)))

    def log_survival(self, value: Any) -> jax.Array:
        x, low, high, has_low, has_high = self._align(value)
        below, above = choose(has_low, x < low, False), choose(has_high, x >= high, False)
        return choose(below, 0.0, choose(above, -jnp.inf, self.base_dist.log_survival(x)))

    def icdf(self, q: Any) -> jax.Array:
        x, low, high, *_ = self._align(self.base_dist.icdf(q))
        return jnp.clip(x, low, high)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        base = self.base_dist
        if base.batch_shape != self.batch_shape:
            base = base.expand(self.batch_shape)
        draws = base.sample(key, sample_shape)
        x, low, high, *_ = self._align(draws)
        return jnp.clip(x, low, high).astype(draws.dtype if self.is_discrete else x.dtype)

    def _split(self) -> tuple[AbstractDistribution, *tuple[Any, ...]]:
        """Return the distribution between the bounds, the bounds, and the probabilities at each and between them."""
        _, low, high, has_low, has_high = self._align(jnp.zeros(self.batch_shape, self.dtype))
        inside, base = inside_of(self.base_dist, low), self.base_dist
        known = (
            has_low if isinstance(has_low, bool) else None,
            has_high if isinstance(has_high, bool) else None,
        )
        between = jnp.exp(measure(base, low, high, known).log_mass)
        low, high = choose(has_low, low, inside), choose(has_high, high, inside)
        at_low = choose(has_low, jnp.exp(base.log_cdf(low)), jnp.zeros_like(low))
        at_high = choose(has_high, jnp.exp(base.log_survival(high)), jnp.zeros_like(low))
        return truncate(base, self.low, self.high), low, high, at_low, at_high, between

    def _knots(self) -> jax.Array:
        return self.icdf(levels(self.batch_shape, self.dtype)).astype(self.dtype)

    def _at(self, x: Any, low: Any, high: Any, has_low: Any, has_high: Any) -> tuple[Any, Any]:
        """Return whether a value is recorded at the lower and at the upper bound."""
        is_low = False if has_low is False else (x == low) & choose(has_low, True, False)
        is_high = False if has_high is False else (x == high) & choose(has_high, True, False)
        return is_low, is_high

    def _log_above(self, bound: Any) -> jax.Array:
        """Return the log probability of at least a bound."""
        return self.base_dist.log_survival(jnp.ceil(bound) - 1 if self.is_discrete else bound)

    def _align(self, value: Any) -> tuple[Any, ...]:
        """Return value and bounds, of one dtype and the batch shape, and which bounds exist."""
        arguments = (value, self.low, self.high)
        dtype = float_type(*arguments, *jax.tree.leaves(self.base_dist))
        x = jnp.asarray(value, dtype)
        x = jnp.broadcast_to(x, np.broadcast_shapes(x.shape, self.batch_shape))
        low, high = (
            jnp.broadcast_to(jnp.asarray(absent if bound is None else bound, dtype), x.shape)
            for bound, absent in ((self.low, -np.inf), (self.high, np.inf))
        )
        has_low, has_high = is_there(self.low, -np.inf), is_there(self.high, np.inf)
        has_low = low > -jnp.inf if has_low is None else has_low
        return x, low, high, has_low, high < jnp.inf if has_high is None else has_high


def _if_there(mass: jax.Array, summary: jax.Array) -> jax.Array:
    """Return a summary of a part of a distribution, 0 where that part has no mass."""
    return jnp.where(mass > 0, summary, 0.0)
