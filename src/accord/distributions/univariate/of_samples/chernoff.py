"""Define Chernoff's distribution: the maximiser of Brownian motion minus a parabola."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution
from ...constraint import Constraint
from ...special import log_of, solve_increasing
from .chernoff_table import DECAY, ENTROPY, LOG_DENSITY, MIDDLE, TAIL, VARIANCE

# Beyond this the tail underflows.
_MOST = 12.0


class Chernoff(AbstractDistribution):
    """Chernoff's distribution: the maximiser of `W(t) - t^2` for two-sided Brownian motion W; isotonic estimates.

    It is the limiting distribution, up to scale, of `n^(1/3)`-rate estimates such as of a monotone density or a mode.

    **Density**: `g(x) g(-x) / 2`, where g is the function whose Fourier transform at s is
    `2^(1/3) / Ai(i 2^(-1/3) s)`, with Airy's function Ai.

    **Source**: Groeneboom (1989), Probab. Theory Relat. Fields 81, 79-109; Groeneboom & Wellner (2001), J. Comput.
    Graph. Stat. 10(2), 388-400.
    """

    @property
    def support(self) -> Constraint:
        return constraints.real

    @property
    def mean(self) -> jax.Array:
        return self._full(0.0)

    @property
    def variance(self) -> jax.Array:
        return self._full(VARIANCE)

    @property
    def mode(self) -> jax.Array:
        return self._full(0.0)

    def log_prob(self, value: Any) -> jax.Array:
        (x,) = align(value)
        is_end = jnp.abs(x) == jnp.inf
        t = jnp.where(is_end, 0.0, jnp.where(x < 0, -x, x))
        return jnp.where(is_end, -jnp.inf, _log_density(t))

    def cdf(self, value: Any) -> jax.Array:
        x, tail = _tail_of(value)
        tail = jnp.exp(tail)
        return jnp.where(x < 0, tail, 1 - tail)

    def log_cdf(self, value: Any) -> jax.Array:
        x, tail = _tail_of(value)
        return jnp.where(x < 0, tail, jnp.log1p(-jnp.exp(tail)))

    def log_survival(self, value: Any) -> jax.Array:
        x, tail = _tail_of(value)
        return jnp.where(x < 0, jnp.log1p(-jnp.exp(tail)), tail)

    def icdf(self, q: Any) -> jax.Array:
        (q,) = align(q)
        is_lower, is_end = q < 0.5, (q == 0) | (q == 1)
        level = log_of(jnp.where(is_end, 0.25, jnp.where(is_lower, q, 1 - q)))
        t = solve_increasing(lambda t: -_log_tail(t), -level, 0.0, _MOST, jnp.full_like(level, 0.5))
        t = jnp.where(is_end, jnp.inf, t)
        return jnp.where(is_lower, -t, t)

    def entropy(self) -> jax.Array:
        return self._batched(ENTROPY)


def _tail_of(value: Any) -> tuple[jax.Array, jax.Array]:
    """Return the value, and the log probability beyond it, away from 0."""
    (x,) = align(value)
    is_end = jnp.abs(x) == jnp.inf
    t = jnp.where(is_end, 0.0, jnp.where(x < 0, -x, x))
    return x, jnp.where(is_end, -jnp.inf, _log_tail(t))


def _log_density(t: jax.Array) -> jax.Array:
    """Return the log density at t >= 0: its growth far out, plus a tabulated rest."""
    return _series(LOG_DENSITY, t) + jnp.log1p(t) - t * (2 / 3 * t * t + DECAY)


def _log_tail(t: jax.Array) -> jax.Array:
    """Return the log probability above t >= 0, which falls about as fast as the density."""
    return _log_density(t) + jnp.log(_series(TAIL, t) / (2 * t * t + DECAY))


def _series(coefficients: tuple[float, ...], t: jax.Array) -> jax.Array:
    """Evaluate a Chebyshev series in (t - MIDDLE) / (t + MIDDLE), by Clenshaw's recursion."""
    v = 1 - 2 * MIDDLE / (t + MIDDLE)

    def add(state: tuple[jax.Array, jax.Array], coefficient: jax.Array) -> tuple[Any, None]:
        one, two = state
        return (coefficient + 2 * v * one - two, one), None

    rest = jnp.asarray(np.asarray(coefficients[:0:-1]), t.dtype)
    (one, two), _ = jax.lax.scan(add, (jnp.zeros_like(t), jnp.zeros_like(t)), rest)
    return coefficients[0] + v * one - two
