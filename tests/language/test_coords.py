"""Take labels for plates from whatever has them, and keep dates as dates."""

import datetime
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import accord as ac
from accord.core.errors import DataError, OptionError
from accord.report.labels import read_written, written

pl = pytest.importorskip("polars")

DAYS = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 3)]
DAY = np.datetime64("2020-01-01")
COORDS = {
    "pandas index": (pd.Index(["a", "b"]), ("a", "b")),
    "pandas dates": (pd.date_range("2020-01-01", periods=2), (DAY, DAY + np.timedelta64(1, "D"))),
    "pandas dates in a list": (
        list(pd.date_range("2020-01-01", periods=2)),
        (DAY, DAY + np.timedelta64(1, "D")),
    ),
    "Python dates": (DAYS, (DAY, DAY + np.timedelta64(2, "D"))),
    "NumPy dates": (np.array(DAYS, "datetime64[ns]"), (DAY, DAY + np.timedelta64(2, "D"))),
    "NumPy ints": (np.array([3, 4]), (3, 4)),
    "polars": (pl.Series("x", ["a", "b"]), ("a", "b")),
    "Arrow": (pa.array(["a", "b"]), ("a", "b")),
    "levels": (ac.levels(["b", "a"]).levels, ("a", "b")),
    "intervals": (pd.IntervalIndex.from_breaks([0, 1, 2]), ("(0, 1]", "(1, 2]")),
}


@pytest.mark.parametrize("case", COORDS)
def test_coords_are_labels_of_whatever_has_them(case):
    coords, expected = COORDS[case]
    found = ac.plate("p", 2, coords=coords).coords
    assert found == expected
    assert [type(label) for label in found] == [type(label) for label in expected]


BAD_COORDS = {
    "levels as a whole": (ac.levels(["a", "b"]), OptionError, ["plate 'p'", ".levels"]),
    "missing": (pd.Index(["a", None]), DataError, ["plate 'p'", "row 1"]),
}


@pytest.mark.parametrize("case", BAD_COORDS)
def test_coords_that_are_not_labels_are_refused(case):
    coords, kind, words = BAD_COORDS[case]
    with pytest.raises(kind) as error:
        ac.plate("p", 2, coords=coords)
    for word in words:
        assert word in str(error.value)


LABELS = {
    "words": np.array(["a", "b"]),
    "numbers": np.array([3, 1]),
    "days": np.array(DAYS, "datetime64[D]"),
    "nanoseconds": np.array(["2020-01-01T00:00:00.000000001"], "datetime64[ns]"),
    "dates before all calendars of nanoseconds": np.array(["0800-12-25"], "datetime64[D]"),
    "many default ones": np.arange(5000),
    "many others": np.arange(5000)[::-1],
    "many decimals": np.arange(5000.0),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_are_the_same_after_they_were_stored(case):
    found = read_written(json.loads(json.dumps(written(LABELS[case]))))
    assert found.dtype == LABELS[case].dtype
    np.testing.assert_array_equal(found, LABELS[case])
