"""Compute density, shares and quantiles of a truncated normal, with derivatives from its moments.

Derivatives of a difference of tails cancel; differences between moments of the interval and of its part beyond a value
do not. Derivatives by constant arguments cost nothing. Every function takes the static knowledge of the bounds, a value
or a level, location, scale and both bounds; 0 stands for an absent bound.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from ..special import log_of
from ..special.normal.normal_mass import Known, Mass, choose, mass_between
from ..special.normal.normal_mass_quantile import quantile_step


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def log_density(known: Known, x: Any, loc: Any, scale: Any, low: Any, high: Any) -> jax.Array:
    """Return the log density inside the bounds; outside, the untruncated curve continues."""
    return _log_density(mass_between(known, loc, scale, low, high), x, scale)


def _log_density_jvp(known: Known, primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    x, loc, scale, low, high = primals
    mass = mass_between(known, loc, scale, low, high)
    z = (x - loc) / scale
    slopes = (
        lambda: -z / scale,
        lambda: (z - mass.mean) / scale,
        lambda: (z * z - (1 + mass.excess)) / scale,
        lambda: mass.at_low / scale,
        lambda: -mass.at_high / scale,
    )
    result = _log_density(mass, x, scale)
    return result, _total(result, tangents, slopes)


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def log_share(known: Known, is_above: bool, x: Any, loc: Any, scale: Any, low: Any, high: Any) -> jax.Array:
    """Return the log share of the mass between the bounds that is at most `x`, or above it."""
    return _log_share(*_measures(known, is_above, x, loc, scale, low, high))


def _log_share_jvp(known: Known, is_above: bool, primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    scale = primals[2]
    whole, part, is_nothing = _measures(known, is_above, *primals)
    by_low = choose(is_above, 0.0, part.at_low)
    by_high = choose(is_above, part.at_high, 0.0)
    slopes = (
        lambda: choose(is_above, -part.at_low, part.at_high) / scale,
        lambda: (part.mean - whole.mean) / scale,
        lambda: (part.excess - whole.excess) / scale,
        lambda: (whole.at_low - by_low) / scale,
        lambda: (by_high - whole.at_high) / scale,
    )
    result = _log_share(whole, part, is_nothing)
    is_still = is_nothing | _is_outside(known, *primals)
    return result, jnp.where(is_still, 0.0, _total(result, tangents, slopes))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def share_below(known: Known, x: Any, loc: Any, scale: Any, low: Any, high: Any) -> jax.Array:
    """Return the share of the mass between the bounds that is at most `x`."""
    return _share(*_measures(known, False, x, loc, scale, low, high))


def _share_jvp(known: Known, primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    x, _, scale, *_ = primals
    whole, part, is_nothing = _measures(known, False, *primals)
    result = _share(whole, part, is_nothing)
    slopes = (
        lambda: jnp.exp(_log_density(whole, x, scale)),
        lambda: result * (part.mean - whole.mean) / scale,
        lambda: result * (part.excess - whole.excess) / scale,
        lambda: -whole.at_low * (1 - result) / scale,
        lambda: -whole.at_high * result / scale,
    )
    return result, jnp.where(_is_outside(known, *primals), 0.0, _total(result, tangents, slopes))


def quantile(known: Known, q: Any, loc: Any, scale: Any, low: Any, high: Any) -> jax.Array:
    """Find the value with a share `q` of the mass between the bounds below it."""
    return _quantile_and_step(known, q, loc, scale, low, high)[0]


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _quantile_and_step(
    known: Known, q: Any, loc: Any, scale: Any, low: Any, high: Any
) -> tuple[jax.Array, jax.Array]:
    """Return the quantile, and its offset from the reference point without the quantile's rounding."""
    mass = mass_between(known, loc, scale, low, high)
    step = scale * quantile_step(q, mass)
    return clip(mass.origin + step, low, high, known), step


def _quantile_jvp(known: Known, primals: Any, tangents: Any) -> tuple[Any, Any]:
    q, loc, scale, low, high = primals
    x, step = _quantile_and_step(known, *primals)
    whole = mass_between(known, loc, scale, low, high)
    # An infinite quantile stays where it is.
    is_finite, is_above = jnp.abs(step) < jnp.inf, q > 0.5
    above = jnp.where(is_finite, step, 0.0)
    # Relative to the reference point, everything is as from 0.
    origin = whole.origin
    part, _ = _part(known, is_above, above, loc - origin, scale, low - origin, high - origin)
    # Only the smaller share changes accurately.
    smaller = jnp.where(is_above, 1 - q, -q) / scale
    slopes = (
        lambda: 1.0,
        lambda: smaller * (part.mean - whole.mean),
        lambda: smaller * (part.excess - whole.excess),
        lambda: whole.at_low * (1 - q) / scale,
        lambda: whole.at_high * q / scale,
    )
    height = _log_density_above(whole, above / scale, scale)
    change = jnp.where(is_finite, _total(x, tangents, slopes) * jnp.exp(-height), 0.0)
    _, loc_dot, _, low_dot, high_dot = (0.0 if isinstance(dot, SymbolicZero) else dot for dot in tangents)
    moved = choose(whole.is_centre, loc_dot, choose(whole.is_flipped, high_dot, low_dot))
    return (x, step), (change, change - moved)


log_density.defjvp(_log_density_jvp, symbolic_zeros=True)
log_share.defjvp(_log_share_jvp, symbolic_zeros=True)
share_below.defjvp(_share_jvp, symbolic_zeros=True)
_quantile_and_step.defjvp(_quantile_jvp, symbolic_zeros=True)


def clip(x: Any, low: Any, high: Any, known: Known) -> jax.Array:
    """Clip to the bounds that exist."""
    x = x if known[0] is False else jnp.maximum(x, low)
    return x if known[1] is False else jnp.minimum(x, high)


def _log_density(mass: Mass, x: Any, scale: Any) -> jax.Array:
    return _log_density_above(mass, (x - mass.origin) / scale, scale)


def _log_density_above(mass: Mass, y: Any, scale: Any) -> jax.Array:
    """Return the log density `y` standard deviations above the reference point."""
    # (z^2 - m^2)/2 from the distance to it: squares of large numbers are not subtracted.
    return -0.5 * y * (y + 2 * mass.reference) - jnp.log(scale * mass.width)


def _measures(
    known: Known, is_above: bool, x: Any, loc: Any, scale: Any, low: Any, high: Any
) -> tuple[Mass, Mass, jax.Array]:
    """Return the mass between the bounds, and the result of `_part`."""
    whole = mass_between(known, loc, scale, low, high)
    return whole, *_part(known, is_above, x, loc, scale, low, high)


def _part(
    known: Known, is_above: Any, x: Any, loc: Any, scale: Any, low: Any, high: Any
) -> tuple[Mass, jax.Array]:
    """Return the mass of at most `x`, or above it, and whether that part is empty."""
    low, high = choose(known[0] is False, -np.inf, low), choose(known[1] is False, np.inf, high)
    x = clip(x, low, high, known)
    is_nothing = choose(is_above, x >= high, x <= low)
    # A part without width has no moments: use the whole instead.
    x = jnp.where(is_nothing, choose(is_above, low, high), x)
    start, stop = choose(is_above, x, low), choose(is_above, high, x)
    if isinstance(is_above, bool):
        known = (None, known[1]) if is_above else (known[0], None)
    else:
        known = (None, None)
    return mass_between(known, loc, scale, start, stop), is_nothing


def _share(whole: Mass, part: Mass, is_nothing: Any) -> jax.Array:
    share = part.width / whole.width * jnp.exp(-_gap(whole, part))
    # Not `clip`, which halves the derivative where the share rounds to 1.
    return jnp.where(is_nothing, 0.0, jnp.where(share > 1, 1.0, share))


def _log_share(whole: Mass, part: Mass, is_nothing: Any) -> jax.Array:
    result = log_of(part.width) - jnp.log(whole.width) - _gap(whole, part)
    return jnp.where(is_nothing, -jnp.inf, jnp.where(result > 0, 0.0, result))


def _gap(whole: Mass, part: Mass) -> Any:
    """Return the difference of the two exponents in exp(-m^2/2), to which widths are relative."""
    return 0.5 * (part.reference - whole.reference) * (part.reference + whole.reference)


def _is_outside(known: Known, x: Any, loc: Any, scale: Any, low: Any, high: Any) -> Any:
    """Return whether a value is beyond a bound, where nothing changes."""
    del loc, scale
    inside = jnp.zeros_like(x, bool)
    below = inside if known[0] is False else x < low
    return below | (inside if known[1] is False else x > high)


def _total(like: jax.Array, tangents: Any, slopes: tuple[Callable[[], Any], ...]) -> jax.Array:
    """Sum the products of slopes and tangents; only varying ones are computed."""
    total = jnp.zeros_like(like)
    for dot, slope in zip(tangents, slopes, strict=True):
        if not isinstance(dot, SymbolicZero):
            total = total + slope() * dot
    return total
