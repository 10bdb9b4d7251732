"""Compare the checkpoints of a growing subtree with a search over all of its balanced parts."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from machine import diagonal_metric

from accord.kernels.momentum import Momentum
from accord.kernels.rarely import rarely
from accord.kernels.trajectory import Checkpoints, is_turning

DEPTH = 6


@pytest.mark.parametrize("spread", [1.5, 3.0, 6.0], ids=["straight", "bent", "wild"])
@pytest.mark.parametrize("dim", [2, 70])
def test_checkpoints_find_the_parts_that_a_search_finds(spread: float, dim: int) -> None:
    plane = np.linalg.qr(np.random.default_rng(0).standard_normal((dim, 2)))[0].T
    verdicts = []
    for seed in range(20):
        momenta = _walk(np.random.default_rng(seed), 2**DEPTH, spread) @ plane
        found = np.asarray(_by_checkpoints(momenta))
        expected = [_by_search(momenta, leaf) for leaf in range(2**DEPTH)]
        np.testing.assert_array_equal(found[1::2], expected[1::2])  # only odd leaves are asked about
        verdicts += expected[1::2]
    assert 0.02 < np.mean(verdicts) < 0.98


def test_only_a_check_across_halves_sees_a_turn_that_the_whole_hides() -> None:
    # Both pairs go on, and so do the four together; but the first three have turned away from the first.
    momenta = np.array([[1.0, 0.0], [0.1, 1.0], [-1.3, 0.9], [2.0, 1.0]])
    for part in (momenta, momenta[:2], momenta[2:]):
        assert not _turns(part[0], part[-1], part.sum(0))
    np.testing.assert_array_equal(_by_checkpoints(np.concatenate([momenta, momenta]))[:4], [0, 0, 0, 1])


TURNS = {
    "straight on": ([1.0, 0.0], [1.0, 0.0], [2.0, 0.0], False),
    "last against": ([1.0, 0.0], [-1.0, 0.0], [2.0, 0.0], True),
    "first against": ([-1.0, 0.0], [1.0, 0.0], [2.0, 0.0], True),
    "at a right angle": ([1.0, 0.0], [0.0, 1.0], [2.0, 0.0], True),
    "going nowhere": ([1.0, 0.0], [1.0, 0.0], [0.0, 0.0], True),
    "not a number": ([np.nan, 0.0], [1.0, 0.0], [2.0, 0.0], True),
}


@pytest.mark.parametrize("name", TURNS)
def test_a_trajectory_turns_unless_it_goes_on_along_both_ends(name: str) -> None:
    first, last, total, expected = TURNS[name]
    assert _turns(first, last, total) is expected
    assert _turns(last, first, total) is expected


def _turns(*momenta: Any) -> bool:
    """Whether a trajectory in two dimensions, whose metric is the identity, turns."""
    return bool(is_turning(diagonal_metric(2), *(Momentum(jnp.asarray(each)) for each in momenta)))


def _walk(generator: np.random.Generator, count: int, spread: float) -> np.ndarray:
    """Momenta that change direction slowly or fast, shape `(count, 2)`."""
    angles = np.cumsum(generator.normal(0, spread / 4, count))
    return np.stack([np.cos(angles), np.sin(angles)], 1) * generator.uniform(0.5, 1.5, (count, 1))


@jax.jit
def _by_checkpoints(momenta: jax.Array) -> jax.Array:
    """At each leaf, whether a balanced part that ends there turns back."""
    count, dim = momenta.shape
    metric = diagonal_metric(dim)

    def add(carry: tuple[Checkpoints, Momentum], step: tuple[jax.Array, jax.Array]) -> tuple:
        edges, total = carry
        leaf, momentum = step[0], Momentum(step[1])
        total = total + momentum
        edges = edges.record(leaf, momentum, total, rarely)
        turns = edges.is_turning(metric, leaf, momentum, total)
        return (edges.precede(leaf, momentum, leaf % 2 == 1, rarely), total), turns

    rest = Momentum.at_rest(dim, 0, momenta.dtype)
    start = (Checkpoints.empty(DEPTH + 1, rest), rest)
    return jax.lax.scan(add, start, (jnp.arange(count), momenta))[1]


def _by_search(momenta: np.ndarray, leaf: int) -> bool:
    """The same by trying every size: parts of 2**k leaves begin at multiples of 2**k."""
    return any(
        _part_turns(momenta[leaf + 1 - 2**k : leaf + 1])
        for k in range(1, DEPTH + 1)
        if (leaf + 1) % 2**k == 0
    )


def _part_turns(part: np.ndarray) -> bool:
    """Whether a part turns as a whole, or either of its halves does with the nearest leaf of the other."""
    middle = len(part) // 2
    return any(
        min(piece[0] @ piece.sum(0), piece[-1] @ piece.sum(0)) <= 0
        for piece in (part, part[: middle + 1], part[middle - 1 :])
    )
