"""Compute Kullback-Leibler divergences between distributions where there is a formula."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import DistributionError
from ..core.tracebacks import entry_point
from . import kl_formulas as formulas
from .base import AbstractDistribution
from .kl_formulas import together, zeros


@entry_point
def kl_divergence(p: AbstractDistribution, q: AbstractDistribution) -> jax.Array:
    """Return the Kullback-Leibler divergence of `p` from `q`, E_p[log p - log q], in nats.

    There are formulas for two distributions of one family: `Normal`, `LogNormal`, `MultivariateNormal`, `Laplace`,
    `Gamma`, `Exponential`, `Beta`, `Dirichlet`, `Uniform`, `Bernoulli`, `Binomial`, `Geometric`, `Categorical`,
    `Poisson`; for `Kumaraswamy` from `Beta`, `Weibull` from `Gamma`, `Delta` from any, and independent normals from
    `CirculantNormal`; and for such distributions expanded, masked, or taken to events.

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
    from .univariate.interval.unit_interval import Kumaraswamy
    from .univariate.positive.gamma import Exponential, Gamma
    from .univariate.positive.lifetimes import Weibull
    from .univariate.positive.positive import LogNormal
    from .univariate.real.laplace import Laplace
    from .univariate.real.real_line import Normal
    from .wrappers.delta import Delta
    from .wrappers.wrappers import Independent

    match p, q:
        case (Normal(), Normal()) | (LogNormal(), LogNormal()):
            return formulas.normal(*together(p, q, ("loc", "scale")))
        case MultivariateNormal(), MultivariateNormal():
            return formulas.multivariate_normal(p, q)
        case Independent(base=Normal()), CirculantNormal() if p.count == 1:
            return formulas.from_circulant(p, q)
        case Laplace(), Laplace():
            return formulas.laplace(*together(p, q, ("loc", "scale")))
        case Exponential(), Exponential():
            return formulas.exponential(*together(p, q, ("rate",)))
        case Gamma(), Gamma():
            return formulas.gamma(*together(p, q, ("concentration", "rate")))
        case Weibull(), Gamma():
            return formulas.weibull_gamma(
                *together(p, q, ("scale", "concentration"), ("concentration", "rate"))
            )
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
    raise DistributionError(
        f"kl_divergence: there is no formula for {_name(p)} from {_name(q)}. "
        "Estimate it: the mean of p.log_prob(x) - q.log_prob(x) over draws x of p."
    )


def _name(distribution: AbstractDistribution) -> str:
    """Return the name of a distribution for messages."""
    return type(distribution).__name__


def _fitted(array: Any, shape: tuple[int, ...]) -> jax.Array:
    """Broadcast the array to a shape."""
    return jnp.broadcast_to(jnp.asarray(array), shape)
