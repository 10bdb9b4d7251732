"""Check which directions scales by marginals are joined by."""

import numpy as np
import pytest

from accord.adaptation import metric as metrics
from accord.adaptation.metric import Metric, rank_for
from accord.adaptation.metric.curvature import STEEP
from accord.adaptation.metric.diagonal import diagonal
from accord.adaptation.metric.directions import with_directions
from accord.adaptation.metric.fit import Fit
from accord.adaptation.metric.marginal import marginal

Window = tuple[np.ndarray, np.ndarray]

KNOWN = 0.05  # standard deviation of what the data know


@pytest.mark.parametrize("dim", [20, 200])
def test_a_sum_that_is_known_is_scaled_to_twice_its_width(dim: int) -> None:
    """Among pairs that a bent ridge binds, four coordinates have a sum that is known to a twentieth.

    The ridges are bent by more than four times the width of others, from which on it is twice and not more.
    """
    x, g = _window(dim, 200)
    learnt, choice = metrics.learn_metric(x, g, _unit(dim), "auto", "marginal")
    assert choice is not None and choice.form == "marginal"
    assert not learnt.is_diagonal
    (found,) = np.flatnonzero(learnt.stretch < 0)
    along = np.zeros(dim)
    along[-4:] = 0.5
    scaled = along * learnt.scale  # a plane across `along` is one across this, once coordinates are scaled
    direction = learnt.factor[:, found]
    assert abs(direction @ scaled) / np.linalg.norm(scaled) > 0.99
    width = KNOWN / np.linalg.norm(scaled)
    np.testing.assert_allclose(1 + learnt.stretch[found], 2 * width, rtol=0.25)


@pytest.mark.parametrize(("remainder", "margin"), [(0.3, 1.0), (2.25, 1.5), (9.0, 2.0), (np.nan, 2.0)])
def test_the_margin_follows_what_is_bent(remainder: float, margin: float) -> None:
    x, g = _window(20, 200)
    wide = marginal(x, g, diagonal(x, g, np.ones(20)).scale)
    least, found = (with_directions(wide, x, g, 16, value) for value in (1.0, remainder))
    np.testing.assert_allclose(1 + found.stretch.min(), margin * (1 + least.stretch.min()))
    assert len(with_directions(wide, x, g, 3, remainder).stretch) <= 3


@pytest.mark.parametrize(
    ("dim", "width", "known", "has_directions"),
    [(20, 0.35, 0.2, True), (20, 0.1, 0.2, False), (20, 0.1, 0.05, True), (16, 0.1, 0.2, True)],
)
def test_strongly_curved_posteriors_keep_scales_alone(
    dim: int, width: float, known: float, has_directions: bool
) -> None:
    """Ridges bent by nine times their width, and by forty times: few dimensions, or a very narrow sum, need more."""
    learnt, choice = metrics.learn_metric(*_window(dim, 200, width, known), _unit(dim), "auto", "marginal")
    assert choice is not None and choice.form == "marginal"
    assert (choice.remainder > STEEP) == (width == 0.1)
    assert learnt.is_diagonal != has_directions
    if has_directions and dim > 16 and width == 0.1:
        assert np.count_nonzero(learnt.stretch) == 1


def test_a_direction_that_is_unknown_is_scaled_to_its_width() -> None:
    """Across four of 200 coordinates the posterior is three times as wide as the marginals say."""
    generator = np.random.default_rng(2)
    along = np.where(np.arange(200) < 4, 0.5, 0.0)
    white = generator.standard_normal((200, 200))
    x = white + 4 * (white @ along)[:, None] * along
    g = -white + 0.8 * (white @ along)[:, None] * along
    learnt, _ = metrics.learn_metric(x, g, _unit(200), "marginal")
    (found,) = np.flatnonzero(learnt.stretch > 0)
    scaled = along / learnt.scale
    width = 5 * np.linalg.norm(scaled)
    np.testing.assert_allclose(1 + learnt.stretch[found], width, rtol=0.2)


def test_an_excursion_is_no_width() -> None:
    """Four coordinates go far out together, in the last 30 of 200 draws only."""
    generator = np.random.default_rng(2)
    x = generator.standard_normal((200, 20))
    g = -x.copy()
    x[170:, :4] += 8.0
    unit = Fit(np.ones(20), np.zeros((20, 0)), np.zeros(0))
    assert not np.any(with_directions(unit, x, g, 16).stretch > 0)
    lasting = np.roll(x, -85, axis=0)  # the same 30 draws, in the middle: seen in both halves
    assert np.any(with_directions(unit, lasting, np.roll(g, -85, axis=0), 16).stretch > 0)


@pytest.mark.parametrize("count", [50, 150])
@pytest.mark.parametrize("dim", [2, 5, 64, 3000])
def test_independent_coordinates_have_none(dim: int, count: int) -> None:
    """Nor do the narrowest of thousands of directions, in which few draws lie close together by chance."""
    generator = np.random.default_rng(dim)
    x = generator.standard_normal((count, dim))
    g = -x + 0.5 * generator.standard_normal((count, dim))  # gradients that no metric whitens
    for gradients in (-x, g):
        learnt, _ = metrics.learn_metric(x, gradients, _unit(dim), "marginal")
        assert learnt.is_diagonal and not learnt.stretch.any()


@pytest.mark.parametrize("count", [3, 20, 49])
def test_few_draws_have_none(count: int) -> None:
    x, g = _window(20, count)
    assert metrics.learn_metric(x, g, _unit(20), "marginal")[0].is_diagonal


def test_draws_whose_squares_are_not_finite_have_none() -> None:
    x, g = _window(20, 100)
    learnt, choice = metrics.learn_metric(x * 1e200, g, _unit(20), "marginal")
    assert choice is not None and choice.form == "marginal" and learnt.is_diagonal


def _window(dim: int, count: int, width: float = 0.35, known: float = KNOWN) -> Window:
    """Draws of five pairs (u, v), v of that width about 2 sin(1.5 u), of four with a known sum, of standard normals."""
    generator = np.random.default_rng(11)
    x = generator.standard_normal((count, dim))
    g = -x.copy()
    pairs = 5
    u = x[:, :pairs]
    error = width * generator.standard_normal((count, pairs))
    x[:, pairs : 2 * pairs] = 2 * np.sin(1.5 * u) + error
    g[:, pairs : 2 * pairs] = -error / width**2
    g[:, :pairs] = -u + error / width**2 * 3 * np.cos(1.5 * u)
    along = np.full(4, 0.5)
    total = x[:, -4:] @ along
    x[:, -4:] += np.outer((known - 1) * total, along)
    g[:, -4:] -= np.outer((1 / known - 1) * total, along)
    return x, g


def _unit(dim: int) -> Metric:
    return Metric.diagonal(np.ones(dim), rank_for(dim, "auto"))
