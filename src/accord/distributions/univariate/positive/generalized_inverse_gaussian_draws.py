"""Draw from a generalised inverse Gaussian distribution by rejection, on the log scale."""

from typing import Any

import jax
import jax.numpy as jnp

from ...noise import keep_inside
from ...rejection import first_accepted
from .log_bell import bell, bell_fall, bell_height, bell_tangent, log_bell_mass, log_bell_tails

# A proposal is refused with a probability of at most 0.26, so this many are never all refused.
_MOST_ROUNDS = 100


def draw(key: jax.Array, shape: tuple[int, ...], a: jax.Array, b: jax.Array, p: jax.Array) -> jax.Array:
    """Draw an array whose shape ends in that of the parameters; differentiable by them.

    **Source**: Devroye (2014), Statistics and Computing 24(2), 239-246. The log of a draw has a log-concave density;
    the envelope is flat around its maximum and exponential in both tails, along tangents to the log density. Each
    touches it at a bound on the distance at which it has fallen by 1, where it has fallen by at most 2.1: no search.
    """
    # With as many axes as the draws, but without repeating the parameters along them.
    a, b, p = (part.reshape((1,) * (len(shape) - part.ndim) + part.shape) for part in (a, b, p))
    x = keep_inside(_refusal(key, shape, *jax.lax.stop_gradient((a, b, p))), 0.0)
    return _follow(jax.lax.stop_gradient(x), *(jnp.broadcast_to(part, shape) for part in (a, b, p)))


@jax.custom_jvp
def _follow(x: jax.Array, a: jax.Array, b: jax.Array, p: jax.Array) -> jax.Array:
    """Give a draw the derivative by the parameters of the quantile at which it was drawn."""
    del a, b, p
    return x


@_follow.defjvp
def _follow_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    (x, *law), (x_dot, *law_dot) = primals, tangents
    x = _follow(x, *law)
    place = bell(*law)
    log_mass = log_bell_mass(place)
    is_lower = x < place.top

    def log_tail(a: jax.Array, b: jax.Array, p: jax.Array) -> jax.Array:
        place = bell(a, b, p)
        below, above = log_bell_tails(x, (a, b, p), place, log_bell_mass(place))
        return jnp.where(is_lower, below, above)

    tail, tail_dot = jax.jvp(log_tail, tuple(law), tuple(law_dot))
    # The density of log(x), by which the tail probability is divided, may be out of range where their ratio is not.
    moved = x * jnp.exp(tail - (bell_height(x, place) - log_mass)) * tail_dot
    return x, x_dot + jnp.where(is_lower, -moved, moved)


def _refusal(key: jax.Array, shape: tuple[int, ...], a: jax.Array, b: jax.Array, p: jax.Array) -> jax.Array:
    """Draw by rejection; work that depends on the parameters alone is done once for all draws."""
    place = bell(a, b, p)
    # Distances from the maximum: up to where the envelope is flat, and of the exponential decay beyond.
    flat, decay = zip(
        *(bell_tangent(*pair) for pair in ((place.up, place.down), (place.down, place.up))), strict=True
    )
    whole = flat[0] + flat[1] + decay[0] + decay[1]

    def propose(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        part, far, level = 1 - jax.random.uniform(key, (3, *shape), whole.dtype)
        at = whole * part - flat[1]
        is_right, is_left = (at > flat[0]) & (at <= flat[0] + decay[0]), at > flat[0] + decay[0]
        fallen = jnp.log(far)
        u = jnp.where(is_right, flat[0] - decay[0] * fallen, at)
        u = jnp.where(is_left, decay[1] * fallen - flat[1], u)
        envelope = jnp.where(is_right | is_left, far, 1.0)
        # Written so that parameters that are NaN are not refused.
        return u, ~(level * envelope > jnp.exp(-bell_fall(u, place)))

    like = jnp.broadcast_to(whole, shape)
    return place.top * jnp.exp(first_accepted(key, propose, like, _MOST_ROUNDS))
