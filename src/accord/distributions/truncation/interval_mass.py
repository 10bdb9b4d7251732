"""Condition a univariate distribution on an interval: densities, and shares of its mass below and above a value."""

from typing import Any

import jax
import jax.numpy as jnp

from ..base import AbstractDistribution
from ..special import log_of
from ..special.normal_mass import Known, choose
from .interval_measure import Measure, integral, lift, measure, rise
from .interval_support import cuts


def log_density(base: AbstractDistribution, x: Any, low: Any, high: Any, known: Known) -> jax.Array:
    """Log density (or probability) at `x` within [low, high], given that the variable is there.

    `low` and `high` have the batch shape, and `x` at least its rank. `known` says which bounds cut mass off.
    """
    return log_density_in(base, measure(base, low, high, known), x)


def log_density_in(base: AbstractDistribution, whole: Measure, x: Any) -> jax.Array:
    """Log density at `x` within an interval that was measured."""
    wide = base.log_prob(x) - lift(whole.log_mass, x)
    if whole.is_narrow is False:
        return wide
    return jnp.where(lift(whole.is_narrow, x), rise(whole, x) - lift(whole.log_relative, x), wide)


def log_share(
    base: AbstractDistribution, whole: Measure, x: Any, low: Any, high: Any, known: Known, *, is_above: Any
) -> jax.Array:
    """Log of the share of the mass in [low, high], which is `whole`, that is at most `x`, or above it.

    `is_above` may vary from element to element, but for a discrete distribution.
    """
    part = _part(base, x, low, high, known, is_above)
    result = part.log_mass - lift(whole.log_mass, x)
    if whole.is_narrow is not False:
        inside = log_of(_inside(whole, x, low, high, is_above)) - lift(whole.log_relative, x)
        result = jnp.where(lift(whole.is_narrow, x), inside, result)
    # Not `minimum`, which halves the derivative at 0.
    return jnp.where(result > 0, 0.0, result)


def share(
    base: AbstractDistribution, whole: Measure, x: Any, low: Any, high: Any, known: Known, *, is_above: Any
) -> jax.Array:
    """The share itself, whose derivatives are right also where it is 0."""
    part = _part(base, x, low, high, known, is_above)
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


def _part(base: AbstractDistribution, x: Any, low: Any, high: Any, known: Known, is_above: Any) -> Measure:
    """The measure of what is at most `x`, or above it."""
    after = jnp.floor(x) + 1 if base.is_discrete else x
    low, high = (jnp.broadcast_to(lift(end, x), x.shape) for end in (low, high))
    is_upper = is_above if isinstance(is_above, bool) else None
    # Which bounds are there: those of the interval on one side, and the value on the other.
    has_low: Any = None
    has_high: Any = None
    if is_upper is not True:
        has_low = cuts(base, low, True) if known[0] is None else known[0]
        has_high = cuts(base, x, False)
    if is_upper is not False:
        to_high = cuts(base, high, False) if known[1] is None else known[1]
        to_low = cuts(base, after, True)
        has_low = to_low if is_upper else jnp.where(is_above, to_low, has_low)
        has_high = to_high if is_upper else jnp.where(is_above, to_high, has_high)
    return measure(base, choose(is_above, after, low), choose(is_above, high, x), (has_low, has_high))


def _inside(whole: Measure, x: Any, low: Any, high: Any, is_above: Any) -> jax.Array:
    """Mass below or above `x` in a narrow interval, relative to the density at the split."""
    low, high = (jnp.broadcast_to(lift(end, x), x.shape) for end in (low, high))
    return integral(whole, choose(is_above, x, low), choose(is_above, high, x))
