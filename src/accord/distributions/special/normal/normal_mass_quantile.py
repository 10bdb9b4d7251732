"""Find the quantiles of a normal variable between two bounds, to full precision in any tail or narrow interval."""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special as jsp

from ..basic.error_function import erfcx
from .normal_mass import Mass, choose, either, heights, negate

_ROOT_HALF = math.sqrt(0.5)
_ROOT_HALF_PI = math.sqrt(math.pi / 2)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)


def quantile_step(q: jax.Array, mass: Mass) -> jax.Array:
    """Return the step from the reference point to the quantile `q`, in standard deviations; no derivative.

    Far out it is much smaller than the quantile, and known with as many digits.
    """
    if mass.is_centre is True:
        return _from_centre(q, mass)
    p, rest = choose(mass.is_flipped, 1 - q, q), choose(mass.is_flipped, q, 1 - q)
    step = _tail_step(p, rest, mass)
    if mass.is_narrow is not False:
        step = choose(mass.is_narrow, _narrow_step(p, mass), step)
    step = choose(mass.is_flipped, -step, step)
    return choose(mass.is_centre, _from_centre(q, mass), step)


def _narrow_step(p: jax.Array, mass: Mass) -> Any:
    """Find the distance from the nearer bound to the quantile `p` of a narrow interval, by Newton's method."""
    whole = p * (mass.width / mass.span)

    def improve(_: Any, share: jax.Array) -> jax.Array:
        u = share * mass.span
        error = share * heights(mass.a, u)[0].sum(axis=0) - whole
        return jnp.clip(share - error * jnp.exp(u * (mass.a + 0.5 * u)), 0.0, 1.0)

    return mass.span * jax.lax.fori_loop(0, 6, improve, jnp.broadcast_to(p, jnp.shape(whole)))


def _tail_step(p: jax.Array, rest: jax.Array, mass: Mass) -> Any:
    """Find the distance from the nearer bound that leaves a share `rest` of a tail, by Newton's method on logs."""
    a = choose(negate(either(mass.is_narrow, mass.is_centre)), mass.a, 1.0)
    beyond = mass.far / mass.near
    # Minus the log of the share of the untruncated tail that lies above the answer; two forms, each sharp at one end.
    level = jnp.where(p < 0.5, -jnp.log1p(-p * (1 - beyond)), -jnp.log(rest + p * beyond))
    # The start is above the answer and the level is convex, so Newton's steps come down to it without overshooting.
    # At a level of inf (all of the mass of an unbounded tail) the answer is infinite and is never iterated on.
    finite = jnp.where(level < jnp.inf, level, 1.0)
    start = 2 * finite / (a + jnp.sqrt(a * a + 2 * finite))

    def improve(_: Any, u: jax.Array) -> jax.Array:
        above = erfcx(_ROOT_HALF * (a + u))
        error = u * (a + 0.5 * u) - jnp.log(above / mass.near) - finite
        return jnp.maximum(u - error * (_ROOT_HALF_PI * above), 0.0)

    return jnp.where(level < jnp.inf, jax.lax.fori_loop(0, 8, improve, start), jnp.inf)


def _from_centre(q: jax.Array, mass: Mass) -> Any:
    """Return the standardised quantile, from the nearer end, if the centre lies between the bounds."""
    share = mass.width / _ROOT_TWO_PI
    below = choose(mass.is_flipped, mass.beyond_b, mass.beyond_a) + q * share
    above = choose(mass.is_flipped, mass.beyond_a, mass.beyond_b) + (1 - q) * share
    is_below = below < 0.5
    nearer = jsp.ndtri(jnp.where(is_below, below, above))
    return jnp.where(is_below, nearer, -nearer)
