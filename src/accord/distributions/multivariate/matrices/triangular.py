"""Draw and stabilise the triangular factors of random matrices."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import is_number
from ...special.basic.linear import diagonal, diagonal_matrix, product


def random_chi(key: jax.Array, df: jax.Array) -> jax.Array:
    """Draw chi variables, each from its own degrees of freedom; never so small that the square is 0."""
    log_square = jax.random.loggamma(key, 0.5 * df, df.shape, df.dtype) + float(np.log(2))
    return jnp.maximum(jnp.exp(0.5 * log_square), least_root(df.dtype))


def random_bartlett(key: jax.Array, df: jax.Array) -> jax.Array:
    """Draw lower triangular matrices: chi variables of `df`, shape `(..., n)`, on the diagonal, normals below it."""
    key_below, key_diagonal = jax.random.split(key)
    shape = (*df.shape, df.shape[-1])
    return jnp.tril(jax.random.normal(key_below, shape, df.dtype), -1) + diagonal_matrix(
        random_chi(key_diagonal, df)
    )


def positive_definite(factor: jax.Array) -> jax.Array:
    """Multiply a lower factor by its transpose, and keep the product positive definite despite rounding."""
    size = factor.shape[-1]
    top = jnp.abs(factor).max(axis=-1, keepdims=True)
    scaled = factor / top
    heights = diagonal(scaled) ** 2 / (scaled * scaled).sum(axis=-1)
    # The determinant of the correlations is at most 2.8 times their smallest eigenvalue. Where that may be lost in the
    # rounding of the product, the correlations are made smaller by about as much as they are rounded.
    rounding = 8 * size * float(np.finfo(factor.dtype).eps)
    is_thin = with_event_axes(heights.prod(axis=-1) < 3 * rounding, 2)
    matrix = product(factor, factor.mT)
    matrix = 0.5 * (matrix + matrix.mT)
    eye = jnp.broadcast_to(jnp.eye(size, dtype=bool), matrix.shape)
    return jnp.where(is_thin & ~eye, (1 - rounding) * matrix, matrix)


def with_least_diagonal(factor: jax.Array, least: Any) -> jax.Array:
    """Raise each element of a factor's diagonal to at least `least`."""
    return jnp.tril(factor, -1) + diagonal_matrix(jnp.maximum(diagonal(factor), least))


def least_root(dtype: Any) -> float:
    """Return the smallest number whose square is still a normal number."""
    return float(2 * np.sqrt(np.finfo(dtype).tiny))


def is_positive_definite(matrix: jax.Array) -> jax.Array:
    """Return whether each matrix is symmetric, to within rounding, and has a Cholesky factor."""
    matrix = jax.lax.stop_gradient(matrix)
    sizes = jnp.abs(matrix) + jnp.abs(matrix.mT)
    is_symmetric = (jnp.abs(matrix - matrix.mT) <= 1e-6 * sizes).all((-2, -1))
    return is_symmetric & jnp.isfinite(diagonal(jnp.linalg.cholesky(matrix))).all(-1)


def has_nan(event: jax.Array, axes: int) -> jax.Array:
    """Return whether an event contains NaN."""
    return jnp.isnan(event).any(tuple(range(-axes, 0)))


def choose_events(condition: jax.Array, events: jax.Array, other: Any) -> jax.Array:
    """Keep events where the condition holds; use the event `other` elsewhere."""
    other = jnp.broadcast_to(jnp.asarray(other, events.dtype), events.shape)
    return jnp.where(jnp.expand_dims(condition, range(condition.ndim, events.ndim)), events, other)


def with_event_axes(parameter: Any, count: int) -> Any:
    """Give a parameter `count` trailing axes of length 1; leave Python numbers unchanged."""
    if is_number(parameter):
        return parameter
    array = jnp.asarray(parameter)
    return jnp.expand_dims(array, range(array.ndim, array.ndim + count))
