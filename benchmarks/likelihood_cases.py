"""Hold the regressions of `likelihoods.py`: observed values, a distribution, and its textbook log density.

Imported by accord's interpreter and by NumPyro's, so it knows neither: a distribution is made from the module that is
given, since both have the same names and parameters.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special

DIM = 6
"""Length of a position: intercept, slope, two logarithms of parameters, and gaps between thresholds."""


class Predictors(NamedTuple):
    """Numbers made of the covariate at a position: `eta`, one for each value; `scale`, `shape`, `cuts`, one for all."""

    eta: jax.Array
    scale: jax.Array
    shape: jax.Array
    cuts: jax.Array


class Case(NamedTuple):
    """A distribution of observed values.

    - `draw`: of a generator and a size, in NumPy: the observed values.
    - `make`: of a module of distributions and `Predictors`.
    - `written`: the textbook log density, of the values and `Predictors`.
    """

    draw: Callable[[np.random.Generator, int], np.ndarray]
    make: Callable[[Any, Predictors], Any]
    written: Callable[[Any, Predictors], jax.Array]


def predictors(position: jax.Array, x: jax.Array) -> Predictors:
    """Turn a position, shape `(DIM,)`, and a covariate into parameters."""
    cuts = jnp.cumsum(jnp.concatenate([-1.0 + position[3:4], jnp.exp(position[4:6])]))
    return Predictors(
        position[0] + position[1] * x, jnp.exp(position[2]), 3.0 * jnp.exp(0.5 * position[3]), cuts
    )


def log_density(position: jax.Array, each: jax.Array) -> jax.Array:
    """Add a standard normal prior to the terms of the observations."""
    return each.sum() - 0.5 * (position**2).sum()


def _normal(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=n)


def _positive(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.gamma(2.0, 1.0, size=n) + 0.01


def _unit(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.beta(2.0, 2.0, size=n)


def _counts(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.negative_binomial(2, 0.3, size=n)


def _binary(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, 2, size=n)


def _few(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, 4, size=n)


def _angle(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(-3, 3, size=n)


lgamma, sp = special.gammaln, jax.nn.softplus
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def _log_choose(n: Any, k: Any) -> Any:
    return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0)


def _nb2(y: Any, mean: Any, c: Any) -> Any:
    log_both = jnp.log(mean + c)
    return (
        lgamma(y + c)
        - lgamma(c)
        - lgamma(y + 1.0)
        + c * (jnp.log(c) - log_both)
        + y * (jnp.log(mean) - log_both)
    )


def _ordered(y: Any, eta: Any, cuts: Any) -> Any:
    last = cuts.shape[0]
    high = cuts[jnp.minimum(y, last - 1)] - eta
    low = cuts[jnp.maximum(y - 1, 0)] - eta
    upper = jnp.where(y == last, 1.0, jax.nn.sigmoid(high))
    return jnp.log(upper - jnp.where(y == 0, 0.0, jax.nn.sigmoid(low)))


def _student(z: Any, df: Any) -> Any:
    return (
        lgamma(0.5 * (df + 1))
        - lgamma(0.5 * df)
        - 0.5 * jnp.log(math.pi * df)
        - 0.5 * (df + 1) * jnp.log1p(z * z / df)
    )


def _beta(y: Any, a: Any, b: Any) -> Any:
    return (a - 1) * jnp.log(y) + (b - 1) * jnp.log1p(-y) + lgamma(a + b) - lgamma(a) - lgamma(b)


def _gamma(y: Any, a: Any, b: Any) -> Any:
    return a * jnp.log(b) - lgamma(a) + (a - 1) * jnp.log(y) - b * y


def _binomial(y: Any, n: float, eta: Any) -> Any:
    return _log_choose(n, y) + y * eta - n * sp(eta)


def _zip(y: Any, gate: Any, rate: Any) -> Any:
    count = jnp.log1p(-gate) + y * jnp.log(rate) - rate - lgamma(y + 1.0)
    return jnp.where(y == 0, jnp.log(gate + (1 - gate) * jnp.exp(-rate)), count)


def _beta_binomial(y: Any, a: Any, b: Any, n: float) -> Any:
    top = lgamma(y + a) + lgamma(n - y + b) - lgamma(n + a + b)
    return _log_choose(n, y) + top + lgamma(a + b) - lgamma(a) - lgamma(b)


def _z(y: Any, p: Predictors) -> Any:
    return (y - p.eta) / p.scale


def _softmax_of(p: Predictors) -> Any:
    return jnp.stack([jnp.zeros_like(p.eta), p.eta, p.eta * p.scale, p.eta * p.shape], -1)


def _categorical(y: Any, logits: Any) -> Any:
    return jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], -1)[:, 0]


def _weights_of(means: Any, p: Predictors) -> Any:
    return jax.nn.softmax(p.shape * jnp.arange(means.shape[-1]))


def _mixture_of(d: Any, means: Any, p: Predictors) -> Any:
    return d.MixtureSameFamily(d.Categorical(probs=_weights_of(means, p)), d.Normal(means, p.scale))


def _mixed(y: Any, means: Any, p: Predictors) -> Any:
    each = -0.5 * ((y[:, None] - means) / p.scale) ** 2 - jnp.log(p.scale) - HALF_LOG_2PI
    return special.logsumexp(each + jnp.log(_weights_of(means, p)), -1)


CASES: dict[str, Case] = {
    "Normal": Case(
        _normal,
        lambda d, p: d.Normal(p.eta, p.scale),
        lambda y, p: -0.5 * _z(y, p) ** 2 - jnp.log(p.scale) - HALF_LOG_2PI,
    ),
    "StudentT": Case(
        _normal,
        lambda d, p: d.StudentT(p.shape, p.eta, p.scale),
        lambda y, p: _student(_z(y, p), p.shape) - jnp.log(p.scale),
    ),
    "StudentT, df 4": Case(
        _normal,
        lambda d, p: d.StudentT(4.0, p.eta, p.scale),
        lambda y, p: _student(_z(y, p), 4.0) - jnp.log(p.scale),
    ),
    "Cauchy": Case(
        _normal,
        lambda d, p: d.Cauchy(p.eta, p.scale),
        lambda y, p: -jnp.log1p(_z(y, p) ** 2) - jnp.log(math.pi * p.scale),
    ),
    "Laplace": Case(
        _normal,
        lambda d, p: d.Laplace(p.eta, p.scale),
        lambda y, p: -jnp.abs(_z(y, p)) - jnp.log(2 * p.scale),
    ),
    "LogNormal": Case(
        _positive,
        lambda d, p: d.LogNormal(p.eta, p.scale),
        lambda y, p: -0.5 * _z(jnp.log(y), p) ** 2 - jnp.log(p.scale) - jnp.log(y) - HALF_LOG_2PI,
    ),
    "Exponential": Case(
        _positive,
        lambda d, p: d.Exponential(jnp.exp(p.eta)),
        lambda y, p: p.eta - y * jnp.exp(p.eta),
    ),
    "Gamma": Case(
        _positive,
        lambda d, p: d.Gamma(p.shape, jnp.exp(p.eta)),
        lambda y, p: _gamma(y, p.shape, jnp.exp(p.eta)),
    ),
    "Weibull": Case(
        _positive,
        lambda d, p: d.Weibull(jnp.exp(p.eta), p.shape),
        lambda y, p: (
            jnp.log(p.shape)
            - p.shape * p.eta
            + (p.shape - 1) * jnp.log(y)
            - jnp.exp(p.shape * (jnp.log(y) - p.eta))
        ),
    ),
    "Beta": Case(
        _unit,
        lambda d, p: d.Beta(jnp.exp(p.eta), p.shape),
        lambda y, p: _beta(y, jnp.exp(p.eta), p.shape),
    ),
    "Bernoulli, logits": Case(
        _binary,
        lambda d, p: d.Bernoulli(logits=p.eta),
        lambda y, p: y * p.eta - sp(p.eta),
    ),
    "Binomial, logits": Case(
        lambda rng, n: rng.binomial(12, 0.4, size=n),
        lambda d, p: d.Binomial(12, logits=p.eta),
        lambda y, p: _binomial(y, 12.0, p.eta),
    ),
    "Poisson": Case(
        _counts,
        lambda d, p: d.Poisson(jnp.exp(p.eta)),
        lambda y, p: y * p.eta - jnp.exp(p.eta) - lgamma(y + 1.0),
    ),
    "ZeroInflatedPoisson": Case(
        _counts,
        lambda d, p: d.ZeroInflatedPoisson(jax.nn.sigmoid(p.scale), jnp.exp(p.eta)),
        lambda y, p: _zip(y, jax.nn.sigmoid(p.scale), jnp.exp(p.eta)),
    ),
    "NegativeBinomial2": Case(
        _counts,
        lambda d, p: d.NegativeBinomial2(jnp.exp(p.eta), p.shape),
        lambda y, p: _nb2(y, jnp.exp(p.eta), p.shape),
    ),
    "OrderedLogistic": Case(
        _few,
        lambda d, p: d.OrderedLogistic(p.eta, p.cuts),
        lambda y, p: _ordered(y, p.eta, p.cuts),
    ),
    "BetaBinomial": Case(
        lambda rng, n: rng.binomial(12, rng.beta(2.0, 3.0, size=n)),
        lambda d, p: d.BetaBinomial(jnp.exp(p.eta), p.shape, 12),
        lambda y, p: _beta_binomial(y, jnp.exp(p.eta), p.shape, 12.0),
    ),
    "Categorical, logits": Case(
        _few,
        lambda d, p: d.Categorical(logits=_softmax_of(p)),
        lambda y, p: _categorical(y, _softmax_of(p)),
    ),
    "Mixture of 2 normals": Case(
        _normal,
        lambda d, p: _mixture_of(d, p.cuts[:2], p),
        lambda y, p: _mixed(y, p.cuts[:2], p),
    ),
    "Mixture of 3 normals": Case(
        _normal,
        lambda d, p: _mixture_of(d, p.cuts, p),
        lambda y, p: _mixed(y, p.cuts, p),
    ),
    "Mixture of 2 regressions": Case(
        _normal,
        lambda d, p: _mixture_of(d, p.eta[:, None] + p.cuts[:2], p),
        lambda y, p: _mixed(y, p.eta[:, None] + p.cuts[:2], p),
    ),
}
