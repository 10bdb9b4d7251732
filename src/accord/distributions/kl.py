"""Compute Kullback-Leibler divergences between distributions where there is a formula."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..core.errors import DistributionError
from ..core.tracebacks import entry_point
from . import kl_formulas as formulas
from .base import AbstractDistribution
from .kl_formulas import together, zeros


@entry_point
def kl_divergence(p: AbstractDistribution, q: AbstractDistribution) -> jax.Array:
    """Return the Kullback-Leibler divergence of `p` from `q`, E_p[log p - log q], in nats.

    There are formulas for two distributions of one family: `Normal`, `LogNormal`, `LogitNormal`, `HalfNormal`,
    `MultivariateNormal`, `Laplace`, `Gamma`, `InverseGamma`, `Exponential`, `Beta`, `Dirichlet`, `Uniform`,
    `Bernoulli`, `Binomial`, `Geometric`, `Categorical`, `Poisson`; for `Kumaraswamy` from `Beta`, `Weibull` and
    `LogNormal` from `Gamma` or `Exponential`, `Delta` from any, independent normals from `MultivariateNormal` or
    `CirculantNormal`, and `MultivariateNormal` from independent normals; and for such distributions expanded, masked,
    taken to events, or both transformed by the same bijector.

    **Returns** an array of the common batch shape; inf where `p` has mass outside the support of `q`.

    **Raises** `DistributionError`, which names the pair, if there is no formula.
    """
    from .wrappers.wrappers import ExpandedDistribution, Independent, MaskedDistribution

    if p.event_shape != q.event_shape:
        raise DistributionError(
            f"kl_divergence: {_name(p)} has events of shape {p.event_shape}, {_name(q)} of shape {q.event_shape}. "
            "Give distributions over the same space."
        )
    shape = np.broadcast_shapes(p.batch_shape, q.batch_shape)
    match p, q:
        case MaskedDistribution(), MaskedDistribution() if p.where is q.where:
            result = jnp.where(_fitted(p.where, shape), _fitted(kl_divergence(p.base, q.base), shape), 0.0)
        case MaskedDistribution(), _:
            result = jnp.where(_fitted(p.where, shape), _fitted(kl_divergence(p.base, q), shape), 0.0)
        case _, MaskedDistribution():
            result = jnp.where(_fitted(q.where, shape), _fitted(kl_divergence(p, q.base), shape), 0.0)
        case ExpandedDistribution(), _:
            result = kl_divergence(p.base, q)
        case _, ExpandedDistribution():
            result = kl_divergence(p, q.base)
        case Independent(), Independent() if p.base.event_shape == q.base.event_shape:
            batch = np.broadcast_shapes(p.base.batch_shape, q.base.batch_shape)
            inner = _fitted(kl_divergence(p.base, q.base), batch)
            result = inner.sum(axis=tuple(range(-p.count, 0))) if p.count else inner
        case _:
            result = _by_formula(p, q)
    return _fitted(result, shape)


def _by_formula(p: AbstractDistribution, q: AbstractDistribution) -> jax.Array:
    """Return the divergence of a pair that is neither expanded nor masked."""
    from .discrete.bernoulli import Bernoulli, Geometric
    from .discrete.binomial import Binomial
    from .discrete.categorical import Categorical
    from .discrete.poisson import Poisson
    from .multivariate.normal.circulant import CirculantNormal
    from .multivariate.normal.multivariate import MultivariateNormal
    from .multivariate.simplex import Dirichlet
    from .univariate.interval.interval import Beta, Uniform
    from .univariate.interval.through_logit import LogitNormal
    from .univariate.interval.unit_interval import Kumaraswamy
    from .univariate.positive.gamma import Exponential, Gamma
    from .univariate.positive.inverse_gamma import InverseGamma
    from .univariate.positive.lifetimes import Weibull
    from .univariate.positive.positive import HalfNormal, LogNormal
    from .univariate.real.laplace import Laplace
    from .univariate.real.real_line import Normal
    from .wrappers.delta import Delta
    from .wrappers.transformed import TransformedDistribution
    from .wrappers.wrappers import Independent

    match p, q:
        case (Normal(), Normal()) | (LogNormal(), LogNormal()) | (LogitNormal(), LogitNormal()):
            return formulas.normal(*together(p, q, ("loc", "scale")))
        case HalfNormal(), HalfNormal():
            scale, other = together(p, q, ("scale",))
            return formulas.normal(0.0, scale, 0.0, other)
        case MultivariateNormal(), MultivariateNormal():
            return formulas.multivariate_normal(p, q)
        case MultivariateNormal(), Independent() if (wide := _as_vector(q)) is not None:
            return formulas.multivariate_normal(p, wide)
        case Independent(), MultivariateNormal() if (wide := _as_vector(p)) is not None:
            return formulas.multivariate_normal(wide, q)
        case Independent(base=Normal()), CirculantNormal() if p.count == 1:
            return formulas.from_circulant(p, q)
        case Laplace(), Laplace():
            return formulas.laplace(*together(p, q, ("loc", "scale")))
        case Exponential(), Exponential():
            return formulas.exponential(*together(p, q, ("rate",)))
        case (Gamma(), Gamma()) | (InverseGamma(), InverseGamma()):
            return formulas.gamma(*together(p, q, ("concentration", "rate")))
        case Weibull(), Gamma():
            return formulas.weibull_gamma(
                *together(p, q, ("scale", "concentration"), ("concentration", "rate"))
            )
        case Weibull(), Exponential():
            scale, k, rate = together(p, q, ("scale", "concentration"), ("rate",))
            return formulas.weibull_gamma(scale, k, jnp.ones_like(rate), rate)
        case LogNormal(), Gamma():
            return formulas.log_normal_gamma(*together(p, q, ("loc", "scale"), ("concentration", "rate")))
        case LogNormal(), Exponential():
            loc, scale, rate = together(p, q, ("loc", "scale"), ("rate",))
            return formulas.log_normal_gamma(loc, scale, jnp.ones_like(rate), rate)
        case Beta(), Beta():
            return formulas.beta(*together(p, q, ("concentration1", "concentration0")))
        case Kumaraswamy(), Beta():
            return formulas.kumaraswamy_beta(*together(p, q, ("concentration1", "concentration0")))
        case Dirichlet(), Dirichlet():
            return formulas.dirichlet(p.concentration, q.concentration)
        case Uniform(), Uniform():
            return formulas.uniform(*together(p, q, ("low", "high")))
        case Bernoulli(), Bernoulli():
            return formulas.trial(p, q)
        case Binomial(), Binomial():
            n, other = together(p, q, ("total_count",))
            # More trials than the other has are impossible under it.
            return jnp.where(n == other, n * formulas.trial(p, q), jnp.inf)
        case Geometric(), Geometric():
            return formulas.trial(p, q) * (1 + p.mean)
        case Categorical(), Categorical() if p.num_categories == q.num_categories:
            return formulas.categorical(p.log_weights(), q.log_weights())
        case Poisson(), Poisson():
            return formulas.poisson(*together(p, q, ("rate",)))
        case Delta(), _:
            point = jnp.broadcast_to(p.mean, (*zeros(p, q).shape, *p.event_shape))
            return jnp.asarray(p.log_density, zeros(p, q).dtype) - q.log_prob(point)
        case TransformedDistribution(), TransformedDistribution() if (
            p.base_distribution.event_dim == p.event_dim and _are_same(p.parts, q.parts)
        ):  # one-to-one maps change no divergence
            return kl_divergence(p.base_distribution, q.base_distribution)
    raise DistributionError(
        f"kl_divergence: there is no formula for {_name(p)} from {_name(q)}. "
        "Estimate it: the mean of p.log_prob(x) - q.log_prob(x) over draws x of p."
    )


def _as_vector(distribution: Any) -> Any:
    """Return independent normals of one axis as a `MultivariateNormal`; None for other distributions."""
    from .multivariate.normal.multivariate import MultivariateNormal
    from .univariate.real.real_line import Normal
    from .wrappers.wrappers import ExpandedDistribution

    base = distribution.base
    while isinstance(base, ExpandedDistribution):
        base = base.base
    if not isinstance(base, Normal) or distribution.count != 1:
        return None
    scale = jnp.broadcast_to(jnp.asarray(base.scale, base.dtype), distribution.base.batch_shape)
    return MultivariateNormal(
        distribution.mean, scale_tril=scale[..., None] * jnp.eye(scale.shape[-1], dtype=scale.dtype)
    )


def _are_same(transforms: Any, others: Any) -> bool:
    """Return whether bijectors are known to be equal, with all of their numbers."""
    (leaves, structure), (other_leaves, other) = map(jax.tree.flatten, (transforms, others))
    return structure == other and all(
        one is two or not (isinstance(one, Tracer) or isinstance(two, Tracer) or not np.array_equal(one, two))
        for one, two in zip(leaves, other_leaves, strict=True)
    )


def _name(distribution: AbstractDistribution) -> str:
    """Return the name of a distribution for messages."""
    return type(distribution).__name__


def _fitted(array: Any, shape: tuple[int, ...]) -> jax.Array:
    """Broadcast the array to a shape."""
    return jnp.broadcast_to(jnp.asarray(array), shape)
