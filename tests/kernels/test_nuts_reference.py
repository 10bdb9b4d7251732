"""Hold the state machine to the recursive No-U-Turn sampler, draw by draw, with the same random numbers."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from kernel_targets import CORRELATED, Case, funnel, normal
from machine import (
    compile_program,
    dense_metric,
    diagonal_metric,
    draw_key,
    low_rank_metric,
    run_lanes,
    standing_at,
    transform_of,
)
from reference import Numbers, Outcome, transition

from accord.adaptation.metric import Metric
from accord.adaptation.metric.choose import RANK
from accord.core import keys
from accord.kernels import NUTS

NUM_SEEDS = 1000
NUM_DRAWS = 2  # a second draw finds the arrays of the first one's tree in the state
MAX_DEPTH = 7


@dataclass(frozen=True)
class Comparison:
    """A target, a metric, the range that step sizes are log-uniform on, how many draws must diverge, and seeds.

    `longer`: doublings of every trajectory, whether it turns back or not; 0 if they end where they do.
    """

    case: Case
    metric: Metric
    step_sizes: tuple[float, float]
    min_divergent: int = 0
    num_seeds: int = NUM_SEEDS
    longer: int = 0


COMPARISONS = {
    "correlated normal, dense metric": lambda: Comparison(normal(CORRELATED), dense_metric(3), (0.03, 1.2)),
    "funnel, diagonal metric": lambda: Comparison(
        funnel(5), Metric.diagonal(np.linspace(0.5, 1.5, 5), 5), (0.04, 2.0), min_divergent=50
    ),
    "standard normal, no room for directions": lambda: Comparison(
        normal(np.eye(10)), diagonal_metric(10), (0.03, 1.95)
    ),
    "funnel, 15 steps a draw": lambda: Comparison(
        funnel(5), Metric.diagonal(np.linspace(0.5, 1.5, 5), 5), (0.04, 2.0), min_divergent=20, longer=4
    ),
    # In large dimensions the machine tests one level after the other.
    "standard normal of dimension 70": lambda: Comparison(
        normal(np.eye(70)), diagonal_metric(70, RANK), (0.03, 1.9), num_seeds=200
    ),
    # There it also keeps momenta in scaled space, with their components along the directions of the metric.
    "standard normal of dimension 70, low-rank metric": lambda: Comparison(
        normal(np.eye(70)), low_rank_metric(70, RANK), (0.03, 1.95), num_seeds=200
    ),
}


QUICK = (
    "funnel, 15 steps a draw",
    "funnel, diagonal metric",
    "standard normal of dimension 70, low-rank metric",
)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in COMPARISONS],
)
def test_the_machine_draws_what_the_recursion_draws(name: str) -> None:
    comparison = COMPARISONS[name]()
    case, metric, num_seeds = comparison.case, comparison.metric, comparison.num_seeds
    generator = np.random.default_rng(17)
    starts = [case.draw(generator) for _ in range(num_seeds)]
    step_sizes = np.exp(generator.uniform(*np.log(comparison.step_sizes), num_seeds))
    numbers, transform = _numbers(case.dim, num_seeds), transform_of(metric)
    expected: list[list[Outcome]] = []
    for seed, start in enumerate(starts):
        position, outcomes = start, []
        for draw in range(NUM_DRAWS):
            drawn = transition(
                case.numpy,
                position,
                step_sizes[seed],
                transform,
                comparison.longer or MAX_DEPTH,
                numbers[seed, draw],
                may_turn=comparison.longer == 0,
            )
            position = drawn.position
            outcomes.append(drawn)
        expected.append(outcomes)
    depths = np.bincount([drawn.depth for drawns in expected for drawn in drawns], minlength=MAX_DEPTH + 1)
    num_divergent = sum(drawn.is_divergent for drawns in expected for drawn in drawns)
    if comparison.longer:
        assert depths[comparison.longer] == NUM_DRAWS * num_seeds - num_divergent
    else:
        assert all(depths[1:] >= num_seeds // 100), f"depths occur {depths} times"
    assert num_divergent >= comparison.min_divergent, f"{num_divergent} divergences"

    kernel = NUTS(max_tree_depth=MAX_DEPTH)
    evaluate = jax.jit(case.evaluate)
    chains = [standing_at(kernel, evaluate, starts[seed], step_sizes[seed]) for seed in range(num_seeds)]
    chain_keys = [keys.chain_key(seed, 0) for seed in range(num_seeds)]
    for lanes in (1, 4):
        program = compile_program(kernel, case.evaluate, case.dim, lanes)
        for first in range(0, num_seeds, lanes):
            group = slice(first, first + lanes)
            _, results = run_lanes(
                program, chains[group], metric, chain_keys[group], NUM_DRAWS, longer=comparison.longer
            )
            for seed, result in enumerate(results, first):
                _assert_same(result, expected[seed], f"{lanes} lanes, seed {seed}")


def _assert_same(result: dict[str, np.ndarray], expected: list[Outcome], where: str) -> None:
    def column(name: str) -> list[float]:
        return [getattr(drawn, name) for drawn in expected]

    for stat, name in (("tree_depth", "depth"), ("n_steps", "num_steps"), ("diverging", "is_divergent")):
        assert result[stat].tolist() == column(name), f"{where}: {stat}"
    assert not result["non_finite"].any(), where
    np.testing.assert_allclose(result["position"], column("position"), rtol=1e-9, atol=1e-9, err_msg=where)
    np.testing.assert_allclose(
        result["acceptance_rate"], column("acceptance"), rtol=1e-7, atol=1e-9, err_msg=where
    )


def test_both_rules_choose_a_leaf_in_proportion_to_its_weight() -> None:
    weights = [Fraction(w) for w in (3, 1, 4, 1, 5, 9, 2, 6)]
    expected = [w / sum(weights) for w in weights]
    assert _chosen_while_they_go_by(weights) == expected
    assert _chosen_by_merging_halves(weights) == expected


def _numbers(dim: int, num_seeds: int) -> dict[tuple[int, int], Numbers]:
    """The random numbers of every seed and draw, from the streams of NUTS: momentum, directions, leaves, subtrees."""
    counters = jnp.arange(2**MAX_DEPTH, dtype=jnp.uint32)

    @jax.jit
    @jax.vmap
    def table(key: jax.Array) -> tuple[jax.Array, ...]:
        return (
            keys.normal(key, dim, 0, jnp.dtype(float)),
            key[0],
            *keys.uniforms(key, counters, jnp.full_like(counters, 1), jnp.dtype(float)),
        )

    items = [(seed, draw) for seed in range(num_seeds) for draw in range(NUM_DRAWS)]
    columns = [np.asarray(c) for c in table(np.stack([draw_key(seed, 0, draw) for seed, draw in items]))]
    return {
        item: Numbers(momentum, int(bits), leaves, subtrees)
        for item, momentum, bits, leaves, subtrees in zip(items, *columns, strict=True)
    }


def _chosen_while_they_go_by(weights: list[Fraction]) -> list[Fraction]:
    """The distribution of the choice when each leaf may replace the one before, by enumerating all decisions."""
    chances = [Fraction(0) for _ in weights]
    for decisions in product([False, True], repeat=len(weights)):
        chance, chosen, total = Fraction(1), 0, Fraction(0)
        for leaf, (weight, is_taken) in enumerate(zip(weights, decisions, strict=True)):
            total += weight
            chance *= weight / total if is_taken else 1 - weight / total
            chosen = leaf if is_taken else chosen
        chances[chosen] += chance
    return chances


def _chosen_by_merging_halves(weights: list[Fraction]) -> list[Fraction]:
    """The distribution of the choice when two halves choose, and one of them is taken by its summed weight."""
    if len(weights) == 1:
        return [Fraction(1)]
    middle = len(weights) // 2
    halves = weights[:middle], weights[middle:]
    return [
        sum(half) / sum(weights) * chance for half in halves for chance in _chosen_by_merging_halves(half)
    ]
