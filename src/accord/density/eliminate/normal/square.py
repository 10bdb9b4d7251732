"""Complete the square: find the normal distribution of some unknowns given all others, from derivatives.

Where a log density is quadratic in some numbers z, its slope at zero and its second derivatives determine it: its
highest point, which is the mean, and the precision of a normal distribution; the integral over z follows.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

_MOST_BY_HAND = (
    4  # rows of matrices that are factored by arithmetic, which XLA can fuse with what is around it
)


class Rows(NamedTuple):
    """Lower Cholesky factors of small matrices: `entries[i][j]` of all of them, shape `(num,)`, for j <= i."""

    entries: tuple[tuple[jax.Array, ...], ...]

    @staticmethod
    def of(matrices: jax.Array) -> "Rows":
        """Factor matrices of shape `(num, size, size)`; NaN where one is not positive definite."""
        rows: list[tuple[jax.Array, ...]] = []
        for i in range(matrices.shape[-1]):
            row: list[jax.Array] = []
            for j in range(i + 1):
                rest = _column(_column(matrices, j, axis=2), i)
                for left, right in zip(row[:j], rows[j][:j] if j < i else row, strict=True):
                    rest = rest - left * right
                row.append(rest / rows[j][j] if j < i else jnp.sqrt(jnp.where(rest > 0, rest, jnp.nan)))
            rows.append(tuple(row))
        return Rows(tuple(rows))

    @property
    def log_det(self) -> jax.Array:
        """Sum the logarithms of all diagonals, shape `()`."""
        return sum((jnp.log(row[-1]).sum() for row in self.entries[1:]), jnp.log(self.entries[0][0]).sum())

    def solve(self, right: jax.Array) -> jax.Array:
        """Solve for the factor: shape `(num, size)`."""
        found: list[jax.Array] = []
        for i, row in enumerate(self.entries):
            rest = _column(right, i)
            for entry, each in zip(row[:-1], found, strict=True):
                rest = rest - entry * each
            found.append(rest / row[-1])
        return jnp.stack(found, axis=1)

    def solve_transposed(self, right: jax.Array) -> jax.Array:
        """Solve for the transpose of the factor: shape `(num, size)`."""
        found: list[jax.Array] = []  # from the last row on
        for i in reversed(range(len(self.entries))):
            rest = _column(right, i)
            for below, each in zip(reversed(self.entries[i + 1 :]), found, strict=True):
                rest = rest - below[i] * each
            found.append(rest / self.entries[i][i])
        return jnp.stack(found[::-1], axis=1)


class Matrices(NamedTuple):
    """Lower Cholesky factors of matrices, shape `(num, size, size)`; `(size, size)` for a single one.

    Where there are several, LAPACK has them in threads, for which the chains of a run wait for each other.
    """

    lower: jax.Array

    @staticmethod
    def of(matrices: jax.Array) -> "Matrices":
        """Factor matrices of shape `(num, size, size)`; NaN where one is not positive definite."""
        is_single = matrices.shape[0] == 1
        return Matrices(jnp.linalg.cholesky(jnp.squeeze(matrices, 0) if is_single else matrices))

    @property
    def log_det(self) -> jax.Array:
        """Sum the logarithms of all diagonals, shape `()`."""
        return jnp.log(jnp.diagonal(self.lower, axis1=-2, axis2=-1)).sum()

    def solve(self, right: jax.Array) -> jax.Array:
        """Solve for the factor: shape `(num, size)`."""
        return self._solved(right, is_transposed=False)

    def solve_transposed(self, right: jax.Array) -> jax.Array:
        """Solve for the transpose of the factor: shape `(num, size)`."""
        return self._solved(right, is_transposed=True)

    def _solved(self, right: jax.Array, *, is_transposed: bool) -> jax.Array:
        found = jax.lax.linalg.triangular_solve(
            self.lower,
            right.reshape(*self.lower.shape[:-1], 1),
            left_side=True,
            lower=True,
            transpose_a=is_transposed,
        )
        return found.reshape(right.shape)


class Conditional(NamedTuple):
    """A normal distribution of groups of unknowns that are independent of each other.

    **Fields**: `mean`, shape `(num, size)`; `precision`, shape `(num, size, size)`, and its Cholesky `factor`.
    """

    mean: jax.Array
    precision: jax.Array
    factor: Rows | Matrices

    @property
    def log_volume(self) -> jax.Array:
        """Compute the logarithm of the integral of exp(-distance**2 / 2), shape `()`."""
        return self.mean.size * math.log(2 * math.pi) / 2 - self.factor.log_det

    def deviation(self, noise: jax.Array) -> jax.Array:
        """Turn standard normal noise, shape `(num, size)`, into a deviation from the mean."""
        return self.factor.solve_transposed(noise)


def complete(log_density: Callable[[jax.Array], Any], num: int, size: int, dtype: Any) -> Conditional:
    """Find the distribution of z, shape `(num, size)`, where `log_density` is quadratic without terms between groups.

    It takes a product of the second derivatives for each number of a group. Where these do not fall along every
    direction, all is NaN.
    """
    slope, precision = curvature(log_density, jnp.zeros((num, size), dtype))
    factor = factored(precision)
    # The derivatives of the mean are needed, though the log density is level there: what rounding leaves of its slope
    # there cancels against that of the mean, and second derivatives are right.
    mean = factor.solve_transposed(factor.solve(slope))
    return Conditional(mean, precision, factor)


def curvature(log_density: Callable[[jax.Array], Any], z: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the slope of a log density at z, shape `(num, size)`, and minus its second derivatives within groups."""
    slope, product = jax.linearize(jax.grad(log_density), z)
    return slope, -jnp.moveaxis(along_each(product, z), 0, 2)


def along_each(change: Callable[[jax.Array], Any], z: jax.Array) -> Any:
    """Apply a linear map of arrays like z, shape `(num, size)`, along each number of all groups: a new first axis."""
    num, size = z.shape
    if size == 1:
        return jax.tree.map(lambda each: each[None], change(jnp.ones_like(z)))
    along = jnp.broadcast_to(jnp.eye(size, dtype=z.dtype)[:, None, :], (size, num, size))
    return jax.vmap(change)(along)


def factored(precision: jax.Array) -> Rows | Matrices:
    """Factor matrices of shape `(num, size, size)`; NaN where one is not positive definite."""
    return Rows.of(precision) if precision.shape[-1] <= _MOST_BY_HAND else Matrices.of(precision)


def _column(matrix: jax.Array, index: int, axis: int = 1) -> jax.Array:
    return jax.lax.index_in_dim(matrix, index, axis, keepdims=False)
