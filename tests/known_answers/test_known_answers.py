"""Sample from models whose posterior is known exactly, and compare expectations.

Every figure comes from conjugate algebra or quadrature. A run of 4 chains agrees when each expectation lies within 4
Monte Carlo standard errors of it. There are 39 comparisons: with other seeds, one run of the whole table in 400 would
fail by chance, or one in 500,000, since a model that fails is drawn once more.
"""

import jax.numpy as jnp
import numpy as np
import pytest
from arviz_stats.base import array_stats
from laws import once_more_in_doubt

import accord as ac
import accord.distributions as dist
from accord import infer

RNG = np.random.default_rng(16)
X = np.array([1.5, 2.0])
COUNTS = RNG.poisson(np.linspace(20, 40, 10), size=(5, 10))


@ac.model
def normal_of_unknown_variance(x):
    s = ac.sample("s", dist.InverseGamma(2, 3))
    m = ac.sample("m", dist.Normal(0, jnp.sqrt(s)))
    with ac.plate("n", len(x)):
        ac.sample("x", dist.Normal(m, jnp.sqrt(s)), obs=x)


@ac.model
def coin(y):
    p = ac.sample("p", dist.Beta(2, 2))
    with ac.plate("n", len(y)):
        ac.sample("y", dist.Bernoulli(p), obs=y)


@ac.model
def urn(y):
    p = ac.sample("p", dist.Dirichlet(jnp.array([3.0, 3.0])))
    with ac.plate("n", len(y)):
        ac.sample("y", dist.Categorical(p), obs=y)


@ac.model
def chain(z):
    ac.sample("a", dist.Normal(0, 1))
    x = ac.sample("x", dist.Normal(0, 1))
    y = ac.sample("y", dist.Normal(x, 1))
    ac.sample("z", dist.Normal(y, 1), obs=z)


@ac.model
def support_that_depends_on_a_site():
    x = ac.sample("x", dist.Uniform(-5, 5))
    ac.sample("y", dist.TruncatedNormal(0, 1, low=x))


@ac.model
def one_observation(y, scale):
    m = ac.sample("m", dist.Normal(0, 1))
    ac.sample("y", dist.Normal(m, scale), obs=y)


@ac.model
def half_line():
    sigma = ac.sample("sigma", dist.InverseGamma(2, 3))
    ac.sample("V", dist.TruncatedNormal(0, sigma, low=0, high=jnp.inf))


@ac.model
def normal_of_unknown_precision(x):
    precision = ac.sample("precision", dist.Gamma(2, 3))
    m = ac.sample("m", dist.Normal(0, 1 / jnp.sqrt(precision)))
    with ac.plate("n", len(x)):
        ac.sample("x", dist.Normal(m, 1 / jnp.sqrt(precision)), obs=x)


@ac.model
def correlation():
    ac.sample("L", dist.LKJCholesky(2, 1.0))


@ac.model
def rates(counts):
    with ac.plate("rate", counts.shape[1], dim=-1):
        rate = ac.sample("lambda", dist.Gamma(6.5, 1 / 2.25))
        with ac.plate("n", counts.shape[0], dim=-2):
            ac.sample("x", dist.Poisson(rate), obs=counts)


def of_rates(counts):
    """Posterior Gamma(6.5 + sum x, scale 1 / (n + 1 / 2.25)) of each rate: mean and variance."""
    shape, scale = 6.5 + counts.sum(axis=0), 1 / (len(counts) + 1 / 2.25)
    means = {f"mean {k}": (lambda d, k=k: d["lambda"][..., k], shape[k] * scale) for k in range(10)}
    variances = {
        f"variance {k}": (lambda d, k=k: (d["lambda"][..., k] - shape[k] * scale) ** 2, shape[k] * scale**2)
        for k in range(10)
    }
    return means | variances


# Model: what to take the expectation of, and its exact value.
ANSWERS = {
    "K1": (
        normal_of_unknown_variance(X),
        {"E[s]": (lambda d: d["s"], 49 / 24), "E[m]": (lambda d: d["m"], 7 / 6)},
    ),
    "K4": (coin(np.array([1] * 8 + [0] * 2)), {"E[p]": (lambda d: d["p"], 10 / 14)}),
    "K5": (
        urn(np.array([0] * 2 + [1] * 8)),
        {"E[p1]": (lambda d: d["p"][..., 0], 5 / 16), "E[p2]": (lambda d: d["p"][..., 1], 11 / 16)},
    ),
    "K7": (
        chain(2.0),
        {
            "E[a]": (lambda d: d["a"], 0.0),
            "E[x]": (lambda d: d["x"], 2 / 3),
            "E[y]": (lambda d: d["y"], 4 / 3),
        },
    ),
    "K8": (
        support_that_depends_on_a_site(),
        {"E[x]": (lambda d: d["x"], 0.0), "E[y]": (lambda d: d["y"], 1.506500)},
    ),
    "K9": (one_observation(1.0, 0.5), {"E[m]": (lambda d: d["m"], 0.8)}),
    "K10": (
        normal_of_unknown_precision(np.array([1, 2, 3, 2.5, 1.5])),
        {"E[precision]": (lambda d: d["precision"], 0.760563), "E[m]": (lambda d: d["m"], 5 / 3)},
    ),
    "K11": (
        correlation(),
        {
            "E[L21]": (lambda d: d["L"][..., 1, 0], 0.0),
            "E[L22]": (lambda d: d["L"][..., 1, 1], np.pi / 4),
        },
    ),
    "K15": (
        half_line(),
        {
            "E[log sigma]": (lambda d: np.log(d["sigma"]), 0.675828),
            "E[log V]": (lambda d: np.log(d["V"]), 0.040647),
        },
    ),
    "K16": (rates(COUNTS), of_rates(COUNTS)),
    "K17": (
        one_observation(1.0, 1.0),
        {"E[x]": (lambda d: d["m"], 0.5), "Var[x]": (lambda d: (d["m"] - 0.5) ** 2, 0.5)},
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
@once_more_in_doubt(1, 2)
def test_expectations_are_the_exact_ones(name, seed):
    model, answers = ANSWERS[name]
    draws = infer.sample(model, seed=seed, progress=False, quiet=True)
    failures = []
    for label, (of, exact) in answers.items():
        values = of(draws)
        z = (values.mean() - exact) / array_stats.mcse(values, method="mean")
        if not abs(z) < 4:
            failures.append(f"{label}: {values.mean():.5g} for {exact:.5g}, z = {z:.1f}")
    assert not failures, "\n".join(failures)


@once_more_in_doubt(2, 3)
def test_the_posterior_predictive_of_a_coin_is_its_posterior_mean(seed):
    draws = infer.sample(ANSWERS["K4"][0], seed=seed, progress=False, quiet=True)
    heads = np.random.default_rng(0).random(draws["p"].shape) < draws["p"]
    assert abs(heads.mean() - 10 / 14) < 4 * np.sqrt(10 / 14 * 4 / 14 / heads.size)


def test_the_first_row_of_a_cholesky_factor_of_a_correlation_is_known():
    """K11: L11 is one and what is above the diagonal zero, in every draw."""
    draws = infer.sample(correlation(), draws=20, warmup=20, chains=1, progress=False, quiet=True)
    np.testing.assert_array_equal(draws["L"][..., 0, :], np.broadcast_to([1.0, 0.0], (1, 20, 2)))


def test_thinning_counts_from_the_first_draw_after_those_that_are_discarded():
    """K18: discard 5, thin by 2, keep 10: iterations 6, 8, ..., 24, counted from one."""
    run = dict(chains=1, warmup=5, seed=4, progress=False, quiet=True)
    model = ANSWERS["K17"][0]
    every = infer.sample(model, draws=19, **run)["m"][0]
    iterations = 5 + 1 + np.arange(19)
    kept = infer.sample(model, draws=10, thinning=2, **run)["m"][0]
    np.testing.assert_array_equal(kept, every[np.isin(iterations, np.arange(6, 25, 2))])


def test_prior_draws_have_the_exact_expectations():
    """K2: E[s] = 3, E[m] = 0.

    The variance of s is infinite, so that its mean is compared below a cut, min(s, 50), where it is known too:
    3 exp(-3 / c) + c P(s > c), which is 3 for c = infinity. At 4.5 standard errors both together fail once in 70,000.
    """
    assert float(dist.InverseGamma(2, 3).mean) == 3
    prior = infer.prior_predictive(normal_of_unknown_variance(X), draws=20_000, seed=2, quiet=True)
    assert set(prior) >= {"s", "m", "x"}
    cut = 50.0
    above = 1 - np.exp(-3 / cut) * (1 + 3 / cut)
    for values, exact in {
        "s": (np.minimum(prior["s"], cut), 3 * np.exp(-3 / cut) + cut * above),
        "m": (prior["m"], 0.0),
    }.values():
        assert abs(values.mean() - exact) < 4.5 * values.std() / np.sqrt(values.size)
