"""Measure the mass of any univariate distribution in an interval, however far out or narrow.

Usually the mass is a difference of the smaller tails. In a narrow interval, where this difference would cancel, a
polynomial fitted to the slope replaces the log density. Everything is then measured relative to a point inside, so that
nothing large enters a value or a derivative by a parameter. Every branch gets inputs that are safe for it.
"""

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import DistributionError
from ..special import log1m_exp, log_of, log_sum_exp
from ..special.normal.normal_mass import both, choose, either, negate
from .interval_support import cuts, inside_of

if TYPE_CHECKING:
    from ..base import AbstractDistribution

# Ten nodes on (-1, 1). An interval is narrow when the log density varies by less than this rise, and when it holds less
# than this share of the smaller tail, which bounds its distance from singularities, or is seen to be smooth.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_NARROW_SHARE, _NARROW_RISE = 0.1, 0.4
# An exponential tail that varies by that rise holds a third of its mass.
_ASKED_SHARE = 0.35
# Up to this many neighbours of a discrete support are summed.
_FEW = 16


class Measure(NamedTuple):
    """Mass of an interval, of the batch shape.

    The other fields count only where `is_narrow`: `split`, a point inside; `at_split`, the log density there; `step`,
    the widths on its left and right; `terms`, coefficients of the log density relative to the split, on either side;
    `relative` and `log_relative`, the mass relative to the density at the split.
    """

    log_mass: Any
    is_narrow: Any
    split: Any = None
    at_split: Any = None
    step: Any = None
    terms: Any = None
    relative: Any = None
    log_relative: Any = None


def measure(base: "AbstractDistribution", low: Any, high: Any, known: tuple[Any, Any]) -> Measure:
    """Measure [low, high]; the bounds are arrays of one shape, to which the batch shape broadcasts."""
    has_low = cuts(base, low, True) if known[0] is None else known[0]
    has_high = cuts(base, high, False) if known[1] is None else known[1]
    if has_low is False and has_high is False:
        return Measure(jnp.zeros_like(low), False)
    inside = inside_of(base, low)
    first, last = (jnp.ceil(low) - 1, jnp.floor(high)) if base.is_discrete else (low, high)
    if has_high is False:
        return Measure(_tail(base.log_survival, first, has_low, inside), False)
    if has_low is False:
        return Measure(_tail(base.log_cdf, last, has_high, inside), False)
    (below_low, above_low), (below_high, above_high) = _tails(base, first, last, has_low, has_high, inside)
    # Take the smaller of the tails that begin at the bounds, and subtract its rest.
    is_upper = either(negate(has_high), both(has_low, above_low < -math.log(2)))
    tail = jnp.where(is_upper, above_low, below_high)
    drop = _at_most_zero(jnp.where(is_upper, above_high, below_low), tail)
    log_mass = tail + log1m_exp(drop)
    is_both = both(has_low, has_high)
    if base.is_discrete:
        return Measure(_sum_of_few(base, low, high, is_both, inside, log_mass), False)
    return _in_narrow(base, low, high, is_both, inside, log_mass, -jnp.expm1(drop))


def _tail(log_tail: Callable[[Any], jax.Array], bound: Any, has: Any, inside: Any) -> Any:
    """Return the log mass on one side of a bound; all of it without a bound."""
    return choose(has, log_tail(choose(has, bound, inside)), 0.0)


def _tails(
    base: "AbstractDistribution", low: Any, high: Any, has_low: Any, has_high: Any, inside: Any
) -> Any:
    """Return log masses below and above each bound, either of which may be absent, in one evaluation."""
    points = jnp.stack([choose(has_low, low, inside), choose(has_high, high, inside)])
    below, above = base.log_cdf(points), base.log_survival(points)
    nothing, everything = (jnp.asarray(log, points.dtype) for log in (-np.inf, 0.0))
    return (
        (choose(has_low, below[0], nothing), choose(has_low, above[0], everything)),
        (choose(has_high, below[1], everything), choose(has_high, above[1], nothing)),
    )


def _at_most_zero(small: Any, large: Any) -> Any:
    """Subtract two logs (-1 where both are -inf): the outer of two tails is larger only by rounding."""
    is_used = large > -jnp.inf
    drop = jnp.where(is_used, small, -1.0) - jnp.where(is_used, large, 0.0)
    # Not `minimum`, which halves the derivative where both are equal.
    return jnp.where(drop > 0, 0.0, drop)


def _sum_of_few(
    base: "AbstractDistribution", low: Any, high: Any, has: Any, inside: Any, log_mass: Any
) -> Any:
    """Return the log mass of [low, high] on a discrete support: a sum of probabilities where they are few."""
    first, last = jnp.ceil(low), jnp.floor(high)
    first, last = choose(has, first, inside), choose(has, last, inside)
    steps = jnp.arange(_FEW, dtype=first.dtype).reshape((_FEW,) + (1,) * first.ndim)
    values = jnp.expand_dims(first, 0) + steps
    is_there = values <= jnp.expand_dims(last, 0)
    terms = base.log_prob(jnp.where(is_there, values, jnp.expand_dims(first, 0)))
    total = log_sum_exp(jnp.where(is_there, terms, -jnp.inf), axis=0)
    return jnp.where(both(has, last - first < _FEW), total, log_mass)


def _in_narrow(
    base: "AbstractDistribution", low: Any, high: Any, has: Any, inside: Any, log_mass: Any, share: Any
) -> Measure:
    """Measure a possibly narrow continuous interval, from slopes of the log density on each side of a split."""
    low, high = choose(has, low, inside), choose(has, high, inside)
    # A density with a kink has it at the mode.
    middle, mode = low + 0.5 * (high - low), _mode(base, low)
    is_kink = (mode > low) & (mode < high)
    split = jax.lax.stop_gradient(jnp.where(is_kink, mode, middle))
    start, step = jnp.stack([low, split]), jnp.stack([split - low, high - split])
    points = _nodes_between(start, step)
    # Use it only for a small mass, so that a density that overflows between wide bounds is never differentiated.
    is_asked = both(has, share < _ASKED_SHARE)
    points = jnp.where(lift(is_asked, points), points, lift(inside, points))
    heights, slope = jax.jvp(base.log_prob, (points,), (jnp.ones_like(points),))
    steepest = jax.lax.stop_gradient(jnp.abs(slope).max(axis=(0, 1)) * (high - low))
    is_narrow = is_asked & (steepest < _NARROW_RISE)
    slope = jnp.where(lift(is_narrow, slope), slope, 0.0)
    # The integrals are by the relative position, from -1 to 1 on either side.
    *integrals, at_ends = _split(_contract(_matrices(), slope))
    rises, terms, last_terms = (part * lift(0.5 * step, part) for part in integrals)
    # A kink moves with the parameters and shifts values right of it by the jump of the slope: 0 in value.
    jump = at_ends[0, 0] - at_ends[0, 1]
    shift = jump * jnp.where(is_kink, mode - jax.lax.stop_gradient(mode), 0.0)
    shift = jnp.stack([jnp.zeros_like(shift), shift])
    rises = rises + lift(shift, rises)
    terms = jnp.concatenate([terms[:1] + lift(shift, terms), terms[1:]])
    weights = (_WEIGHTS / 2).astype(low.dtype).reshape((-1,) + (1,) * start.ndim)
    relative = (weights * lift(step, rises) * jnp.exp(rises)).sum(axis=(0, 1))
    log_relative = log_of(jnp.where(is_narrow, relative, 1.0))
    # The last node on the left of the split is the nearest to it.
    at_split = jnp.where(is_narrow, heights[-1, 0] - rises[-1, 0], 0.0)
    # In the larger intervals the polynomials must have converged, and the tails, which do not cancel, must agree.
    eps = float(jnp.finfo(low.dtype).eps)
    last = jnp.abs(last_terms).sum(axis=(0, 1))
    agrees = jnp.abs(at_split + log_relative - log_mass) < 0.01
    is_narrow = is_narrow & ((share < _NARROW_SHARE) | ((last < 0.01 * eps**0.5) & agrees))
    log_mass = jnp.where(is_narrow, at_split + log_relative, log_mass)
    return Measure(log_mass, is_narrow, split, at_split, step, terms, relative, log_relative)


def rise(whole: Measure, x: Any) -> jax.Array:
    """Return the log density at `x` relative to the split."""
    is_left = x < lift(whole.split, x)
    step = jnp.where(is_left, *(lift(whole.step[side], x) for side in (0, 1)))
    # From -1 (low or the split) to 1 (the split or high).
    position = 2 * (x - lift(whole.split, x)) / jnp.where(step > 0, step, 1.0) + jnp.where(is_left, 1.0, -1.0)
    powers = [jnp.ones_like(x)]
    for _ in range(len(_NODES)):
        powers.append(powers[-1] * position)
    shape = (len(powers),) + (1,) * (x.ndim - whole.terms.ndim + 2) + whole.terms.shape[2:]
    left, right = (whole.terms[:, side].reshape(shape) for side in (0, 1))
    return (jnp.where(is_left, left, right) * jnp.stack(powers)).sum(axis=0)


def integral(whole: Measure, start: Any, stop: Any) -> jax.Array:
    """Integrate the density, relative to the split, from `start` to `stop`."""
    split = lift(whole.split, start)
    a = jnp.stack([jnp.minimum(start, split), jnp.maximum(start, split)])
    b = jnp.stack([jnp.minimum(stop, split), jnp.maximum(stop, split)])
    weights = (_WEIGHTS / 2).astype(start.dtype).reshape((-1,) + (1,) * a.ndim)
    points = _nodes_between(a, b - a)
    return (weights * lift(b - a, points) * jnp.exp(rise(whole, points))).sum(axis=(0, 1))


def lift(array: Any, like: Any) -> Any:
    """Prepend axes of length 1 up to the rank of `like`."""
    rank = np.ndim(array)
    return array if rank in (0, like.ndim) else jax.lax.expand_dims(array, range(like.ndim - rank))


def _mode(base: "AbstractDistribution", like: Any) -> jax.Array:
    """Return the mode, NaN where there is none or it is known to have no kink."""
    if base.has_smooth_mode:
        return jnp.full_like(like, jnp.nan)
    try:
        mode = base.mode
    except DistributionError:
        return jnp.full_like(like, jnp.nan)
    return jnp.broadcast_to(lift(mode.astype(like.dtype), like), like.shape)


def _nodes_between(start: Any, step: Any) -> jax.Array:
    """Return the nodes in intervals, on a new first axis."""
    shares = ((1 + _NODES) / 2).astype(start.dtype).reshape((-1,) + (1,) * start.ndim)
    return jnp.expand_dims(start, 0) + shares * jnp.expand_dims(step, 0)


def _contract(matrices: np.ndarray, slope: jax.Array) -> jax.Array:
    """Apply one matrix for each side along the first axis, in full precision on every device."""
    return jnp.einsum("sij,js...->is...", matrices.astype(slope.dtype), slope, precision="highest")


def _split(stacked: jax.Array) -> list[jax.Array]:
    """Return the parts of `_matrices`."""
    size = len(_NODES)
    return jnp.split(stacked, (size, 2 * size + 1, 2 * size + 3))


@functools.cache  # few models with truncated distributions need them
def _matrices() -> np.ndarray:
    """Return, for either side, matrices from slopes at the nodes to their integral, which vanishes at the split.

    The integral is given at the nodes, and as coefficients of powers; then come the last Legendre terms of the slope,
    and the slope at the split.
    """
    legendre, size = np.polynomial.legendre, len(_NODES)
    to_terms = (np.arange(size)[:, None] + 0.5) * legendre.legvander(_NODES, size - 1).T * _WEIGHTS
    found = []
    for end in (1.0, -1.0):
        series = legendre.legint(to_terms, lbnd=end)
        at_nodes = legendre.legvander(_NODES, size) @ series
        powers = np.apply_along_axis(legendre.leg2poly, 0, series)
        at_split = legendre.legvander(np.array([end]), size - 1) @ to_terms
        found.append(np.concatenate([at_nodes, powers, to_terms[-2:], at_split]))
    return np.stack(found)
