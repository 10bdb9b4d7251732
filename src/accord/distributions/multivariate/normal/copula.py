"""Define Gaussian copulas: vectors with given marginal distributions and normal dependence."""

import math
from abc import abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, float_type
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint, Independent
from ...parameters import exactly_one
from ...special import ndtr
from ...special.basic.error_function import erfcx
from ...special.basic.linear import first_given, log_diagonal, lower_factor, multiply, solve_lower
from ...special.normal.normal import ndtri
from ...univariate.interval.interval import Beta
from ..matrices.triangular import choose_events

_ROOT_HALF = math.sqrt(0.5)
_ROOT_HALF_PI = math.sqrt(math.pi / 2)
# Below this the tail is so far that Newton's steps start from its asymptotic form.
_FAR = -50.0


class AbstractGaussianCopula(AbstractDistribution):
    """Abstract base class of vectors with given marginal distributions and jointly normal scores.

    The normal score of an element is the standard normal quantile of its marginal cdf; it is computed from the
    logarithm of the nearer tail, so it stays accurate where the cdf rounds to 0 or to 1.
    """

    parameters: ClassVar[dict[str, Constraint]] = {
        "correlation_matrix": constraints.corr_matrix,
        "correlation_cholesky": constraints.corr_cholesky,
    }

    @property
    @abstractmethod
    def marginal(self) -> AbstractDistribution:
        """Return the marginal distributions, of batch shape `batch_shape + (n,)` or one that broadcasts to it."""

    def __check_init__(self) -> None:
        exactly_one(self, "correlation_matrix", "correlation_cholesky")
        marginal, shape = self.marginal, np.shape(self._matrix)
        size = marginal.batch_shape[-1:] or (1,)
        if len(shape) < 2 or shape[-2] != shape[-1] or size[0] not in (1, shape[-1]):
            raise self.refuse(
                f"the marginals have batch shape {marginal.batch_shape} and the matrix shape {shape}",
                "Give marginals of batch shape (..., n) and a matrix of shape (..., n, n).",
            )
        if marginal.event_shape or marginal.is_discrete:
            kind = "discrete" if marginal.is_discrete else f"of event shape {marginal.event_shape}"
            raise self.refuse(
                f"the marginal {type(marginal).__name__} is {kind}",
                "Give a continuous, univariate distribution.",
            )

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(self.marginal.batch_shape[:-1], np.shape(self._matrix)[:-2])

    @property
    def event_shape(self) -> Shape:
        return np.shape(self._matrix)[-1:]

    @property
    def dtype(self) -> np.dtype:
        return float_type(np.zeros((), self.marginal.dtype), self._matrix)

    @property
    def support(self) -> Constraint:
        return Independent(self.marginal.support, 1)

    @property
    def mean(self) -> jax.Array:
        return self._full(self.marginal.mean)

    @property
    def variance(self) -> jax.Array:
        return self._full(self.marginal.variance)

    def log_prob(self, value: Any) -> jax.Array:
        marginal = self.marginal
        dtype = float_type(value, np.zeros((), self.dtype))
        x, _ = align(jnp.asarray(value, dtype), jnp.zeros((1,) * len(self._shape()), dtype))
        x = jnp.broadcast_to(x, np.broadcast_shapes(x.shape, self._shape()))
        is_known = jnp.broadcast_to(marginal.support(x), x.shape).all(axis=-1)
        is_inside = is_known | jnp.isnan(x).any(axis=-1)
        x = choose_events(is_inside, x, marginal.support.feasible_like(x))
        factor = self._factor(dtype)
        scores = _normal_scores(marginal.log_cdf(x), marginal.log_survival(x))
        white = solve_lower(factor, scores)
        by_marginal, log_volume = align(marginal.log_prob(x).sum(axis=-1), log_diagonal(factor))
        # The joint normal density of the scores over the product of their own.
        ratio = -0.5 * ((white - scores) * (white + scores)).sum(axis=-1) - log_volume
        return jnp.where(is_inside, by_marginal + ratio, -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise = jax.random.normal(key, self._shape(sample_shape), self.dtype)
        limits = jnp.finfo(self.dtype)
        # Stay inside (0, 1): an unbounded marginal maps its ends to infinity.
        q = jnp.clip(
            ndtr(multiply(self._factor(self.dtype), noise)), float(limits.tiny), 1 - 0.5 * float(limits.eps)
        )
        return self.marginal.icdf(q)

    def entropy(self) -> jax.Array:
        entropies = self._batched_marginal(self.marginal.entropy())
        return self._batched(entropies.sum(axis=-1)) + self._batched(log_diagonal(self._factor(self.dtype)))

    @property
    def _matrix(self) -> Any:
        """Return the matrix that was given."""
        return first_given(*(getattr(self, name) for name in AbstractGaussianCopula.parameters))

    def _factor(self, dtype: Any) -> jax.Array:
        """Return the lower Cholesky factor of the correlation matrix."""
        matrix, factor = (getattr(self, name) for name in AbstractGaussianCopula.parameters)
        return lower_factor(dtype, covariance=matrix, scale_tril=factor)

    def _batched_marginal(self, value: jax.Array) -> jax.Array:
        """Broadcast a summary of each marginal to the whole shape."""
        return jnp.broadcast_to(jnp.asarray(value, self.dtype), self._shape())


class GaussianCopula(AbstractGaussianCopula):
    """Gaussian copula: any continuous marginal distributions with the dependence of a multivariate normal.

    **Fields**
    - `marginal_dist`: a univariate distribution with a cdf (and an icdf, to draw), batch shape `(..., n)`.
    - `correlation_matrix`: of the normal scores, shape `(..., n, n)`; give this or its factor.
    - `correlation_cholesky`: its lower Cholesky factor.

    **Density**: `prod f(x_i) * exp(-z' (R^-1 - I) z / 2) / sqrt(det R)`, z_i the standard normal quantile of F(x_i),
    for marginals of density f and distribution function F, and correlation matrix R.

    **Source**: Song (2000), Scandinavian Journal of Statistics 27(2), equation 5.
    """

    marginal_dist: AbstractDistribution
    correlation_matrix: Any = None
    correlation_cholesky: Any = None

    @property
    def marginal(self) -> AbstractDistribution:
        return self.marginal_dist


class GaussianCopulaBeta(AbstractGaussianCopula):
    """Gaussian copula of beta-distributed shares: beta marginals with multivariate normal dependence.

    **Fields**
    - `concentration1`: first shape of each marginal, > 0, shape `(..., n)` or a number.
    - `concentration0`: second shape of each marginal, > 0.
    - `correlation_matrix`: of the normal scores, shape `(..., n, n)`; give this or its factor.
    - `correlation_cholesky`: its lower Cholesky factor.

    **Density**: the density of `GaussianCopula` for `Beta(concentration1, concentration0)`.

    **Source**: Song (2000), Scandinavian Journal of Statistics 27(2), equation 5.
    """

    concentration1: Any
    concentration0: Any
    correlation_matrix: Any = None
    correlation_cholesky: Any = None

    @property
    def marginal(self) -> AbstractDistribution:
        return Beta(self.concentration1, self.concentration0)


def _normal_scores(log_below: jax.Array, log_above: jax.Array) -> jax.Array:
    """Return standard normal quantiles of variables, from the log mass below and above them."""
    is_lower = log_below < log_above
    nearer = jnp.where(is_lower, log_below, log_above)
    # A marginal without an accurate tail may report zero mass beyond: use the smallest number.
    least = float(np.log(np.finfo(nearer.dtype).tiny))
    nearer = jnp.where(nearer == -jnp.inf, least, nearer)
    score = ndtri_exp(jnp.minimum(nearer, float(np.log(0.5))))
    return jnp.where(is_lower, score, -score)


@jax.custom_jvp
def ndtri_exp(log_q: jax.Array) -> jax.Array:
    """Compute the standard normal quantile of exp(log_q), for a finite log_q of at most log(1/2)."""
    is_far = log_q < _FAR
    near = ndtri(jnp.exp(jnp.where(is_far, -1.0, log_q)))
    y = jnp.where(is_far, log_q, _FAR)
    z = -jnp.sqrt(-2.0 * (y + 0.5 * jnp.log(-4.0 * math.pi * y)))
    for _ in range(3):
        ratio = erfcx(-_ROOT_HALF * z)
        z = z - (jnp.log(0.5 * ratio) - 0.5 * z * z - y) * (_ROOT_HALF_PI * ratio)
    return jnp.where(is_far, z, near)


@ndtri_exp.defjvp
def _ndtri_exp_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[jax.Array, jax.Array]:
    (log_q,), (log_q_dot,) = primals, tangents
    z = ndtri_exp(log_q)
    return z, _ROOT_HALF_PI * erfcx(-_ROOT_HALF * z) * log_q_dot
