"""Compute density and tails of the largest excess of an empirical cdf over the true one.

The probability of a larger distance is a sum of positive terms, and so accurate where it is small. That of a smaller
one is another, alternating sum of as many terms as the distance has steps, taken for the first few.

**Source**: Birnbaum & Tingey (1951), Ann. Math. Stat. 22(4), 592-596; the alternating sum by Abel's identity, as in
Riordan (1968), Combinatorial Identities, section 1.5.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...special import log1m_exp, log_gamma_remainder, log_sum_exp

# The alternating sum is taken up to this many steps, where it has lost a digit.
_FEW = 4


def excess_log_tails(d: jax.Array, size: int) -> tuple[jax.Array, jax.Array]:
    """Return log probabilities that `size` draws have an excess below and above d, in (0, 1)."""
    _, high, is_low, below = _parts(d, size)
    below = jnp.where(is_low, below, 0.5)
    log_above = log_excess_above(high, size)
    return (
        jnp.where(is_low, jnp.log(below), log1m_exp(jnp.where(is_low, -1.0, jnp.minimum(log_above, 0.0)))),
        jnp.where(is_low, jnp.log1p(-below), log_above),
    )


def excess_log_density(d: jax.Array, size: int) -> jax.Array:
    """Return the log density of the excess, at 0 <= d < 1."""
    low, high, is_low, _ = _parts(d, size)
    _, rise = jax.jvp(lambda d: _below(d, size), (low,), (jnp.ones_like(low),))
    return jnp.where(is_low, jnp.log(jnp.where(is_low, rise, 1.0)), far_excess_log_density(high, size))


def far_excess_log_density(d: jax.Array, size: int) -> jax.Array:
    """Return the log density where exceeding d is not almost certain."""
    log_above, fall = jax.jvp(lambda d: log_excess_above(d, size), (d,), (jnp.ones_like(d),))
    return log_above + jnp.log(-fall)


def log_excess_above(d: jax.Array, size: int) -> jax.Array:
    """Return the log probability of an excess above d."""
    dtype, shape = np.dtype(d.dtype), (1,) * d.ndim + (-1,)
    counts = np.arange(size)
    rests = np.array([log_factorial_rest(k) for k in range(size + 1)])
    heights = (rests[-1] - rests[:-1] - rests[:0:-1]).astype(dtype).reshape(shape)
    below = counts.astype(dtype).reshape(shape)
    above = (size - counts).astype(dtype).reshape(shape)
    c = (size * d)[..., None]
    is_in = c < above
    share = jnp.where(is_in, c / above, 0.0)
    terms = jnp.log(c / (below + c)) + below * jnp.log1p(c / np.maximum(below, 1)) + above * jnp.log1p(-share)
    return log_sum_exp(jnp.where(is_in, heights + terms, -jnp.inf))


def log_factorial_rest(k: int) -> float:
    """Compute log(k!) - k log(k) + k."""
    return log_gamma_remainder(float(k)) + math.log(k) if k else 0.0


@jax.custom_jvp
def whole_power(x: jax.Array, exponent: jax.Array) -> jax.Array:
    """Compute x >= 0 to a constant whole power of at least 0, with all derivatives right at 0."""
    return x**exponent


@whole_power.defjvp
def _whole_power_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[jax.Array, jax.Array]:
    (x, exponent), (x_dot, _) = primals, tangents
    slope = exponent * whole_power(x, jnp.maximum(exponent - 1, 0.0))
    return whole_power(x, exponent), slope * x_dot


def _parts(d: jax.Array, size: int) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Return a safe distance for the lower tail, one for the upper, which case applies, and the lower tail."""
    is_few = size * d < _FEW
    few = jnp.where(is_few, d, 0.0)
    below = _below(few, size)
    # For one draw it is d itself.
    is_low = is_few & ((below < 0.5) | (size == 1))
    return few, jnp.where(is_low, 0.5, d), is_low, below


def _below(d: jax.Array, size: int) -> jax.Array:
    """Return the probability of a distance of at most d, which is a few steps."""
    steps = np.arange(min(size, _FEW))
    dtype, shape = np.dtype(d.dtype), (1,) * d.ndim + (-1,)
    factors = np.array([(-1) ** k * math.comb(size, k) / size**k for k in steps.tolist()])
    factors, count = (part.astype(dtype).reshape(shape) for part in (factors, steps))
    beyond = (size * d)[..., None] - count
    # A step beyond the distance does not contribute.
    power = whole_power(jnp.where(beyond > 0, beyond, 0.0), jnp.asarray(count))
    rest = jnp.exp((size - 1 - count) * jnp.log1p(beyond / size))
    return d * (factors * power * rest).sum(axis=-1)
