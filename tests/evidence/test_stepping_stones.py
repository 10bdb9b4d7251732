"""Estimate log evidences from independent draws on a ladder whose answer is known."""

import numpy as np

from accord.evidence.stepping_stones import stepping_stones

PRECISION = np.exp(
    4.0
)  # of the posterior, in two dimensions; that of the prior is 1, and the log evidence -4
POWERS = np.array([0.0, 0.05, 0.2, 0.5, 1.0])


def heights_of(rng: np.random.Generator, powers: np.ndarray, draws: int) -> np.ndarray:
    """Log likelihoods of exact draws, shape `(chain, draw, rung)`, for powers of shape `(chain, rung)`."""
    precision = 1 + powers * (PRECISION - 1)
    squares = rng.chisquare(2, size=(len(powers), draws, powers.shape[1])) / precision[:, None]
    return -0.5 * (PRECISION - 1) * squares


def test_standard_errors_are_the_spread_over_repetitions() -> None:
    """Over 200 repetitions: the spread of values over errors has a standard error of 5%, and is within 30%."""
    rng = np.random.default_rng(0)
    powers = np.tile(POWERS, (4, 1))
    found = [stepping_stones(powers, heights_of(rng, powers, 500)) for _ in range(200)]
    values, errors = np.array([each[:2] for each in found]).T
    spread = values.std(ddof=1)
    assert abs(values.mean() + 4) < 6 * spread / np.sqrt(200)
    assert abs(errors.mean() / spread - 1) < 0.3
    assert spread < 0.1


def test_estimates_are_from_both_sides_and_chains_may_have_other_powers() -> None:
    rng = np.random.default_rng(1)
    powers = np.stack([POWERS, POWERS**1.2])
    value, error, forward, backward = stepping_stones(powers, heights_of(rng, powers, 20_000))
    assert abs(value + 4) < 6 * error < 0.1
    assert abs(forward + 4) < 0.2 and abs(backward + 4) < 0.2


def test_likelihoods_of_zero_near_the_prior_count_as_such() -> None:
    """A likelihood of 1 in a tenth of the prior, and 0 elsewhere: both estimates are the share of draws in it."""
    powers = np.array([[0.0, 1.0]])
    heights = np.stack([np.where(np.arange(1000) < 100, 0.0, -np.inf), np.zeros(1000)], -1)[None]
    value, _, forward, backward = stepping_stones(powers, heights)
    np.testing.assert_allclose([value, forward], np.log(0.1), rtol=1e-6)
    assert backward == 0.0  # blind to what it never sees


def test_the_error_of_rungs_that_do_not_overlap_is_infinite() -> None:
    heights = np.tile([-1e5, 0.0], (1, 200, 1))
    found = stepping_stones(np.array([[0.0, 1.0]]), heights)
    assert -1e5 <= found.value <= 0 and found.standard_error == np.inf
