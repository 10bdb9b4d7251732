"""Find quantiles of a distribution conditioned on an interval."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ...core.errors import DistributionError
from ..discrete.common.countable import smallest
from ..parameters import without_gradient
from ..special import solve_increasing
from ..special.normal.normal_mass import Known, choose
from .interval_mass import log_density_in, log_share, measure_both, share_of
from .interval_measure import Measure, lift, measure
from .interval_support import cuts, ends, inside_of

if TYPE_CHECKING:
    from ..base import AbstractDistribution


@eqx.filter_custom_jvp
def quantile(base: "AbstractDistribution", q: jax.Array, low: Any, high: Any, *, known: Known) -> jax.Array:
    """Find the value with a share `q`, in (0, 1), of the mass in [low, high] below it; continuous distributions."""
    whole = measure(base, low, high, known)
    is_above = q > 0.5
    target = jnp.where(is_above, -jnp.log1p(-jnp.where(is_above, q, 0.5)), jnp.log(q))

    # Pass facts about the interval as arguments: a rule that closed over them would keep their trace alive.
    def level(x: jax.Array) -> jax.Array:
        return _level(x, base, whole, low, high, is_above, known=known)

    bottom, top = bracket(base, q, low, high, known)
    x = solve_increasing(level, target, bottom, top, _guess(base, q, low, high, known))
    return jnp.clip(x, bottom, top)


@eqx.filter_custom_jvp
def _level(
    x: jax.Array,
    base: "AbstractDistribution",
    whole: Measure,
    low: Any,
    high: Any,
    is_above: jax.Array,
    *,
    known: Known,
) -> jax.Array:
    """Return the log of the smaller share, which resolves both tails, less a level given for that share."""
    smaller = log_share(base, whole, x, low, high, known, is_above=is_above)
    return jnp.where(is_above, -smaller, smaller)


@_level.def_jvp
def _level_jvp(
    primals: tuple[Any, ...], tangents: tuple[Any, ...], *, known: Known
) -> tuple[jax.Array, jax.Array]:
    x, base, whole, *_ = primals
    found = _level(*primals, known=known)
    return found, jnp.exp(log_density_in(base, whole, x) + jnp.abs(found)) * tangents[0]


@quantile.def_jvp
def _quantile_jvp(
    primals: tuple[Any, ...], tangents: tuple[Any, ...], *, known: Known
) -> tuple[jax.Array, Any]:
    base, q, low, high = primals
    base_dot, q_dot, low_dot, high_dot = tangents
    x = quantile(base, q, low, high, known=known)
    is_above = q > 0.5
    # Moving a bound removes its density from the whole, of which the level is a share.
    ends_ = [(low, known[0], low_dot, 1 - q, True), (high, known[1], high_dot, q, False)]
    points, moving = [x], []
    for bound, has, dot, weight, is_low in ends_:
        if dot is not None and has is not False:
            has = lift(cuts(base, bound, is_low) if has is None else has, x)
            safe = choose(has, lift(bound, x), inside_of(base, x))
            points.append(jnp.broadcast_to(safe, x.shape))
            moving.append((has, lift(dot, x) * weight))
    is_moving = jax.tree.map(lambda dot: dot is not None, base_dot, is_leaf=lambda dot: dot is None)
    part, rest = eqx.partition(base, is_moving)

    def measured(part: Any) -> tuple[jax.Array, jax.Array]:
        moved = eqx.combine(part, rest)
        whole, part = measure_both(moved, x, low, high, known, is_above=is_above)
        # Only the smaller share changes accurately.
        smaller = share_of(whole, part, x, low, high, is_above=is_above)
        return smaller, log_density_in(moved, whole, jnp.stack(points))

    change = jnp.zeros_like(x) if q_dot is None else q_dot
    if jax.tree.leaves(base_dot):
        (found, heights), (found_dot, heights_dot) = jax.jvp(measured, (part,), (base_dot,))
        # Evaluate at the value before rounding: near a bound, rounding is a large part of the distance to it.
        missed = jnp.where(is_above, 1 - q, q) - found
        found_dot = found_dot + missed * heights_dot[0]
        change = change + jnp.where(is_above, found_dot, -found_dot)
    else:
        heights = log_density_in(base, measure(base, low, high, known), jnp.stack(points))
    for height, (has, weight) in zip(heights[1:], moving, strict=True):
        change = change + choose(has, jnp.exp(height), 0.0) * weight
    return x, change * jnp.exp(-heights[0])


def whole_quantile(
    base: "AbstractDistribution",
    q: jax.Array,
    low: Any,
    high: Any,
    known: Known,
    cdf: Callable[[Any], jax.Array],
) -> jax.Array:
    """Find the smallest whole number at which a cdf within [low, high] is at least `q`, in (0, 1)."""
    bottom, top = jax.lax.stop_gradient(bracket(base, q, low, high, known))
    return smallest(cdf, q, jnp.ceil(bottom), jnp.floor(top), _guess(base, q, low, high, known))


def bracket(
    base: "AbstractDistribution", like: jax.Array, low: Any, high: Any, known: Known
) -> tuple[jax.Array, jax.Array]:
    """Return the ends of the support within the bounds, finite or infinite, in shape and dtype of `like`."""
    found = []
    for end, bound, has, is_low in zip(ends(base.support), (low, high), known, (True, False), strict=True):
        has = cuts(base, bound, is_low) if has is None else has
        edge = choose(has, lift(bound, like), lift(jnp.asarray(end, like.dtype), like))
        found.append(jnp.broadcast_to(edge, like.shape))
    return found[0], found[1]


def _guess(base: "AbstractDistribution", q: jax.Array, low: Any, high: Any, known: Known) -> jax.Array:
    """Return a starting value: the quantile by the cdf before truncation, which may be far off in a tail."""
    base, q, low, high = without_gradient((base, q, low, high))
    bottom, top = bracket(base, q, low, high, known)
    try:
        below, above = 0.0, 1.0
        if known[0] is False:
            above = base.cdf(top)
        elif known[1] is False:
            below = base.cdf(bottom)
        else:
            below, above = base.cdf(jnp.stack([bottom, top]))
        start = base.icdf(below + q * (above - below)).astype(q.dtype)
    except DistributionError:
        start = base.support.feasible_like(q)
    is_inside = (start > bottom) & (start < top)
    is_finite = jnp.isfinite(bottom) & jnp.isfinite(top)
    other = jnp.where(is_finite, 0.5 * bottom + 0.5 * top, base.support.feasible_like(q))
    # Far out in an unbounded tail, extrapolate as if it were exponential.
    if known[0] is not False:
        rate = jnp.exp(base.log_prob(bottom) - base.log_survival(bottom))
        other = jnp.where(jnp.isfinite(bottom) & jnp.isinf(top), bottom - jnp.log1p(-q) / rate, other)
    if known[1] is not False:
        rate = jnp.exp(base.log_prob(top) - base.log_cdf(top))
        other = jnp.where(jnp.isfinite(top) & jnp.isinf(bottom), top + jnp.log(q) / rate, other)
    return jnp.where(is_inside, start, jnp.clip(other, bottom, top))
