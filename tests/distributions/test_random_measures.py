"""Test the processes by what is known of them: exchangeability, expected numbers of tables, weights that sum to one."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close

import accord.distributions as dist
from accord.core.errors import DistributionError

PROCESSES = {
    "Dirichlet": lambda: dist.DirichletProcess(1.7),
    "Pitman-Yor": lambda: dist.PitmanYorProcess(0.3, 1.7),
    "Pitman-Yor, negative strength": lambda: dist.PitmanYorProcess(0.5, -0.2),
}
each_process = pytest.mark.parametrize("make", PROCESSES.values(), ids=list(PROCESSES))


def seat_all(rpm: dist.DirichletProcess, tables: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The log probability that customers sit at these tables one after the other, and the final counts."""

    def seat(counts: jax.Array, table: jax.Array) -> tuple[jax.Array, jax.Array]:
        log_prob = dist.ChineseRestaurantProcess(rpm, counts).log_prob(table)
        return counts.at[table].add(1), log_prob

    counts, log_probs = jax.lax.scan(seat, jnp.zeros(6, int), tables)
    return log_probs.sum(), counts


@each_process
def test_partitions_are_exchangeable_and_have_the_known_probability(make: Callable) -> None:
    rpm = make()
    # The same partition, into blocks of 3, 2 and 1, in three orders of arrival.
    orders = jnp.asarray([[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 0, 0], [0, 1, 0, 2, 1, 0]])
    log_probs, counts = jax.jit(jax.vmap(lambda tables: seat_all(rpm, tables)))(orders)
    assert (counts.sum(1) == 6).all()
    d, theta = float(rpm.discount), float(rpm.strength)
    blocks = np.prod([theta + d, theta + 2 * d]) * np.prod([1 - d, 2 - d, 1 - d])
    expected = np.log(blocks / np.prod([theta + i for i in range(1, 6)]))
    assert_close(log_probs, np.full(3, expected), rtol=1e-12)


@each_process
def test_the_number_of_tables_is_as_large_as_expected(make: Callable) -> None:
    rpm, n, restaurants = make(), 20, 1000
    empty = jnp.zeros((restaurants, n), int)

    def seat(counts: jax.Array, key: jax.Array) -> tuple[jax.Array, None]:
        table = dist.ChineseRestaurantProcess(rpm, counts).sample(key)
        return counts.at[jnp.arange(restaurants), table].add(1), None

    counts, _ = jax.jit(lambda key: jax.lax.scan(seat, empty, jax.random.split(key, n)))(jax.random.key(3))
    assert (counts.sum(1) == n).all()
    tables = np.asarray((counts > 0).sum(1))
    # The first tables are taken first: no place is skipped.
    assert (np.asarray(counts > 0).argmin(1)[tables < n] == tables[tables < n]).all()
    d, theta = float(rpm.discount), float(rpm.strength)
    expected = 1.0
    for i in range(1, n):
        expected += (theta + d * expected) / (theta + i)
    assert abs(tables.mean() - expected) < 4.5 * tables.std() / np.sqrt(restaurants)


@each_process
def test_a_full_restaurant_has_one_more_table_and_an_empty_one_is_certain(make: Callable) -> None:
    rpm = make()
    places = np.arange(4)

    def probabilities(counts: np.ndarray) -> jax.Array:
        return jnp.exp(dist.ChineseRestaurantProcess(rpm, counts).log_prob(places))

    full, gap, empty = jax.jit(jax.vmap(probabilities))(np.array([[2, 1, 4], [2, 0, 4], [0, 0, 0]]))
    for found in (full, gap, empty):
        assert_close(found.sum(), jnp.ones(()))
    assert full[3] > 0
    assert gap[1] > 0
    assert gap[3] == 0
    assert_close(empty, np.array([1.0, 0, 0, 0]))
    slope = jax.grad(
        lambda a: dist.ChineseRestaurantProcess(dist.DirichletProcess(a), np.zeros(3, int)).log_prob(0)
    )
    assert slope(1.5) == 0


def test_sticks_make_weights_that_sum_to_one_and_pick_a_table_as_customers_do() -> None:
    v = np.random.default_rng(0).uniform(size=(2, 500))
    weights = dist.stickbreak(v)
    assert_close(weights.sum(-1), np.ones(2))
    assert_close(weights[:, 1], v[:, 1] * (1 - v[:, 0]))
    assert_close(dist.stickbreak(np.array([0.2, 1.0, 0.5])), np.array([0.2, 0.8, 0.0, 0.0]))
    slope = jax.jit(jax.jacobian(dist.stickbreak))(np.array([0.2, 1.0, 0.5]))
    assert np.isfinite(slope).all()
    # Two customers share a table with probability E[sum of squared weights] = (1 - d) / (theta + 1).
    rpm = dist.PitmanYorProcess(0.3, 1.7, np.arange(150.0))
    shares = dist.StickBreakingProcess(rpm).sample(jax.random.key(0), (500,))
    together = np.asarray((dist.stickbreak(shares) ** 2).sum(-1))
    assert abs(together.mean() - 0.7 / 2.7) < 4.5 * together.std() / np.sqrt(500)


WRONG = {
    "discount of one": (lambda: dist.PitmanYorProcess(1.0, 1), ["PitmanYorProcess", "d must be below 1"]),
    "strength too low": (lambda: dist.PitmanYorProcess(0.5, -0.5), ["theta must be above -d", "-0.5"]),
    "no customers": (
        lambda: dist.ChineseRestaurantProcess(dist.DirichletProcess(1.0), np.array([1, -1])),
        ["ChineseRestaurantProcess", "counts", "-1"],
    ),
    "no concentration": (lambda: dist.DirichletProcess(0.0), ["DirichletProcess", "alpha"]),
}


@pytest.mark.parametrize(("call", "words"), WRONG.values(), ids=list(WRONG))
def test_impossible_processes_are_refused(call: Callable, words: list[str]) -> None:
    with pytest.raises(DistributionError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
