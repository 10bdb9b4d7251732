"""Measure the mass of a normal between two bounds, accurately in any tail, narrow interval or mixture of infinities.

The mass between the bounds is measured from a reference point r, the bound nearer to the centre (or the centre itself
when it lies between): density = exp(-(z^2 - m^2)/2) / (scale * W), m the standardised r. Three formulas give W:
a Gauss-Legendre rule for narrow intervals, `erfcx` in a tail, and the complement of both tails around the centre.
The derivatives are written from the first two moments of the truncated variable, because the derivative of a
difference of tails cancels; they are themselves differentiable.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from ...bijectors import is_concrete
from .error_function import erfcx

# What is known while tracing of a pair of bounds: True where finite, False where absent, None where only a value tells.
Known = tuple[bool | None, bool | None]

_ROOT_HALF = math.sqrt(0.5)
_ROOT_HALF_PI = math.sqrt(math.pi / 2)
# Ten nodes on (0, 1): exact to rounding for exponents up to 1 and widths up to 1.5, the limits of "narrow" below.
_NODES, _WEIGHTS = (
    (1 + np.polynomial.legendre.leggauss(10)[0]) / 2,
    np.polynomial.legendre.leggauss(10)[1] / 2,
)
_NARROW_WIDTH, _NARROW_EXPONENT = 1.5, 1.0


class Mass(NamedTuple):
    """The mass of a standard normal between standardised bounds, and what follows from it.

    `a`, `b` are the bounds, reflected if `is_flipped` so that `a` is the nearer to the centre; `b` is 0 where absent.
    """

    a: Any
    b: Any
    is_flipped: Any
    is_bounded: Any
    is_narrow: Any
    is_centre: Any
    origin: Any  # the reference point r, in the units of x
    reference: Any  # m = (r - loc) / scale
    width: Any  # W, the integral of exp(-(t^2 - m^2)/2)
    span: Any  # (high - low) / scale, in narrow intervals
    mean: Any  # E[t]
    excess: Any  # E[t^2] - 1
    variance: Any
    at_low: Any  # density of t at the lower bound; 0 where there is none
    at_high: Any


def mass_between(known: Known, loc: Any, scale: Any, low: Any, high: Any) -> Mass:
    """Measure the mass between the bounds; every branch is computed from inputs that are safe for it."""
    has_low = low > -jnp.inf if known[0] is None else known[0]
    has_high = high < jnp.inf if known[1] is None else known[1]
    has_both, has_any = both(has_low, has_high), either(has_low, has_high)
    low, high = choose(has_low, low, 0.0), choose(has_high, high, 0.0)
    to_low, to_high = (low - loc) / scale, (high - loc) / scale
    is_flipped = both(has_high, either(negate(has_low), to_low + to_high < 0))
    a = choose(is_flipped, -to_high, to_low)
    b = choose(has_both, choose(is_flipped, -to_low, to_high), 0.0)
    span = (high - low) / scale
    fall = 0.5 * span * (a + b)  # (b^2 - a^2)/2, at least 0
    is_narrow = both(has_both, (span < _NARROW_WIDTH) & (fall < _NARROW_EXPONENT))
    is_tail = both(both(has_any, negate(is_narrow)), a > 0)
    is_centre = negate(either(is_narrow, is_tail))

    # Narrow: moments of u = t - a over (0, span).
    span = choose(is_narrow, span, 1.0)
    moment0, moment1, moment2 = _moments(choose(is_narrow, a, 0.0), span)
    shift, square = span * (moment1 / moment0), span * span * (moment2 / moment0)

    # Tail and centre: both from erfcx of the size of the bounds.
    near = erfcx(_ROOT_HALF * choose(has_any, jnp.abs(a), 1.0))
    far = choose(has_both, erfcx(_ROOT_HALF * choose(has_both, jnp.abs(b), 1.0)), 0.0)
    drop = choose(has_both, jnp.exp(-choose(is_tail, fall, 0.0)), 0.0)
    tail = _ROOT_HALF_PI * (near - drop * far)
    weight_a = choose(both(has_any, is_centre), jnp.exp(-0.5 * choose(is_centre, a, 0.0) ** 2), 0.0)
    weight_b = choose(both(has_both, is_centre), jnp.exp(-0.5 * choose(is_centre, b, 0.0) ** 2), 0.0)
    centre = 2 * _ROOT_HALF_PI - _ROOT_HALF_PI * (weight_a * near + weight_b * far)

    wide = choose(is_centre, centre, choose(is_tail, tail, 1.0))
    width = choose(is_narrow, span * moment0, wide)
    # Densities of t at its bounds, relative to exp(-m^2/2).
    slope_a = choose(is_centre, weight_a, 1.0) / width
    edge = jnp.exp(-choose(is_narrow, fall, 0.0))
    slope_b = choose(is_narrow, edge, choose(is_centre, weight_b, drop)) / width
    mean = choose(is_narrow, a + shift, slope_a - slope_b)
    excess = choose(is_narrow, a * a + 2 * a * shift + square - 1, a * slope_a - b * slope_b)
    variance = choose(is_narrow, square - shift * shift, 1 + excess - mean * mean)
    origin = choose(is_centre, loc, choose(is_flipped, high, low))
    return Mass(
        a=a,
        b=b,
        is_flipped=is_flipped,
        is_bounded=has_both,
        is_narrow=is_narrow,
        is_centre=is_centre,
        origin=origin,
        reference=(origin - loc) / scale,
        width=width,
        span=span,
        mean=choose(is_flipped, -mean, mean),
        excess=excess,
        variance=variance,
        at_low=choose(is_flipped, slope_b, slope_a),
        at_high=choose(is_flipped, slope_a, slope_b),
    )


def _moments(a: Any, span: Any) -> tuple[Any, Any, Any]:
    """Averages over v in (0, 1) of v^k exp(-u (a + u/2)), u = span * v, for k = 0, 1, 2."""
    totals = [0.0, 0.0, 0.0]
    for node, weight in zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True):
        u = span * node
        height = weight * jnp.exp(-u * (a + 0.5 * u))
        totals = [total + height * node**k for k, total in enumerate(totals)]
    return totals[0], totals[1], totals[2]


def narrow_quantile(p: jax.Array, mass: Mass) -> Any:
    """Distance from the nearer bound below which `p` of the mass of a narrow interval lies, by Newton's method."""
    if mass.is_narrow is False:
        return 0.0
    a = choose(mass.is_narrow, mass.a, 0.0)
    whole = p * _moments(a, mass.span)[0]

    def improve(_: Any, share: jax.Array) -> jax.Array:
        u = share * mass.span
        error = share * _moments(a, u)[0] - whole
        return jnp.clip(share - error * jnp.exp(u * (a + 0.5 * u)), 0.0, 1.0)

    return mass.span * jax.lax.fori_loop(0, 6, improve, jnp.broadcast_to(p, jnp.shape(whole)))


def tail_quantile(p: jax.Array, rest: jax.Array, mass: Mass) -> Any:
    """Distance from the nearer bound, above which `rest` of a tail's mass lies, by Newton's method on its logarithm."""
    is_tail = negate(either(mass.is_narrow, mass.is_centre))
    a = choose(is_tail, mass.a, 1.0)
    b = choose(both(is_tail, mass.is_bounded), mass.b, a + 1)
    ratio = jnp.exp(-0.5 * (b - a) * (b + a)) * erfcx(_ROOT_HALF * b) / erfcx(_ROOT_HALF * a)
    beyond = choose(mass.is_bounded, ratio, 0.0)
    # Minus the log of the share of the untruncated tail that lies above the answer; two forms, each sharp at one end.
    level = jnp.where(p < 0.5, -jnp.log1p(-p * (1 - beyond)), -jnp.log(rest + p * beyond))
    # The start is above the answer and the level is convex, so Newton's steps come down to it without overshooting.
    # At a level of inf (all of the mass of an unbounded tail) the answer is infinite and is never iterated on.
    finite = jnp.where(level < jnp.inf, level, 1.0)
    start = 2 * finite / (a + jnp.sqrt(a * a + 2 * finite))

    def improve(_: Any, u: jax.Array) -> jax.Array:
        above = erfcx(_ROOT_HALF * (a + u))
        error = u * (a + 0.5 * u) - jnp.log(above / erfcx(_ROOT_HALF * a)) - finite
        return jnp.maximum(u - error * (_ROOT_HALF_PI * above), 0.0)

    return jnp.where(level < jnp.inf, jax.lax.fori_loop(0, 8, improve, start), jnp.inf)


def centre_quantile(q: jax.Array, mass: Mass) -> Any:
    """The standardised quantile where the centre lies between the bounds, from the nearer end."""
    if mass.is_centre is False:
        return 0.0
    to_low = choose(mass.is_flipped, -mass.b, mass.a)
    to_high = choose(mass.is_flipped, -mass.a, mass.b)
    share = choose(mass.is_centre, mass.width, 1.0) / (2 * _ROOT_HALF_PI)
    low_is_there = either(mass.is_bounded, both(negate(mass.is_flipped), mass.at_low > 0))
    high_is_there = either(mass.is_bounded, mass.is_flipped)
    below = choose(low_is_there, jsp.ndtr(to_low), 0.0) + q * share
    above = choose(high_is_there, jsp.ndtr(-to_high), 0.0) + (1 - q) * share
    return jnp.where(below < 0.5, jsp.ndtri(below), -jsp.ndtri(above))


def is_there(bound: Any, absent: float) -> bool | None:
    """Whether a bound is there (True), absent everywhere (False), or only its value will tell (None)."""
    if bound is None:
        return False
    if not is_concrete(bound):
        return None
    is_absent = np.asarray(bound) == absent
    return None if is_absent.any() and not bool(is_absent.all()) else not bool(is_absent.all())


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """`where`, decided now when the condition is known now."""
    if isinstance(condition, bool):
        return yes if condition else no
    return jnp.where(condition, yes, no)


def both(first: Any, second: Any) -> Any:
    """Logical and, decided now when one side is known now."""
    if isinstance(first, bool):
        return second if first else False
    if isinstance(second, bool):
        return first if second else False
    return first & second


def either(first: Any, second: Any) -> Any:
    """Logical or, decided now when one side is known now."""
    return negate(both(negate(first), negate(second)))


def negate(condition: Any) -> Any:
    """Logical not, decided now when possible."""
    return not condition if isinstance(condition, bool) else ~condition
