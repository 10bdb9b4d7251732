"""Compute entropies by a midpoint rule, with points even near a centre, then spaced by scale.

For a density that is smooth on one scale at the centre and falls off on that or on a larger one, the integrand falls
off doubly exponentially, and the rule converges as fast.

**Source**: Trefethen & Weideman (2014), SIAM Review 56(3), 385-458, section 14.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

_COUNT = 320
# This far below its centre, in logs, a density on the positive numbers equals its power law.
_FAR_BELOW = 75.0


def entropy_on_line(
    log_density: Callable[[jax.Array], jax.Array],
    centre: jax.Array,
    scale: jax.Array,
    below: jax.Array,
    above: jax.Array,
    log_slope: Callable[[jax.Array], jax.Array] = jnp.zeros_like,
) -> jax.Array:
    """Compute the entropy in nats of a distribution on the real line; shape of `centre`.

    **Arguments**: `log_density` of numbers along a new first axis; `centre`; `scale` of the finest detail there;
    `below`, `above`: how far from the centre the density has mass; `log_slope`, where the number is an increasing
    function of the one over which the integral is taken, the logarithm of its slope.
    """
    x, weights = _nodes(centre, scale, below, above)
    return _mean_surprise(log_density(x), weights, log_slope(x))


def entropy_on_half_line(
    log_density: Callable[[jax.Array], jax.Array],
    typical: jax.Array,
    spread: jax.Array,
    power: jax.Array,
    below: jax.Array,
) -> jax.Array:
    """Compute the entropy in nats of a distribution of positive numbers; shape of `typical`.

    **Arguments**: `log_density` of numbers along a new first axis; `typical`, a number above which the density falls;
    `spread`, the relative width of the distribution, 1 if it is no bell; `power` of x to which the density is
    proportional near 0, or 0 if it falls off there; `below`, the fall of the log density from its value at `typical`.
    """
    typical = jax.lax.stop_gradient(typical)
    # A distant lower end counts as fine detail too.
    wide = jnp.where(power == 0, jnp.clip(below / 6.0, 1.0, 8.0), 1.0)
    scale = jnp.where(spread < 1, spread, wide)
    v, weights = _nodes(jnp.log(typical), scale, below + 14.0 * spread, 14.0 * spread)
    least = jnp.log(typical)[None] - _FAR_BELOW
    inside = jnp.maximum(v, least)
    log_f = log_density(jnp.exp(inside)) + power[None] * (v - inside)
    return _mean_surprise(log_f, weights, v)


def _nodes(
    centre: jax.Array, scale: jax.Array, below: jax.Array, above: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return points and weights along a new first axis; constants to derivatives, as no integral depends on them."""
    centre, scale, below, above = jax.lax.stop_gradient((centre, scale, below, above))
    first, last = jnp.arcsinh(below / scale), jnp.arcsinh(above / scale)
    middles = (np.arange(_COUNT, dtype=centre.dtype) + 0.5) / _COUNT
    t = (first + last)[None] * middles.reshape((-1,) + (1,) * centre.ndim) - first[None]
    return centre[None] + scale[None] * jnp.sinh(t), jnp.cosh(t) * (scale * (first + last) / _COUNT)[None]


def _mean_surprise(log_f: jax.Array, weights: jax.Array, log_slope: jax.Array) -> jax.Array:
    """Sum -f log f with weights along the first axis, times exp(`log_slope`)."""
    is_there = log_f > -jnp.inf
    log_f = jnp.where(is_there, log_f, 0.0)
    f = jnp.where(is_there, jnp.exp(log_f + log_slope), 0.0)
    return -(weights * f * log_f).sum(axis=0)
