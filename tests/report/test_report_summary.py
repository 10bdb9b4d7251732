"""Check the summary table: its numbers, its labels, its digits and its length."""

import sys

import numpy as np
import pytest

from accord.core.errors import OptionError
from accord.report import diagnostics, sketch, summarise
from accord.report.digits import rounded
from accord.report.labels import scalar_labels
from accord.report.selecting import picked_names
from accord.report.sketch import PLAIN

COLUMNS = ["mean", "sd", "5%", "50%", "95%", "ess_bulk", "ess_tail", "r_hat", "mcse_mean", "mcse_sd"]


@pytest.fixture
def sites():
    rng = np.random.default_rng(0)
    return {
        "mu": rng.normal(4.0, 3.0, (4, 500)),
        "theta": rng.normal(size=(4, 500, 3)),
        "grid": rng.normal(size=(4, 500, 2, 2)).astype(np.float32),
        "count": rng.poisson(2.0, (4, 500)),
        "flag": rng.random((4, 500)) < 0.3,
        "nothing": np.zeros((4, 500, 0)),
        "one": np.ones((4, 500)),
    }


LABELS = {
    "a scalar": (("mu", ()), ["mu"]),
    "a vector": (("theta", (2,)), ["theta[0]", "theta[1]"]),
    "a matrix": (("L", (2, 2)), ["L[0,0]", "L[0,1]", "L[1,0]", "L[1,1]"]),
    "coords": (("theta", (2,), ["school"], {"school": ["A", "B"]}), ["theta[A]", "theta[B]"]),
    "coords of numbers": (("x", (2,), ["year"], {"year": np.array([1999, 2000])}), ["x[1999]", "x[2000]"]),
    "coords of one axis": (("b", (2, 1), ["school"], {"school": ["A", "B"]}), ["b[A,0]", "b[B,0]"]),
    "dims without coords": (("b", (2,), ["school"], {}), ["b[0]", "b[1]"]),
    "coords of another length": (("b", (2,), ["school"], {"school": ["A"]}), ["b[0]", "b[1]"]),
    "no scalars": (("e", (0, 3)), []),
}


@pytest.mark.parametrize("kind", LABELS)
def test_scalars_are_labelled_by_index_or_by_coordinate(kind):
    arguments, expected = LABELS[kind]
    assert scalar_labels(*arguments) == expected


def test_the_table_has_a_row_per_scalar_and_the_right_numbers(sites):
    table = summarise(sites, dims={"theta": ["school"]}, coords={"school": ["A", "B", "C"]})
    assert table.labels == (
        "mu", "theta[A]", "theta[B]", "theta[C]",
        "grid[0,0]", "grid[0,1]", "grid[1,0]", "grid[1,1]", "count", "flag", "one",
    )  # fmt: skip
    assert list(table.values) == COLUMNS
    assert len(table) == 11
    row = table.labels.index("theta[B]")
    draws = sites["theta"][:, :, 1]
    expected = [draws.mean(), draws.std(ddof=1), *np.quantile(draws, (0.05, 0.5, 0.95))]
    for name in COLUMNS[5:]:
        expected.append(getattr(diagnostics, name)(draws[:, :, None])[0])
    np.testing.assert_allclose([table[name][row] for name in COLUMNS], expected, rtol=1e-12)
    assert table["mean"][table.labels.index("flag")] == sites["flag"].mean()
    assert np.isnan(table["r_hat"][table.labels.index("one")])


def test_the_numbers_are_those_of_arviz(sites):
    from arviz_stats.base import array_stats

    table = summarise(sites, only=["theta"])
    options = {"chain_axis": 0, "draw_axis": 1}
    expected = {
        "r_hat": array_stats.rhat(sites["theta"], **options),
        "ess_bulk": array_stats.ess(sites["theta"], **options, method="bulk"),
        "ess_tail": array_stats.ess(sites["theta"], **options, method="tail", prob=(0.05, 0.95)),
        "mcse_mean": array_stats.mcse(sites["theta"], **options, method="mean"),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(table[name], values, rtol=1e-10)


@pytest.mark.parametrize("shape", [(4, 500, 3), (4, 501, 3), (3, 77, 2), (70, 20, 3), (1, 100, 2), (2, 3, 1)])
def test_one_pass_finds_what_each_function_finds(shape):
    draws = np.random.default_rng(1).standard_t(3, size=shape)
    table = summarise({"x": draws}, prob=0.5)
    for name in ("ess_bulk", "ess_tail", "mcse_mean", "mcse_sd"):
        np.testing.assert_allclose(table[name], getattr(diagnostics, name)(draws), rtol=1e-12)
    r_hat = diagnostics.nested_r_hat if shape[0] >= 64 else diagnostics.r_hat
    np.testing.assert_allclose(table["r_hat"], r_hat(draws), rtol=1e-12)
    pooled = draws.reshape(-1, shape[2])
    np.testing.assert_allclose(table["sd"], pooled.std(axis=0, ddof=1), rtol=1e-12)
    np.testing.assert_array_equal(
        [table[name] for name in ("25%", "50%", "75%")], np.quantile(pooled, (0.25, 0.5, 0.75), axis=0)
    )


def test_large_draws_are_summarised_in_threads_to_the_same_bits():
    draws = np.random.default_rng(2).normal(size=(4, 5000, 220))
    draws[0, 0, 7], draws[:, :, 9] = np.nan, 1.0
    table = summarise({"x": draws})
    some = [0, 7, 9, 100, 219]
    alone = summarise({"x": draws[:, :, some]})
    for name in COLUMNS:
        np.testing.assert_array_equal(table[name][some], alone[name])
    assert [table.sketches[index] for index in some] == list(alone.sketches)


@pytest.mark.parametrize("prob", [0.5, 0.9, 0.94])
def test_the_shortest_interval_is_that_of_arviz(sites, prob):
    from arviz_stats.base import array_stats

    table = summarise(sites, only=["theta", "count"], prob=prob, interval="hdi")
    low, high = [name for name in table.values if name.startswith("hdi")]
    assert low == f"hdi{100 * prob:g}_low" and high == f"hdi{100 * prob:g}_high"
    expected = [*array_stats.hdi(sites["theta"], prob=prob, axis=(0, 1))]
    expected.append(array_stats.hdi(sites["count"], prob=prob, axis=(0, 1)))
    np.testing.assert_array_equal(np.stack([table[low], table[high]], axis=1), expected)


KINDS = {
    "stats": ["mean", "sd", "5%", "50%", "95%"],
    "diagnostics": ["ess_bulk", "ess_tail", "r_hat", "mcse_mean", "mcse_sd"],
    "all": COLUMNS,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_a_part_of_the_columns_with_the_same_numbers(sites, kind):
    table, whole = summarise(sites, kind=kind), summarise(sites)
    assert list(table.values) == KINDS[kind]
    for name in KINDS[kind]:
        np.testing.assert_array_equal(table[name], whole[name])
    # Digits are those of the whole table, whatever else is shown.
    cells, all_cells = str(table).splitlines()[1].split(), str(whole).splitlines()[1].split()
    start = 1 + COLUMNS.index(KINDS[kind][0])
    assert cells[1 : 1 + len(KINDS[kind])] == all_cells[start : start + len(KINDS[kind])]


INTERVALS = {0.9: ["5%", "95%"], 0.89: ["5.5%", "94.5%"], 0.999: ["0.05%", "99.95%"], 0.5: ["25%", "75%"]}


@pytest.mark.parametrize("prob", INTERVALS)
def test_the_quantiles_are_named_by_what_they_leave_out(sites, prob):
    names = list(summarise(sites, prob=prob, kind="stats").values)
    assert [names[2], names[4]] == INTERVALS[prob]


PATTERNS = {
    "a name": ("mu", ["mu"]),
    "names": (["count", "mu", "count"], ["count", "mu"]),
    "a pattern": ("*t*", ["theta", "count", "nothing"]),
    "a pattern and a name": (["o*", "mu"], ["one", "mu"]),
    "a site called like a pattern": ("x[0]", ["x[0]"]),
}


@pytest.mark.parametrize("kind", PATTERNS)
def test_sites_are_picked_by_name_or_pattern(sites, kind):
    wanted, expected = PATTERNS[kind]
    assert picked_names(wanted, [*sites, "x[0]"]) == expected


WRONG = {
    "a typo": (dict(only=["thetta"]), ["'thetta'", "Did you mean 'theta'", "mu"]),
    "a pattern of none": (dict(only="z*"), ["no site matches the pattern 'z*'", "mu"]),
    "no name": (dict(only=[3]), ["names of sites", "3"]),
    "percents": (dict(prob=90), ["90", "between 0 and 1"]),
    "no mass": (dict(prob=0.0), ["0.0", "between 0 and 1"]),
    "a word": (dict(prob="0.9"), ["'0.9'", "between 0 and 1"]),
    "a kind": (dict(kind="diagnostic"), ["Did you mean 'diagnostics'", "'stats'"]),
    "an interval": (dict(interval="eti"), ["'eti'", "'quantiles', 'hdi'"]),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_a_summary_cannot_show_is_an_error(sites, kind):
    options, words = WRONG[kind]
    with pytest.raises(OptionError) as caught:
        summarise(sites, **options)
    assert all(word in str(caught.value) for word in words)


def test_a_data_frame_has_every_row_unrounded(sites):
    table = summarise(sites)
    frame = table.to_dataframe()
    assert list(frame.columns) == COLUMNS
    assert tuple(frame.index) == table.labels
    np.testing.assert_array_equal(frame["mean"], table["mean"])


def test_a_missing_pandas_says_what_to_install(sites, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        summarise(sites).to_dataframe()


def test_only_the_sites_that_are_named_are_shown(sites):
    assert summarise(sites, only=["count", "mu"]).labels == ("count", "mu")
    with pytest.raises(OptionError, match="Did you mean 'theta'"):
        summarise(sites, only=["thetta"])
    with pytest.raises(OptionError, match="Did you mean 'r_hat'"):
        summarise(sites)["rhat"]


def test_the_table_is_aligned_text(sites):
    lines = str(summarise(sites)).splitlines()
    assert lines[0].split() == [*COLUMNS, "shape"]
    assert lines[1].startswith("mu ")
    assert len(lines) == 12
    ends = [line.index(line.split()[1]) + len(line.split()[1]) for line in lines[1:]]
    assert len(set(ends)) == 1


def test_a_long_table_says_how_to_see_the_rest():
    table = summarise({"x": np.random.default_rng(0).normal(size=(2, 10, 100))})
    lines = str(table).splitlines()
    assert len(lines) == 62
    assert lines[-1].startswith("... and 40 more rows")
    assert ".to_dataframe()" in lines[-1]
    assert len(table.text(rows=None).splitlines()) == 101
    assert len(table.text(rows=5).splitlines()) == 7
    assert "40 more rows" in table._repr_html_()


def test_notebooks_get_a_table_with_names_escaped():
    page = summarise({"<b>": np.zeros((2, 10))})._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


@pytest.mark.parametrize("shape", [(4, 0), (0, 0), (1, 1), (1, 2), (2, 3), (4, 0, 2)])
def test_too_few_draws_are_shown_as_far_as_they_go(shape):
    lines = str(summarise({"x": np.zeros(shape)})).splitlines()
    assert len(lines) == 1 + int(np.prod(shape[2:]))


def test_no_sites_are_an_empty_table():
    assert len(summarise({})) == 0
    assert len(str(summarise({})).splitlines()) == 1


def test_draws_that_are_not_finite_do_not_break_the_table():
    draws = np.random.default_rng(0).normal(size=(2, 50, 3))
    draws[0, 0, 0], draws[0, 0, 1] = np.nan, np.inf
    table = summarise({"x": draws})
    assert np.isnan(table["mean"][0])
    assert np.isinf(table["mean"][1])
    assert len(str(table).splitlines()) == 4


ROUNDED = {
    (3.14159, 0.02): "3.14",
    (3.14159, 0.0004): "3.1416",
    (3.14159, 2.0): "3",
    (314.159, 20.0): "314",
    (-0.5, 0.1): "-0.5",
    (0.0, 0.1): "0.0",
    (0.0, np.nan): "0.00",
    (3.14159, np.nan): "3.14",
    (31415.9, np.nan): "31416",
    (1.0, 0.0): "1.00",
    (1.23456e9, 1e7): "1.23e+09",
    (1.23456e-7, 1e-9): "1.23e-07",
    (1e-9, 1e-3): "1e-09",
    (np.inf, 1.0): "inf",
}


@pytest.mark.parametrize("case", ROUNDED, ids=str)
def test_a_number_is_written_to_the_place_its_error_leaves_in_doubt(case):
    assert rounded(*case) == ROUNDED[case]


SKETCHES = {
    "a bump": (np.array([0.0, 1, 1, 2, 2, 2, 2, 3, 3, 4]), 5, "▂▄█▄▂"),
    "a constant": (np.full(10, 2.0), 5, "  █  "),
    "counts": (np.array([0, 0, 0, 0, 1, 1, 3, 3, 3, 3]), 6, "█▄ █  "),
    "booleans": (np.array([True, False, False]), 4, "█▄  "),
    "not finite": (np.array([np.nan, np.inf]), 4, ""),
    "none": (np.zeros(0), 4, ""),
    "two neighbours": (np.array([1.0, np.nextafter(1.0, 2.0)]), 3, " █ "),
}


@pytest.mark.parametrize("kind", SKETCHES)
def test_a_sketch_is_a_histogram_in_one_line(kind):
    draws, width, expected = SKETCHES[kind]
    assert sketch(draws, width) == expected


def test_a_far_draw_does_not_flatten_the_sketch():
    draws = np.append(np.random.default_rng(0).normal(size=1000), 1e9)
    assert len(set(sketch(draws))) > 4


def test_a_terminal_without_blocks_gets_plain_characters(sites, monkeypatch):
    class Narrow:
        encoding = "ascii"

    table = summarise(sites)
    assert "█" in table.text()
    monkeypatch.setattr(sys, "stdout", Narrow())
    text = str(table)
    monkeypatch.undo()
    assert text.isascii()
    assert PLAIN[-1] in text
