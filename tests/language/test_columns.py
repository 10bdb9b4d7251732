"""Take columns of pandas, polars and Arrow as arguments and observed values, and refuse by row what is not numbers."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import accord as ac
import accord.distributions as dist
from accord.core.errors import DataError
from accord.language.columns import as_numbers

pl = pytest.importorskip("polars")

NAN = np.nan
DECIMALS = [decimal.Decimal("1.5"), None]
DAYS = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 3)]
MOMENTS = pd.date_range("2020-01-01", periods=2, freq="h")
HOURS = [datetime.timedelta(hours=1), datetime.timedelta(hours=2)]

# A column, and the array that it is.
NUMBERS = {
    "pandas floats": (pd.Series([1.5, NAN]), np.array([1.5, NAN])),
    "pandas float32": (pd.Series([1.5], dtype="float32"), np.array([1.5], np.float32)),
    "pandas nullable floats": (pd.Series([1.5, None], dtype="Float64"), np.array([1.5, NAN])),
    "pandas ints": (pd.Series([1, 2]), np.array([1, 2])),
    "pandas nullable ints": (pd.Series([1, 2], dtype="Int64"), np.array([1, 2])),
    "pandas ints kept by Arrow": (pd.Series([1, 2], dtype="int64[pyarrow]"), np.array([1, 2])),
    "pandas truth": (pd.Series([True, False]), np.array([True, False])),
    "pandas nullable truth": (pd.Series([True, False], dtype="boolean"), np.array([True, False])),
    "pandas truth with NA": (pd.Series([True, None], dtype="boolean"), np.array([1.0, NAN])),
    "pandas index": (pd.Index([3, 4]), np.array([3, 4])),
    "pandas decimals": (pd.Series(DECIMALS), np.array([1.5, NAN])),
    "pandas objects": (pd.Series([1, 2.5, None], dtype=object), np.array([1, 2.5, NAN])),
    "pandas objects, whole": (pd.Series([1, 2], dtype=object), np.array([1, 2])),
    "pandas objects of NA": (pd.Series([pd.NA, None], dtype=object), np.array([NAN, NAN])),
    "pandas without rows": (pd.Series([], dtype=object), np.array([])),
    "pandas with an index of its own": (pd.Series([1.0, 2.0], index=[7, 3]), np.array([1.0, 2.0])),
    "polars floats": (pl.Series("x", [1.5, None]), np.array([1.5, NAN])),
    "polars ints": (pl.Series("x", [1, 2]), np.array([1, 2])),
    "polars small ints": (pl.Series("x", [1], dtype=pl.UInt8), np.array([1], np.uint8)),
    "polars truth": (pl.Series("x", [True, False]), np.array([True, False])),
    "polars truth with null": (pl.Series("x", [True, None]), np.array([1.0, NAN])),
    "polars decimals": (pl.Series("x", DECIMALS), np.array([1.5, NAN])),
    "polars nulls": (pl.Series("x", [None, None]), np.array([NAN, NAN])),
    "polars arrays": (pl.Series("x", [[1.0, 2.0]], dtype=pl.Array(pl.Float64, 2)), np.array([[1.0, 2.0]])),
    "Arrow floats": (pa.array([1.5, None]), np.array([1.5, NAN])),
    "Arrow ints": (pa.array([1, 2]), np.array([1, 2])),
    "Arrow truth": (pa.array([True, False]), np.array([True, False])),
    "Arrow truth with null": (pa.array([True, None]), np.array([1.0, NAN])),
    "Arrow decimals": (pa.array(DECIMALS), np.array([1.5, NAN])),
    "Arrow column of a table": (pa.table({"x": [1, 2]})["x"], np.array([1, 2])),
    "Arrow in pieces": (pa.chunked_array([[1, 2], [3]]), np.array([1, 2, 3])),
    "Arrow arrays": (pa.array([[1.0, 2.0]], pa.list_(pa.float64(), 2)), np.array([[1.0, 2.0]])),
    "NumPy objects": (np.array([1, None, 2.5], object), np.array([1, NAN, 2.5])),
}


@ac.model
def holds(value):
    ac.sample("x", dist.Normal(0.0, 1.0))


@pytest.mark.parametrize("case", NUMBERS)
def test_a_column_of_numbers_is_an_array(case):
    column, expected = NUMBERS[case]
    found = holds(column).arguments["value"]
    assert type(found) is np.ndarray
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


COPIED = {
    "pandas": lambda column: (column, column.to_numpy()),
    "polars": lambda column: (pl.Series("x", column.to_numpy()), column.to_numpy()),
    "Arrow": lambda column: (pa.array(column.to_numpy()), column.to_numpy()),
    "Arrow in one piece": lambda column: (pa.chunked_array([column.to_numpy()]), column.to_numpy()),
}


@pytest.mark.parametrize("library", COPIED)
def test_plain_numbers_are_not_copied(library):
    column, memory = COPIED[library](pd.Series(np.arange(3.0)))
    assert np.shares_memory(as_numbers(column, "x"), memory)


MISSING = ["1 of 3 are missing", "row 1, counted from 0", "obs_mask="]
DATES, HOW_LONG, WORDS, LEVELS = "not numbers", "no unit", "words", "ac.levels("

# A column that is not numbers, and words that the message must contain, beside the argument's name.
REFUSED = {
    "pandas ints with NA": (
        pd.Series([1, None, 3], dtype="Int64", name="g"),
        [*MISSING, "column 'g'", "dropna(subset=['g'])"],
    ),
    "pandas objects, whole, with None": (pd.Series([1, None, 3], dtype=object), MISSING),
    "pandas ints kept by Arrow with NA": (pd.Series([1, None, 3], dtype="int64[pyarrow]"), MISSING),
    "polars ints with null": (
        pl.Series("g", [1, None, 3]),
        [*MISSING, "column 'g'", "drop_nulls('g')", "cast(pl.Float64)"],
    ),
    "Arrow ints with null": (pa.array([1, None, 3]), [*MISSING, "cast('float64')"]),
    "many missing rows": (pa.array([None] * 9 + [1]), ["9 of 10", "rows 0, 1, 2, 3, 4, ..."]),
    "pandas dates": (pd.Series(MOMENTS, name="d"), [DATES, "column 'd'", "pd.Timedelta(days=1)"]),
    "pandas dates with a zone": (pd.Series(MOMENTS.tz_localize("UTC")), [DATES]),
    "pandas periods": (pd.Series(pd.period_range("2020-01", periods=2, freq="M")), [DATES]),
    "pandas objects of dates": (pd.Series(DAYS, dtype=object), [DATES]),
    "polars dates": (pl.Series("d", DAYS), [DATES, "total_seconds() / 86400"]),
    "Arrow dates": (pa.array(DAYS), [DATES, "np.timedelta64(1, 'D')"]),
    "NumPy dates": (np.array(DAYS, "datetime64[D]"), [DATES]),
    "pandas durations": (pd.Series(HOURS), [HOW_LONG, "pd.Timedelta(days=1)"]),
    "polars durations": (pl.Series("t", HOURS), [HOW_LONG, "total_seconds"]),
    "Arrow durations": (pa.array(HOURS), [HOW_LONG]),
    "pandas words": (pd.Series(["a", "b"], name="s"), [WORDS, "'a'", "ac.levels(df['s'])"]),
    "pandas words, all missing": (pd.Series([None], dtype="str"), [WORDS]),
    "pandas words that are numbers": (pd.Series(["1", "2"], name="s"), ["pd.to_numeric(df['s'])", LEVELS]),
    "pandas categories": (pd.Series(["a"], dtype="category"), ["categories", LEVELS]),
    "polars words": (pl.Series("s", ["a", None]), [WORDS, LEVELS]),
    "polars categories": (pl.Series("s", ["a"], dtype=pl.Categorical), ["categories", LEVELS]),
    "Arrow words": (pa.array(["a"]), [WORDS, LEVELS]),
    "Arrow categories": (pa.array(["a"]).dictionary_encode(), ["categories", LEVELS]),
    "NumPy words": (np.array(["a"]), [WORDS, LEVELS]),
    "objects of several types": (
        pd.Series([1, 2.5, "n/a", 4], dtype=object, name="m"),
        ["column 'm'", "row 2", "'n/a'", "str", "3 of 4"],
    ),
    "objects of several types after a missing one": (
        np.array([None, 1, "n/a"], object),
        ["row 2", "'n/a'", "1 of 2"],
    ),
    "lists": (pd.Series([[1, 2], [3]]), ["row 0", "list", "np.stack"]),
    "objects that are too large": (pd.Series([2**70], dtype=object), ["int64"]),
    "a data frame": (pd.DataFrame({"x": [1.0]}), ["a table (DataFrame)", "holds.bind(table)"]),
    "a data frame of polars": (pl.DataFrame({"x": [1.0]}), ["a table (DataFrame)", "holds.bind(table)"]),
    "a table of Arrow": (pa.table({"x": [1.0]}), ["a table (Table)", "holds.bind(table)"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_column_that_is_not_numbers_is_refused_when_it_is_bound(case):
    column, words = REFUSED[case]
    with pytest.raises(DataError) as error:
        holds(column)
    for word in ["model 'holds'", "argument 'value'", *words]:
        assert word in str(error.value)


def test_a_column_inside_of_an_argument_is_an_array():
    column = pd.Series([1.0])
    found = holds({"a": [column, 2], "b": (column, None), "c": ac.static(column)}).arguments["value"]
    assert type(found["a"]) is list and type(found["b"]) is tuple
    for each in (found["a"][0], found["b"][0], found["c"].value):
        assert type(each) is np.ndarray
    with pytest.raises(DataError, match=r"argument 'value', entry 'a'.*whole numbers"):
        holds({"a": pd.Series([None, 1], dtype="Int64")})


def test_what_holds_no_column_stays_the_same_object():
    for value in ([1.0, 2.0], {"a": 1}, np.arange(3), (None, "a"), ["a", "b"], 1, None):
        assert holds(value).arguments["value"] is value


@ac.model
def normal(y=None):
    mean = ac.sample("mean", dist.Normal(0.0, 1.0))
    with ac.plate("row", 2):
        ac.sample("y", dist.Normal(mean, 1.0), obs=y)


COLUMNS = {"pandas": pd.Series, "polars": lambda values: pl.Series("y", values), "Arrow": pa.array}


@pytest.mark.parametrize("library", COLUMNS)
def test_a_column_is_observed_as_the_array_of_its_values(library):
    column = COLUMNS[library]([0.5, -1.0])
    argument, condition = normal(column).log_density(), normal().condition({"y": column}).log_density()
    changed = normal(np.zeros(2)).log_density().with_data({"y": column})
    for found in (argument.data["y"], condition.data["condition/y"], changed.data["y"]):
        np.testing.assert_array_equal(found, [0.5, -1.0])


@pytest.mark.parametrize("library", COLUMNS)
def test_a_condition_that_is_not_numbers_names_site_and_row(library):
    with pytest.raises(DataError, match=r"site 'y'.*1 of 2 are missing \(row 1"):
        normal().condition(
            {"y": COLUMNS[library](pd.array([1, None], dtype="Int64") if library == "pandas" else [1, None])}
        )
    with pytest.raises(DataError, match=r"site 'y'.*\.codes"):
        normal().condition({"y": ac.levels(["a", "b"])})


FRAME = {"x": [1.0, 2.0, 3.0], "county": ["b", "a", "b"], "y": [1, 2, 3], "remark": ["", "wet", None]}
FRAMES = {
    "pandas": pd.DataFrame(FRAME),
    "pandas categories": pd.DataFrame(FRAME).astype({"county": "category"}),
    "polars": pl.DataFrame(FRAME),
    "Arrow": pa.table(FRAME),
    "Arrow batch": pa.record_batch(FRAME),
    "dict of columns": {name: pd.Series(FRAME[name]) for name in ("x", "county", "y")},
    "structured array": np.array(
        list(zip(FRAME["x"], FRAME["county"], FRAME["y"], strict=True)),
        [("x", float), ("county", "U1"), ("y", int)],
    ),
}


@ac.model
def radon(x, county=None, y=None, degree=1):
    with ac.plate("county", county.num_levels, coords=county.levels):
        mean = ac.sample("mean", dist.Normal(0.0, 1.0))
    with ac.plate("house", len(x)):
        ac.sample("y", dist.Normal(mean[county.codes] + x**degree, 1.0), obs=y)


@pytest.mark.parametrize("library", FRAMES)
def test_columns_of_a_data_frame_go_to_the_arguments_of_their_names(library):
    found = radon.bind(FRAMES[library], {"degree": 2}).arguments
    np.testing.assert_array_equal(found["x"], FRAME["x"])
    np.testing.assert_array_equal(found["county"].codes, [1, 0, 1])
    assert found["county"].levels == ("a", "b")
    assert found["degree"] == 2
    np.testing.assert_array_equal(found["y"], FRAME["y"])


def test_labels_of_a_bound_data_frame_are_those_of_the_draws():
    density = radon.bind(FRAMES["pandas"]).log_density()
    assert set(density.data) == {"x", "county/codes", "y"}
    assert density.layout.coords["county"].tolist() == ["a", "b"]


DF = FRAMES["pandas"]
# Sources, and words that the message must contain.
UNBOUND = {
    "misspelt": (
        [DF.rename(columns={"x": "X"})],
        ["missing argument 'x'", "Did you mean 'X'", "passed over"],
    ),
    "absent": ([DF[["y", "county"]]], ["missing argument 'x'", "It takes (x, county=None"]),
    "optional, misspelt": (
        [DF.rename(columns={"y": "Y"})],
        ["the column 'Y' is not used", "argument 'y'", "rename"],
    ),
    "optional, with a blank": (
        [DF.rename(columns={"y": " y "})],
        ["the column ' y ' is not used", "argument 'y'", "rename"],
    ),
    "unknown key": ([DF, {"degre": 2}], ["unknown argument 'degre'", "Did you mean 'degree'"]),
    "twice": ([DF, {"y": None}], ["'y' comes twice"]),
    "two columns of a name": ([pd.concat([DF, DF["x"]], axis=1)], ["two columns are called 'x'"]),
    "missing words": ([DF.assign(county=["a", None, "b"])], ["argument 'county'", "row 1", "missing"]),
    "missing whole numbers": (
        [DF.assign(y=pd.array([1, None, 2], dtype="Int64"))],
        ["argument 'y'", "row 1"],
    ),
    "dates": ([DF.assign(x=pd.date_range("2020", periods=3))], ["argument 'x'", "dates"]),
    "no table": ([3], ["data frames and mappings", "int"]),
    "one column": ([pd.Series([1.0, 2.0])], ["data frames and mappings", "Series"]),
    "lazy": ([pl.LazyFrame(FRAME)], ["collect()"]),
}


@pytest.mark.parametrize("case", UNBOUND)
def test_a_data_frame_that_does_not_fit_the_model_is_refused(case):
    sources, words = UNBOUND[case]
    with pytest.raises(DataError) as error:
        radon.bind(*sources)
    for word in ["model 'radon'", *words]:
        assert word in str(error.value)


def test_an_argument_may_be_left_to_its_default_where_a_column_has_a_name_like_it():
    model = radon.bind(DF.rename(columns={"y": "Y"}), {"y": None})
    assert model.arguments["y"] is None
