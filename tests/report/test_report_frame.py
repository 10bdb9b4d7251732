"""Check the wide data frame of draws: a row for each draw, a column for each number, nothing lost."""

import sys

import numpy as np
import pytest

from accord.core.errors import OptionError
from accord.core.series import InMemory
from accord.report.frame import wide_frame

RNG = np.random.default_rng(0)
SITES = InMemory(
    {
        "mu": RNG.normal(size=(2, 5)),
        "theta": RNG.normal(size=(2, 5, 3)),
        "count": RNG.integers(0, 9, (2, 5)),
        "none": np.zeros((2, 5, 0)),
    }
)
STATS = InMemory({"lp": RNG.normal(size=(2, 5)), "diverging": np.zeros((2, 5), bool)})
ABOUT = dict(
    chains=(0, 3), num_draws=5, dims={"theta": ("school",)}, coords={"school": np.array(["A", "B", "C"])}
)


def test_a_row_is_a_draw_and_a_column_a_number():
    frame = wide_frame(SITES, list(SITES), **ABOUT, stats=STATS)
    assert list(frame) == ["mu", "theta[A]", "theta[B]", "theta[C]", "count", "lp", "diverging"]
    assert list(frame.index.names) == ["chain", "draw"] and frame.shape == (10, 7)
    for place, chain in enumerate((0, 3)):
        for draw in range(5):
            row = frame.loc[(chain, draw)]
            assert row["mu"] == SITES["mu"][place, draw] and row["lp"] == STATS["lp"][place, draw]
            np.testing.assert_array_equal(
                row[["theta[A]", "theta[B]", "theta[C]"]], SITES["theta"][place, draw]
            )
    assert frame["count"].dtype.kind == "i" and frame["diverging"].dtype == bool


def test_a_site_with_the_name_of_a_statistic_is_refused():
    clash = InMemory({"lp": np.zeros((2, 5))})
    assert list(wide_frame(clash, ["lp"], **ABOUT)) == ["lp"]
    with pytest.raises(OptionError, match="'lp' is both a site and a statistic"):
        wide_frame(clash, ["lp"], **ABOUT, stats=STATS)


def test_two_numbers_of_one_label_are_refused_and_not_one_for_both():
    about = dict(ABOUT, dims={"b": ("i", "j")}, coords={"i": ["x,y", "x"], "j": ["z", "y,z"]})
    with pytest.raises(OptionError, match=r"two columns would be called 'b\[x,y,z\]'"):
        wide_frame(InMemory({"b": np.zeros((2, 5, 2, 2))}), ["b"], **about)


def test_a_missing_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        wide_frame(SITES, ["mu"], **ABOUT)
