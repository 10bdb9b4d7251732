"""Compute the normal mass between two bounds, accurately for any tail, narrow interval or infinite bound.

The mass between the bounds is measured from a reference point r, the bound nearer to the centre (or the centre itself
when it lies between): density = exp(-(z^2 - m^2)/2) / (scale * W), m the standardised r. Three formulas give W:
a Gauss-Legendre rule for narrow intervals, `erfcx` in a tail, and the complement of both tails around the centre.
The derivatives are written from the first two moments of the truncated variable, because the derivative of a
difference of tails cancels; they are themselves differentiable.
"""

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ....bijectors import is_concrete
from ..basic.error_function import erfcx

# Static knowledge of two bounds: True where finite, False where absent, None where only the value tells.
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
    """Mass of a standard normal variable t between standardised bounds, and moments of t there.

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
    slope_a: Any  # density of t at its bounds; 0 where there is none
    slope_b: Any
    span: Any  # (high - low) / scale, and the mean and mean square of t - a, in narrow intervals
    shift: Any
    square: Any
    near: Any  # erfcx(a / sqrt 2) and, times exp((a^2 - b^2)/2), erfcx(b / sqrt 2), in tails
    far: Any
    beyond_a: Any  # mass beyond the bounds, around the centre
    beyond_b: Any

    @property
    def at_low(self) -> Any:
        """Return the density of t at the lower bound; 0 where there is none."""
        return choose(self.is_flipped, self.slope_b, self.slope_a)

    @property
    def at_high(self) -> Any:
        """Return the density of t at the upper bound; 0 where there is none."""
        return choose(self.is_flipped, self.slope_a, self.slope_b)

    @property
    def mean(self) -> Any:
        """Return E[t]."""
        reflected = self._reflected_mean()
        return choose(self.is_flipped, -reflected, reflected)

    @property
    def excess(self) -> Any:
        """Return E[t^2] - 1."""
        wide = self.a * self.slope_a - self.b * self.slope_b
        if self.is_narrow is False:
            return wide
        return choose(self.is_narrow, self.a * self.a + 2 * self.a * self.shift + self.square - 1, wide)

    @property
    def variance(self) -> Any:
        """Return Var[t]."""
        wide = 1 + self.excess - self._reflected_mean() ** 2
        return choose(self.is_narrow, self.square - self.shift * self.shift, wide)

    def _reflected_mean(self) -> Any:
        return choose(self.is_narrow, self.a + self.shift, self.slope_a - self.slope_b)


def mass_between(known: Known, loc: Any, scale: Any, low: Any, high: Any) -> Mass:
    """Measure the mass between the bounds; every branch gets inputs that are safe for it."""
    # A NaN bound counts as existing: it must not pass for an absent one.
    has_low = low != -jnp.inf if known[0] is None else known[0]
    has_high = high != jnp.inf if known[1] is None else known[1]
    has_both, has_any = both(has_low, has_high), either(has_low, has_high)
    low, high = choose(has_low, low, 0.0), choose(has_high, high, 0.0)
    to_low, to_high = (low - loc) / scale, (high - loc) / scale
    is_flipped = both(has_high, either(negate(has_low), to_low + to_high < 0))
    a = choose(is_flipped, -to_high, to_low)
    b, span, fall, is_narrow = 0.0, 1.0, 0.0, False
    if has_both is not False:
        b = choose(has_both, choose(is_flipped, -to_low, to_high), 0.0)
        span = (high - low) / scale
        fall = 0.5 * span * (a + b)  # (b^2 - a^2)/2, at least 0
        is_narrow = both(has_both, (span < _NARROW_WIDTH) & (fall < _NARROW_EXPONENT))
    is_tail = both(both(has_any, negate(is_narrow)), a > 0)
    is_centre = negate(either(is_narrow, is_tail))

    # Tail and centre: both from erfcx of the size of the bounds.
    near, far = _scaled_tails(a, b, has_any, has_both)
    drop = 0.0 if has_both is False else choose(has_both, jnp.exp(-choose(is_tail, fall, 0.0)), 0.0)
    weight_a, weight_b = _weight(a, both(has_any, is_centre)), _weight(b, both(has_both, is_centre))
    tail = _ROOT_HALF_PI * (near - drop * far)
    centre = 2 * _ROOT_HALF_PI - _ROOT_HALF_PI * (weight_a * near + weight_b * far)
    width = choose(is_centre, centre, choose(is_tail, tail, 1.0))
    # Densities of t at its bounds, relative to exp(-m^2/2).
    edge_a, edge_b = choose(is_centre, weight_a, 1.0), choose(is_centre, weight_b, drop)
    shift = square = 0.0
    if is_narrow is not False:
        # Moments of u = t - a over (0, span).
        span = choose(is_narrow, span, 1.0)
        moment0, moment1, moment2 = _moments(choose(is_narrow, a, 0.0), span)
        shift, square = span * (moment1 / moment0), span * span * (moment2 / moment0)
        width = choose(is_narrow, span * moment0, width)
        edge_b = choose(is_narrow, jnp.exp(-choose(is_narrow, fall, 0.0)), edge_b)
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
        slope_a=edge_a / width,
        slope_b=edge_b / width,
        span=span,
        shift=shift,
        square=square,
        near=near,
        far=drop * far,
        beyond_a=0.5 * (weight_a * near),
        beyond_b=0.5 * (weight_b * far),
    )


def _scaled_tails(a: Any, b: Any, has_any: Any, has_both: Any) -> tuple[Any, Any]:
    """Evaluate `erfcx` once at the sizes of the bounds that may exist; 0 for a missing second bound."""
    if has_any is False:
        return 0.0, 0.0
    size = _ROOT_HALF * choose(has_any, jnp.abs(a), 1.0)
    if has_both is False:
        return erfcx(size), 0.0
    near, far = erfcx(jnp.stack(jnp.broadcast_arrays(size, _ROOT_HALF * choose(has_both, jnp.abs(b), 1.0))))
    return near, choose(has_both, far, 0.0)


def _weight(t: Any, is_used: Any) -> Any:
    """Compute exp(-t^2/2); 0 where it is not used."""
    return 0.0 if is_used is False else choose(is_used, jnp.exp(-0.5 * choose(is_used, t, 0.0) ** 2), 0.0)


def _moments(a: Any, span: Any) -> tuple[Any, Any, Any]:
    """Average v^k exp(-u (a + u/2)), u = span * v, over v in (0, 1), for k = 0, 1, 2."""
    terms, nodes = heights(a, span)
    first = terms * nodes
    return terms.sum(axis=0), first.sum(axis=0), (first * nodes).sum(axis=0)


def heights(a: Any, span: Any) -> tuple[Any, np.ndarray]:
    """Return weighted values of exp(-u (a + u/2)), u = span * v, at the nodes v, and v, on a new first axis."""
    a, span = jnp.broadcast_arrays(a, span)
    shape = (-1,) + (1,) * span.ndim
    nodes, weights = (array.astype(span.dtype).reshape(shape) for array in (_NODES, _WEIGHTS))
    u = nodes * jnp.expand_dims(span, 0)
    return weights * jnp.exp(-u * (jnp.expand_dims(a, 0) + 0.5 * u)), nodes


def is_there(bound: Any, absent: float) -> bool | None:
    """Return whether a bound exists (True), is absent everywhere (False), or depends on its value (None)."""
    if bound is None:
        return False
    if not is_concrete(bound):
        return None
    is_absent = np.asarray(bound) == absent
    return None if is_absent.any() and not bool(is_absent.all()) else not bool(is_absent.all())


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """Apply `where`, decided now if the condition is known now."""
    if isinstance(condition, bool):
        return yes if condition else no
    return jnp.where(condition, yes, no)


def both(first: Any, second: Any) -> Any:
    """Compute logical and, decided now if one side is known now."""
    if isinstance(first, bool):
        return second if first else False
    if isinstance(second, bool):
        return first if second else False
    return first & second


def either(first: Any, second: Any) -> Any:
    """Compute logical or, decided now if one side is known now."""
    return negate(both(negate(first), negate(second)))


def negate(condition: Any) -> Any:
    """Compute logical not, decided now if possible."""
    return not condition if isinstance(condition, bool) else ~condition
