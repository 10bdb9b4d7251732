"""Sample from models whose posterior is known exactly, and compare expectations.

Every figure comes from conjugate algebra or quadrature. A run of 4 chains agrees when each expectation lies within 4
Monte Carlo standard errors of it. There are 35 comparisons: with other seeds, one run of the whole table in 450 would
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
        normal_of_unknown_variance(np.array([1.5, 2.0])),
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
