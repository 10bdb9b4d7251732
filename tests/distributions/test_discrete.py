"""Test what families of counts have besides the laws of every distribution."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from accuracy import families, read
from laws import assert_close, assert_finite, compiled, each

import accord.distributions as dist
from accord.core.errors import DistributionError

FINITE = {
    "Bernoulli": (lambda: dist.Bernoulli(np.array([0.2, 0.7])), 0, 2),
    "Binomial": (lambda: dist.Binomial(np.array([3, 5]), 0.4), 0, 6),
    "Categorical": (lambda: dist.Categorical(np.array([[0.2, 0.8], [1.0, 0.0]])), 0, 2),
    "DiscreteUniform": (lambda: dist.DiscreteUniform(-2, np.array([1, 3])), -2, 6),
    "BetaBinomial": (lambda: dist.BetaBinomial(np.array([1.0, 3.0]), 2.0, 4), 0, 5),
    "OrderedLogistic": (lambda: dist.OrderedLogistic(np.array([0.0, 3.0]), np.array([-1.0, 1.0])), 0, 3),
    "ZeroInflated": (
        lambda: dist.ZeroInflatedDistribution(dist.Binomial(3, 0.4), gate=np.array([0.1, 0.2])),
        0,
        4,
    ),
}


@each(FINITE)
def test_a_finite_support_is_listed_and_has_all_probability(case: tuple[Any, ...]) -> None:
    make, first, count = case
    d = make()
    values, narrow = d.enumerate_support(), d.enumerate_support(expand=False)
    assert values.shape == (count, 2)
    assert narrow.shape == (count, 1)
    assert jnp.issubdtype(values.dtype, jnp.integer)
    assert (values == first + np.arange(count)[:, None]).all()
    assert_close(jnp.exp(d.log_prob(values)).sum(axis=0), np.ones(2), rtol=1e-10)
    assert_close(jnp.exp(d.log_prob(narrow)).sum(axis=0), np.ones(2), rtol=1e-10)


REFUSED = {
    "infinite": (lambda: dist.Poisson(3.0).enumerate_support(), "infinitely many"),
    "traced": (lambda: jax.jit(lambda n: dist.BetaBinomial(1.0, 1.0, n).cdf(1))(3), "constants"),
    "too many": (lambda: dist.Binomial(10**6, 0.5).enumerate_support(), "1000001 values"),
    "inflated density": (lambda: dist.ZeroInflatedDistribution(dist.Normal(), gate=0.1), "Normal.*Hurdle"),
    "no gate": (lambda: dist.HurdleDistribution(dist.Normal()), "exactly one"),
    "vectors": (lambda: dist.HurdleDistribution(dist.Dirichlet(np.ones(2)), gate=0.1), "univariate"),
    "mean": (lambda: dist.NegativeBinomial2(-1.0, 2.0), "mean must be above 0"),
    "bounds": (lambda: dist.DiscreteUniform(3, 1), "low=3.*high=1"),
    "promised bound": (
        lambda: dist.MultinomialProbs(np.array([0.5, 0.5]), 9, total_count_max=5),
        "total_count_max=5",
    ),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_an_invalid_parameter_is_refused_by_name(name: str) -> None:
    call, words = REFUSED[name]
    with pytest.raises(DistributionError, match=words):
        call()


LIMITS = {
    "negative binomial": (lambda m: dist.NegativeBinomial2(m, 1e10), lambda m: dist.Poisson(m), 5.0),
    "beta-binomial": (
        lambda p: dist.BetaBinomial(1e10 * p, 1e10 * (1 - p), 9),
        lambda p: dist.Binomial(9, p),
        0.3,
    ),
    "Dirichlet-multinomial": (
        lambda p: dist.DirichletMultinomial(1e10 * jnp.stack([p, 1 - p]), 9),
        lambda p: dist.Multinomial(9, jnp.stack([p, 1 - p])),
        0.3,
    ),
}


@pytest.mark.parametrize("name", list(LIMITS))
def test_without_overdispersion_density_and_slope_are_those_of_poisson_or_binomial(name: str) -> None:
    many, simple, at = LIMITS[name]
    k: Any = np.array([2, 7]) if name.startswith("Dirichlet") else 2
    found, expected = (jax.value_and_grad(lambda t, d=d: d(t).log_prob(k))(at) for d in (many, simple))
    assert_close(found, expected, rtol=1e-8)


def test_the_slope_by_a_large_concentration_keeps_its_digits() -> None:
    # The next term of the expansion about Poisson's distribution: ((k - m)^2 - k) / (2 c), from Stirling's series.
    k, m, c = 9.0, 5.0, 1e10
    slope = jax.grad(lambda c: dist.NegativeBinomial2(m, c).log_prob(k))(c)
    assert_close(slope, np.asarray(((k - m) ** 2 - k) / -2 / c**2), rtol=1e-6, atol=0)


def test_a_certain_outcome_behind_a_mask_does_not_reach_the_parameters() -> None:
    y, mask = np.array([1, 3, 2]), np.array([True, False, True])

    def log_joint(p: jax.Array) -> jax.Array:
        return dist.Binomial(3, p).mask(mask).log_prob(y).sum()

    slopes = jax.grad(log_joint)(np.array([0.5, 1.0, 0.25]))
    assert_finite(slopes)
    assert slopes[1] == 0
    assert_close(jax.grad(log_joint)(np.array([0.5, 0.0, 0.25])), slopes)


def test_slopes_at_certain_probabilities_are_those_from_inside() -> None:
    slope = jax.grad(lambda p, k: dist.Binomial(5, p).log_prob(k))
    assert slope(0.0, 0) == -5
    assert slope(1.0, 5) == 5


def test_entropies_of_counts_are_right_at_every_size() -> None:
    # Half the log of 2 pi e times the variance, with its first corrections: Evans & Boersma (1988), for Poisson.
    rate = np.array([1e3, 1e6])
    series = 0.5 * np.log(2 * np.pi * np.e * rate) - 1 / (12 * rate) - 1 / (24 * rate**2)
    assert_close(dist.Poisson(rate).entropy(), series, rtol=1e-10)
    for p in (0.4, 1e-4, 1 - 1e-4):
        n = np.array([300, 40000])
        k = np.arange(40001.0)[:, None]
        log_p = np.asarray(dist.Binomial(n, p).log_prob(k))
        expected = -(np.exp(log_p) * np.where(log_p > -np.inf, log_p, 0.0)).sum(axis=0)
        assert_close(dist.Binomial(n, p).entropy(), expected, rtol=1e-10)


COUNTS = {name: family for name, family in families().items() if family.is_discrete and family.cdf}

# The search for a quantile compiles slowly where the cdf does.
SEARCHED = [
    name
    for name in COUNTS
    if any(part in name for part in ("inomial", "Gamma", "Skellam", "Inflated", "Hurdle"))
]


@each({name: name for name in sorted(COUNTS)}, slow=SEARCHED)
def test_a_level_just_below_or_above_the_cdf_has_the_quantile_that_it_should(name: str) -> None:
    family = COUNTS[name]
    rows = [row for row in read(name)["cdf"] if 0 < row["true"][0] < 1]
    k, *parameters = np.array([row["at"] for row in rows]).T
    cdf = np.array([row["true"][0] for row in rows])

    def step(k: Any, cdf: Any, *parameters: Any) -> tuple[Any, ...]:
        d = family.make(*parameters)
        levels = jnp.stack([cdf * (1 - 1e-9), cdf * (1 + 1e-9)])
        # A probability that is lost beside the cdf makes no step in it.
        around = jnp.exp(d.log_prob(jnp.stack([k, k + 1]))) > 1e-8 * cdf
        return d.icdf(levels), around

    found, around = compiled(jax.vmap(step))(k, cdf, *parameters)
    assert around.any()
    assert_close(np.where(around[:, 0], found[:, 0], k), k)
    is_last = cdf > 1 - 2e-9
    assert_close(np.where(around[:, 1] & ~is_last, found[:, 1], k + 1), k + 1)


def test_a_hurdle_before_a_density_keeps_zeros_and_the_rest_apart() -> None:
    d = dist.HurdleLogNormal(0.3, 0.5, 0.4)
    base = dist.LogNormal(0.5, 0.4)
    x = np.array([-1.0, 0.0, 1.0, 2.0])
    cdf = np.array([0.0, 0.3, *(0.3 + 0.7 * np.asarray(base.cdf(x[2:])))])
    assert_close(
        d.log_prob(x)[1:], np.array([np.log(0.3), *(np.log(0.7) + np.asarray(base.log_prob(x[2:])))])
    )
    assert_close(d.cdf(x), cdf)
    assert_close(jnp.exp(d.log_survival(x)), 1 - cdf)
    assert_close(d.icdf(np.array([0.0, 0.2, cdf[2], cdf[3]])), np.array([0.0, 0.0, 1.0, 2.0]), rtol=1e-9)
    assert not d.is_discrete
    assert d.log_prob(-1.0) == -np.inf
