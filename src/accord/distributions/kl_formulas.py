"""Define formulas of Kullback-Leibler divergences that stay accurate when both distributions are close.

**Source**: Gil, Alajaji & Linder (2013), Information Sciences 249, 124-131, for pairs of one family.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from .base import AbstractDistribution
from .discrete.bernoulli import Bernoulli, Geometric
from .discrete.binomial import Binomial
from .discrete.common.counts import odds
from .multivariate.normal.circulant import CirculantNormal
from .multivariate.normal.multivariate import MultivariateNormal
from .special import excess, log1m_exp, log1p_excess, log_gamma_remainder, log_of, softplus

_EULER = float(np.euler_gamma)
# Nodes of the double exponential rule on (0, 1), as minus their log odds.
_STEP = 0.0625
_GRID = np.arange(-4.0, 4.0 + _STEP / 2, _STEP)


def zeros(p: AbstractDistribution, q: AbstractDistribution) -> jax.Array:
    """Return zeros of the common batch shape and dtype."""
    shape = np.broadcast_shapes(p.batch_shape, q.batch_shape)
    return jnp.zeros(shape, p.dtype if p.dtype.itemsize >= q.dtype.itemsize else q.dtype)


def together(
    p: AbstractDistribution,
    q: AbstractDistribution,
    of_p: tuple[str, ...],
    of_q: tuple[str, ...] | None = None,
) -> tuple[jax.Array, ...]:
    """Return the parameters of both distributions, those of `p` first, in the common batch shape and dtype."""
    like = zeros(p, q)
    pairs = [(p, name) for name in of_p] + [(q, name) for name in (of_q or of_p)]
    return tuple(jnp.broadcast_to(jnp.asarray(getattr(d, name), like.dtype), like.shape) for d, name in pairs)


def normal(loc: Any, scale: Any, other_loc: Any, other_scale: Any) -> jax.Array:
    """Return the divergence between normals (or log-normals)."""
    ratio, shift = scale / other_scale, (loc - other_loc) / other_scale
    # Written in the ratio of variances less one, so that equal scales cancel exactly.
    gap = (scale - other_scale) / other_scale * (ratio + 1)
    return 0.5 * (shift * shift - log1p_excess(gap))


def multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> jax.Array:
    """Return the divergence between multivariate normals."""
    like, size = zeros(p, q), p.event_shape[-1]
    first, second = (jnp.broadcast_to(d._factor(like.dtype), (*like.shape, size, size)) for d in (p, q))  # pyright: ignore[reportPrivateUsage]
    shift = jnp.broadcast_to(p.mean.astype(like.dtype), (*like.shape, size))
    shift = shift - jnp.broadcast_to(q.mean.astype(like.dtype), shift.shape)
    ratio = jax.scipy.linalg.solve_triangular(second, first, lower=True)
    white = jax.scipy.linalg.solve_triangular(second, shift[..., None], lower=True)[..., 0]
    diagonal = jnp.diagonal(ratio, axis1=-2, axis2=-1)
    # The diagonal of the ratio gives its determinant; elements below it only add to the trace.
    own = -log1p_excess((diagonal - 1) * (diagonal + 1)).sum(axis=-1)
    below = (jnp.tril(ratio, -1) ** 2).sum(axis=(-2, -1))
    return 0.5 * (own + below + (white * white).sum(axis=-1))


def from_circulant(p: AbstractDistribution, q: CirculantNormal) -> jax.Array:
    """Return the divergence from independent normals to a circulant normal."""
    eigenvalues = q._eigenvalues(q.dtype)  # pyright: ignore[reportPrivateUsage]
    # Every diagonal element of the precision is the mean of the inverse eigenvalues.
    precision = (q._multiplicity(eigenvalues) / eigenvalues).sum(axis=-1) / q.event_shape[0]  # pyright: ignore[reportPrivateUsage]
    like = zeros(p, q)
    spread = jnp.broadcast_to(p.variance.sum(axis=-1), like.shape) * jnp.broadcast_to(precision, like.shape)
    loc = jnp.broadcast_to(p.mean, (*like.shape, *q.event_shape))
    return 0.5 * spread - q.log_prob(loc) - jnp.broadcast_to(p.entropy(), like.shape)


def laplace(loc: Any, scale: Any, other_loc: Any, other_scale: Any) -> jax.Array:
    """Return the divergence between Laplace distributions."""
    ratio, gap = scale / other_scale, (loc - other_loc) / scale
    # Written for both signs, because |x| has no derivative at 0 and this has.
    distance = jnp.where(gap >= 0, gap, -gap)
    return ratio * (jnp.exp(-distance) - 1 + distance) - log1p_excess((scale - other_scale) / other_scale)


def exponential(rate: Any, other_rate: Any) -> jax.Array:
    """Return the divergence between exponential distributions."""
    return -log1p_excess((other_rate - rate) / rate)


def gamma(a: Any, rate: Any, other_a: Any, other_rate: Any) -> jax.Array:
    """Return the divergence between gamma distributions."""
    # The mean of p under both, then the shapes, each compared by remainders of log-gamma functions.
    scale = -other_a * log1p_excess((a * other_rate - rate * other_a) / (rate * other_a))
    shape = log_gamma_remainder(other_a) - log_gamma_remainder(a)
    return scale + shape + (a - other_a) * (jsp.digamma(a) - jnp.log(a))


def weibull_gamma(scale: Any, k: Any, a: Any, rate: Any) -> jax.Array:
    """Return the divergence from a Weibull to a gamma distribution."""
    log_mean = jnp.log(scale) - _EULER / k
    entropy = _EULER * (1 - 1 / k) + jnp.log(scale / k) + 1
    mean = scale * jnp.exp(jsp.gammaln(1 + 1 / k))
    return rate * mean - (a - 1) * log_mean - a * jnp.log(rate) + jsp.gammaln(a) - entropy


def log_normal_gamma(loc: Any, scale: Any, a: Any, rate: Any) -> jax.Array:
    """Return the divergence from a log-normal to a gamma distribution."""
    # Of y = log x: rate e^y - a y has its least at log(a / rate), from where it is measured.
    shift = loc - jnp.log(a) + jnp.log(rate)
    mean = a * (jnp.exp(shift + 0.5 * scale * scale) - 1 - shift)
    return mean + log_gamma_remainder(a) - jnp.log(scale) - 0.5 * (math.log(2 * math.pi) + 1)


def beta(a: Any, b: Any, other_a: Any, other_b: Any) -> jax.Array:
    """Return the divergence between beta distributions."""
    return dirichlet(jnp.stack([a, b], axis=-1), jnp.stack([other_a, other_b], axis=-1))


def dirichlet(a: Any, other: Any) -> jax.Array:
    """Return the divergence between Dirichlet distributions."""
    a, other = jnp.asarray(a), jnp.asarray(other)
    dtype = jnp.promote_types(a.dtype, other.dtype)
    shape = np.broadcast_shapes(a.shape, other.shape)
    a, other = (jnp.broadcast_to(x.astype(dtype), shape) for x in (a, other))
    total, other_total = a.sum(axis=-1, keepdims=True), other.sum(axis=-1, keepdims=True)
    expected = other_total * (a / total)
    # The shares are compared by excesses, the rest by log-gamma functions without their growth.
    shares = -excess(other, expected - other, jnp.log(expected) - jnp.log(other)).sum(axis=-1)
    parts = (log_gamma_remainder(other) - log_gamma_remainder(a) + _log_mean(a, other)).sum(axis=-1)
    whole = log_gamma_remainder(other_total) - log_gamma_remainder(total) + _log_mean(total, other_total)
    return shares + parts - whole.squeeze(-1)


def kumaraswamy_beta(a: Any, b: Any, alpha: Any, beta_: Any) -> jax.Array:
    """Return the divergence from a Kumaraswamy to a beta distribution."""
    # E[log x] is closed; E[log(1 - x)] is integrated over the level of the cdf, which is 1 - (1 - x^a)^b.
    log_x = -(_EULER + jsp.digamma(b + 1)) / a
    level = np.pi * np.sinh(_GRID)
    weight = _STEP * np.pi * np.cosh(_GRID) / (4 * np.cosh(level / 2) ** 2)
    shape = (-1,) + (1,) * a.ndim
    log_level = -softplus(jnp.asarray(level, a.dtype).reshape(shape))
    log_rest = log_level / b[None]
    is_far = log_rest < -30
    log_power = log1m_exp(jnp.where(is_far, -1.0, log_rest)) / a[None]
    log_one_less = jnp.where(is_far, log_rest - jnp.log(a)[None], log1m_exp(log_power))
    log_1mx = (jnp.asarray(weight, a.dtype).reshape(shape) * log_one_less).sum(axis=0)
    log_p = jnp.log(a) + jnp.log(b) + (a - 1) * log_x - (b - 1) / b
    remainders = jsp.gammaln(alpha) + jsp.gammaln(beta_) - jsp.gammaln(alpha + beta_)
    return log_p - (alpha - 1) * log_x - (beta_ - 1) * log_1mx + remainders


def uniform(low: Any, high: Any, other_low: Any, other_high: Any) -> jax.Array:
    """Return the divergence between uniforms; inf where the first is not within the second."""
    is_within = (low >= other_low) & (high <= other_high)
    return jnp.where(is_within, jnp.log((other_high - other_low) / (high - low)), jnp.inf)


def trial(p: Bernoulli | Binomial | Geometric, q: Bernoulli | Binomial | Geometric) -> jax.Array:
    """Return the divergence between Bernoulli trials with the given probabilities of success."""
    like = zeros(p, q)
    first, second = (
        tuple(jnp.broadcast_to(part, like.shape) for part in odds(d.probs, d.logits, like.dtype)[:4])
        for d in (p, q)
    )
    by_outcome = zip(first[:2], second[:2], first[2:], second[2:], strict=True)
    terms = [-_relative(x, y, log_y - log_x) for x, y, log_x, log_y in by_outcome]
    return terms[0] + terms[1]


def categorical(log_p: jax.Array, log_q: jax.Array) -> jax.Array:
    """Return the divergence between categorical distributions, from their log probabilities."""
    dtype = jnp.promote_types(log_p.dtype, log_q.dtype)
    shape = np.broadcast_shapes(log_p.shape, log_q.shape)
    log_p, log_q = (jnp.broadcast_to(x.astype(dtype), shape) for x in (log_p, log_q))
    return -_relative(jnp.exp(log_p), jnp.exp(log_q), log_q - jnp.where(log_p == -jnp.inf, 0.0, log_p)).sum(
        axis=-1
    )


def poisson(rate: jax.Array, other_rate: jax.Array) -> jax.Array:
    """Return the divergence between Poisson distributions."""
    return -_relative(rate, other_rate, log_of(other_rate) - log_of(rate))


def _relative(x: jax.Array, y: jax.Array, log_ratio: jax.Array) -> jax.Array:
    """Compute x log(y / x) - (y - x); the first term is 0 where x is 0."""
    return excess(x, y - x, jnp.where(x == 0, 0.0, log_ratio))


def _log_mean(a: jax.Array, other: jax.Array) -> jax.Array:
    """Compute (a - other) (digamma(a) - log(a))."""
    return (a - other) * (jsp.digamma(a) - jnp.log(a))
