"""Hold schemes of resampling against exact counts.

Means and variances of 2 x 4 counts are compared with closed forms within 6 standard errors (2e-9 each).
"""

import numpy as np
import pytest
from laws import each

from accord import infer
from accord.smc.resampling import RESAMPLING

WEIGHTS = np.array([0.1, 0.2, 0.3, 0.4])
SCHEMES = {name: scheme() for name, scheme in RESAMPLING.items()}


class Fixed:
    """A generator that returns the same number again and again."""

    def __init__(self, number):
        self.number = number

    def random(self, size=None):
        return self.number if size is None else np.full(size, self.number)


def counts(scheme, weights, count, generator):
    return np.bincount(scheme.ancestors(weights, count, generator), minlength=len(weights))


def test_systematic_ancestors_are_those_of_its_points():
    assert infer.Systematic().ancestors(WEIGHTS, 5, Fixed(0.25)).tolist() == [0, 1, 2, 3, 3]


def test_systematic_counts_are_exact_on_average_and_within_one():
    points = (np.arange(1024) + 0.5) / 1024
    found = np.stack([counts(infer.Systematic(), WEIGHTS, 5, Fixed(u)) for u in points])
    assert found.mean(axis=0).tolist() == pytest.approx([0.5, 1, 1.5, 2], abs=1e-12)
    assert np.all(np.abs(found - 5 * WEIGHTS) < 1 + 1e-12)


def test_whole_numbers_of_copies_are_not_left_to_chance():
    for scheme in (infer.Systematic(), infer.Residual()):
        found = counts(scheme, np.array([3.0, 1.0, 0.0, 6.0]) / 7, 10, np.random.default_rng(1))
        assert found.tolist() == [3, 1, 0, 6]
    assert np.all(counts(infer.Residual(), WEIGHTS, 5, Fixed(0.999)) >= np.floor(5 * WEIGHTS))


@each(SCHEMES)
def test_counts_are_unbiased_and_vary_no_more_than_independent_ones(scheme):
    generator, repeats = np.random.default_rng(4), 4000
    weights = np.array([0.13, 0.21, 0.29, 0.37])
    found = np.stack([counts(scheme, weights, 7, generator) for _ in range(repeats)])
    independent = 7 * weights * (1 - weights)
    assert np.all(np.abs(found.mean(axis=0) - 7 * weights) < 6 * np.sqrt(independent / repeats))
    # The variance of a binomial variance estimate is at most (2 + 1/7p) sd^4 / repeats.
    assert np.all(found.var(axis=0) < independent * (1 + 6 * np.sqrt(4 / repeats)))


@each(SCHEMES)
def test_ancestors_are_ordered_and_none_has_weight_zero(scheme):
    weights = np.array([0.0, 1.0, 0.0, 2.0, 0.0])
    generator = np.random.default_rng(2)
    for _ in range(100):
        found = scheme.ancestors(weights, 8, generator)
        assert found.shape == (8,) and np.all(np.diff(found) >= 0) and set(found) <= {1, 3}
    for edge in (0.0, np.nextafter(1, 0)):  # points at the very ends of shares
        assert set(scheme.ancestors(weights, 8, Fixed(edge))) <= {1, 3}
    assert scheme.ancestors(np.array([0.0, 1e-300, 0.0]), 3, generator).tolist() == [1, 1, 1]
