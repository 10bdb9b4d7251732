"""Sample Dirichlet process mixtures in two forms, and compare with sums over all partitions (families F46, F47).

Each comparison is within six standard errors: a false alarm has a chance of 2e-9. Keys are fixed.
"""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import gammaln
from scipy.special import logsumexp

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.position import Position
from accord.core.precision import scope
from accord.density import LogDensity
from accord.report.diagnostics import mcse_mean

X = np.array([-1.0, 0.0, 4.0])
PARTITIONS = {  # by labels in the order of first use
    (0, 0, 0): 0.008157547,
    (0, 0, 1): 0.625656,
    (0, 1, 0): 0.003106630,
    (0, 1, 1): 0.025570330,
    (0, 1, 2): 0.337509,
}
WIDTH = 3.0  # standard deviation of the means


def log_seating(z: Any, alpha: Any, tables: int) -> Any:
    """Log probability of labels: of their partition, by a Dirichlet process, over all ways to label it."""
    size = z.shape[0]
    counts = jnp.sum(z[:, None] == jnp.arange(tables), axis=0)
    taken = jnp.sum(counts > 0)
    seats = taken * jnp.log(alpha) + jnp.sum(jnp.where(counts > 0, gammaln(jnp.maximum(counts, 1)), 0.0))
    return (
        seats
        - jnp.sum(jnp.log(alpha + jnp.arange(size)))
        - (gammaln(tables + 1.0) - gammaln(tables - taken + 1.0))
    )


def log_points(x: Any, z: Any, tables: int) -> Any:
    """Log density of points given labels: normal with variance 1 around means that are integrated out."""
    member = z[:, None] == jnp.arange(tables)
    counts, sums = member.sum(axis=0), jnp.sum(member * x[:, None], axis=0)
    spread = 1 + counts * WIDTH**2
    return (
        -0.5 * x.size * jnp.log(2 * jnp.pi)
        - 0.5 * jnp.sum(x**2)
        - 0.5 * jnp.sum(jnp.log(spread))
        + 0.5 * jnp.sum(WIDTH**2 * sums**2 / spread)
    )


@ac.model
def collapsed(x: Any, alpha: float, tables: int) -> None:
    with ac.plate("point", len(x)):
        z = ac.sample("z", dist.DiscreteUniform(0, tables - 1))
    ac.factor("seating", len(x) * jnp.log(tables) + log_seating(z, alpha, tables))
    ac.factor("points", log_points(x, z, tables))


@ac.model
def seated(size: int, alpha: float) -> None:
    """Of labels without data."""
    with ac.plate("point", size):
        z = ac.sample("z", dist.DiscreteUniform(0, size - 1))
    ac.factor("seating", size * jnp.log(size) + log_seating(z, alpha, size))


@ac.model
def sticks(x: Any, alpha: float, size: int) -> None:
    with ac.plate("stick", size - 1):
        share = ac.sample("share", dist.StickBreakingProcess(dist.DirichletProcess(alpha)))
    with ac.plate("component", size):
        mean = ac.sample("mean", dist.Normal(0, WIDTH))
    with ac.plate("point", len(x)):
        z = ac.sample("z", dist.Categorical(dist.stickbreak(share)))
        ac.sample("x", dist.Normal(mean[z], 1), obs=x)


def by_first_use(z: np.ndarray) -> tuple[int, ...]:
    order = list(dict.fromkeys(z.tolist()))
    return tuple(order.index(each) for each in z)


def log_joint(model: Any, labels: Any) -> np.ndarray:
    density = LogDensity.from_model(model, whole=["z"])
    with scope("float64"):
        each = jax.jit(jax.vmap(lambda z: density(Position(jnp.zeros(0), z))))
        return np.asarray(each(jnp.array(list(labels), jnp.int32)))


def assert_shares(z: np.ndarray) -> None:
    """Compare the shares of partitions among labels of shape `(chain, draw, 3)`."""
    found = np.apply_along_axis(lambda each: hash(by_first_use(each)), -1, z)
    for partition, share in PARTITIONS.items():
        is_it = (found == hash(partition)).astype(float)
        error = mcse_mean(is_it[..., None])[0]
        assert abs(is_it.mean() - share) < 6 * error < 0.03


def test_the_log_density_of_labels_adds_up_to_that_of_all_partitions() -> None:
    labels = list(itertools.product(range(3), repeat=3))
    heights = log_joint(collapsed(X, 1.0, 3), labels)
    total = float(logsumexp(heights))
    assert total == pytest.approx(-7.766290647, abs=1e-8)
    partitions = [by_first_use(np.array(each)) for each in labels]
    for partition, share in PARTITIONS.items():
        own = [height for height, each in zip(heights, partitions, strict=True) if each == partition]
        assert np.exp(logsumexp(own) - total) == pytest.approx(share, rel=1e-5)


def test_labels_without_data_have_the_probability_of_their_seats() -> None:
    labels = list(itertools.product(range(4), repeat=4))
    heights = log_joint(seated(4, 1.7), labels)
    assert float(logsumexp(heights)) == pytest.approx(0, abs=1e-12)
    taken = np.array([len(set(each)) for each in labels])
    expected = np.sum(1.7 / (1.7 + np.arange(4)))
    assert np.sum(np.exp(heights) * taken) == pytest.approx(expected)


def test_gibbs_moves_labels_between_partitions() -> None:
    run = infer.sample(
        collapsed(X, 1.0, 3), infer.DiscreteGibbs(), draws=20_000, chains=2, quiet=True, progress=False
    )
    assert_shares(np.asarray(run["z"]))


@pytest.mark.slow
def test_ten_tables_are_taken_as_often_as_expected() -> None:
    run = infer.sample(
        seated(10, 1.0), infer.DiscreteGibbs(), draws=20_000, chains=2, quiet=True, progress=False
    )
    taken = (np.asarray(run["z"])[..., None] == np.arange(10)).any(axis=2).sum(axis=-1).astype(float)
    error = mcse_mean(taken[..., None])[0]
    assert abs(taken.mean() - 2.928968254) < 6 * error < 0.2


@pytest.mark.slow
def test_sticks_that_are_cut_off_late_have_the_same_partitions() -> None:
    """Beyond 14 sticks is a mass of 1e-4."""
    run = infer.sample(sticks(X, 1.0, 15), draws=20_000, chains=2, seed=1, quiet=True, progress=False)
    assert_shares(np.asarray(run["z"]))
