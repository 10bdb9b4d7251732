"""Climb from the first round of candidates that has a finite one."""

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np
import pytest

from accord.core.precision import scope
from accord.density import LogDensity
from accord.optimise.starts import climbs_from
from accord.optimise.surface import Climbs


def half(x):
    """Finite for a positive first coordinate, with its top at 1."""
    return jnp.sum(jnp.log(x) - x)


TARGET = LogDensity.from_function(half, np.zeros(2))
GOOD, BAD, NONE = np.array([[3.0, 0.5], [0.2, 2.0]]), np.full((2, 2), -1.0), np.full((2, 2), np.nan)


def climbs(*rounds) -> tuple[Climbs, int]:
    """The climbs, and the number of rounds that were taken."""
    taken = []

    def each() -> Iterator[np.ndarray]:
        for candidates in rounds:
            taken.append(candidates)
            yield np.stack(candidates)

    with scope("float64"):
        found = climbs_from(TARGET, LogDensity.__call__, each(), 100)
    return found, len(taken)


def test_a_later_round_is_taken_only_if_a_start_needs_it() -> None:
    found, num_rounds = climbs((GOOD, GOOD + 1), (BAD, BAD))
    assert num_rounds == 1
    np.testing.assert_allclose(found.positions, 1, atol=1e-4)


def test_a_start_climbs_from_the_first_round_with_a_finite_candidate_and_others_stay() -> None:
    alone, _ = climbs((GOOD, GOOD + 1))
    found, num_rounds = climbs((GOOD, BAD), (BAD, BAD), (BAD, GOOD + 1), (BAD, BAD))
    assert num_rounds == 3
    for name in ("positions", "heights", "is_settled", "num_steps"):
        np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))


def test_a_start_without_a_finite_candidate_has_no_height() -> None:
    found, num_rounds = climbs((GOOD, BAD), (GOOD, NONE))
    assert num_rounds == 2
    np.testing.assert_array_equal(np.isnan(found.heights), [False, True])
    np.testing.assert_array_equal(found.is_settled, [True, False])
    assert np.all(np.isfinite(found.positions))


@pytest.mark.parametrize("count", [1, 3])
def test_starts_with_the_same_candidates_are_one(count: int) -> None:
    found, _ = climbs((GOOD,) * count)
    assert found.positions.shape == (1, 2)
