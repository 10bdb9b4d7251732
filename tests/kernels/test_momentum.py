"""Compare momenta that are kept with their components along the directions of a metric with whitened ones."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import pytest
from machine import dense_metric, diagonal_metric, low_rank_metric, transform_of

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.adaptation.metric import Metric
from accord.kernels import HMC, NUTS, AbstractKernel, Gibbs
from accord.kernels.momentum import Momentum, force_at, kinetic_energy, product, thrown, velocity

DIM, RANK = 70, 16
METRICS: dict[str, Callable[[], Metric]] = {
    "low rank": lambda: low_rank_metric(DIM, RANK),
    "dense": lambda: dense_metric(DIM),
    "diagonal": lambda: Metric.diagonal(np.linspace(0.5, 2, DIM), RANK),
    "diagonal that ignores its directions": lambda: Metric(
        *(getattr(low_rank_metric(DIM, RANK), name) for name in ("scale", "factor", "stretch")),
        np.bool_(True),
    ),
    "no room for directions": lambda: diagonal_metric(DIM),
}


@pytest.fixture(params=METRICS)
def metric(request: pytest.FixtureRequest) -> Metric:
    return METRICS[request.param]()


def test_momenta_are_split_in_many_dimensions_where_there_are_directions() -> None:
    assert Momentum.at_rest(DIM, RANK, np.dtype(float)).along is not None
    assert Momentum.at_rest(DIM, 0, np.dtype(float)).along is None
    assert Momentum.at_rest(63, RANK, np.dtype(float)).along is None


def test_a_split_momentum_is_the_whitened_one_in_other_coordinates(metric: Metric) -> None:
    transform = transform_of(metric)
    noise, other, gradient = np.random.default_rng(0).normal(size=(3, DIM))
    rest = Momentum.at_rest(DIM, metric.factor.shape[1], np.dtype(float))
    momentum, second = (_thrown(metric, rest, each) for each in (noise, other))
    force = force_at(metric, jnp.asarray(gradient), rest)
    kicked, pushed = momentum + force.times(jnp.asarray(0.3)), transform.T @ gradient
    expected = noise + 0.3 * pushed

    np.testing.assert_allclose(velocity(metric, kicked), transform @ expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(product(metric, kicked, second), expected @ other, rtol=1e-12)
    np.testing.assert_allclose(
        product(metric, kicked - second, force), (expected - other) @ pushed, rtol=1e-12
    )
    np.testing.assert_allclose(kinetic_energy(metric, kicked), 0.5 * expected @ expected, rtol=1e-12)


def _thrown(metric: Metric, rest: Momentum, noise: np.ndarray) -> Momentum:
    return thrown(metric, Momentum(jnp.asarray(noise), rest.along))


SAMPLERS = [
    kernel(metric=form) for kernel in (NUTS, HMC) for form in ("diagonal", "low_rank", "dense", "auto")
]


@pytest.mark.parametrize("sampler", [*SAMPLERS, Gibbs({"x": NUTS(metric="dense")})], ids=repr)
def test_every_form_of_metric_draws_in_many_dimensions(sampler: AbstractKernel) -> None:
    draws = infer.sample(_normal(), sampler, chains=1, warmup=80, draws=100, seed=0, quiet=True)
    # The mean of all numbers has a standard error of 0.03 with 20 effective draws of each: false alarms below 2e-9.
    assert abs(np.mean(draws["x"])) < 0.5
    assert 0.5 < np.std(draws["x"]) < 1.5


@ac.model
def _normal() -> None:
    with ac.plate("row", DIM):
        ac.sample("x", dist.Normal(0, 1))
