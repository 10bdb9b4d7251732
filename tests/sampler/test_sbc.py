"""Calibrate the whole path, from a model to its draws, on data simulated from the prior.

For each quantity the smaller p-value of two tests must exceed 1e-4 / 2: a false alarm in 1e-4 of quantities and, over
the twenty-one here, in 2.1e-3 of runs; keys are fixed, and a model that fails is calibrated once more, which leaves a
false alarm in 1e-6 of runs. Calibration by a few hundred data sets sees a wrong Jacobian. It
cannot see draws that are 5% too wide, for which `test_known_targets` has thousands of times the draws.
"""

from collections.abc import Callable

import jax
import numpy as np
import pytest
from calibration import (
    Experiment,
    Values,
    counting_compilations,
    log_normal_density,
    log_sigmoid,
    ranks,
    smallest_p_values,
)
from laws import once_more_in_doubt

import accord as ac
import accord.distributions as dist
from accord.bijectors import AbstractBijector
from accord.distributions import biject_to, constraints
from accord.kernels import HMC, NUTS, AbstractKernel, ChEES

MIN_P_VALUE = 1e-4 / 2

COVARIATES = np.random.default_rng(5).normal(size=(40, 2))
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0]) / 5


@ac.model
def location_and_scale(y):
    mu = ac.sample("mu", dist.Normal(0.0, 2.0))
    sigma = ac.sample("sigma", dist.HalfNormal(1.0))
    with ac.plate("observation", y.shape[0]):
        ac.sample("y", dist.Normal(mu, sigma), obs=y)


@ac.model
def logistic_regression(x, y):
    intercept = ac.sample("intercept", dist.Normal(0.0, 1.5))
    with ac.plate("covariate", x.shape[1]):
        slope = ac.sample("slope", dist.Normal(0.0, 1.0))
    with ac.plate("observation", x.shape[0]):
        ac.sample("y", dist.Bernoulli(logits=intercept + x @ slope), obs=y)


@ac.model
def schools(error, y):
    mu = ac.sample("mu", dist.Normal(0.0, 3.0))
    tau = ac.sample("tau", dist.HalfNormal(3.0))
    with ac.plate("school", error.shape[0]):
        z = ac.sample("z", dist.Normal(0.0, 1.0))
        theta = ac.deterministic("theta", mu + tau * z)
        ac.sample("y", dist.Normal(theta, error), obs=y)


def _simulate_location(generator: np.random.Generator) -> tuple[Values, Values]:
    mu, sigma = generator.normal(0, 2), abs(generator.normal())
    return {"mu": np.array(mu), "sigma": np.array(sigma)}, {"y": generator.normal(mu, sigma, 6)}


def _location_quantities(p: Values, data: Values) -> Values:
    log_likelihood = log_normal_density(data["y"], p["mu"][:, None], p["sigma"][:, None])
    return {"mu": p["mu"], "sigma": p["sigma"], "log likelihood": log_likelihood}


def _simulate_regression(generator: np.random.Generator) -> tuple[Values, Values]:
    intercept, slope = generator.normal(0, 1.5), generator.normal(size=2)
    chance = np.exp(log_sigmoid(intercept + COVARIATES @ slope))
    y = (generator.uniform(size=len(COVARIATES)) < chance).astype(np.int64)
    return {"intercept": np.array(intercept), "slope": slope}, {"x": COVARIATES, "y": y}


def _regression_quantities(p: Values, data: Values) -> Values:
    logits = p["intercept"][:, None] + p["slope"] @ data["x"].T
    log_likelihood = np.sum(log_sigmoid(np.where(data["y"] == 1, logits, -logits)), -1)
    slopes = {f"slope[{i}]": p["slope"][:, i] for i in range(2)}
    return {"intercept": p["intercept"], **slopes, "log likelihood": log_likelihood}


def _simulate_schools(generator: np.random.Generator) -> tuple[Values, Values]:
    mu, tau = generator.normal(0, 3), 3 * abs(generator.normal())
    theta = generator.normal(mu, tau, len(ERRORS))
    truth = {"mu": np.array(mu), "tau": np.array(tau), "theta": theta}
    return truth, {"error": ERRORS, "y": generator.normal(theta, ERRORS)}


def _schools_quantities(p: Values, data: Values) -> Values:
    log_likelihood = log_normal_density(data["y"], p["theta"], data["error"])
    return {
        "mu": p["mu"],
        "tau": p["tau"],
        "theta[0]": p["theta"][:, 0],
        "log likelihood": log_likelihood,
    }


EXPERIMENTS: dict[str, Callable[[], Experiment]] = {
    "location and scale": lambda: Experiment(
        lambda data: location_and_scale(**data), _simulate_location, _location_quantities, 4
    ),
    "logistic regression": lambda: Experiment(
        lambda data: logistic_regression(**data), _simulate_regression, _regression_quantities, 3
    ),
    "schools": lambda: Experiment(lambda data: schools(**data), _simulate_schools, _schools_quantities, 6),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        *((name, NUTS()) for name in EXPERIMENTS),
        ("location and scale", HMC()),
        ("schools", ChEES()),
    ],
    ids=str,
)
@once_more_in_doubt(0, 2)
def test_ranks_of_five_hundred_data_sets_are_uniform(name: str, kernel: AbstractKernel, seed: int) -> None:
    with counting_compilations() as compiled:
        found = ranks(EXPERIMENTS[name](), kernel, 500, seed)
    assert len(compiled) == 2, compiled  # one program that draws, one that turns positions into sites
    _assert_uniform(found)


@once_more_in_doubt(1, 3)
def test_ranks_of_eighty_data_sets_are_uniform(seed: int) -> None:
    _assert_uniform(ranks(EXPERIMENTS["location and scale"](), NUTS(), 80, seed))


def test_the_wrong_sign_of_a_jacobian_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    bijector = type(biject_to(constraints.positive))
    right = bijector.forward_and_log_det

    def wrong(self: AbstractBijector, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        y, log_det = right(self, x)
        return y, -log_det

    monkeypatch.setattr(bijector, "forward_and_log_det", wrong)
    found = smallest_p_values(ranks(EXPERIMENTS["location and scale"](), NUTS(), 100))
    print(found)
    assert found["sigma"] < MIN_P_VALUE


def test_ranks_that_are_not_uniform_are_rejected() -> None:
    generator = np.random.default_rng(0)
    shifted = (128 * generator.beta(1.3, 1.0, 500)).astype(int)
    narrow = (128 * generator.beta(2.0, 2.0, 500)).astype(int)
    uniform = generator.integers(0, 128, 500)
    found = smallest_p_values({"shifted": shifted, "narrow": narrow, "uniform": uniform})
    assert max(found["shifted"], found["narrow"]) < MIN_P_VALUE < found["uniform"]


def _assert_uniform(found: Values) -> None:
    p_values = smallest_p_values(found)
    print({name: round(value, 4) for name, value in p_values.items()})
    assert min(p_values.values()) > MIN_P_VALUE, p_values
