"""Check where a metric takes scales as wide as the marginals."""

import numpy as np
import pytest

from accord.adaptation import metric as metrics
from accord.adaptation.metric import Choice, Metric, rank_for, reason
from accord.adaptation.metric.choose import MAX_DENSE_DIM

Window = tuple[np.ndarray, np.ndarray]

DIM = 100


def test_coordinates_that_curves_bind_are_scaled_by_their_marginals() -> None:
    """Of ten pairs, the product is known to 3 percent and neither factor is: a bent ridge for each."""
    x, g = _window(ridges=10)
    learnt, choice = metrics.learn_metric(x, g, _unit(DIM), "auto")
    assert choice is not None and choice.form == "marginal"
    assert 0 < choice.gain < 0.4
    assert learnt.is_diagonal and not learnt.stretch.any()
    width = np.ones(DIM)
    width[10:20] = 3 * 2 * np.sinh(1.28155) / (2 * 1.28155)  # of 3 exp(-u), between its quantiles
    np.testing.assert_allclose(learnt.scale, width, rtol=0.3)
    assert f"take {choice.gain:.2g} of the gradients" in reason(choice, "auto")
    stored = Choice.stored(choice.arrays())
    assert (stored.form, stored.gain) == (choice.form, choice.gain)
    assert reason(stored, "auto") == reason(choice, "auto")


def test_once_taken_they_are_left_only_where_another_form_is_expected_to_do_better() -> None:
    """On a normal whose coordinates are independent, forms are alike; one long direction wants another."""
    x, g = _window(ridges=0)
    kept = [metrics.learn_metric(x, g, _unit(DIM), "auto", former)[1] for former in ("diagonal", "marginal")]
    assert [choice.form for choice in kept if choice] == ["diagonal", "marginal"]
    long = np.full(DIM, DIM**-0.5)
    along = (x @ long)[:, None] * long
    _, choice = metrics.learn_metric(x + 29 * along, g + (1 - 1 / 30) * along, _unit(DIM), "auto", "marginal")
    assert choice is not None and choice.form == "low_rank"


def test_they_are_not_taken_where_trajectories_are_as_long_as_the_widest_direction_wants() -> None:
    _, choice = metrics.learn_metric(*_window(ridges=10), _unit(DIM), "auto", turns=False)
    assert choice is not None and choice.form != "marginal" and np.isnan(choice.gain)


@pytest.mark.parametrize("count", [5, 20, 49])
def test_they_are_not_taken_from_few_draws(count: int) -> None:
    x, g = _window(ridges=10)
    _, choice = metrics.learn_metric(x[:count], g[:count], _unit(DIM), "auto")
    assert choice is not None and choice.form != "marginal"


@pytest.mark.parametrize("dim", [5, MAX_DENSE_DIM, 3000])
def test_a_normal_does_not_want_them(dim: int) -> None:
    """Nor does the widest of thousands of noisy widths."""
    x = np.random.default_rng(dim).standard_normal((60, dim))
    _, choice = metrics.learn_metric(x, -x, _unit(dim), "auto")
    assert choice is not None and choice.form != "marginal"


def test_far_tails_do_not_want_them() -> None:
    """A tenth of the coordinates are Cauchy: in units of their bulk, trajectories would go out for ever."""
    generator = np.random.default_rng(4)
    x = generator.standard_normal((200, DIM))
    x[:, :10] = generator.standard_cauchy((200, 10))
    g = np.where(np.arange(DIM) < 10, -2 * x / (1 + x * x), -x)
    _, choice = metrics.learn_metric(x, g, _unit(DIM), "auto")
    assert choice is not None and choice.form == "diagonal"
    diagonal, marginal = (
        metrics.learn_metric(x, g, _unit(DIM), form)[0] for form in ("diagonal", "marginal")
    )
    np.testing.assert_array_equal(marginal.scale[:10], diagonal.scale[:10])


def test_a_coordinate_that_did_not_move_keeps_its_scale() -> None:
    x, g = _window(ridges=0)
    x[:, 3] = 7.0
    learnt, _ = metrics.learn_metric(
        x, g, Metric.diagonal(np.full(DIM, 0.25), rank_for(DIM, "auto")), "marginal"
    )
    assert learnt.scale[3] == 0.25


def _window(ridges: int) -> Window:
    """200 draws of pairs (u, v) with u standard normal and v exp(u) normal about 3, and of standard normals."""
    generator = np.random.default_rng(7)
    x = generator.standard_normal((200, DIM))
    g = -x.copy()
    u, width = x[:, :ridges], 0.1
    error = width * generator.standard_normal((200, ridges))
    grown = np.exp(u)
    x[:, ridges : 2 * ridges] = (3 + error) / grown
    slope = -error / width**2
    # d/dv and d/du of log N(v exp(u); 3, width) + u, whose last term is that of the density of v.
    g[:, ridges : 2 * ridges] = slope * grown
    g[:, :ridges] = -u + slope * (3 + error) + 1
    return x, g


def _unit(dim: int) -> Metric:
    return Metric.diagonal(np.ones(dim), rank_for(dim, "auto"))
