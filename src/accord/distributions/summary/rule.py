"""Integrate over the support of a continuous univariate distribution, panel by panel.

The variable of integration is the logarithm of the distance to the ends of the support. On the whole line it grows like
the logarithm in both tails. Powers, by which densities rise at an end and fall in a tail, are then exponentials, which
Gauss-Legendre rules resolve at any scale. The points are constants to derivatives and move with the ends of the
support, so that the derivative of the sum equals the derivative of the integral.

**Source**: composite Gauss-Legendre rules: Davis & Rabinowitz (1984), Methods of Numerical Integration, section 2.7.
"""

from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..truncation.interval_support import ends

if TYPE_CHECKING:
    from ..base import AbstractDistribution

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
# Past the last knot panels double in length this far; the rest of the tail is treated as a power law.
_GROWING = (2.0 ** np.arange(1, 8) - 1) / (2.0**7 - 1)
_FOLLOWED, _LEAST_FOLLOWED = 254.0, 8.0
# By bits of precision: log of the largest number whose square is finite, and of distances from an end.
_FURTHEST, _NEAREST = {64: 320.0, 32: 40.0}, {64: 700.0, 32: 85.0}


class Nodes(NamedTuple):
    """Points of the support and their weights, along a new first axis, in increasing order.

    `x`, the points, with `centre`, a point in the middle of the distribution, and `offset`, x less the centre;
    `log_slope`, the logarithm of the derivative of x by the variable t of integration; `t` and `weight`, its values and
    weights; `is_open`, whether the support has no end below and above. The axis of `centre` and `is_open` has length 1.
    """

    x: jax.Array
    offset: jax.Array
    centre: jax.Array
    log_slope: jax.Array
    t: jax.Array
    weight: jax.Array
    is_open: tuple[jax.Array, jax.Array]


class _Map(NamedTuple):
    """Centre t = 0, the ends (0 where there is none), their distances (1 where none), the scale without ends.

    All of shape `(1,) + batch_shape`.
    """

    centre: jax.Array
    low: jax.Array
    high: jax.Array
    below: jax.Array
    above: jax.Array
    scale: jax.Array
    has: tuple[jax.Array, jax.Array]


def nodes_between(d: "AbstractDistribution", knots: jax.Array) -> Nodes:
    """Return nodes over the support of `d`, with panels that end at `knots`, of shape `(n,) + batch_shape`."""
    dtype, shape = knots.dtype, knots.shape[1:]
    low, high = (jnp.broadcast_to(jnp.asarray(end, dtype), shape)[None] for end in ends(d.support))
    knots = jax.lax.stop_gradient(knots)
    knots = jnp.sort(jnp.where(jnp.isfinite(knots), knots, knots[knots.shape[0] // 2][None]), axis=0)
    where = _map(knots, low, high)
    t = _panels(jax.lax.stop_gradient(where), knots)
    start, width = t[:-1], t[1:] - t[:-1]
    shares = ((1 + _NODES) / 2).astype(dtype).reshape((1, -1) + (1,) * len(shape))
    t = (start[:, None] + width[:, None] * shares).reshape((-1, *shape))
    weights = (_WEIGHTS / 2).astype(dtype).reshape((1, -1) + (1,) * len(shape))
    weight = (width[:, None] * weights).reshape((-1, *shape))
    x, offset, log_slope = _forward(where, t)
    return Nodes(x, offset, where.centre, log_slope, t, weight, (~where.has[0], ~where.has[1]))


def integrate(nodes: Nodes, log_density: jax.Array, *factors: jax.Array) -> jax.Array:
    """Integrate a density times factors, all given at the nodes; infinite if a tail diverges.

    Beyond the outermost panels the integrand is continued as the power law that it follows within them.
    """
    log_mass = log_density + nodes.log_slope
    is_there = log_mass > -jnp.inf
    terms = jnp.where(is_there, nodes.weight * jnp.exp(jnp.where(is_there, log_mass, 0.0)), 0.0)
    for factor in factors:
        terms = terms * jnp.where(is_there, factor, 0.0)
    total = terms.sum(axis=0)
    last = _NODES.size - 1
    for is_open, outer, inner in ((nodes.is_open[0][0], 0, last), (nodes.is_open[1][0], -1, -1 - last)):
        sign = jnp.ones_like(total)
        sizes = [log_mass[outer], log_mass[inner]]
        for factor in factors:
            sign = sign * jnp.sign(factor[outer])
            sizes = [size + _log_of(factor[i]) for size, i in zip(sizes, (outer, inner), strict=True)]
        panel = jnp.abs(nodes.t[outer] - nodes.t[inner]) / float(_NODES[-1])
        # Summands may be much larger than their sum, and are rounded.
        added = 1 + jnp.abs(log_density[outer]) + jnp.abs(nodes.log_slope[outer])
        total = total + sign * _tail(*sizes, panel, 1e2 * float(jnp.finfo(added.dtype).eps) * added, is_open)
    return total


def _tail(
    outer: jax.Array, inner: jax.Array, panel: jax.Array, noise: jax.Array, is_open: jax.Array
) -> jax.Array:
    """Return the integral beyond the outermost panel of that length, from the logs at its outermost nodes."""
    is_there = (outer > -jnp.inf) & (inner > -jnp.inf)
    outer, inner = jnp.where(is_there, outer, 0.0), jnp.where(is_there, inner, 1.0)
    fall = (inner - outer) / float(_NODES[-1])
    is_falling = fall > noise
    fall = jnp.where(is_falling, fall, 1.0)
    at_end = outer - fall * (1 - float(_NODES[-1])) / 2
    rest = jnp.exp(jnp.where(is_falling, at_end, 0.0)) * panel / fall
    # A density is integrable up to an end of the support.
    return jnp.where(is_there, jnp.where(is_falling, rest, jnp.where(is_open, jnp.inf, 0.0)), 0.0)


def _log_of(factor: jax.Array) -> jax.Array:
    """Return the log of the absolute value, -inf with a zero gradient at 0."""
    is_zero = factor == 0
    return jnp.where(is_zero, -jnp.inf, jnp.log(jnp.abs(jnp.where(is_zero, 1.0, factor))))


def _map(knots: jax.Array, low: jax.Array, high: jax.Array) -> _Map:
    """Return the variable of integration: log((x - low) / (high - x)), or its limits, less its value at the centre."""
    most = knots.shape[0] - 1
    centre = knots[most // 2][None]
    # A distribution may be so near an end that its middle rounds to that.
    for share in (1.0, 0.0, 0.9, 0.1, 0.7, 0.3, 0.5):
        knot = knots[int(share * most)][None]
        centre = jnp.where((knot > low) & (knot < high), knot, centre)
    has = (low > -jnp.inf, high < jnp.inf)
    low, high = jnp.where(has[0], low, 0.0), jnp.where(has[1], high, 0.0)
    below, above = jnp.where(has[0], centre - low, 1.0), jnp.where(has[1], high - centre, 1.0)
    spread, wide = knots[int(0.55 * most)] - knots[int(0.45 * most)], knots[-1] - knots[0]
    scale = jnp.where(spread > 0, spread, jnp.where(wide > 0, wide, 1.0))
    return _Map(centre, low, high, below, above, scale[None], has)


def _pull_back(where: _Map, x: jax.Array) -> jax.Array:
    """Return the variable t at points of the support."""
    centre, low, high, below, above, scale, (has_low, has_high) = where
    offset = x - centre
    from_low = _log_share(x - low, offset, below)
    from_high = -_log_share(high - x, -offset, above)
    both = jnp.where(has_low, from_low, 0.0) + jnp.where(has_high, from_high, 0.0)
    t = jnp.where(has_low | has_high, both, jnp.arcsinh(offset / scale))
    # A knot at an end bounds no panel: everything beyond the other knots is one tail.
    return jnp.where(jnp.isfinite(t), t, 0.0)


def _log_share(distance: jax.Array, offset: jax.Array, whole: jax.Array) -> jax.Array:
    """Return the log distance from an end, relative to the centre's; the offset is their difference."""
    is_near = offset < -0.5 * whole
    near = jnp.log(jnp.where(is_near, jnp.maximum(distance, 0.0), 1.0)) - jnp.log(whole)
    return jnp.where(is_near, near, jnp.log1p(jnp.where(is_near, 0.0, offset / whole)))


def _panels(where: _Map, knots: jax.Array) -> jax.Array:
    """Return the ends of all panels: the knots, and more beyond them."""
    t = jnp.sort(_pull_back(where, knots), axis=0)
    first, last, bits = t[:1], t[-1:], jnp.finfo(t.dtype).bits
    follows = []
    for has, size, reached in zip(where.has, (where.below, where.above), (-first, last), strict=True):
        unit = jnp.log(jnp.where(where.has[0] | where.has[1], jnp.where(has, size, 1.0), where.scale))
        room = jnp.where(has, _NEAREST[bits] + unit, _FURTHEST[bits] - unit)
        follows.append(jnp.clip(room - reached, _LEAST_FOLLOWED, _FOLLOWED))
    out = _GROWING.astype(t.dtype).reshape((-1,) + (1,) * (t.ndim - 1))
    return jnp.concatenate([first - follows[0] * out[::-1], t, last + follows[1] * out])


def _forward(where: _Map, t: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the point at t, its distance from the centre, and the log of its slope."""
    centre, low, high, below, above, scale, (has_low, has_high) = where
    grown, shrunk, growth = jnp.exp(t), jnp.exp(-t), jnp.expm1(t)
    # With two ends the nearer one counts; everything is a share of the whole.
    whole = below + above
    share, rest = below / whole, above / whole
    bottom = rest + share * grown
    offset = jnp.select(
        [has_low & has_high, has_low & ~has_high, has_high & ~has_low],
        [rest * below * (growth / bottom), below * growth, -above * jnp.expm1(-t)],
        scale * jnp.sinh(t),
    )
    from_low = jnp.where(has_high, below * (grown / bottom), below * grown)
    from_high = jnp.where(has_low, above / bottom, above * shrunk)
    x = jnp.where(
        has_low & (t < -1), low + from_low, jnp.where(has_high & (t > 1), high - from_high, centre + offset)
    )
    log_slope = jnp.select(
        [has_low & has_high, has_low & ~has_high, has_high & ~has_low],
        [jnp.log(below) + jnp.log(rest) + t - 2 * jnp.log(bottom), jnp.log(below) + t, jnp.log(above) - t],
        jnp.log(scale) + jnp.logaddexp(t, -t) - float(np.log(2)),
    )
    return x, offset, log_slope
