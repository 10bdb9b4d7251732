"""Hold founding case F4: a parallel sum inside of a model never loses the data, however it is written."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.density import LogDensity, sharded, sharded_sum
from accord.density.rows.blocks import mesh_of

PRIOR = dist.Gamma(6.5, 1 / 2.25)


def counts(num_rows):
    return np.random.default_rng(16).poisson(np.linspace(20, 40, 10), size=(num_rows, 10))


def log_term(row, rate):
    return jnp.sum(dist.Poisson(rate).log_prob(row))


@ac.model
def by_plate(y):
    with ac.plate("group", y.shape[1], dim=-1):
        rate = ac.sample("rate", PRIOR)
        with ac.plate("row", y.shape[0], dim=-2):
            ac.sample("y", dist.Poisson(rate), obs=y)


@ac.model
def by_loop(y):
    rate = ac.sample("rate", PRIOR.expand([10]).to_event(1))
    for i in range(len(y)):
        ac.factor(f"y[{i}]", log_term(y[i], rate))


@ac.model
def by_scan(y):
    rate = ac.sample("rate", PRIOR.expand([10]).to_event(1))
    total, _ = jax.lax.scan(lambda total, row: (total + log_term(row, rate), None), 0.0, y)
    ac.factor("y", total)


@ac.model
def by_sharded_sum(y):
    rate = ac.sample("rate", PRIOR.expand([10]).to_event(1))
    ac.factor("y", sharded_sum(log_term, y, rate))


def by_devices(y):
    return sharded(LogDensity.from_model(by_plate(y)), mesh_of(jax.devices()[:1]), {"y": 0})


WAYS = {"a loop": by_loop, "a scan": by_scan, "sharded_sum": by_sharded_sum, "sharded data": by_devices}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("num_rows", [5, pytest.param(40, marks=pytest.mark.slow)])
def test_every_way_of_writing_the_sum_has_the_same_log_density_and_gradient(way, num_rows):
    y = counts(num_rows)
    target = WAYS[way](y)
    density = target if isinstance(target, LogDensity) else LogDensity.from_model(target)
    whole = LogDensity.from_model(by_plate(y))
    for position in np.random.default_rng(2).normal(3, 0.5, (2, 10)):
        expected, found = (jax.jit(each.value_and_grad)(position) for each in (whole, density))
        for left, right in zip(found, expected, strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-12)


@pytest.mark.parametrize("way", ["by_sharded_sum", "devices"])
def test_the_posterior_is_the_exact_one(way):
    """Ten means within 5 errors of half as many independent draws: a false alarm in 1e-5, at a fixed seed."""
    y = counts(5)
    options = dict(draws=1000, seed=1, progress=False, quiet=True)
    if way == "devices":
        draws = infer.sample(by_plate(y), executor=infer.Devices(shard={"y": 0}), **options)
    else:
        draws = infer.sample(by_sharded_sum(y), **options)
    shape, rate = 6.5 + y.sum(0), len(y) + 1 / 2.25
    z = (draws["rate"].mean((0, 1)) - shape / rate) / (np.sqrt(shape) / rate / np.sqrt(2000))
    assert np.abs(z).max() < 5
    assert draws["rate"].mean() > 20  # the prior's mean is 14.6
