"""Hold schemes of resampling against exact counts.

Means and variances of 2 x 4 counts are compared with closed forms within 6 standard errors (2e-9 each).
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import compiled, each

from accord import infer
from accord.resampling import CONDITIONAL, RESAMPLING, Uniforms

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


@each(SCHEMES)
def test_a_program_chooses_the_ancestors_that_the_host_chooses(scheme):
    weights = np.array([0.0, 0.3, 0.2, 0.0, 0.4, 0.1, 0.0])
    for number in range(3):
        uniforms = Uniforms(jax.random.key(number), jnp.dtype(float))
        found = compiled(lambda weights, u=uniforms: scheme.ancestors(weights, 9, u))(weights)
        assert found.tolist() == scheme.ancestors(weights, 9, AsNumpy(uniforms)).tolist()


class AsNumpy:
    """The uniform numbers of a program, as arrays of NumPy."""

    def __init__(self, uniforms):
        self.uniforms = uniforms

    def random(self, size=None):
        return np.asarray(self.uniforms.random(size))


@each({name: scheme() for name, scheme in CONDITIONAL.items()})
def test_given_an_ancestor_that_is_drawn_by_weight_so_are_the_others(scheme):
    """An average over a grid of all uniform numbers of the systematic scheme, so that no chance comes in."""
    weights = jnp.asarray([0.1, 0.37, 0.0, 0.53])
    points = (jnp.arange(40, dtype=float) + 0.5) / 40
    grid = jnp.stack(jnp.meshgrid(points, points, points, indexing="ij"), -1).reshape(-1, 3)
    grid = jnp.concatenate([grid, grid[:, :1]], axis=1)

    def chosen(levels, first):
        return scheme.ancestors(weights, first, Levels(levels))

    firsts = [0, 1, 3]
    found = [np.asarray(compiled(jax.vmap(chosen, (0, None)))(grid, jnp.asarray(first))) for first in firsts]
    assert all(np.all(each[:, 0] == first) for each, first in zip(found, firsts, strict=True))
    for place in range(1, 4):
        shares = sum(
            float(weights[first]) * np.bincount(each[:, place], minlength=4) / len(grid)
            for each, first in zip(found, firsts, strict=True)
        )
        assert np.max(np.abs(shares - np.asarray(weights))) < 0.02, place


class Levels:
    """Uniform numbers that are known."""

    def __init__(self, levels):
        self.levels = levels

    def random(self, size=None):
        return self.levels[0] if size is None else self.levels[:size]
