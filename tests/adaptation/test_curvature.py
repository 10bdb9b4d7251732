"""Check how curved posteriors are recognised, and what follows for a chain."""

from dataclasses import replace

import numpy as np
import pytest

from accord.adaptation import metric as metrics
from accord.adaptation.metric import Care, Choice, Metric, care, rank_for, reason, target_accept
from accord.adaptation.metric.curvature import asks_for_marginals, remainder, spread
from accord.adaptation.metric.diagonal import diagonal
from accord.adaptation.metric.fit import Fit

Window = tuple[np.ndarray, np.ndarray]


@pytest.mark.parametrize("dim", [3, 60, 2000])
def test_a_normal_that_is_whitened_leaves_nothing(dim: int) -> None:
    x = np.random.default_rng(dim).standard_normal((150, dim)) * np.geomspace(1e-3, 1e3, dim)
    g = -x / np.geomspace(1e-3, 1e3, dim) ** 2
    assert remainder(diagonal(x, g, np.ones(dim)), x, g, np.geomspace(1e-3, 1e3, dim)) < 1e-12


def test_a_direction_that_is_not_whitened_is_found_in_any_dimension() -> None:
    """Across four coordinates, a direction is three times as wide: draw plus gradient along it has width 3 - 1/3."""
    for dim in (4, 400):
        along = np.where(np.arange(dim) < 4, 0.5, 0.0)
        white = np.random.default_rng(dim).standard_normal((2000, dim))
        x, g = (
            white + 2 * (white @ along)[:, None] * along,
            -white + (2 / 3) * (white @ along)[:, None] * along,
        )
        unit = _unit(dim)
        assert remainder(unit, x, g, np.ones(dim)) == pytest.approx((3 - 1 / 3) ** 2, rel=0.1)


def test_independent_skewed_coordinates_are_not_bent() -> None:
    """The logarithms of 300 gamma variables, each with a remainder of its own, and no direction that stands out."""
    for seed in range(5):
        x, g = _log_gamma(np.random.default_rng(seed), 150, 300)
        _, choice = _learn(x, g)
        assert choice.form == "diagonal"
        assert not asks_for_marginals(choice.remainder, 1.0)
        assert target_accept(choice, None) == 0.8


def test_scales_that_one_coordinate_sets_for_many_are_bent() -> None:
    """A funnel without its neck, in 60 and in 200 dimensions: no matrix fits, and steps become shorter."""
    for dim in (60, 200):
        x, g = _funnel(np.random.default_rng(dim), 150, dim)
        learnt, choice = _learn(x, g)
        assert choice.form == "marginal" and asks_for_marginals(choice.remainder, 1.0)
        assert learnt.is_diagonal
        assert target_accept(choice, None) == 0.97
        assert "along a direction" in reason(choice, "auto") or "of the gradients" in reason(choice, "auto")
        stored = Choice.stored(choice.arrays())
        assert (stored.form, stored.remainder) == (choice.form, choice.remainder)
        assert target_accept(stored, None) == 0.97


def test_what_is_asked_for_is_what_is_aimed_at() -> None:
    bent = Choice("marginal", remainder=9.0)
    assert target_accept(bent, 0.7) == 0.7
    assert target_accept(bent, None) == 0.97
    assert target_accept(Choice(), None) == target_accept(Choice("dense"), None) == 0.8
    assert care(bent, None) == Care.SOME
    assert care(bent, 0.97) == care(Choice(), None) == Care.NONE


def test_steps_are_shorter_still_where_more_remains() -> None:
    steep = Choice("marginal", remainder=20.0, has_diverged=True)
    assert care(steep, None) == Care.MUCH and target_accept(steep, None) == 0.985
    assert care(steep, 0.97) == Care.NONE and target_accept(steep, 0.97) == 0.97
    assert care(Choice.stored(steep.arrays()), None) == Care.MUCH
    for other in (
        replace(steep, is_cut=True),
        replace(steep, form="dense"),
        replace(steep, has_diverged=False),
    ):
        assert care(other, None) == Care.SOME and target_accept(other, None) == 0.97


def test_steps_need_not_be_as_short_where_gradients_are_about_as_long_everywhere() -> None:
    even = Choice("marginal", remainder=3.0, spread=0.1)
    assert care(even, None) == Care.LITTLE and target_accept(even, None) == 0.9
    assert care(Choice.stored(even.arrays()), None) == Care.LITTLE
    assert care(even, 0.97) == Care.NONE and target_accept(even, 0.97) == 0.97
    assert care(replace(even, remainder=1.0), None) == Care.NONE
    for other in (
        replace(even, spread=0.2),
        replace(even, spread=np.nan),
        replace(even, form="low_rank"),
        replace(even, has_diverged=True),
    ):
        assert care(other, None) == Care.SOME and target_accept(other, None) == 0.97


@pytest.mark.parametrize(("dim", "largest"), [(5, 0.21), (50, 0.09), (500, 0.03)])
def test_gradients_of_a_funnel_spread_more_than_those_of_a_normal(dim: int, largest: float) -> None:
    """The key is fixed; over 200 others, a normal has at most `largest`, and such a funnel at least 0.3."""
    generator = np.random.default_rng(dim)
    normal, none = generator.standard_normal((150, dim)), np.zeros(dim, bool)
    scales = np.exp(0.5 * generator.standard_normal((150, 1)))
    assert spread(normal, none) < largest
    assert spread(normal / scales, none) > 0.25


def test_gradients_that_are_all_the_same_or_zero_say_nothing_false() -> None:
    some = np.array([True, False, False])
    assert spread(np.ones((100, 3)), some) == 0.0
    assert not spread(np.zeros((100, 3)), some) < 0.135


@pytest.mark.parametrize("others", [0, 30, 300])
def test_a_funnel_is_seen_among_other_unknowns(others: int) -> None:
    """Its log scale has a standard deviation of 1; over 20 keys for each number, its spread was at least 0.37."""
    generator = np.random.default_rng(5)
    v, rest = generator.standard_normal(150), generator.standard_normal((150, others))
    z = generator.standard_normal((150, 8)) * np.exp(v)[:, None]
    of_v = -v - 8 + np.sum(z**2, 1) * np.exp(-2 * v)
    units = np.geomspace(1e-3, 1e3, 9 + others)
    x = np.column_stack([v, z, rest]) * units
    g = np.column_stack([of_v, -z * np.exp(-2 * v)[:, None], -rest]) / units
    choice = _learn(x, g)[1]
    assert choice.form == "marginal" and choice.spread > 0.3
    assert target_accept(choice, None) == 0.97


def test_a_curved_posterior_that_is_about_as_steep_everywhere_is_told() -> None:
    """A hundred pairs with v = 0.6 u^2 + noise, in units of their own; twelve keys had a spread of 0.09 to 0.13."""
    generator = np.random.default_rng(6)
    u, e = generator.standard_normal((2, 150, 100))
    units = np.geomspace(1e-3, 1e3, 200)
    x = np.column_stack([u, 0.6 * u**2 + 0.5 * e]) * units
    g = np.column_stack([-u + 1.2 * u * e / 0.5, -e / 0.5]) / units
    choice = _learn(x, g)[1]
    assert choice.form == "marginal" and choice.remainder > 1.3
    assert target_accept(choice, None) == 0.9 and care(choice, None) == Care.LITTLE


def test_a_matrix_that_fits_badly_wants_shorter_steps() -> None:
    badly, well = (Choice("dense", np.array([2.0, np.nan, value])) for value in (0.9, 0.3))
    assert target_accept(badly, None) == 0.97 and target_accept(well, None) == 0.8


def test_marginals_are_for_what_bends_and_not_where_they_cost_too_much() -> None:
    assert asks_for_marginals(1.4, 1.0) and not asks_for_marginals(1.2, 1.0)
    assert not asks_for_marginals(np.nan, 1.0) and not asks_for_marginals(1.4, 20.0)


def test_a_matrix_stays_where_coordinates_are_bound_far_closer_than_they_are_bent() -> None:
    """A funnel whose axes are turned and stretched 3000 times: scales would take some hundred times the effort."""
    generator = np.random.default_rng(3)
    x, g = _funnel(generator, 400, 20)
    turned = np.linalg.qr(generator.standard_normal((20, 20)))[0] * np.geomspace(1, 3000, 20)
    _, straight = _learn(x, g)
    learnt, choice = _learn(x @ turned.T, g @ np.linalg.inv(turned))
    assert straight.form == "marginal"
    assert choice.form == "dense" and not learnt.is_diagonal
    assert choice.remainder > 2 and target_accept(choice, None) == 0.97 and care(choice, None) != Care.NONE


@pytest.mark.parametrize("count", [3, 20, 79])
def test_few_draws_say_nothing(count: int) -> None:
    x, g = _funnel(np.random.default_rng(1), count, 20)
    assert np.isnan(remainder(diagonal(x, g, np.ones(20)), x, g, np.ones(20)))


def _unit(dim: int) -> Fit:
    """The metric that changes nothing."""
    x = np.random.default_rng(0).standard_normal((10, dim))
    return diagonal(x, -x, np.ones(dim))


def _learn(x: np.ndarray, g: np.ndarray) -> tuple[Metric, Choice]:
    dim = x.shape[1]
    learnt, choice = metrics.learn_metric(x, g, Metric.diagonal(np.ones(dim), rank_for(dim, "auto")), "auto")
    assert choice is not None
    return learnt, choice


def _log_gamma(generator: np.random.Generator, count: int, dim: int) -> Window:
    x = np.log(generator.gamma(2.0, size=(count, dim)))
    return x, 2.0 - np.exp(x)


def _funnel(generator: np.random.Generator, count: int, dim: int) -> Window:
    """Coordinates of the scale exp(v), v normal with standard deviation 1."""
    v = generator.standard_normal(count)
    y = np.exp(v)[:, None] * generator.standard_normal((count, dim - 1))
    slopes = -v + np.sum(y**2 * np.exp(-2 * v)[:, None] - 1, axis=1)
    return np.column_stack([v, y]), np.column_stack([slopes, -y * np.exp(-2 * v)[:, None]])
