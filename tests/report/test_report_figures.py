"""Check figures: their marks are right, and the same marks give the same sound picture."""

import xml.etree.ElementTree as ET
from statistics import NormalDist

import numpy as np
import pytest

from accord.report.figures.autocorrelation import autocorrelations
from accord.report.figures.by_draws import r_hat_by_draws
from accord.report.figures.chains import MOST_BINS, edges_of, heights_of
from accord.report.figures.forest import forest
from accord.report.figures.marks import Axis, Band, Bars, Figure, Line, Panel, Points, Rule
from accord.report.figures.pair import MOST_POINTS, pair
from accord.report.figures.predicted import loo_pit, predicted
from accord.report.figures.rank import band_width, rank, rank_difference, ranks_of
from accord.report.figures.sampler import losses, tree_depth
from accord.report.figures.svg import figure_as_svg, panel_as_svg
from accord.report.figures.thin import thinned
from accord.report.figures.ticks import number, ticks_of
from accord.report.figures.trace import trace
from accord.report.marginals import marginals


def test_a_thinned_line_keeps_the_extremes_of_each_column():
    rng = np.random.default_rng(1)
    x = np.linspace(0, 50, 10_001)
    y = rng.normal(size=x.size)
    a, b = thinned(x, y)
    assert a.size <= 2 * 51 and np.all(np.diff(a) > 0)
    for column in range(50):
        inside, kept = np.floor(x) == column, np.floor(a) == column
        assert y[inside].min() == b[kept].min() and y[inside].max() == b[kept].max()


def test_a_thinned_line_breaks_where_values_are_not_finite():
    y = np.zeros(1000)
    y[400:600] = np.nan
    a, b = thinned(np.linspace(0, 10, 1000), y)
    assert np.isnan(b[(a > 4.1) & (a < 5.9)]).all() and (~np.isnan(b)).sum() > 8


def test_few_points_are_not_thinned():
    x = np.arange(5.0)
    np.testing.assert_array_equal(thinned(x, x)[1], x)
    assert thinned(x[:0], x[:0])[0].size == 0


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-30.0, 12.0, ["−30", "−20", "−10", "0", "10"]),
        (1e6, 3e6, ["1e6", "1.5e6", "2e6", "2.5e6", "3e6"]),
        (0.0, 4e-5, ["0", "1e-5".replace("-", "−"), "2e−5", "3e−5", "4e−5"]),
    ],
)
def test_ticks_are_round_numbers(low, high, texts):
    assert [text for _, text in ticks_of(Axis("", low, high), 6)] == texts


@pytest.mark.parametrize("size", [1e-300, 1e-3, 1.0, 1e12, 1e300])
@pytest.mark.parametrize("at", [0.0, 1.0, -1e3])
def test_ticks_lie_within_the_axis_and_are_few(size, at):
    axis = Axis("", at - size, at + size)
    found = ticks_of(axis, 5)
    assert 1 <= len(found) <= 20
    assert all(axis.low - 1e-9 * size <= place <= axis.high + 1e-9 * size for place, _ in found)


def test_powers_of_ten_mark_a_logarithmic_axis():
    assert [text for _, text in ticks_of(Axis("", 0.005, 20, is_log=True), 6)] == ["0.01", "0.1", "1", "10"]
    assert len(ticks_of(Axis("", 0.3, 0.9, is_log=True), 6)) >= 1


def test_numbers_are_brief():
    assert [number(each) for each in (0.0, 1234.4, -0.01234, 1e-12, 2.5e9)] == [
        "0",
        "1234",
        "−0.0123",
        "1e−12",
        "2.5e9",
    ]


def panel():
    at = np.arange(4.0)
    marks = (
        Line(at, np.array([1.0, np.nan, 2.0, 3.0]), 0),
        Band(at, at, at + 1, 1, is_steps=True),
        Bars(at, at + 0.5, np.zeros(4), at, 2),
        Points(at, at, 3),
        Points(at, at, 4, is_cross=True),
        Rule(1.0),
        Rule(2.0, is_vertical=True, colour=5),
    )
    return Panel(
        "<b>", marks, Axis("x & y", 0, 3), Axis("'y'", 0, 4), 'It shows "<x>".', ((0, "one"), (1, "two"))
    )


def test_pictures_are_sound_xml_and_say_what_they_show():
    root = ET.fromstring(
        figure_as_svg(Figure("A & B", "Two <panels>.", (panel(), panel(), panel()), columns=2))
    )
    inner = root.findall("{http://www.w3.org/2000/svg}svg")
    assert len(inner) == 3 and {each.get("role") for each in inner} == {"img"}
    assert inner[0].get("aria-label") == 'It shows "<x>".' and root.get("aria-label") == "Two <panels>."
    assert figure_as_svg(Figure("", "", (panel(),))) == figure_as_svg(Figure("", "", (panel(),)))


def test_a_line_breaks_at_a_value_that_is_not_finite():
    text = panel_as_svg(panel())
    path = text.split("stroke-linejoin")[0].rsplit("d='", 1)[1].split("'")[0]
    assert path.count("M") == 2 and path.count("L") == 1


def test_bins_are_few_and_hold_all_draws():
    rng = np.random.default_rng(1)
    for values in (
        rng.normal(size=1000),
        rng.standard_cauchy(size=5000),
        np.full(10, 3.0),
        1e15 + np.arange(3.0),
    ):
        edges = edges_of(values, is_whole=False)
        heights = heights_of(values, edges)
        assert len(edges) <= MOST_BINS + 1
        np.testing.assert_allclose(heights @ np.diff(edges), 1.0)
    whole = edges_of(np.array([0.0, 3.0, 5.0]), is_whole=True)
    np.testing.assert_array_equal(whole, np.arange(-0.5, 6.5))


def test_r_hat_by_draws_ends_with_that_of_the_summary():
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(64, 10))
    draws += np.repeat([0.0, 0.4, 0.1, -0.3], 16)[:, None]
    for superchains in (None, [chain // 16 for chain in range(64)]):
        line = r_hat_by_draws(draws, "x", superchains).marks[1]
        assert isinstance(line, Line)
        wanted = marginals(draws[:, :, None], (0.5,), None, superchains).diagnostics["r_hat"][0]
        np.testing.assert_allclose(line.y[-1], wanted, rtol=1e-12)


def test_the_depth_of_trees_is_counted():
    bars = tree_depth(np.array([[1, 2, 2, 3]]), 3).marks[0]
    assert isinstance(bars, Bars)
    np.testing.assert_array_equal(bars.top, [0, 0.25, 0.5, 0.25])
    assert "25.0% reached the limit of 3" in tree_depth(np.array([[1, 2, 2, 3]]), 3).sentence


def test_autocorrelations_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(2, 90)).cumsum(axis=1)
    draws[1] = 4.0
    found = autocorrelations(draws)
    row = draws[0] - draws[0].mean()
    expected = [row[: 90 - lag] @ row[lag:] / (row @ row) for lag in range(30)]
    np.testing.assert_allclose(found[0], expected, atol=1e-12)
    assert np.isnan(found[1]).all()


def test_ranks_of_equal_draws_are_spread_evenly():
    first, second = ranks_of(np.array([[1, 1, 2, 2], [1, 1, 2, 2]]))
    np.testing.assert_allclose(first, [0.125, 0.375, 0.625, 0.875])
    np.testing.assert_allclose(first, second)
    alone = ranks_of(np.array([[3.0, 1.0, 2.0, np.nan]]))[0]
    np.testing.assert_allclose(alone, [1 / 6, 0.5, 5 / 6])


def test_the_band_of_ranks_holds_all_chains_in_at_least_the_share_of_runs_that_it_claims():
    # If each of 400 is within with a chance of 95%, fewer than 354 are with one of 7e-8, the rate of false alarms.
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(400):
        draws = rng.normal(size=(4, 100))
        lines = [mark for mark in rank_difference(draws, "x", range(4)).marks if isinstance(mark, Line)]
        inside += max(np.abs(line.y).max() for line in lines) <= band_width(draws)
    assert inside >= 354


def test_a_chain_that_lies_apart_leaves_the_band():
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(4, 200))
    draws[2] += 1.0
    assert "of 4 chains leave the band" in rank_difference(draws, "x", range(4)).sentence
    assert not rank_difference(draws, "x", range(4)).sentence.split("chains. ")[1].startswith("0 of")


def test_of_many_chains_those_that_lie_farthest_are_shown():
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(40, 50))
    draws[17] += 3
    found = rank_difference(draws, "x", range(100, 140))
    assert "117" in [name for _, name in found.legend] and len(found.legend) == 6
    assert not rank(draws, "x", range(40)).legend and not trace(draws, "x", range(40)).legend


def test_pairs_show_few_dots_and_every_divergence_as_a_cross():
    rng = np.random.default_rng(1)
    x, bad = rng.normal(size=(4, 2000)), np.zeros((4, 2000), bool)
    bad[1, [3, 5]] = True
    dots, crosses = pair(x, -x, ("a", "b"), bad).marks
    assert isinstance(dots, Points) and isinstance(crosses, Points)
    assert dots.x.size == MOST_POINTS and crosses.is_cross
    np.testing.assert_array_equal(crosses.x, x[1, [3, 5]])
    assert "correlation −1" in pair(x, -x, ("a", "b"), bad).sentence


def test_intervals_stand_in_the_order_of_the_rows():
    quantiles = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 5.0]])
    found = forest(["first", "second"], quantiles)
    assert found.y.ticks == ((1.0, "first"), (0.0, "second"))


def test_observations_within_predictions_stay_in_their_band_and_others_leave_it():
    rng = np.random.default_rng(1)
    replicates = rng.normal(size=(200, 50))
    middle = np.array([NormalDist().inv_cdf((place + 0.5) / 50) for place in range(50)])
    assert "leaves the band at 0%" in predicted(replicates, middle, "y").sentence
    far = predicted(replicates, rng.normal(size=50) + 3, "y").sentence
    assert "leaves the band at" in far and "at 0%" not in far
    assert "no observations" in predicted(replicates, None, "y").sentence


def test_uniform_transforms_stay_within_their_band_and_others_leave_it():
    assert "stays within" in loo_pit((np.arange(100) + 0.5) / 100, "y").sentence
    assert "leaves" in loo_pit(np.linspace(0.4, 0.6, 100), "y").sentence


def test_the_beginning_of_a_fit_does_not_squeeze_its_end():
    values = np.concatenate([np.full(5, 1e6), np.linspace(10, 1, 95)])
    found = losses(values, "restart 0")
    assert found.y.high < 20
