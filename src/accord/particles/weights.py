"""Do arithmetic with log weights of particles within a compiled program.

Sums over particles are those of blocks of a fixed size, so that bits depend neither on cores nor on devices. A log
weight may be -inf: the weight is zero.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..resampling.base import by_inverse_cdf

_TOGETHER = 128


def total(numbers: Array) -> Array:
    """Add up along the first axis: first each block of so many, then the blocks."""
    count = len(numbers)
    num_blocks = -(-count // _TOGETHER)
    if num_blocks == 1:
        return jnp.sum(numbers, axis=0)
    lacking = jnp.zeros((num_blocks * _TOGETHER - count, *numbers.shape[1:]), numbers.dtype)
    blocks = jnp.concatenate([numbers, lacking]).reshape(num_blocks, _TOGETHER, *numbers.shape[1:])
    # Without the barrier, XLA makes one sum of the two, which it may share out between cores.
    return jnp.sum(jax.lax.optimization_barrier(jnp.sum(blocks, axis=1)), axis=0)


def possible(log_weight: Array) -> tuple[Array, Array]:
    """Return a log weight with -inf in the place of NaN and +inf, and whether it was one of these."""
    is_bad = jnp.isnan(log_weight) | (log_weight == jnp.inf)
    return jnp.where(is_bad, -jnp.inf, log_weight), is_bad


def relative(log_weights: Float[Array, " particle"]) -> Float[Array, " particle"]:
    """Return weights of which the largest is one; all are one where all are zero, and no particle is left."""
    largest = jnp.max(log_weights)
    return jnp.where(largest == -jnp.inf, jnp.ones_like(log_weights), jnp.exp(log_weights - _finite(largest)))


def log_sum(log_weights: Float[Array, " particle"]) -> Float[Array, ""]:
    """Return the logarithm of the summed weights; -inf where all are zero."""
    largest = jnp.max(log_weights)
    added = jnp.log(total(jnp.exp(log_weights - _finite(largest))))
    return jnp.where(largest == -jnp.inf, -jnp.inf, _finite(largest) + added)


def log_ratio(log_sums: Float[Array, ""], before: Any) -> Float[Array, ""]:
    """Return the difference of two logarithms of sums; -inf once no particle is left."""
    return jnp.where(log_sums == -jnp.inf, -jnp.inf, log_sums - _finite(jnp.asarray(before, log_sums.dtype)))


def shares(log_weights: Float[Array, " particle"]) -> Float[Array, " particle"]:
    """Return weights that add up to one; NaN where no particle is left."""
    weights = relative(log_weights)
    return jnp.where(jnp.max(log_weights) == -jnp.inf, jnp.nan, weights / total(weights))


def effective_size(log_weights: Float[Array, " particle"]) -> Float[Array, ""]:
    """Return how many particles of equal weight these are worth; 0 where no particle is left."""
    weights = relative(log_weights)
    found = total(weights) ** 2 / total(weights**2)
    return jnp.where(jnp.max(log_weights) == -jnp.inf, 0.0, found)


def moments(weights: Float[Array, " particle"], values: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation of values along the first axis, by weights that add up to one."""
    if not jnp.issubdtype(values.dtype, jnp.floating):
        values = values.astype(weights.dtype)
    weights = weights.astype(values.dtype).reshape(-1, *[1] * (values.ndim - 1))
    mean = total(weights * values)
    return mean, jnp.sqrt(total(weights * (values - mean) ** 2))


def drawn(weights: Float[Array, " particle"], levels: Array) -> Array:
    """Return particles drawn by weight, one for each uniform number; shape of these."""
    return by_inverse_cdf(weights, levels)


def _finite(number: jax.Array) -> jax.Array:
    return jnp.where(jnp.isfinite(number), number, jnp.zeros_like(number))
