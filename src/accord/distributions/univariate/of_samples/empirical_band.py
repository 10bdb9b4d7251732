"""Compute density and tails of the two-sided distance between an empirical cdf and the true one.

With c = size * d steps, the function stays within d with the probability size! / size^size times an element of the
power of a matrix, whose rows are places in the band: all of its elements are positive, and so are their derivatives.
Far out, where straying on both sides in one sample is out of the question, the two sides add up.

**Source**: Durbin (1973), Distribution Theory for Tests Based on the Sample Distribution Function; the matrix as in
Marsaglia, Tsang & Wang (2003), J. Stat. Softw. 8(18); where the sides add up: Simard & L'Ecuyer (2011), J. Stat. Softw.
39(11).
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...special import log1m_exp
from .empirical_excess import far_excess_log_density, log_excess_above, log_factorial_rest, whole_power

# The sides add up to within exp(-6 x^2) from this x^2 = size d^2 on; exactly so from d = 1/2.
_FAR = {32: 2.7, 64: 5.0}


def both_log_tails(d: jax.Array, size: int) -> tuple[jax.Array, jax.Array]:
    """Return log probabilities that `size` draws have a distance below and above d, in (1 / (2 size), 1)."""
    low, high, is_low, most = _parts(d, size)
    below = _log_band(low, size, most)
    above = jnp.minimum(log_excess_above(high, size) + math.log(2), 0.0)
    return (
        jnp.where(is_low, below, log1m_exp(jnp.where(is_low, -1.0, above))),
        jnp.where(is_low, log1m_exp(jnp.where(is_low, jnp.minimum(below, 0.0), -1.0)), above),
    )


def both_log_density(d: jax.Array, size: int) -> jax.Array:
    """Return the log density of the distance, in (1 / (2 size), 1); for one draw, at both ends too."""
    if size == 1:
        return jnp.full_like(d, math.log(2))
    low, high, is_low, most = _parts(d, size)
    below, slope = _band(low, size, most)
    far = far_excess_log_density(high, size) + math.log(2)
    return jnp.where(is_low, below + jnp.log(size * jnp.where(is_low, slope, 1.0)), far)


def _parts(d: jax.Array, size: int) -> tuple[jax.Array, jax.Array, jax.Array, float]:
    """Return safe steps c for the band, safe d for the sum of sides, which case applies, and the most steps."""
    far = math.sqrt(_FAR[64 if jnp.finfo(d.dtype).bits > 32 else 32] * size)
    # One draw has a distance of at least 1/2, where both are right.
    most = min(max(0.5 * size, 0.75), far)
    c = size * d
    is_low = c < most
    return jnp.where(is_low, c, most), jnp.where(is_low, most / size, d), is_low, most


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def _log_band(c: jax.Array, size: int, most: float) -> jax.Array:
    """Return the log probability of staying within c steps, at most `most`."""
    return _log_power(c, size, most)


@_log_band.defjvp
def _log_band_jvp(size: int, most: float, primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    # Forward mode, since it has one argument: reverse mode would keep every step of the power.
    found, slope = _band(*primals, size, most)
    return found, slope * tangents[0]


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def _band(c: jax.Array, size: int, most: float) -> tuple[jax.Array, jax.Array]:
    """Compute `_log_band` and its derivative by c."""
    return jax.jvp(lambda c: _log_power(c, size, most), (c,), (jnp.ones_like(c),))


@_band.defjvp
def _band_jvp(size: int, most: float, primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    (c,), (c_dot,) = primals, tangents
    one = jnp.ones_like(c)
    found, (slope, bend) = jax.jvp(
        lambda c: jax.jvp(lambda c: _log_power(c, size, most), (c,), (one,)), (c,), (one,)
    )
    return found, (slope * c_dot, bend * c_dot)


def _log_power(steps: jax.Array, size: int, most: float) -> jax.Array:
    """Return the log of the power's element, times size! / size^size."""
    c = steps.reshape(-1, 1)
    dtype = np.dtype(c.dtype)
    middle = jax.lax.stop_gradient(jnp.ceil(c)).astype(jnp.int32)
    h, last = middle.astype(dtype) - c, 2 * middle - 1
    row = np.arange(1, 2 * math.ceil(most), dtype=np.int32)[None]
    is_last = row == last
    # exp(-1) / k!, which keeps powers from growing.
    weights = np.array([math.exp(-1 - math.lgamma(k + 1)) for k in range(row.size + 1)])
    inner = _toeplitz(weights, row.size).astype(dtype)
    powers = whole_power(h, jnp.asarray(row.astype(dtype)))
    edge = weights[1:].astype(dtype)[None] * (1 - powers)
    both = 2 * h - 1
    corner = whole_power(jnp.where(both >= 0, both, 0.0), last.astype(dtype))
    corner = 1 - 2 * jnp.where(is_last, powers, 0.0).sum(axis=1, keepdims=True) + corner
    corner = jnp.asarray(weights.astype(dtype))[last] * corner
    across = jnp.take_along_axis(edge, jnp.maximum(last - row, 0), axis=1)
    across = jnp.where(row == 1, corner, jnp.where(row <= last, across, 0.0))

    def step(state: tuple[jax.Array, jax.Array], _: None) -> tuple[tuple[jax.Array, jax.Array], None]:
        v, scale = state
        at_last = jnp.where(is_last, v, 0.0).sum(axis=1, keepdims=True)
        v = jnp.where(is_last, 0.0, v)
        moved = jnp.matmul(v, inner, precision=jax.lax.Precision.HIGHEST)
        moved = jnp.where(row == 1, (v * edge).sum(axis=1, keepdims=True), moved) + at_last * across
        top = jax.lax.stop_gradient(moved.max(axis=1, keepdims=True))
        top = jnp.where(top > 0, top, 1.0)
        return (moved / top, scale + jnp.log(top)), None

    start = (row == middle).astype(dtype)
    (v, scale), _ = jax.lax.scan(step, (start, jnp.zeros_like(c)), length=size)
    found = jnp.where(row == middle, v, 0.0).sum(axis=1, keepdims=True)
    found = jnp.log(found) + scale + log_factorial_rest(size)
    return found.reshape(steps.shape)


def _toeplitz(weights: np.ndarray, count: int) -> np.ndarray:
    """Return the matrix whose entry (i, j) is the weight of i - j + 1, and 0 where that is negative."""
    index = np.arange(count)[:, None] - np.arange(count) + 1
    return np.where(index >= 0, weights[np.maximum(index, 0)], 0.0)
