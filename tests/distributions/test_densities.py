"""Test densities: against SciPy, against one, and where a value is impossible, missing or masked."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, assert_finite, each
from scipy import integrate
from table import ALL, DISCRETE, MULTIVARIATE, UNIVARIATE, Case

import accord.distributions as dist

WITH_SCIPY = {name: case for name, case in UNIVARIATE.items() if case.scipy}


@each(WITH_SCIPY)
def test_univariate_densities_and_quantiles_are_those_of_scipy(case: Case) -> None:
    d, reference = case.make(), case.scipy()
    q = np.array([0.001, 0.1, 0.3, 0.5, 0.8, 0.99])
    x = reference.ppf(q)
    assert_close(d.log_prob(x), reference.logpdf(x), rtol=1e-9, atol=1e-9)
    assert_close(d.cdf(x), q, rtol=1e-8, atol=1e-9)
    assert_close(d.entropy(), np.asarray(reference.entropy(), np.float64), rtol=1e-9, atol=1e-9)
    mean, variance = reference.stats("mv")
    assert_close(d.mean, np.asarray(mean), rtol=1e-9, atol=1e-9)
    assert_close(d.variance, np.asarray(variance), rtol=1e-8, atol=1e-9)
    if type(d).icdf is not dist.AbstractDistribution.icdf:
        assert_close(d.icdf(q), x, rtol=1e-8, atol=1e-9)


@each(DISCRETE)
def test_discrete_probabilities_are_those_of_scipy_and_sum_to_one(case: Case) -> None:
    d, reference = case.make(), case.scipy()
    k = np.arange(0, int(reference.ppf(1 - 1e-15)) + 1)
    inside = np.asarray(d.support(k))
    assert_close(d.log_prob(k)[inside], reference.logpmf(k)[inside], rtol=1e-9, atol=1e-9)
    assert_close(jnp.exp(d.log_prob(k)).sum(), np.asarray(1.0), rtol=1e-9)
    assert_close(d.log_prob(k.astype(np.float64)), d.log_prob(k))
    assert_close(d.cdf(k), reference.cdf(k), rtol=1e-8, atol=1e-9)
    assert_close(d.mean, np.asarray(reference.mean(), np.float64), rtol=1e-9)
    assert_close(d.variance, np.asarray(reference.var(), np.float64), rtol=1e-9)
    assert (d.log_prob(np.array([-1.0, 0.5])) == -np.inf).all()


@each(MULTIVARIATE)
def test_multivariate_densities_are_those_of_scipy(case: Case) -> None:
    d, reference = case.make(), case.scipy()
    x = reference.rvs(5, random_state=np.random.default_rng(3))
    expected = reference.logpdf(x.T if isinstance(d, dist.Dirichlet) else x)
    assert_close(d.log_prob(x), expected, rtol=1e-10, atol=1e-10)
    assert_close(d.entropy(), np.asarray(reference.entropy()), rtol=1e-10)


@each(UNIVARIATE)
def test_univariate_densities_integrate_to_one_and_their_cdf_is_the_integral(case: Case) -> None:
    d = case.make()
    density = jax.jit(lambda x: jnp.exp(d.log_prob(x)))
    bijector = dist.biject_to(d.support)
    middle = float(bijector.forward(0.0))
    low, high = (float(bijector.forward(x)) for x in (-np.inf, np.inf))
    low, high = min(low, high), max(low, high)
    below = integrate.quad(density, low, middle, limit=200)[0]
    above = integrate.quad(density, middle, high, limit=200)[0]
    assert abs(below + above - 1) < 1e-7
    assert abs(below - float(d.cdf(middle))) < 1e-7


OUTSIDE: dict[str, tuple[Any, tuple, Any]] = {
    "HalfNormal": (dist.HalfNormal, (1.5,), -1.0),
    "HalfCauchy": (dist.HalfCauchy, (1.5,), -1.0),
    "HalfStudentT": (dist.HalfStudentT, (3.0, 1.5), -1.0),
    "LogNormal": (dist.LogNormal, (0.5, 1.5), -1.0),
    "LogNormal at 0": (dist.LogNormal, (0.5, 1.5), 0.0),
    "Gamma": (dist.Gamma, (2.5, 1.5), -1.0),
    "Gamma at 0": (dist.Gamma, (2.5, 1.5), 0.0),
    "InverseGamma": (dist.InverseGamma, (2.5, 1.5), -1.0),
    "InverseGamma at 0": (dist.InverseGamma, (2.5, 1.5), 0.0),
    "Exponential": (dist.Exponential, (2.5,), -1.0),
    "Beta below": (dist.Beta, (2.5, 0.5), -1.0),
    "Beta at 0": (dist.Beta, (2.5, 0.5), 0.0),
    "Beta above": (dist.Beta, (2.5, 3.5), 2.0),
    "Uniform": (dist.Uniform, (0.5, 1.5), 3.0),
    "TruncatedNormal below": (
        lambda *p: dist.TruncatedNormal(p[0], p[1], low=p[2], high=p[3]),
        (0.0, 1.0, -1.0, 2.0),
        -1.5,
    ),
    "TruncatedNormal above": (
        lambda *p: dist.TruncatedNormal(p[0], p[1], low=p[2], high=p[3]),
        (0.0, 1.0, -np.inf, 2.0),
        2.5,
    ),
    "Bernoulli, probs": (dist.Bernoulli, (0.3,), 2),
    "Bernoulli, logits": (lambda p: dist.Bernoulli(logits=p), (0.3,), -1),
    "Binomial": (lambda p: dist.Binomial(4, p), (0.3,), 5),
    "Poisson": (dist.Poisson, (2.0,), -1),
    "Poisson, fraction": (dist.Poisson, (2.0,), 1.5),
    "Categorical": (lambda p: dist.Categorical(logits=p), (np.array([0.3, 1.0]),), 2),
    "Dirichlet off the simplex": (dist.Dirichlet, (np.array([2.0, 3.0]),), np.array([0.5, 0.7])),
    "Dirichlet at a corner": (dist.Dirichlet, (np.array([2.0, 3.0]),), np.array([0.0, 1.0])),
    "Mixture": (
        lambda p: dist.MixtureSameFamily(dist.Categorical(np.array([0.5, 0.5])), dist.Gamma(p, 1.0)),
        (np.array([1.5, 2.0]),),
        -1.0,
    ),
}


@each(OUTSIDE)
def test_outside_the_support_the_log_density_is_minus_infinity_with_zero_gradient(case: tuple) -> None:
    make, parameters, value = case
    log_prob, slopes = jax.jit(
        jax.value_and_grad(lambda *p: make(*p).log_prob(value), argnums=tuple(range(len(parameters))))
    )(*parameters)
    assert log_prob == -np.inf
    assert all((np.asarray(slope) == 0).all() for slope in slopes), slopes
    if not make(*parameters).is_discrete:
        by_value = jax.grad(lambda x: make(*parameters).log_prob(x))(jnp.asarray(value))
        assert (by_value == 0).all()


FINITE = (
    "Normal",
    "Gamma",
    "Beta",
    "TruncatedNormal",
    "Poisson",
    "Binomial, logits",
    "Mixture of several",
    "Uniform",
)


@each({name: ALL[name] for name in FINITE})
def test_a_masked_nan_has_no_influence_on_value_or_gradient(case: Case) -> None:
    d = case.make()
    good = jnp.asarray(d.sample(jax.random.key(0), (3,)), float)
    value = jnp.concatenate([good, jnp.asarray([np.nan, -np.inf, np.inf])])
    mask = np.arange(6) < 3

    def log_joint(scale: Any, value: Any) -> jax.Array:
        return d.expand((6,)).mask(mask).log_prob(value * scale).sum()

    clean = jnp.concatenate([good, good])
    for_nan = jax.jit(jax.value_and_grad(log_joint, argnums=(0, 1)))(jnp.ones(6), value)
    for_clean = jax.jit(jax.value_and_grad(log_joint, argnums=(0, 1)))(jnp.ones(6), clean)
    assert_finite((for_nan[0], for_nan[1][1]))
    assert_close((for_nan[0], for_nan[1][1]), (for_clean[0], for_clean[1][1]))
    assert (d.expand((6,)).mask(mask).log_prob(value)[3:] == 0).all()


def test_a_masked_observation_does_not_reach_the_parameters() -> None:
    y, mask = np.array([1.0, np.nan, 2.0]), np.array([True, False, True])
    slopes = jax.grad(lambda m, s: dist.Normal(m, s).expand((3,)).mask(mask).log_prob(y).sum(), (0, 1))(
        0.5, 2.0
    )
    kept = jax.grad(lambda m, s: dist.Normal(m, s).log_prob(y[mask]).sum(), (0, 1))(0.5, 2.0)
    assert_close(slopes, kept)


def test_an_unmasked_nan_is_not_hidden() -> None:
    for d in (
        dist.Normal(0, 1),
        dist.Gamma(2, 3),
        dist.Beta(2, 3),
        dist.HalfNormal(1),
        dist.TruncatedNormal(0, 1, low=0),
    ):
        assert jnp.isnan(d.log_prob(np.nan))
    assert not jnp.isfinite(dist.Uniform(0, 1).log_prob(np.nan))


def test_the_normal_costs_a_handful_of_operations() -> None:
    jaxpr = jax.make_jaxpr(dist.Normal(0, 5).log_prob)(jnp.ones(3))
    assert len(jaxpr.eqns) <= 6
    gamma = str(jax.make_jaxpr(dist.Gamma(2, 3).log_prob)(jnp.ones(3)))
    assert "lgamma" not in gamma
    assert gamma.count("log ") == 1


PARAMETERS = {
    "Python numbers": (0, 5),
    "NumPy float64": (np.zeros(2), np.array([1.0, 2.0])),
    "NumPy integers": (np.zeros(2, int), 2),
    "NumPy scalars": (np.float64(0.0), np.int64(2)),
    "JAX float32": (jnp.zeros(2, np.float32), 2.0),
    "a bool": (False, True),
}


@each(PARAMETERS)
@pytest.mark.parametrize("x64", [True, False])
def test_any_kind_of_number_is_a_parameter(parameters: tuple, x64: bool) -> None:
    with jax.enable_x64(x64):
        d = dist.Normal(*parameters)
        strong = [
            np.asarray(p).dtype for p in parameters if isinstance(p, (np.ndarray, np.generic, jax.Array))
        ]
        single = not x64 or (strong and all(dtype == np.float32 for dtype in strong))
        expected = np.float32 if single else np.float64
        assert d.dtype == expected
        assert d.log_prob(np.zeros(2, np.float32)).dtype == (expected if np.float64 in strong else np.float32)
        assert d.log_prob(np.zeros(2, np.int32)).dtype == expected
        assert d.sample(jax.random.key(0)).dtype == expected
        assert d.mean.dtype == d.variance.dtype == d.entropy().dtype == expected
        assert dist.Poisson(np.array([1.0, 2.0])).log_prob(np.array([1, 2])).shape == (2,)


def test_parameters_are_kept_as_given() -> None:
    array = np.array([1.0, 2.0])
    d = dist.Normal(0.1, array)
    assert d.loc == 0.1
    assert type(d.loc) is float
    assert d.scale is array
