"""Condition a univariate distribution on an interval: densities, and shares of mass below and above a value."""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from ..parameters import without_gradient
from ..special import log_of
from ..special.normal.normal_mass import Known, choose
from .interval_measure import Measure, integral, lift, measure, rise
from .interval_support import cuts, inside_of

if TYPE_CHECKING:
    from ..base import AbstractDistribution


def log_density(base: "AbstractDistribution", x: Any, low: Any, high: Any, known: Known) -> jax.Array:
    """Return the log density (or probability) at `x` within [low, high], given a value in that interval.

    `low` and `high` have the batch shape, and `x` at least its rank. `known` says which bounds cut off mass.
    """
    return log_density_in(base, measure(base, low, high, known), x)


def log_density_in(base: "AbstractDistribution", whole: Measure, x: Any) -> jax.Array:
    """Return the log density at `x` within an interval whose mass was measured."""
    wide = base.log_prob(x) - lift(whole.log_mass, x)
    if whole.is_narrow is False:
        return wide
    is_narrow = lift(whole.is_narrow, x)
    # Take the slope by the value from the density itself: the polynomial's is off by rounding of the width.
    near = jnp.where(is_narrow, x, inside_of(base, x))
    own = without_gradient(base).log_prob(near)
    still = jax.lax.stop_gradient
    narrow = rise(whole, still(x)) - lift(whole.log_relative, x) + (own - still(own))
    return jnp.where(is_narrow, narrow, wide)


def measure_both(
    base: "AbstractDistribution", x: Any, low: Any, high: Any, known: Known, *, is_above: Any
) -> tuple[Measure, Measure]:
    """Measure [low, high] and the part of it that is at most `x`, or above it, in one evaluation.

    `is_above` may vary between elements, except for a discrete distribution.
    """
    low, high = (jnp.broadcast_to(lift(end, x), x.shape) for end in (low, high))
    start, stop, has_part = _ends_of_part(base, x, low, high, known, is_above)
    if known == (False, False):
        return measure(base, low, high, known), measure(base, start, stop, has_part)
    has = [
        pair[0] if pair[0] is pair[1] else jnp.stack([jnp.broadcast_to(one, x.shape) for one in pair])
        for pair in zip(_has(base, low, high, known), has_part, strict=True)
    ]
    stacked = measure(base, jnp.stack([low, start]), jnp.stack([high, stop]), (has[0], has[1]))

    def taken(index: int) -> Measure:
        # Axes before the one on which both are stacked.
        return jax.tree.map(
            lambda leaf: (
                leaf
                if isinstance(leaf, bool)
                else jax.lax.index_in_dim(leaf, index, leaf.ndim - x.ndim - 1, keepdims=False)
            ),
            stacked,
        )

    return taken(0), taken(1)


def log_share(
    base: "AbstractDistribution", whole: Measure, x: Any, low: Any, high: Any, known: Known, *, is_above: Any
) -> jax.Array:
    """Return the log share, of the mass `whole` in [low, high], that is at most `x`, or above it."""
    part = measure(base, *_ends_of_part(base, x, low, high, known, is_above))
    return log_share_of(whole, part, x, low, high, is_above=is_above)


def log_share_of(whole: Measure, part: Measure, x: Any, low: Any, high: Any, *, is_above: Any) -> jax.Array:
    """Return the log share that a part, at most `x` or above it, has of the mass in [low, high]."""
    result = part.log_mass - lift(whole.log_mass, x)
    if whole.is_narrow is not False:
        inside = log_of(_inside(whole, x, low, high, is_above)) - lift(whole.log_relative, x)
        result = jnp.where(lift(whole.is_narrow, x), inside, result)
    # Not `minimum`, which halves the derivative at 0.
    return jnp.where(result > 0, 0.0, result)


def share_of(whole: Measure, part: Measure, x: Any, low: Any, high: Any, *, is_above: Any) -> jax.Array:
    """Return the share that a part, at most `x` or above it, has of the mass in [low, high]."""
    whole_mass = lift(whole.log_mass, x)
    if part.is_narrow is False:
        result = jnp.exp(part.log_mass - whole_mass)
    else:
        log_result = jnp.where(part.is_narrow, part.at_split, part.log_mass) - whole_mass
        result = jnp.exp(log_result) * jnp.where(part.is_narrow, part.relative, 1.0)
    if whole.is_narrow is not False:
        is_narrow = lift(whole.is_narrow, x)
        relative = jnp.where(is_narrow, lift(whole.relative, x), 1.0)
        inside = _inside(whole, x, low, high, is_above) / relative
        result = jnp.where(is_narrow, inside, result)
    return jnp.where(result > 1, 1.0, result)


def _ends_of_part(
    base: "AbstractDistribution", x: Any, low: Any, high: Any, known: Known, is_above: Any
) -> tuple[Any, Any, tuple[Any, Any]]:
    """Return the ends of the part at most `x`, or above it, and which of them exist."""
    after = jnp.floor(x) + 1 if base.is_discrete else x
    low, high = (jnp.broadcast_to(lift(end, x), x.shape) for end in (low, high))
    is_upper = is_above if isinstance(is_above, bool) else None
    # Existing bounds: the interval's on one side, and the value on the other.
    has_low: Any = None
    has_high: Any = None
    to_low, to_high = _has(base, low, high, known)
    if is_upper is not True:
        has_low, has_high = to_low, cuts(base, x, False)
    if is_upper is not False:
        from_low = cuts(base, after, True)
        has_low = from_low if is_upper else jnp.where(is_above, from_low, has_low)
        has_high = to_high if is_upper else jnp.where(is_above, to_high, has_high)
    return choose(is_above, after, low), choose(is_above, high, x), (has_low, has_high)


def _has(base: "AbstractDistribution", low: Any, high: Any, known: Known) -> tuple[Any, Any]:
    """Return which bounds cut off mass, from their values where this is not known."""
    has_low = cuts(base, low, True) if known[0] is None else known[0]
    return has_low, cuts(base, high, False) if known[1] is None else known[1]


def _inside(whole: Measure, x: Any, low: Any, high: Any, is_above: Any) -> jax.Array:
    """Return the mass below or above `x` in a narrow interval, relative to the density at the split."""
    low, high = (jnp.broadcast_to(lift(end, x), x.shape) for end in (low, high))
    return integral(whole, choose(is_above, x, low), choose(is_above, high, x))
