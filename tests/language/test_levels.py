"""Make codes and labels of categories."""

import datetime
import pickle

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import accord as ac
import accord.distributions as dist
from accord.core.errors import DataError, OptionError

pl = pytest.importorskip("polars")

SIZES = ["small", "large", "small"]
DAYS = [datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)]
DAY = np.datetime64("2020-01-01")
LATE = [datetime.date(3000, 1, 1), datetime.date(1500, 1, 1)]  # beyond what nanoseconds reach
LATE_DAYS = tuple(np.datetime64(day) for day in reversed(LATE))
ORDERED = pd.CategoricalDtype(["small", "medium", "large"], ordered=True)

# A column, its codes and its labels.
COLUMNS = {
    "list": (SIZES, [1, 0, 1], ("large", "small")),
    "NumPy": (np.array(SIZES), [1, 0, 1], ("large", "small")),
    "pandas": (pd.Series(SIZES), [1, 0, 1], ("large", "small")),
    "polars": (pl.Series("s", SIZES), [1, 0, 1], ("large", "small")),
    "Arrow": (pa.array(SIZES), [1, 0, 1], ("large", "small")),
    "Arrow in pieces": (pa.chunked_array([SIZES[:1], SIZES[1:]]), [1, 0, 1], ("large", "small")),
    "pandas categories, one of them unused": (
        pd.Series(SIZES, dtype=ORDERED),
        [0, 2, 0],
        ("small", "medium", "large"),
    ),
    "polars categories": (pl.Series("s", SIZES, dtype=pl.Categorical), [1, 0, 1], ("large", "small")),
    "polars Enum": (
        pl.Series("s", SIZES, dtype=pl.Enum(["small", "medium", "large"])),
        [0, 2, 0],
        ("small", "medium", "large"),
    ),
    "Arrow dictionary": (pa.array(SIZES).dictionary_encode(), [1, 0, 1], ("large", "small")),
    "ordered Arrow dictionary": (
        pa.DictionaryArray.from_arrays([0, 1, 0], ["small", "large"], ordered=True),
        [0, 1, 0],
        ("small", "large"),
    ),
    "codes from 1": (pd.Series([3, 1, 3]), [1, 0, 1], (1, 3)),
    "codes that pandas made floats": (pd.Series([3.0, 1.0]), [1, 0], (1, 3)),
    "numbers": ([0.5, 0.25], [1, 0], (0.25, 0.5)),
    "truth": (pd.Series([True, False]), [1, 0], (False, True)),
    "dates": (pl.Series("d", DAYS), [1, 0], (DAY, DAY + np.timedelta64(1, "D"))),
    "dates beyond nanoseconds": (LATE, [1, 0], LATE_DAYS),
    "pandas dates beyond nanoseconds": (pd.Series(np.array(LATE, "datetime64[s]")), [1, 0], LATE_DAYS),
    "Arrow dates of pandas": (
        pd.Series(np.array(LATE, "datetime64[s]")).astype(pd.ArrowDtype(pa.timestamp("s"))),
        [1, 0],
        LATE_DAYS,
    ),
    "dates beyond nanoseconds beside one in nanoseconds": (
        [LATE[0], pd.Timestamp(DAY).as_unit("ns")],
        [1, 0],
        (DAY, LATE_DAYS[1]),
    ),
    "nanoseconds of pandas": (
        [pd.Timestamp(5), pd.Timestamp(3)],
        [1, 0],
        (np.datetime64(3, "ns"), np.datetime64(5, "ns")),
    ),
    "intervals": (pd.cut(pd.Series([9, 1]), [0, 5, 10]), [1, 0], ("(0, 5]", "(5, 10]")),
    "no rows": ([], [], ()),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_codes_are_the_places_of_labels_in_order(case):
    column, codes, labels = COLUMNS[case]
    found = ac.levels(column)
    assert found.codes.dtype == np.int64
    np.testing.assert_array_equal(found.codes, codes)
    assert found.levels == labels
    assert [type(label) for label in found.levels] == [type(label) for label in labels]
    assert found.num_levels == len(labels)
    assert not found.missing.any()


def test_labels_of_earlier_data_give_the_earlier_codes():
    earlier = ac.levels(["b", "a", "c"])
    found = ac.levels(pd.Series(["c", "a"]), levels=earlier.levels)
    np.testing.assert_array_equal(found.codes, [2, 0])
    assert found.levels == earlier.levels


WITH_MISSING = {
    "list": ["b", None, "a"],
    "pandas": pd.Series(["b", None, "a"]),
    "pandas categories": pd.Series(["b", None, "a"], dtype="category"),
    "polars": pl.Series("s", ["b", None, "a"]),
    "polars categories": pl.Series("s", ["b", None, "a"], dtype=pl.Categorical),
    "Arrow": pa.array(["b", None, "a"]),
    "Arrow dictionary": pa.array(["b", None, "a"]).dictionary_encode(),
}


@pytest.mark.parametrize("case", WITH_MISSING)
def test_missing_categories_are_refused_unless_it_is_said_what_they_are(case):
    column = WITH_MISSING[case]
    with pytest.raises(DataError, match=r"1 of 3 entries are missing \(row 1, counted from 0\)"):
        ac.levels(column)
    own = ac.levels(column, missing="level")
    np.testing.assert_array_equal(own.codes, [1, 2, 0])
    assert own.levels == ("a", "b", "missing")
    kept = ac.levels(column, missing="keep")
    np.testing.assert_array_equal(kept.codes, [1, -1, 0])
    np.testing.assert_array_equal(kept.missing, [False, True, False])
    assert kept.levels == ("a", "b")


def test_a_level_for_missing_entries_is_that_of_the_earlier_data():
    earlier = ac.levels(["b", None], missing="level")
    found = ac.levels([None, "b"], levels=earlier.levels, missing="level")
    np.testing.assert_array_equal(found.codes, [1, 0])
    assert ac.levels(["b"], missing="level").levels == ("b",)


# What was asked for, the error, and words that the message must contain.
REFUSED = {
    "unknown label": (
        lambda: ac.levels(["Cook", "Coook"], levels=["Anoka", "Cook"]),
        DataError,
        ["'Coook' (row 1)", "Did you mean 'Cook'", "redraw"],
    ),
    "missing, and no level for it": (
        lambda: ac.levels(["a", None], levels=["a"], missing="level"),
        DataError,
        ["have none for them"],
    ),
    "a label called missing": (
        lambda: ac.levels(["missing", None], missing="level"),
        DataError,
        ["'missing' is a label already"],
    ),
    "several types": (
        lambda: ac.levels(["a", "b", 1]),
        DataError,
        ["row 0", "'a'", "row 2 1", "astype(str)"],
    ),
    "levels twice": (lambda: ac.levels(["a"], levels=["a", "a"]), OptionError, ["must differ", "'a', 'a'"]),
    "a Levels for labels": (
        lambda: ac.levels(["a"], levels=ac.levels(["a"])),
        OptionError,
        ["Write `.levels`"],
    ),
    "a Levels": (lambda: ac.levels(ac.levels(["a"])), DataError, ["levels already"]),
    "a data frame": (lambda: ac.levels(pd.DataFrame({"s": ["a"]})), DataError, ["DataFrame", "df['county']"]),
    "a word": (lambda: ac.levels("abc"), DataError, ["str"]),
    "two axes": (lambda: ac.levels(np.zeros((2, 2))), DataError, ["one axis", "(2, 2)"]),
    "two axes of words": (lambda: ac.levels(np.array([["a", "b"]])), DataError, ["one axis", "(1, 2)"]),
    "lists of words": (lambda: ac.levels([["a", "b"], ["c", "d"]]), DataError, ["one axis", "list of lists"]),
    "option": (
        lambda: ac.levels(["a"], missing="drop"),
        OptionError,
        ["'error', 'level' or 'keep'", "'drop'"],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_levels_is_refused(case):
    call, kind, words = REFUSED[case]
    with pytest.raises(kind) as error:
        call()
    for word in words:
        assert word in str(error.value)


@ac.model
def groups(group, y):
    with ac.plate("group", group.num_levels, coords=group.levels):
        mean = ac.sample("mean", dist.Normal(0.0, 1.0))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mean[group.codes], 1.0), obs=y)


def test_codes_are_data_of_a_model_and_labels_are_part_of_the_program():
    y = np.arange(3.0)
    one, other, third = (
        groups(ac.levels(labels), y) for labels in (["a", "b", "a"], ["b", "a", "a"], ["a", "c", "a"])
    )
    assert set(one.log_density().data) == {"group/codes", "y"}
    structure = jax.tree.structure(one.arguments)
    assert structure == jax.tree.structure(other.arguments) and hash(structure) is not None
    assert structure != jax.tree.structure(third.arguments)
    moved = one.log_density().with_data({"group/codes": np.array([1, 0, 0])})
    np.testing.assert_array_equal(moved.data["group/codes"], other.log_density().data["group/codes"])


def test_a_label_is_compared_with_that_of_each_row():
    found = ac.levels(["b", "a", None], missing="keep")
    np.testing.assert_array_equal(found == "b", [True, False, False])
    np.testing.assert_array_equal(found != "b", [False, True, True])
    for day in (DAY, DAYS[1], pd.Timestamp(DAYS[1])):
        np.testing.assert_array_equal(ac.levels(DAYS) == day, [False, True])
    assert found == found and found != ac.levels(["b"]) and found != None  # noqa: E711
    with pytest.raises(DataError, match=r"'Coook' is not one of the levels. Did you mean 'Cook'"):
        ac.levels(["Cook", "Anoka"]) == "Coook"  # noqa: B015


def test_levels_travel():
    found = pickle.loads(pickle.dumps(ac.levels(DAYS)))
    np.testing.assert_array_equal(found.codes, [1, 0])
    assert found.levels == (DAY, DAY + np.timedelta64(1, "D"))
