"""Check the picture of a predictive check: what it draws, and what it refuses."""

import numpy as np
import pytest
from predicted_models import X, Y, line, values

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import DataError, OptionError
from accord.predictive.plot import distribution_functions


@pytest.fixture(scope="module")
def found():
    return infer.predict(values(), line(X, Y))


def lines(axes):
    return {line.get_label(): line.get_xydata() for line in axes.lines}


def test_distribution_functions_count_what_is_at_most_a_point():
    shares = distribution_functions(np.array([[3.0, 1.0, 2.0, 2.0]]), np.array([0.0, 1.0, 2.0, 2.5, 3.0]))
    np.testing.assert_array_equal(shares, [[0, 0.25, 0.75, 0.75, 1]])


def test_the_observed_line_lies_over_two_bands(found, tmp_path):
    figure = found.plot()
    figure.savefig(tmp_path / "check.png")
    (axes,) = figure.axes
    points = lines(axes)["observed"]
    np.testing.assert_allclose(points[:, 1], distribution_functions(Y[None], points[:, 0])[0])
    assert set(Y) <= set(points[:, 0])
    assert [band.get_label() for band in axes.collections] == ["90% of predictions", "50% of predictions"]


def test_missing_entries_have_no_part_in_it(found):
    seen = np.where(np.arange(12) < 3, np.nan, Y)
    points = lines(found.plot(observed={"y": seen}).axes[0])["observed"]
    np.testing.assert_allclose(points[:, 1], distribution_functions(Y[None, 3:], points[:, 0])[0])


def test_counts_and_several_sites_are_drawn_and_predictions_without_data_have_bands_alone():
    @ac.model
    def two(n=None, y=None):
        rate = ac.sample("rate", dist.HalfNormal(1))
        with ac.plate("row", 5):
            ac.sample("n", dist.Geometric(1 / (1 + rate)), obs=n)
        ac.sample("y", dist.Normal(rate, 1), obs=y)

    figure = infer.prior_predictive(two(n=np.arange(5)), draws=50).plot()
    assert [axes.get_xlabel() for axes in figure.axes] == ["n", "y"]
    assert [list(lines(axes)) for axes in figure.axes] == [["observed"], []]


REFUSED = {
    "a name that is not predicted": (lambda p: p.plot(observed={"yy": Y}), OptionError, "Did you mean 'y'"),
    "another shape": (lambda p: p.plot(observed={"y": Y[:3]}), DataError, r"\(3,\).*\(12,\)"),
    "nothing but missing": (lambda p: p.plot(observed={"y": Y * np.nan}), DataError, "missing"),
    "nothing predicted": (
        lambda p: infer.predict(values(), line(X, Y), sites=["mean"]).plot(),
        OptionError,
        "sites=",
    ),
}


@pytest.mark.parametrize(("call", "error", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_drawn_is_refused(found, call, error, words):
    with pytest.raises(error, match=words):
        call(found)
