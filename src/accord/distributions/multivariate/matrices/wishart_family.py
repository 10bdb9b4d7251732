"""Define the base class of Wishart distributions of matrices, inverses and Cholesky factors.

With S the lower factor of the scale matrix, a Wishart matrix is X = (S F)(S F)', where F, Bartlett's factor, is lower
triangular with independent elements: normals below the diagonal, chi variables on it. An inverse Wishart matrix is X =
(S F^-1)(S F^-1)' with the degrees of freedom in reverse order. All four densities equal the density of F times powers
of the diagonals of F and S. So they are evaluated, drawn and summarised from F, where nothing large cancels.
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, float_type, is_concrete
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...constraints import lower_cholesky as lower_cholesky_set
from ...constraints import positive
from ...constraints import positive_definite as positive_definite_set
from ...parameters import exactly_one
from ...special import HALF_LOG_TWO_PI, log_gamma_remainder
from ...special.basic.digamma import digamma_less_log
from ...special.basic.linear import (
    diagonal,
    first_given,
    invert_lower,
    lower_factor,
    multiply_matrix,
    solve_columns,
    solve_lower_matrix,
)
from .triangular import (
    choose_events,
    has_nan,
    is_positive_definite,
    least_root,
    positive_definite,
    random_bartlett,
    with_least_diagonal,
)


class AbstractWishart(AbstractDistribution):
    """Abstract base class of Wishart distributions of a matrix, its inverse, or a Cholesky factor of either.

    **Class variables**
    - `is_inverse`: whether the matrix is the inverse of a Wishart matrix.
    - `is_factor`: whether the value is its lower Cholesky factor.
    """

    concentration: Any
    scale_matrix: Any = None
    rate_matrix: Any = None
    scale_tril: Any = None
    is_inverse: ClassVar[bool]
    is_factor: ClassVar[bool]
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration": positive,
        "scale_matrix": positive_definite_set,
        "rate_matrix": positive_definite_set,
        "scale_tril": lower_cholesky_set,
    }

    def __check_init__(self) -> None:
        exactly_one(self, "scale_matrix", "rate_matrix", "scale_tril")
        shape = np.shape(self._matrix)
        if len(shape) < 2 or shape[-2] != shape[-1]:
            raise self.refuse(f"the matrix has shape {shape}", "Give a matrix of shape (..., n, n).")
        least = shape[-1] - 1
        if is_concrete(self.concentration) and (np.asarray(self.concentration) <= least).any():
            raise self.refuse(
                f"concentration is {np.min(self.concentration)} for matrices of {shape[-1]} rows",
                f"It must be above {least}, one less than the rows.",
            )

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(np.shape(self.concentration), np.shape(self._matrix)[:-2])

    @property
    def event_shape(self) -> Shape:
        return np.shape(self._matrix)[-2:]

    @property
    def support(self) -> Constraint:
        return lower_cholesky_set if self.is_factor else positive_definite_set

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, self.concentration, self._matrix)
        x, scale, df = align(
            jnp.asarray(value, dtype), self._scale(dtype), jnp.expand_dims(self._df(dtype), -2)
        )
        df = df.squeeze(-2)
        x = jnp.broadcast_to(x, np.broadcast_shapes(x.shape, scale.shape, (*df.shape, self._size)))
        is_inside = (self.support(x) if self.is_factor else is_positive_definite(x)) | has_nan(x, 2)
        x = choose_events(is_inside, x, np.eye(self._size))
        root = x if self.is_factor else jnp.linalg.cholesky(x)
        if self.is_inverse:
            bartlett = solve_columns(root, jnp.broadcast_to(scale, root.shape))
        else:
            bartlett = solve_lower_matrix(scale, root)
        log_bartlett, log_scale = jnp.log(diagonal(bartlett)), jnp.log(diagonal(scale))
        powers, scale_powers, constant = self._powers(dtype, df.ndim)
        change = (powers * log_bartlett).sum(axis=-1) - (scale_powers * log_scale).sum(axis=-1)
        return jnp.where(is_inside, _log_core(bartlett, df) + change + constant, -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        scale, df = self._scale(self.dtype), self._df(self.dtype)
        bartlett = random_bartlett(key, jnp.broadcast_to(df, self._shape(sample_shape)[:-1]))
        root = multiply_matrix(scale, invert_lower(bartlett) if self.is_inverse else bartlett)
        root = with_least_diagonal(root, least_root(root.dtype))
        return root if self.is_factor else positive_definite(root)

    def entropy(self) -> jax.Array:
        scale, df = self._scale(self.dtype), self._df(self.dtype)
        half, size = 0.5 * df, self._size
        slope = digamma_less_log(half)
        own = log_gamma_remainder(half) + 0.5 * jnp.log(0.5 * half) - (half - 0.5) * slope
        mean_log = 0.5 * (slope + jnp.log(df))
        df, scale, own, mean_log = align(df, jnp.log(diagonal(scale)), own, mean_log)
        powers, scale_powers, constant = self._powers(self.dtype, df.ndim)
        log_scale = self._batched((scale_powers * scale).sum(axis=-1))
        from_bartlett = self._batched((own - (powers + 1) * mean_log).sum(axis=-1))
        below = size * (size - 1) / 2 * (HALF_LOG_TWO_PI + 0.5)
        return from_bartlett + log_scale + (below + size * float(np.log(2)) - constant)

    @property
    def _matrix(self) -> Any:
        """Return the matrix that was given."""
        return first_given(self.scale_matrix, self.rate_matrix, self.scale_tril)

    @property
    def _size(self) -> int:
        """Return the number of rows."""
        return self.event_shape[-1]

    def _scale(self, dtype: Any) -> jax.Array:
        """Return the lower Cholesky factor of the scale matrix."""
        return lower_factor(dtype, self.scale_matrix, self.rate_matrix, self.scale_tril)

    def _df(self, dtype: Any) -> jax.Array:
        """Return degrees of freedom of the diagonal of F, shape `(..., n)` with the batch of the concentration."""
        concentration = jnp.expand_dims(jnp.asarray(self.concentration, dtype), -1)
        steps = np.arange(self._size, dtype=dtype)
        steps = steps[::-1] if self.is_inverse else steps
        return concentration - steps.reshape((1,) * (concentration.ndim - 1) + (-1,))

    def _powers(self, dtype: Any, rank: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the powers of the diagonals of F and 1/S that convert the density to the value's, and a constant."""
        size, row = self._size, np.arange(self._size)
        if self.is_factor:
            powers = np.full(size, size if self.is_inverse else -1)
            scale_powers, constant = row + 1, size * float(np.log(2))
        else:
            powers = 2 * size - row if self.is_inverse else row - size - 1
            scale_powers, constant = np.full(size, size + 1), 0.0
        shape = (1,) * (rank - 1) + (size,)
        return powers.astype(dtype).reshape(shape), scale_powers.astype(dtype).reshape(shape), constant

    def _batch_of_scale(self) -> jax.Array:
        """Return the scale matrix, of the whole batch shape."""
        if self.scale_matrix is not None:
            return self._full(self.scale_matrix)
        scale = self._scale(self.dtype)
        return self._full(multiply_matrix(scale, scale.mT))

    def _where(self, exists: jax.Array, summary: jax.Array, other: Any) -> jax.Array:
        """Return the summary where it exists; elsewhere infinity on the diagonal and `other` off it."""
        shape = self._shape()
        eye = jnp.broadcast_to(jnp.eye(self._size, dtype=bool), shape)
        missing = jnp.where(eye, jnp.inf, jnp.broadcast_to(jnp.asarray(other, self.dtype), shape))
        return jnp.where(jnp.broadcast_to(exists, shape), summary, missing)

    def _columns(self, by_column: jax.Array) -> jax.Array:
        """Multiply the columns of the scale's factor by numbers, shape `(..., n)`."""
        factor, by_column = align(self._scale(self.dtype), jnp.expand_dims(by_column, -2))
        return self._full(factor * by_column)

    def _column_variances(self, on_diagonal: jax.Array, below: Any) -> jax.Array:
        """Return variances of S G, for lower triangular G with these column variances of uncorrelated elements."""
        squares = self._scale(self.dtype) ** 2
        further = jnp.flip(jnp.cumsum(jnp.flip(squares, -1), axis=-1), -1)
        further = jnp.concatenate([further[..., 1:], jnp.zeros_like(further[..., :1])], axis=-1)
        squares, further, on_diagonal, below = align(
            squares, further, jnp.expand_dims(on_diagonal, -2), jnp.expand_dims(below, -2)
        )
        # Columns l > j of S matter for column j of the product: sum over l of S_il^2 Var G_lj.
        tril = jnp.tril(jnp.ones(self.event_shape, bool))
        variances = jnp.where(squares > 0, squares * on_diagonal, 0.0)
        variances = variances + jnp.where(further > 0, further * below, 0.0)
        return self._full(jnp.where(jnp.broadcast_to(tril, variances.shape), variances, 0.0))


def _log_core(bartlett: jax.Array, df: jax.Array) -> jax.Array:
    """Return the log density of F, without the powers of the change from chi-squared variables."""
    rho = diagonal(bartlett)
    half = 0.5 * df
    # rho: each element of the diagonal over its typical size.
    rho = rho / jnp.sqrt(df)
    on_diagonal = df * jnp.log(rho) - half * ((rho - 1) * (rho + 1)) - log_gamma_remainder(half)
    below = jnp.tril(bartlett, -1)
    size = bartlett.shape[-1]
    normals = -0.5 * (below * below).sum((-2, -1)) - size * (size - 1) / 2 * HALF_LOG_TWO_PI
    return on_diagonal.sum(axis=-1) + normals
