"""Truncate any univariate distribution to an interval."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type, is_concrete
from .. import constraint as c
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..parameters import check_bounds, without_gradient
from ..special import exp_of
from ..special.normal.normal_mass import Known
from ..summary.moments import entropy_of, mean_of, variance_of
from ..univariate.real.real_line import Normal
from ..wrappers.wrappers import ExpandedDistribution, Independent, MaskedDistribution
from .few_values import few_log_density, few_log_share, few_quantile, span_if_few
from .interval_mass import log_density, log_share_of, measure_both, share_of
from .interval_measure import lift
from .interval_quantile import bracket, quantile, whole_quantile
from .interval_support import cuts, ends, restrict, tightest
from .truncated_normal import TruncatedNormal
from .whole_summaries import WholeBetween


def truncate(distribution: AbstractDistribution, low: Any = None, high: Any = None) -> AbstractDistribution:
    """Condition a distribution on [low, high], with the fastest class for its family."""
    if low is None and high is None:
        return distribution
    match distribution:
        case Normal(loc=loc, scale=scale):
            return TruncatedNormal(loc, scale, low=low, high=high)
        case TruncatedNormal(loc=loc, scale=scale):
            low, high = _intersection(distribution, low, high)
            return TruncatedNormal(loc, scale, low=low, high=high)
        case TruncatedDistribution(base_dist=base):
            return TruncatedDistribution(base, *_intersection(distribution, low, high))
        case ExpandedDistribution(base=base, shape=shape):
            shape = np.broadcast_shapes(
                shape, *(np.shape(bound) for bound in (low, high) if bound is not None)
            )
            return truncate(base, low, high).expand(shape)
        case MaskedDistribution(base=base, where=where):
            return truncate(base, low, high).mask(where)
        case Independent(base=base, count=0):
            return truncate(base, low, high)
        case _:
            return TruncatedDistribution(distribution, low, high)


class TruncatedDistribution(AbstractDistribution):
    """Truncated distribution: a variable of any univariate distribution with a cdf, given that it is in [low, high].

    Both bounds belong to the interval, which matters where the support is discrete. An infinite bound, traced or not,
    gives the same value and derivatives as no bound. It is accurate far out in a tail and in a narrow interval.

    **Fields**
    - `base_dist`: the distribution before truncation; univariate, with a cdf.
    - `low`, `high`: bounds, `low < high`; None, -inf or inf for no bound. They may depend on other sites.

    **Density**: `f(x) / P(low <= X <= high)` for low <= x <= high.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, section 1.3.
    """

    base_dist: AbstractDistribution
    low: Any = None
    high: Any = None
    parameters: ClassVar[dict[str, c.Constraint]] = {"low": constraints.real, "high": constraints.real}

    def __check_init__(self) -> None:
        check_univariate(self, self.base_dist)
        if not self.base_dist.is_discrete:
            check_bounds(self, self.low, self.high)
        lower, upper = ends(self.base_dist.support)
        low = np.nan if self.low is None else self.low
        high = np.nan if self.high is None else self.high
        if not all(is_concrete(end) for end in (lower, upper, low, high)):
            return
        first, last = np.asarray(low), np.asarray(high)
        if self.base_dist.is_discrete:
            first, last = np.ceil(first), np.floor(last)
        is_empty = np.greater(*np.broadcast_arrays(first, upper)) | np.less(*np.broadcast_arrays(last, lower))
        if is_empty.any() or np.greater(*np.broadcast_arrays(first, last)).any():
            raise self.refuse(
                f"the bounds low={self.low} and high={self.high} leave nothing of the support of "
                f"{type(self.base_dist).__name__}",
                "Check the bounds and their order.",
            )

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(self.base_dist.batch_shape, np.shape(self.low), np.shape(self.high))

    @property
    def dtype(self) -> np.dtype:
        return self._dtype_with()

    @property
    def support(self) -> c.Constraint:
        return restrict(self.base_dist.support, self.low, self.high, self._known())

    @property
    def mean(self) -> jax.Array:
        if self.is_discrete:
            return self._whole.mean()
        return mean_of(self, self._knots())

    @property
    def variance(self) -> jax.Array:
        if self.is_discrete:
            return self._whole.variance()
        return variance_of(self, self._knots())

    @property
    def mode(self) -> jax.Array:
        # The mode, or if that is outside the better of the bounds: right unless there are inner maxima.
        base, dtype = self.base_dist, self.dtype
        lower, upper = bracket(base, jnp.zeros(self.batch_shape, dtype), *self._bounds(dtype), self._known())
        mode = jnp.broadcast_to(base.mode, self.batch_shape).astype(dtype)
        is_inside = (mode >= lower) & (mode <= upper)
        mode = jnp.clip(mode, lower, upper)
        if base.is_discrete:
            mode = jnp.clip(mode, jnp.ceil(lower), jnp.floor(upper))
            lower, upper = jnp.ceil(lower), jnp.floor(upper)
        best = mode
        for end in (upper, lower):
            is_finite = jnp.isfinite(end) & ~is_inside
            end = jnp.where(is_finite, end, mode)
            is_better = base.log_prob(end) > base.log_prob(best)
            best = jnp.where(is_finite & is_better, end, best)
        return best

    def log_prob(self, value: Any) -> jax.Array:
        x, low, high, is_below, is_above = self._align(value)
        few = span_if_few(self.base_dist, self.low, self.high)
        if few is None:
            result = log_density(self.base_dist, x, low, high, self._known())
        else:
            result = few_log_density(self.base_dist, x, few)
        return jnp.where(is_below | is_above, -jnp.inf, result)

    def cdf(self, value: Any) -> jax.Array:
        result, is_below, is_above = self._share(value, is_log=False, is_above=False)
        return jnp.where(is_below, 0.0, jnp.where(is_above, 1.0, result))

    def log_cdf(self, value: Any) -> jax.Array:
        result, is_below, is_above = self._share(value, is_log=True, is_above=False)
        return jnp.where(is_below, -jnp.inf, jnp.where(is_above, 0.0, result))

    def log_survival(self, value: Any) -> jax.Array:
        result, is_below, is_above = self._share(value, is_log=True, is_above=True)
        return jnp.where(is_below, 0.0, jnp.where(is_above, -jnp.inf, result))

    def icdf(self, q: Any) -> jax.Array:
        dtype = self._dtype_with(q)
        q = self._broadcast(jnp.asarray(q, dtype))
        low, high = self._bounds(dtype)
        known = self._known()
        bottom, top = bracket(self.base_dist, q, low, high, known)
        is_inside = (q > 0) & (q < 1)
        safe = jnp.where(is_inside, q, 0.5)
        if self.is_discrete:
            few = span_if_few(self.base_dist, self.low, self.high)
            if few is None:
                x = whole_quantile(self.base_dist, safe, low, high, known, without_gradient(self).cdf)
            else:
                x = few_quantile(self.base_dist, safe, few)
            bottom, top = jnp.ceil(bottom), jnp.floor(top)
        else:
            x = quantile(self.base_dist, safe, low, high, known=known)
        ends_ = jnp.where(q == 0, bottom, jnp.where(q == 1, top, jnp.nan))
        return jnp.where(is_inside, x, ends_)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        limits = jnp.finfo(self.dtype)
        draws = self.icdf(
            jax.random.uniform(key, self._shape(sample_shape), self.dtype, minval=float(limits.tiny))
        )
        if self.is_discrete:
            return draws.astype(jnp.result_type(int))
        # A quantile may round to the open end of a support, or overflow.
        lower, upper = (
            jnp.broadcast_to(lift(jnp.asarray(end, draws.dtype), draws), draws.shape)
            for end in ends(self.base_dist.support)
        )
        first = jnp.maximum(jnp.nextafter(lower, jnp.inf), jnp.where(lower == 0, limits.tiny, -limits.max))
        last = jnp.minimum(jnp.nextafter(upper, -jnp.inf), limits.max)
        return jnp.clip(draws, first, last)

    def entropy(self) -> jax.Array:
        if self.is_discrete:
            return self._whole.entropy()
        return entropy_of(self, self._knots())

    @property
    def _whole(self) -> WholeBetween:
        return WholeBetween(self, self.base_dist, self.low, self.high, self._knots)

    def _share(self, value: Any, *, is_log: bool, is_above: bool) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the (log) share of mass below or above a value, and whether the value was beyond the bounds."""
        x, low, high, was_below, was_above = self._align(value)
        base, known = self.base_dist, self._known()
        few = span_if_few(base, self.low, self.high)
        if few is None:
            whole, part = measure_both(base, x, low, high, known, is_above=is_above)
            measured = log_share_of if is_log else share_of
            result = measured(whole, part, x, low, high, is_above=is_above)
        else:
            result = few_log_share(base, x, few, is_above=is_above)
            result = result if is_log else exp_of(result)
        return jnp.where(jnp.isnan(x), jnp.nan, result), was_below, was_above

    def _known(self) -> Known:
        """Return which bounds cut off mass (True, False), or None where only values tell."""
        found = (cuts(self.base_dist, self.low, True), cuts(self.base_dist, self.high, False))
        return tuple(known if isinstance(known, bool) else None for known in found)  # pyright: ignore

    def _dtype_with(self, *values: Any) -> np.dtype:
        """Return the floating dtype that holds values, bounds and parameters."""
        return float_type(*values, self.low, self.high, *jax.tree.leaves(self.base_dist))

    def _bounds(self, dtype: Any) -> tuple[jax.Array, jax.Array]:
        """Return the bounds in the batch shape, infinite where absent."""
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        return self._broadcast(jnp.asarray(low, dtype)), self._broadcast(jnp.asarray(high, dtype))

    def _broadcast(self, array: jax.Array) -> jax.Array:
        """Broadcast an array against the batch shape."""
        shape = np.broadcast_shapes(array.shape, self.batch_shape)
        return jnp.broadcast_to(array, shape)

    def _align(self, value: Any) -> tuple[jax.Array, ...]:
        """Return value (clipped) and bounds, of one dtype, and whether the value was below or above."""
        dtype = self._dtype_with(value)
        x = self._broadcast(jnp.asarray(value, dtype))
        low, high = self._bounds(dtype)
        if self.is_discrete:
            first, last = jnp.ceil(low), jnp.floor(high)
        else:
            first, last = low, high
        bottom, top = (jnp.broadcast_to(end, x.shape) for end in (first, last))
        is_below, is_above = x < bottom, x > top
        x = jnp.where(is_below, bottom, jnp.where(is_above, top, x))
        return x, low, high, is_below, is_above


def check_univariate(wrapper: AbstractDistribution, base: AbstractDistribution) -> None:
    """Raise `DistributionError` unless `base` is univariate and has a cdf."""
    name = type(base).__name__
    if base.event_shape:
        raise wrapper.refuse(
            f"{name} has event shape {base.event_shape}", "Give a univariate distribution, before `to_event`."
        )
    if not has_cdf(base):
        raise wrapper.refuse(f"{name} has no cdf", "Give a univariate distribution that has a cdf.")


def has_cdf(base: AbstractDistribution) -> bool:
    """Return whether a distribution, and its component distributions, define a cdf."""
    if type(base).cdf is AbstractDistribution.cdf:
        return False
    inner = jax.tree.leaves(vars(base), is_leaf=lambda part: isinstance(part, AbstractDistribution))
    return all(has_cdf(part) for part in inner if isinstance(part, AbstractDistribution))


def _intersection(
    distribution: "TruncatedDistribution | TruncatedNormal", low: Any, high: Any
) -> tuple[Any, Any]:
    """Intersect the bounds of a truncated distribution with others."""
    return tightest(low, distribution.low, is_low=True), tightest(high, distribution.high, is_low=False)
