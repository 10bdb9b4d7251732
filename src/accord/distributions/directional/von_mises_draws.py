"""Draw angles from a von Mises distribution, and find its quantiles."""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special as jsp

from ..rejection import first_accepted
from .arc_mass import cdf, log_density, log_rise, mean_fall, rule, tail, wrap

_TWO_PI = 2 * math.pi
# A proposal is refused with a probability of at most 0.35, so this many are never all refused.
_MOST_ROUNDS = 100


def draw(key: jax.Array, loc: jax.Array, k: jax.Array) -> jax.Array:
    """Draw one angle for every element of `loc` and `k`, both of the whole shape; differentiable by both.

    **Source**: Best & Fisher (1979), J. R. Stat. Soc. C 28(2), 152-157: a wrapped Cauchy, refused where it is too high.
    Written in the tangent of half the angle and in 1 - cos(angle), so that no digits are lost at a large `k`.
    """
    angle = _follow(jax.lax.stop_gradient(_refusal(key, jax.lax.stop_gradient(k))), k)
    turned = wrap(loc) + angle
    turned = jnp.where(
        turned > math.pi, turned - _TWO_PI, jnp.where(turned < -math.pi, turned + _TWO_PI, turned)
    )
    return jnp.clip(turned, -math.pi, math.pi)


@jax.custom_jvp
def quantile(q: jax.Array, loc: jax.Array, k: jax.Array) -> jax.Array:
    """Find the angle at which the cdf from -pi reaches `q`; arguments of one shape and dtype."""
    loc = wrap(loc)
    sign = jnp.where(loc >= 0, 1.0, -1.0).astype(q.dtype)
    # Measured from the side opposite to the centre rather than from -pi, the level is `p`, in [-1/2, 3/2].
    p = q - sign * tail(math.pi - jnp.abs(loc), k)[0]
    from_end = jnp.where(p < 0, -p, jnp.where(p <= 0.5, p, jnp.where(p <= 1, 1 - p, p - 1)))
    v = _tail_quantile(from_end, k)
    angle = jnp.where(p < 0, v - _TWO_PI, jnp.where(p <= 0.5, -v, jnp.where(p <= 1, v, _TWO_PI - v)))
    return jnp.clip(loc + angle, -math.pi, math.pi)


@quantile.defjvp
def _quantile_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    (q, loc, k), (q_dot, loc_dot, k_dot) = primals, tangents
    x = quantile(q, loc, k)
    slowness = jnp.exp(-log_density(x - loc, k))
    _, moved = jax.jvp(lambda k: cdf(x, loc, k), (k,), (k_dot,))
    # Close to -pi the distance from -pi matters, and `x` does not resolve it.
    is_near, w, by_k = _from_minus_pi(q, loc, k)
    w = jnp.where(is_near, w, x + math.pi)
    by_k = jnp.where(is_near, by_k * k_dot, -moved * slowness)
    return x, q_dot * slowness - loc_dot * jnp.expm1(-log_rise(w, loc, k)) + by_k


def _from_minus_pi(q: jax.Array, loc: jax.Array, k: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return whether the quantile is so near -pi that the density hardly varies, its distance, and its slope by k."""
    first = q * jnp.exp(-log_density(-math.pi - loc, k))
    is_near = first * (1 + k) < 0.25
    first, k = jnp.where(is_near, first, 0.0), jnp.where(is_near, k, 1.0)
    nodes, weights = rule(first)

    def heights(w: jax.Array) -> jax.Array:
        return weights * jnp.exp(log_rise(w[..., None] * nodes, loc[..., None], k[..., None]))

    w = first
    for _ in range(4):
        w = w - (w * heights(w).sum(axis=-1) - first) * jnp.exp(-log_rise(w, loc, k))
    # The derivative of the log density by k, where s - pi is the angle.
    lift = mean_fall(k)[..., None] - 2.0 * jnp.cos(0.5 * (w[..., None] * nodes - loc[..., None])) ** 2
    return is_near, w, -w * (heights(w) * lift).sum(axis=-1) * jnp.exp(-log_rise(w, loc, k))


@jax.custom_jvp
def _follow(angle: jax.Array, k: jax.Array) -> jax.Array:
    """Give a drawn angle the derivative by the concentration of the quantile at which it was drawn."""
    del k
    return angle


@_follow.defjvp
def _follow_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    (angle, k), (angle_dot, k_dot) = primals, tangents
    angle = _follow(angle, k)
    size = jnp.abs(angle)
    _, widened = jax.jvp(lambda k: tail(size, k)[0], (k,), (k_dot,))
    return angle, angle_dot + jnp.sign(angle) * widened * jnp.exp(-log_density(angle, k))


def _refusal(key: jax.Array, k: jax.Array) -> jax.Array:
    """Draw angles from the centre, in [-pi, pi], by rejection."""
    # b: k times (r - 1), for the r of Best & Fisher; the envelope is largest relative to the density at y = 1.
    b = 0.5 * (1 + 1 / (jnp.sqrt(1 + 4 * k * k) + 2 * k))
    spread = jnp.sqrt(b / (b + 2 * k))

    def propose(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        u = jax.random.uniform(key, (2, *k.shape), k.dtype)
        # Sines and cosines instead of a tangent, which has no largest value.
        turn = math.pi * (u[0] - 0.5)
        rise, run = spread * jnp.sin(turn), jnp.cos(turn)
        y = b + 2 * k * rise * rise / (rise * rise + run * run)
        return 2.0 * jnp.arctan2(rise, run), u[1] < y * jnp.exp(1 - y)

    return first_accepted(key, propose, k, _MOST_ROUNDS)


def _tail_quantile(p: jax.Array, k: jax.Array) -> jax.Array:
    """Find the angle beyond which a share `p`, in [0, 1/2], lies on one side: bracketed Newton steps on logs."""
    info = jnp.finfo(p.dtype)
    is_end = p <= 0
    p = jnp.where(is_end, 0.25, p)
    log_p = jnp.log(p)
    normal = jnp.minimum(-0.5 * jsp.ndtri(p) / jnp.sqrt(jnp.maximum(k, 1.0)), 1.0)
    start = jnp.where(k > 1, 2.0 * jnp.arcsin(normal), math.pi * (1 - 2 * p))

    def is_open(carry: tuple[Any, ...]) -> jax.Array:
        i, _, low, high, is_done = carry
        return (i < 80) & ~(is_done | (high - low <= 2 * info.eps * high)).all()

    def step(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        i, v, low, high, is_done = carry
        _, log_share = tail(v, k)
        error = log_share - log_p
        low, high = jnp.where(error >= 0, v, low), jnp.where(error <= 0, v, high)
        move = error * jnp.exp(log_share - log_density(v, k))
        following = v + move
        is_inside = (following > low) & (following < high)
        is_close = (jnp.abs(error) <= 4 * info.eps * (1 - log_p)) | (jnp.abs(move) <= info.eps * v)
        following = jnp.where(is_inside, following, 0.5 * (low + high))
        return i + 1, jnp.where(is_done | is_close, v, following), low, high, is_done | is_close

    zero = jnp.zeros_like(start)
    state = (0, start, zero, zero + math.pi, zero > 0)
    found = jax.lax.while_loop(is_open, step, state)[1]
    return jnp.where(is_end, math.pi, found)
