"""Integrate and draw the first angle of the sine model; its marginal density sums over the second angle.

With y = sin^2(phi / 2), its log density is E(y) = b(y) - k2 - 2 k1 y, b = sqrt(k2^2 + 4 r^2 y (1 - y)), plus the slowly
varying logarithm of exp(-b) I0(b). E is concave in y, so on each side of its mode it falls.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp

from ..base import Shape
from ..rejection import first_accepted
from ..special import log_of, log_sum_exp
from .arc_mass import NODES, WEIGHTS, log_half_circle

_CELLS = 64
_MOST_ROUNDS = 200


def log_total(k1: Any, k2: Any, r: Any) -> jax.Array:
    """Compute log of the integral of exp(k1 (cos a - 1) + k2 (cos b - 1) + r sin a sin b) over both angles."""
    k1, k2, r = jnp.broadcast_arrays(*(jnp.asarray(p) for p in (k1, k2, r)))
    pieces = []
    for low, high in _sides(k1, k2, r):
        nodes, log_weights = (
            jax.lax.expand_dims(jnp.asarray(a, k1.dtype), range(k1.ndim)) for a in (NODES, _LOG_WEIGHTS)
        )
        width = high - low
        is_empty = width <= 0
        phi = low[..., None] + width[..., None] * nodes
        log_width = jnp.where(is_empty, -jnp.inf, jnp.log(jnp.where(is_empty, 1.0, width)))
        fall, rest = _log_marginal(phi, k1[..., None], k2[..., None], r[..., None])
        pieces.append(fall + rest + log_weights + log_width[..., None])
    return log_sum_exp(jnp.concatenate(pieces, axis=-1)) + math.log(4)


_LOG_WEIGHTS = [math.log(weight) for weight in WEIGHTS]


def draw(key: jax.Array, sample_shape: Shape, k1: jax.Array, k2: jax.Array, r: jax.Array) -> jax.Array:
    """Draw angles from the centre, in [-pi, pi], of shape `sample_shape` + the parameters' shape.

    Proposals come from a staircase over the density. On each step the density is monotone, except for a factor whose
    bound is at an end too. About a third of the proposals are refused.
    """
    shape = (*sample_shape, *k1.shape)
    edges, log_bounds = _staircase(k1, k2, r)
    columns = (max(math.prod(sample_shape), 1), max(math.prod(k1.shape), 1))
    width = edges[..., 1:] - edges[..., :-1]
    mass = jnp.exp(log_bounds - log_bounds.max(axis=-1, keepdims=True)) * width
    cumulative = jnp.cumsum(mass, axis=-1)
    steps = mass.shape[-1]
    table = [
        a.reshape(columns[1], steps) for a in (cumulative / cumulative[..., -1:], edges[..., :-1], width)
    ]
    bounds = log_bounds.reshape(columns[1], steps)
    k1, k2, r = (p.reshape(columns[1]) for p in (k1, k2, r))

    def of_column(u: jax.Array, row: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
        (cumulative, low, width, bounds), strengths = row[:4], row[4:]
        cell = jnp.clip(jnp.searchsorted(cumulative, u[0], side="right"), 0, steps - 1)
        phi = low[cell] + width[cell] * u[1]
        fall, rest = _log_marginal(phi, *strengths)
        return phi, log_of(u[2]) < fall + rest - bounds[cell]

    def propose(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        u = jax.random.uniform(key, (columns[1], 3, columns[0]), k1.dtype)
        return jax.vmap(of_column)(u, (*table, bounds, k1, k2, r))

    key_angle, key_sign = jax.random.split(key)
    like = jnp.broadcast_to(k1[:, None], columns[::-1])
    angle = first_accepted(key_angle, propose, like, _MOST_ROUNDS)
    sign = jax.random.rademacher(key_sign, shape, k1.dtype)
    return sign * angle.T.reshape(shape)


def _log_marginal(phi: jax.Array, k1: jax.Array, k2: jax.Array, r: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return E, and the logarithm of pi exp(-b) I0(b)."""
    pull = r * jnp.sin(phi)
    b = jnp.sqrt(k2 * k2 + pull * pull)
    return pull * (pull / (b + k2)) - 2.0 * k1 * jnp.sin(0.5 * phi) ** 2, log_half_circle(b)


def _mode(k1: jax.Array, k2: jax.Array, r: jax.Array) -> jax.Array:
    """Return the angle in [0, pi/2) where E is largest: above 0 if the square of `r` exceeds k1 k2."""
    size = jnp.abs(r)
    is_two = size > jnp.sqrt(k1) * jnp.sqrt(k2)
    size = jnp.where(is_two, size, 1.0)
    part = jnp.where(is_two, (k1 / size) * (k2 / size), 0.0)
    square = (1 - part) * (1 + part) / (1 + (k1 / size) ** 2)
    return jnp.where(is_two, jnp.arcsin(jnp.sqrt(jnp.clip(square, 0.0, 1.0))), 0.0)


def _sides(k1: jax.Array, k2: jax.Array, r: jax.Array) -> list[tuple[jax.Array, jax.Array]]:
    """Return the arcs on both sides of the mode in (0, pi) where E is within 40 of its top; no gradients."""
    k1, k2, r = (jax.lax.stop_gradient(p) for p in (k1, k2, r))
    mode = _mode(k1, k2, r)
    top, _ = _log_marginal(mode, k1, k2, r)

    def cut(end: jax.Array) -> jax.Array:
        """Find by bisection how far towards `end` the value stays close to the top."""

        def halve(_: Any, share: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            near, far = share
            middle = 0.5 * (near + far)
            is_high = _log_marginal(mode + middle * (end - mode), k1, k2, r)[0] > top - 40.0
            return jnp.where(is_high, middle, near), jnp.where(is_high, far, middle)

        whole = _log_marginal(end, k1, k2, r)[0] > top - 40.0
        _, far = jax.lax.fori_loop(0, 30, halve, (jnp.zeros_like(mode), jnp.ones_like(mode)))
        return jnp.where(whole, end, mode + far * (end - mode))

    return [(cut(jnp.zeros_like(mode)), mode), (mode, cut(jnp.full_like(mode, math.pi)))]


def _staircase(k1: jax.Array, k2: jax.Array, r: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return edges over [0, pi], and an upper bound of the log density between neighbouring edges."""
    (low, mode), (_, high) = _sides(k1, k2, r)
    zero = jnp.zeros_like(mode)[..., None]
    rise = jax.lax.expand_dims(jnp.linspace(0.0, 1.0, _CELLS + 1, dtype=mode.dtype), range(mode.ndim))
    before = low[..., None] + (mode - low)[..., None] * rise
    after = mode[..., None] + (high - mode)[..., None] * rise[..., 1:]
    edges = jnp.concatenate([zero, before, after, zero + math.pi], axis=-1)
    fall, rest = _log_marginal(edges, k1[..., None], k2[..., None], r[..., None])
    bounds = jnp.maximum(fall[..., 1:], fall[..., :-1]) + jnp.maximum(rest[..., 1:], rest[..., :-1])
    return edges, bounds
