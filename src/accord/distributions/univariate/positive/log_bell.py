"""Compute the mass and the tails of exp(p u - a e^u / 2 - b e^-u / 2), a bell or a plateau with steep edges.

It is the density of the log of a generalized inverse Gaussian variable. From its top, or from the end of a tail, it is
followed down to where it has vanished by a Gauss-Legendre rule, in panels which keep the edges of a plateau apart.
Exponents are written relative to the maximum, so that large terms never meet.

**Source**: DLMF 10.32.10 (the whole mass, 2 (b/a)^(p/2) K_p(sqrt(a b))).
"""

import itertools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from ...special.basic.elementary import log1m_exp
from ...special.basic.quadrature import FALL, bits_of, rule_on_unit

_EDGE = 10.0  # the longest panel that holds an edge


class Bell(NamedTuple):
    """Position e^u of the maximum, and weights of e^u - 1 - u, e^-u - 1 + u and u in the fall from there.

    It does not matter from where on: the place is a constant to derivatives, and the third weight is 0, but moves.
    """

    top: jax.Array
    up: jax.Array
    down: jax.Array
    slope: jax.Array


def bell_top(a: jax.Array, b: jax.Array, p: jax.Array) -> jax.Array:
    """Return the position of the maximum."""
    size = jnp.where(p < 0, -p, p)
    s = size + jnp.hypot(size, jnp.sqrt(a) * jnp.sqrt(b))
    return jnp.where(p < 0, b / s, s / a)


def bell(a: jax.Array, b: jax.Array, p: jax.Array) -> Bell:
    """Find the maximum."""
    top = jax.lax.stop_gradient(bell_top(a, b, p))
    up, down = 0.5 * a * top, 0.5 * b / top
    slope = up - down - p
    return Bell(top, up, down, slope - jax.lax.stop_gradient(slope))


def bell_height(x: jax.Array, place: Bell) -> jax.Array:
    """Return the exponent at e^u = x, less its maximum."""
    gap = (x - place.top) / place.top
    is_near = jnp.abs(gap) < 0.5
    u = jnp.where(is_near, jnp.log1p(jnp.where(is_near, gap, 0.0)), jnp.log(x) - jnp.log(place.top))
    rise, fall = _rests(u)
    return -place.up * rise - place.down * fall - place.slope * u


def bell_fall(u: jax.Array, place: Bell) -> jax.Array:
    """Return how far the exponent has fallen at the distance u from its maximum."""
    rise, fall = _rests(u)
    return place.up * rise + place.down * fall


def bell_tangent(rise: jax.Array, fall: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the distance at which a tangent leaves the maximum, and the distance in which it then falls by one.

    It touches one side of the exponent, -rise * (e^s - 1 - s) - fall * (e^-s - 1 + s), where that is -1 to -2.1.
    """
    s = _reach(rise, fall, None, 1.0)
    first, second = _rests(s)
    decay = 1 / (rise * jnp.expm1(s) - fall * jnp.expm1(-s))
    return jnp.maximum(s - decay * (rise * first + fall * second), 0.0), decay


def bell_nodes(place: Bell) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return distances u from the maximum along one more axis, the exponents there, and the weights of the rule."""
    _, up, down, _ = jax.lax.stop_gradient(place)
    right, left = _reach(up, down, None), _reach(down, up, None)
    edge = jnp.minimum(_EDGE, (left + right) / 3)
    u, weights = _panels([-left, edge - left, right - edge, right])
    rise, fall = _rests(u)
    up, down, slope = (part[..., None] for part in place[1:])
    return u, -up * rise - down * fall - slope * u, weights


def log_bell_mass(place: Bell) -> jax.Array:
    """Return the log of the integral over all u, less the maximal exponent."""
    _, exponents, weights = bell_nodes(place)
    return jnp.log((weights * jnp.exp(exponents)).sum(-1))


def log_bell_tails(
    x: jax.Array, law: tuple[jax.Array, jax.Array, jax.Array], place: Bell, log_mass: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return log probabilities below and above e^u = x, each accurate where it is small.

    **Arguments**: `law`: a, b and p; `place` and `log_mass` belong to the distribution; compute them once per search.
    """
    a, b, p = law
    is_lower = x < place.top
    rise, fall = 0.5 * a * x, 0.5 * b / x
    rise, fall = jnp.where(is_lower, fall, rise), jnp.where(is_lower, rise, fall)
    slope = rise - fall - jnp.where(is_lower, -p, p)
    length = _reach(*jax.lax.stop_gradient((rise, fall, slope)))
    s, weights = _panels([jnp.zeros_like(length), length - jnp.minimum(_EDGE, length / 2), length])
    first, second = _rests(s)
    lost = slope[..., None] * s + rise[..., None] * first + fall[..., None] * second
    log_integral = jnp.log((weights * jnp.exp(-lost)).sum(-1))
    small = jnp.minimum(bell_height(x, place) + log_integral - log_mass, -1e-30)
    large = log1m_exp(small)
    return jnp.where(is_lower, small, large), jnp.where(is_lower, large, small)


def _panels(ends: list[jax.Array]) -> tuple[jax.Array, jax.Array]:
    """Return nodes and weights of the rule between neighbouring ends, along one more axis."""
    nodes, weights = rule_on_unit(ends[0])
    parts = [(low[..., None], (high - low)[..., None]) for low, high in itertools.pairwise(ends)]
    places = jnp.concatenate([low + length * nodes for low, length in parts], axis=-1)
    return places, jnp.concatenate([length * weights for _, length in parts], axis=-1)


def _reach(rise: jax.Array, fall: jax.Array, slope: jax.Array | None, most: float | None = None) -> jax.Array:
    """Return an s by which rise * (e^s - 1 - s) + fall * (e^-s - 1 + s) + slope * s has reached the required fall."""
    most = FALL[bits_of(rise)] if most is None else most
    # e^-s - 1 + s is at least s^2 / (2 + s).
    share, other = most / rise, most / fall
    found = jnp.minimum(jnp.log1p(share + jnp.sqrt(2 * share)), 0.5 * (other + jnp.sqrt(other * (other + 8))))
    return found if slope is None else jnp.minimum(found, most / jnp.maximum(slope, most / found))


def _rests(u: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute e^u - 1 - u and e^-u - 1 + u."""
    is_near = jnp.abs(u) < 0.5
    near, far = jnp.where(is_near, u, 0.0), jnp.where(is_near, 1.0, u)
    square, even, odd = near * near, jnp.zeros_like(u), jnp.zeros_like(u)
    for k in range(8, 0, -1):
        even = square * (1 / math.factorial(2 * k) + even)
        odd = square * (1 / math.factorial(2 * k + 1) + odd)
    odd = near * odd
    return jnp.where(is_near, even + odd, jnp.expm1(far) - far), jnp.where(
        is_near, even - odd, jnp.expm1(-far) + far
    )
