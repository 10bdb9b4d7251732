"""Define the LKJ distributions of correlation matrices and their Cholesky factors.

Row k of the factor (from 1) is a point on the unit half-sphere of k elements. Its squared last element is Beta(b, a), a
= (k - 1)/2, b = concentration + (n - k)/2; the direction of its other elements is uniform. Rows are independent.
"""

from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, is_number
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special import log_gamma_step
from ...special.basic.digamma import digamma_difference
from ...special.basic.gamma_ratio import log_gamma_rise
from ...special.basic.linear import diagonal, diagonal_matrix, log_diagonal
from .triangular import (
    choose_events,
    has_nan,
    is_positive_definite,
    least_root,
    positive_definite,
    random_chi,
    with_event_axes,
    with_least_diagonal,
)

_LOG_PI = float(np.log(np.pi))


class AbstractLKJ(AbstractDistribution):
    """Abstract base class of distributions of correlation matrices or their Cholesky factors."""

    dimension: int = eqx.field(static=True)
    concentration: Any = 1.0
    sample_method: Literal["onion", "cvine"] = eqx.field(static=True, default="onion")
    parameters: ClassVar[dict[str, Constraint]] = {"concentration": constraints.positive}

    def __check_init__(self) -> None:
        dimension, method = self.dimension, self.sample_method
        if not isinstance(dimension, (int, np.integer)) or isinstance(dimension, bool) or dimension < 2:
            raise self.refuse(f"dimension is {dimension!r}", "Give an integer of at least 2.")
        if method not in ("onion", "cvine"):
            raise self.refuse(f"sample_method is {method!r}", 'Give "onion" or "cvine".')

    @property
    def event_shape(self) -> Shape:
        return (self.dimension, self.dimension)

    @property
    def mode(self) -> jax.Array:
        # Below a concentration of 1 the density grows without bound towards singular matrices.
        exists = with_event_axes(self._arrays("concentration")[0] >= 1, 2)
        return jnp.where(exists, self._full(jnp.eye(self.dimension, dtype=self.dtype)), jnp.nan)

    @property
    def _betas(self) -> tuple[jax.Array, jax.Array]:
        """Return parameters a and b of each row, shape `batch + (n,)`."""
        eta = with_event_axes(self._arrays("concentration")[0], 1)
        rows = np.arange(self.dimension).reshape((1,) * (eta.ndim - 1) + (-1,))
        a = jnp.broadcast_to(jnp.asarray(0.5 * rows, eta.dtype), (*eta.shape[:-1], self.dimension))
        return a, eta + (0.5 * (self.dimension - 1 - rows)).astype(eta.dtype)

    @property
    def _constant(self) -> jax.Array:
        """Return log Z, shape batch."""
        return _log_normalizer(self.dimension, with_event_axes(self._arrays("concentration")[0], 2))

    def _sample_factor(self, key: jax.Array, sample_shape: Shape) -> jax.Array:
        """Draw Cholesky factors, row by row ("onion") or element by element ("cvine")."""
        key_normal, key_gamma = jax.random.split(key)
        shape, dtype, size = self._shape(sample_shape), self.dtype, self.dimension
        below = np.tril(np.ones((size, size), bool), -1).reshape((1,) * (len(shape) - 2) + (size, size))
        noise = jnp.where(below, jax.random.normal(key_normal, shape, dtype), 0.0)
        _, b = self._betas
        if self.sample_method == "onion":
            height = random_chi(key_gamma, jnp.broadcast_to(2 * b, shape[:-1]))
            rows = noise + diagonal_matrix(height)
            rows = rows / jnp.sqrt((rows * rows).sum(axis=-1, keepdims=True))
        else:
            # Partial correlations p of column j (from 0) have p^2 ~ Beta(1/2, concentration + (n - 2 - j)/2).
            df = jnp.where(below, jnp.expand_dims(2 * b - 1, -2), 1.0)
            height = random_chi(key_gamma, jnp.broadcast_to(df, shape))
            length = jnp.sqrt(noise * noise + height * height)
            partial, rest = noise / length, jnp.where(below, height / length, 1.0)
            left = jnp.cumprod(rest, axis=-1)
            before = jnp.concatenate([jnp.ones_like(left[..., :1]), left[..., :-1]], axis=-1)
            rows = partial * before + diagonal_matrix(diagonal(before))
        first = jnp.zeros_like(rows[..., :1, :]).at[..., 0].set(1.0)
        return with_least_diagonal(jnp.concatenate([first, rows[..., 1:, :]], axis=-2), least_root(dtype))


class LKJCholesky(AbstractLKJ):
    """LKJ distribution of the Cholesky factor of a correlation matrix; the usual prior on correlations.

    **Fields**
    - `dimension`: n, rows of the matrix, a Python integer of at least 2.
    - `concentration`: eta > 0; 1 is uniform over correlation matrices, larger values favour weak correlations.
    - `sample_method`: "onion" or "cvine", two constructions of the same draws, differing only in their random numbers.

    **Density**: `prod over k = 2..n of L_kk^(n - k + 2 eta - 2) / Z`, with respect to the elements below the diagonal;
    `Z = prod pi^((k - 1)/2) Gamma(eta + (n - k)/2) / Gamma(eta + (n - 1)/2)`.

    **Source**: Lewandowski, Kurowicka & Joe (2009), J. Multivariate Analysis 100, sections 2.4 and 3.2.
    """

    @property
    def support(self) -> Constraint:
        return constraints.corr_cholesky

    @property
    def mean(self) -> jax.Array:
        return diagonal_matrix(_mean_diagonal(*self._betas))

    @property
    def variance(self) -> jax.Array:
        a, b = self._betas
        # The share of the diagonal less its mean squared, b/(a + b) (1 - ratio^2), without their cancellation.
        ratio = log_gamma_step(b) - log_gamma_step(a + b)
        on_diagonal = jnp.where(a > 0, -(b / (a + b)) * jnp.expm1(2 * ratio), 0.0)
        everywhere = self._full(0.5 / jnp.expand_dims((a + b)[..., -1:], -1))
        return diagonal_matrix(on_diagonal) + jnp.tril(everywhere, -1)

    def log_prob(self, value: Any) -> jax.Array:
        x, concentration = align(value, with_event_axes(self.concentration, 2))
        is_inside = self.support(x) | has_nan(x, 2)
        length = choose_events(is_inside, diagonal(x), 1.0)[..., 1:]
        ranks = np.arange(self.dimension - 2, -1, -1, dtype=x.dtype).reshape((1,) * (x.ndim - 2) + (-1,))
        weight = ranks + 2 * (_squeeze(concentration) - 1)
        result = (weight * jnp.log(length)).sum(axis=-1) - _log_normalizer(self.dimension, concentration)
        return jnp.where(is_inside, result, -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return self._sample_factor(key, sample_shape)

    def entropy(self) -> jax.Array:
        a, b = self._betas
        # The mean of log L_kk is half the mean log of a Beta(b, a) variable.
        mean_log = -0.5 * digamma_difference(b[..., 1:], a[..., 1:])
        weight = 2 * (b[..., 1:] - 1)
        return self._constant - (weight * mean_log).sum(axis=-1)


class LKJ(AbstractLKJ):
    """LKJ distribution of correlation matrices: the density is a power of their determinant.

    Prefer `LKJCholesky` in a model: a multivariate normal takes its factor directly, without a factorisation.

    **Fields**
    - `dimension`: n, rows of the matrix, a Python integer of at least 2.
    - `concentration`: eta > 0; 1 is uniform over correlation matrices, larger values favour weak correlations. Each
      correlation is `2 B - 1` with B ~ Beta(c, c), c = eta - 1 + n/2.
    - `sample_method`: "onion" or "cvine", two constructions of the same draws, differing only in their random numbers.

    **Density**: `det(R)^(eta - 1) / Z`, with respect to the elements below the diagonal; Z as for `LKJCholesky`.

    **Source**: Lewandowski, Kurowicka & Joe (2009), J. Multivariate Analysis 100, sections 2.4 and 3.2.
    """

    @property
    def support(self) -> Constraint:
        return constraints.corr_matrix

    @property
    def mean(self) -> jax.Array:
        return self._full(jnp.eye(self.dimension, dtype=self.dtype))

    @property
    def variance(self) -> jax.Array:
        (concentration,) = self._arrays("concentration")
        everywhere = self._full(with_event_axes(1 / (2 * (concentration - 1) + (self.dimension + 1)), 2))
        return jnp.tril(everywhere, -1) + jnp.triu(everywhere, 1)

    def log_prob(self, value: Any) -> jax.Array:
        x, concentration = align(value, with_event_axes(self.concentration, 2))
        ones = jnp.abs(diagonal(x) - 1) <= 1e-5
        is_inside = (ones.all(axis=-1) & is_positive_definite(x)) | has_nan(x, 2)
        factor = jnp.linalg.cholesky(choose_events(is_inside, x, np.eye(self.dimension)))
        power = _squeeze(_squeeze(concentration) - 1)
        constant = _log_normalizer(self.dimension, concentration)
        return jnp.where(is_inside, 2 * power * log_diagonal(factor) - constant, -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        matrix = positive_definite(self._sample_factor(key, sample_shape))
        ones = jnp.broadcast_to(jnp.eye(self.dimension, dtype=bool), matrix.shape)
        return jnp.where(ones, 1.0, matrix)

    def entropy(self) -> jax.Array:
        a, b = self._betas
        mean_log = -digamma_difference(b[..., 1:], a[..., 1:]).sum(axis=-1)
        (concentration,) = self._arrays("concentration")
        return self._constant - (concentration - 1) * mean_log


def _mean_diagonal(a: jax.Array, b: jax.Array) -> jax.Array:
    """Return the mean of the square root of Beta(b, a) variables; 1 where a is 0."""
    log_ratio = log_gamma_step(b) - log_gamma_step(a + b)
    return jnp.where(a > 0, jnp.sqrt(b / (a + b)) * jnp.exp(log_ratio), 1.0)


def _log_normalizer(size: int, concentration: Any) -> Any:
    """Return log Z, from a number or an array with two trailing axes of length 1, which are removed."""
    eta = _squeeze(concentration)
    rows = np.arange(1, size).reshape((1,) * (np.ndim(eta) - 1) + (size - 1,))
    dtype = jnp.result_type(eta)
    a, b = jnp.asarray(0.5 * rows, dtype), eta + (0.5 * (size - 1 - rows)).astype(dtype)
    return (a * (_LOG_PI - jnp.log(b)) - log_gamma_rise(b, a)).sum(axis=-1)


def _squeeze(parameter: Any) -> Any:
    """Remove the last axis, of length 1, of an array."""
    return parameter if is_number(parameter) else parameter.squeeze(-1)
