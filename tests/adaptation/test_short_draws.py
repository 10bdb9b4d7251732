"""Check which draws after warm-up take shorter steps, and what they may cost."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from accord.adaptation.metric import Care
from accord.adaptation.short_draws import max_doublings, shortening

DRAWS = np.arange(128, dtype=np.int32)
SHORT = np.arange(7, 128, 8)


@pytest.mark.parametrize(
    ("care", "expected"),
    [
        (Care.LITTLE, [1, 1 / 2, 1, 1 / 4] * 4),
        (Care.SOME, [1, 1 / 2, 1, 1 / 4, 1, 1 / 2, 1, 1 / 16] * 2),
        (Care.MUCH, [1 / 4, 1 / 16] * 8),
    ],
)
def test_some_draws_are_short_on_the_host_as_in_a_program(care: Care, expected: list[float]) -> None:
    factors = shortening(DRAWS, care, np.float64)
    assert np.array_equal(
        factors, jax.jit(lambda *both: shortening(*both, jnp.float64))(DRAWS, np.int32(care))
    )
    assert factors[SHORT].tolist() == expected
    assert np.all(np.delete(factors, SHORT) == 1)
    assert shortening(np.asarray(63), np.int32(care), np.float32) == expected[7]


def test_no_draw_is_short_without_care() -> None:
    assert np.all(shortening(DRAWS, Care.NONE, np.float64) == 1)


@pytest.mark.parametrize(("usual", "most", "expected"), [(5, 10, 7), (9, 10, 10), (0, 10, 2)])
def test_short_draws_with_much_care_double_twice_more_often_than_usual(
    usual: int, most: int, expected: int
) -> None:
    """One draw in eight takes four times as many steps at most, which is three eighths of the gradients more."""

    def doublings(care: Care) -> np.ndarray:
        return np.asarray(max_doublings(shortening(DRAWS, care, np.float64), care, usual, most))

    assert np.all(doublings(Care.MUCH)[SHORT] == expected)
    assert np.all(np.delete(doublings(Care.MUCH), SHORT) == most)
    assert np.all(doublings(Care.SOME) == most)
    steps = np.where(np.isin(DRAWS, SHORT), 2.0 ** doublings(Care.MUCH), 2.0**usual)
    assert steps.mean() <= 11 / 8 * 2.0**usual
