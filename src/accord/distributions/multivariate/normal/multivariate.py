"""Define the multivariate normal and Student's t distributions of real vectors."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, float_type
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...parameters import exactly_one
from ...special import HALF_LOG_TWO_PI, log_gamma_remainder
from ...special.basic.digamma import digamma_less_log
from ...special.basic.gamma_ratio import log_gamma_rise
from ...special.basic.linear import (
    by_columns,
    diagonal,
    first_given,
    log_diagonal,
    lower_factor,
    multiply,
    product,
    solve_lower,
)
from .centred import AbstractCentredVector


class MultivariateNormal(AbstractCentredVector):
    """Multivariate normal distribution of real vectors; give exactly one of the three matrices, `(..., n, n)`.

    Prefer `scale_tril` if you have it: the other matrices are factored at every evaluation.

    **Fields**
    - `loc`: mean, shape `(..., n)`, or a number for all elements.
    - `covariance_matrix`: symmetric, positive definite.
    - `precision_matrix`: its inverse.
    - `scale_tril`: its lower Cholesky factor.

    **Density**: `exp(-(x - loc)' C^-1 (x - loc) / 2) / sqrt((2 pi)^n det C)`, C the covariance matrix.

    **Source**: Kotz, Balakrishnan & Johnson (2000), Continuous Multivariate Distributions 1, ch. 45.
    """

    loc: Any = 0.0
    covariance_matrix: Any = None
    precision_matrix: Any = None
    scale_tril: Any = None
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    def __check_init__(self) -> None:
        exactly_one(self, "covariance_matrix", "precision_matrix", "scale_tril")
        check_location(self, self.loc, self._matrix)

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(np.shape(self.loc)[:-1], np.shape(self._matrix)[:-2])

    @property
    def event_shape(self) -> Shape:
        return np.shape(self._matrix)[-1:]

    @property
    def variance(self) -> jax.Array:
        if self.covariance_matrix is not None:
            return self._full(diagonal(jnp.asarray(self.covariance_matrix, self.dtype)))
        return self._full((self._factor(self.dtype) ** 2).sum(axis=-1))

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, self.loc, self._matrix)
        x, loc = align(jnp.asarray(value, dtype), self.loc)
        if self.precision_matrix is not None:
            factor = jnp.linalg.cholesky(jnp.asarray(self.precision_matrix, dtype))
            white = by_columns(lambda columns: product(factor.mT, columns), x - loc, factor.shape)
            log_volume = -log_diagonal(factor)
        else:
            factor = self._factor(dtype)
            white = solve_lower(factor, x - loc)
            log_volume = log_diagonal(factor)
        quadratic, log_volume = align((white * white).sum(axis=-1), log_volume)
        return -0.5 * quadratic - (log_volume + self.event_shape[-1] * HALF_LOG_TWO_PI)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, loc = align(jax.random.normal(key, self._shape(sample_shape), self.dtype), self.loc)
        return loc + multiply(self._factor(self.dtype), noise)

    def entropy(self) -> jax.Array:
        size = self.event_shape[-1]
        return self._batched(log_diagonal(self._factor(self.dtype)) + size * (HALF_LOG_TWO_PI + 0.5))

    @property
    def _matrix(self) -> Any:
        """Return the matrix that was given."""
        return first_given(self.covariance_matrix, self.precision_matrix, self.scale_tril)

    def _factor(self, dtype: Any) -> jax.Array:
        """Return the lower Cholesky factor of the covariance."""
        return lower_factor(dtype, self.covariance_matrix, self.precision_matrix, self.scale_tril)


class MultivariateStudentT(AbstractDistribution):
    """Multivariate Student's t distribution: a normal vector over one common chi-distributed scale.

    **Fields**
    - `df`: degrees of freedom, > 0; the mean exists above 1, the variance above 2.
    - `loc`: centre, shape `(..., n)`, or a number for all elements.
    - `scale_tril`: lower Cholesky factor of the scale matrix S, shape `(..., n, n)`; the identity where not given.

    **Density**: `Gamma((df + n)/2) / (Gamma(df/2) sqrt((df pi)^n det S)) * (1 + q / df)^-((df + n)/2)`,
    q = (x - loc)' S^-1 (x - loc).

    **Source**: Kotz & Nadarajah (2004), Multivariate t Distributions and Their Applications, ch. 1.
    """

    df: Any
    loc: Any = 0.0
    scale_tril: Any = None
    parameters: ClassVar[dict[str, Constraint]] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale_tril": constraints.lower_cholesky,
    }

    def __check_init__(self) -> None:
        if self.scale_tril is not None:
            check_location(self, self.loc, self.scale_tril)
        elif not np.shape(self.loc):
            raise self.refuse(
                "loc is a number and no matrix is given, so the number of elements is unknown",
                "Give scale_tril, or loc of shape (..., n).",
            )

    @property
    def batch_shape(self) -> Shape:
        matrix = () if self.scale_tril is None else np.shape(self.scale_tril)[:-2]
        return np.broadcast_shapes(np.shape(self.df), np.shape(self.loc)[:-1], matrix)

    @property
    def event_shape(self) -> Shape:
        return np.shape(self.loc if self.scale_tril is None else self.scale_tril)[-1:]

    @property
    def support(self) -> Constraint:
        return constraints.real_vector

    @property
    def mean(self) -> jax.Array:
        (df,) = self._arrays("df")
        return jnp.where(jnp.expand_dims(df > 1, -1), self._full(self.loc), jnp.nan)

    @property
    def mode(self) -> jax.Array:
        return self._full(self.loc)

    @property
    def variance(self) -> jax.Array:
        df = jnp.expand_dims(self._arrays("df")[0], -1)
        squares = self._full((self._factor(self.dtype) ** 2).sum(axis=-1))
        finite = squares * (df / (jnp.where(df > 2, df, 3.0) - 2))
        return jnp.where(df > 2, finite, jnp.where(df > 1, jnp.inf, jnp.nan))

    def log_prob(self, value: Any) -> jax.Array:
        dtype = float_type(value, self.df, self.loc, self.scale_tril)
        x, loc = align(jnp.asarray(value, dtype), self.loc)
        factor, size = self._factor(dtype), self.event_shape[-1]
        white, df = align(solve_lower(factor, x - loc), jnp.expand_dims(jnp.asarray(self.df, dtype), -1))
        log_kernel = _log1p_squares(white / jnp.sqrt(df))
        log_kernel, log_volume, df = align(log_kernel, log_diagonal(factor), df.squeeze(-1))
        constant = log_gamma_rise(0.5 * df, 0.5 * size) - log_volume - size * HALF_LOG_TWO_PI
        return constant - 0.5 * (df + size) * log_kernel

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_noise, key_scale = jax.random.split(key)
        shape, dtype = self._shape(sample_shape), self.dtype
        half = jnp.broadcast_to(0.5 * self._arrays("df")[0], shape[:-1])
        log_square = jax.random.loggamma(key_scale, half, half.shape, dtype) - jnp.log(half)
        noise = multiply(self._factor(dtype), jax.random.normal(key_noise, shape, dtype))
        largest = 0.25 * float(jnp.finfo(dtype).max)
        # At a small df the scale may overflow.
        stretch = jnp.exp(jnp.minimum(-0.5 * log_square, float(np.log(largest))))
        noise, loc = align(jnp.clip(noise * jnp.expand_dims(stretch, -1), -largest, largest), self.loc)
        return loc + noise

    def entropy(self) -> jax.Array:
        (df,) = self._arrays("df")
        half, step = 0.5 * df, 0.5 * self.event_shape[-1]
        top = half + step
        from_gammas = log_gamma_remainder(half) - log_gamma_remainder(top)
        slopes = top * (digamma_less_log(top) - digamma_less_log(half))
        log_volume = self._batched(log_diagonal(self._factor(self.dtype)))
        return from_gammas + slopes + log_volume + step * (1 + 2 * HALF_LOG_TWO_PI)

    def _factor(self, dtype: Any) -> jax.Array:
        """Return the lower Cholesky factor of the scale matrix."""
        if self.scale_tril is None:
            return jnp.eye(self.event_shape[-1], dtype=dtype)
        return jnp.asarray(self.scale_tril, dtype)


def check_location(distribution: AbstractDistribution, loc: Any, matrix: Any) -> None:
    """Raise `DistributionError` unless `matrix` is square and `loc` is a number or has that many elements."""
    shape = np.shape(matrix)
    if (
        len(shape) < 2
        or shape[-2] != shape[-1]
        or (np.shape(loc) and np.shape(loc)[-1] not in (1, shape[-1]))
    ):
        raise distribution.refuse(
            f"loc has shape {np.shape(loc)} and the matrix {shape}",
            "Give loc of shape (..., n) and a matrix of shape (..., n, n).",
        )


def _log1p_squares(z: jax.Array) -> jax.Array:
    """Compute log(1 + sum of z^2) along the last axis, also where a square overflows."""
    top = jax.lax.stop_gradient(jnp.abs(z).max(axis=-1, keepdims=True))
    is_large = (top > 1 / jnp.finfo(z.dtype).eps) & (top < jnp.inf)
    # Any constant unit gives the same result and derivatives, so none is differentiated.
    unit = jnp.where(is_large, top, 1.0)
    squares = ((z / unit) ** 2).sum(axis=-1)
    is_large, unit = is_large.squeeze(-1), unit.squeeze(-1)
    large = jnp.log(jnp.where(is_large, squares, 1.0) + 1 / unit**2) + 2 * jnp.log(unit)
    return jnp.where(is_large, large, jnp.log1p(jnp.where(is_large, 0.0, squares)))
