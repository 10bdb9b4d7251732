"""Sample independent standard variables, from which a correlated vector follows."""

import math
from typing import Any

import jax
import jax.numpy as jnp

from ...bijectors import AbstractBijector, Chain, LowerCholeskyAffine, RecursiveLinear, align, is_number
from ...core.errors import DistributionError
from ...core.options import checks_fields
from ...distributions import AbstractDistribution
from ...distributions.multivariate.normal.low_rank import LowRankMultivariateNormal
from ...distributions.multivariate.normal.multivariate import MultivariateNormal, MultivariateStudentT
from ...distributions.multivariate.normal.zero_sum import ZeroSumNormal
from ...distributions.series.gaussian_random_walk import GaussianRandomWalk
from ...distributions.series.state_space import GaussianStateSpace
from ...distributions.special.basic.linear import lower_factor
from ...distributions.univariate.real.real_line import Normal
from .base import AbstractReparam, Parts


@checks_fields
class Structured(AbstractReparam):
    """Sample the non-centred form of a vector that has a covariance: independent variables.

    A MultivariateNormal, as the values of a Gaussian process at the data are, becomes `loc + L z`, L the lower Cholesky
    factor of its covariance and z independent standard normals; a MultivariateStudentT likewise. The elements of z for
    a GaussianRandomWalk and a GaussianStateSpace are the standardised steps. Of a ZeroSumNormal the scale is taken out.
    A LowRankMultivariateNormal is factored as a whole, at the cost of n^3.

    Where each element is measured well, leave the site as it is: as for `LocScale`, the data then tie z to scale and
    covariance.

    **Source**: Murray & Adams (2010), Advances in Neural Information Processing Systems 23, section 2.

    **Example**

    >>> @ac.model
    ... def walk():
    ...     scale = ac.sample("scale", dist.HalfNormal(1))
    ...     ac.sample("level", dist.GaussianRandomWalk(scale, 4))
    >>> print(handlers.reparam(walk(), {"level": reparam.Structured()}).sites())
    site        kind           shape  dims              distribution
    scale       latent         ()                       HalfNormal
    level       deterministic  (4,)   level_dim_0       GaussianRandomWalk
    level_base  latent         (4,)   level_base_dim_0  Independent
    """

    def parts(self, distribution: AbstractDistribution) -> Parts | None:
        """Return the distribution of z, and the linear map from it."""
        d: Any = distribution
        match distribution:
            case MultivariateNormal():
                factor = lower_factor(d.dtype, d.covariance_matrix, d.precision_matrix, d.scale_tril)
                return Parts(_white(d), LowerCholeskyAffine(d.loc, factor))
            case LowRankMultivariateNormal():
                root = jnp.asarray(d.cov_factor, d.dtype)
                own = jnp.broadcast_to(jnp.asarray(d.cov_diag, d.dtype), (*d.batch_shape, *d.event_shape))
                covariance = jnp.matmul(root, root.mT, precision="highest") + own[..., None] * jnp.eye(
                    own.shape[-1], dtype=d.dtype
                )
                return Parts(_white(d), LowerCholeskyAffine(d.loc, jnp.linalg.cholesky(covariance)))
            case MultivariateStudentT():
                unit = jnp.eye(d.event_shape[0], dtype=d.dtype)
                factor = unit if d.scale_tril is None else d.scale_tril
                return Parts(MultivariateStudentT(d.df, 0.0, unit), LowerCholeskyAffine(d.loc, factor))
            case GaussianRandomWalk():
                return Parts(_white(d), Path(d.scale))
            case GaussianStateSpace():
                noise = lower_factor(d.dtype, d.covariance_matrix, d.precision_matrix, d.scale_tril)
                steps = LowerCholeskyAffine(0.0, jnp.expand_dims(noise, -3))
                return Parts(_white(d), Chain((steps, RecursiveLinear(d.transition_matrix, d.initial_value))))
            case ZeroSumNormal():
                return Parts(ZeroSumNormal(1.0, d.event_shape), Stretch(d.scale, d.event_shape))
            case _:
                raise DistributionError(
                    f"{type(distribution).__name__} is none of MultivariateNormal, MultivariateStudentT, "
                    "LowRankMultivariateNormal, GaussianRandomWalk, GaussianStateSpace and ZeroSumNormal. For numbers "
                    "of a loc and a scale, write LocScale()."
                )


class Path(AbstractBijector):
    """Map standardised steps to the positions after them, which begin at 0.

    **Fields**
    - `scale`: of a step, > 0, shape broadcasting to the batch.
    """

    scale: Any
    domain_event_dim = 1
    codomain_event_dim = 1

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, scale = _with_scale(x, self.scale, 1)
        return jnp.cumsum(scale * x, axis=-1), self._log_det(x, scale)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, scale = _with_scale(y, self.scale, 1)
        return jnp.diff(y, prepend=jnp.zeros_like(y[..., :1])) / scale, -self._log_det(y, scale)

    def _log_det(self, x: jax.Array, scale: jax.Array) -> jax.Array:
        return jnp.broadcast_to(x.shape[-1] * jnp.log(scale[..., 0]), x.shape[:-1])


class Stretch(AbstractBijector):
    """Multiply arrays of zero sums along every axis; the volume is that within their space.

    **Fields**
    - `scale`: > 0, shape broadcasting to the batch.
    - `event_shape`: of one array.
    """

    scale: Any
    event_shape: tuple[int, ...]

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Trailing axes of `x` that form one event."""
        return len(self.event_shape)

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Trailing axes of `y` that form one event."""
        return len(self.event_shape)

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        x, scale = _with_scale(x, self.scale, len(self.event_shape))
        return scale * x, self._log_det(x, scale)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        y, scale = _with_scale(y, self.scale, len(self.event_shape))
        return y / scale, -self._log_det(y, scale)

    def _log_det(self, x: jax.Array, scale: jax.Array) -> jax.Array:
        num_event = len(self.event_shape)
        freedom = math.prod(size - 1 for size in self.event_shape)
        log_scale = jnp.log(scale).reshape(scale.shape[: scale.ndim - num_event])
        return jnp.broadcast_to(freedom * log_scale, x.shape[: x.ndim - num_event])


def _white(distribution: AbstractDistribution) -> AbstractDistribution:
    """Make independent standard normals, as many as there are elements in an event."""
    shape = (*distribution.batch_shape, *distribution.event_shape)
    return Normal(0.0, 1.0).expand(shape).to_event(distribution.event_dim)


def _with_scale(x: Any, scale: Any, num_event: int) -> tuple[jax.Array, jax.Array]:
    """Bring both to one dtype and rank, the scale with an axis of 1 for each of an event."""
    scale = scale if is_number(scale) else jnp.expand_dims(scale, range(-num_event, 0))
    x, scale = align(x, scale)
    return x, jnp.reshape(scale, (1,) * (x.ndim - jnp.ndim(scale)) + jnp.shape(scale))
