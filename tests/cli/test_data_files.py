"""Read data from every kind of file, and refuse what is not data."""

import json
import sys

import numpy as np
import pytest

from accord.cli.data import open_data, read_data
from accord.core.errors import DataError

COLUMNS = {"n": np.array([1, 2, 3]), "x": np.array([0.5, np.nan, -2e3]), "ok": np.array([True, False, True])}


def write_json(path):
    path.write_text(
        json.dumps({"n": [1, 2, 3], "x": [0.5, None, -2e3], "ok": [True, False, True], "who": list("abc")})
    )


def write_csv(path):
    path.write_text("n, x ,ok,who\n1,0.5,true,a\n2,,False,b\n\n3,-2e3,TRUE,c\n")


def write_parquet(path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({**COLUMNS, "who": list("abc")}), path)


def write_npz(path):
    np.savez(path, **COLUMNS, who=np.array(list("abc")))


def write_records(path):
    columns = {"n": [1, 2, 3], "x": [0.5, None, -2e3], "ok": [True, False, True], "who": list("abc")}
    path.write_text(
        json.dumps([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])
    )


def write_tsv(path):
    path.write_bytes(
        b'\xef\xbb\xbfn\tx\tok\twho\r\n1\t0.5\tTrue\ta\r\n2\tNA\tFalse\t"b"\r\n3\t-2000\tTrue\tc\r\n'
    )


WRITERS = {"json": write_json, "csv": write_csv, "parquet": write_parquet, "npz": write_npz}
WRITERS |= {"records.json": write_records, "tsv": write_tsv}
TABLES = ("csv", "tsv", "parquet", "records.json")


@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_of_file_gives_the_same_arrays(tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    WRITERS[kind](path)
    found = read_data(path)
    assert list(found) == ["n", "x", "ok", "who"]
    for name, column in COLUMNS.items():
        np.testing.assert_array_equal(found[name], column)
        assert found[name].dtype == column.dtype
    if kind in TABLES:
        assert found["who"].levels == ("a", "b", "c")
        np.testing.assert_array_equal(found["who"].codes, [0, 1, 2])
    else:
        assert found["who"] == list("abc")


def test_single_numbers_stay_python_numbers(tmp_path):
    path = tmp_path / "data.json"
    path.write_text('{"K": 5, "s": 0.5, "name": "a", "prior": {"loc": [0, 1], "scale": 2}}')
    found = read_data(path)
    assert (found["K"], found["s"], found["name"], found["prior"]["scale"]) == (5, 0.5, "a", 2)
    assert type(found["K"]) is int
    np.testing.assert_array_equal(found["prior"]["loc"], [0, 1])
    np.savez(tmp_path / "data.npz", K=5, s=0.5)
    found = read_data(tmp_path / "data.npz")
    assert found == {"K": 5, "s": 0.5}
    assert type(found["K"]) is int


# File name, content, and the column `x` that it has.
READ = {
    "semicolons": ("d.csv", "g;x\na;1\nb;2\n", [1, 2]),
    "tabs": ("d.csv", "g\tx\na\t1\n", [1]),
    "bars": ("d.csv", "g|x\na|1\n", [1]),
    "separators in quotes": ("d.csv", 'g,x\n"a;b;c, ""d""",1\n', [1]),
    "a line break in quotes": ("d.csv", 'g,x\n"a\nb",1\n', [1]),
    "names of rows": ("d.csv", ",x\nr1,1\nr2,2\n", [1, 2]),
    "words for missing cells": ("d.csv", "g,x\na,NA\na,NaN\na,null\na,N/A\na,\na,1\n", [*[np.nan] * 5, 1.0]),
    "nothing but missing cells": ("d.csv", "g,x\na,\nb,NA\n", [np.nan, np.nan]),
    "a blank line among others": ("d.csv", "g,x\na,1\n\nb,2\n", [1, 2]),
    "an empty cell of the only column": ("d.csv", "x\n1\n\n3\n", [1.0, np.nan, 3.0]),
    "an empty cell in quotes at the end": ("d.csv", 'x\n1\n""\n', [1.0, np.nan]),
    "truth with a missing cell": ("d.csv", "g,x\na,true\nb,\n", [1.0, np.nan]),
    "infinity": ("d.csv", "x\ninf\n-inf\n", [np.inf, -np.inf]),
    "NA among numbers": ("d.json", '{"x": [1, "NA", null]}', [1.0, np.nan, np.nan]),
    "truth with null": ("d.json", '{"x": [true, null]}', [1.0, np.nan]),
    "records of rows": ("d.json", '[{"x": [1, 2]}, {"x": [3, 4]}]', [[1, 2], [3, 4]]),
}


@pytest.mark.parametrize("name", READ)
def test_a_column_is_read_as_it_was_meant(tmp_path, name):
    file, content, expected = READ[name]
    (tmp_path / file).write_text(content)
    found = read_data(tmp_path / file)["x"]
    np.testing.assert_array_equal(found, np.array(expected))
    assert found.dtype == np.array(expected).dtype


# File name, content, and words that the message must contain.
ERRORS = {
    "bad json": ("d.json", '{"x": [1,\n 2,}', ["is not JSON", "line 2 column 4"]),
    "a list": ("d.json", "[1, 2]", ["got a list", "records"]),
    "key twice": ("d.json", '{"x": 1, "x": 2}', ["'x' 2 times"]),
    "record that lacks a key": ("d.json", '[{"x": 1, "y": 1}, {"y": 1}]', ["record 1", "no 'x'", "null"]),
    "record with a key more": ("d.json", '[{"x": 1}, {"x": 1, "y": 1}]', ["record 1", "'y'"]),
    "keys of rows": ("d.json", '{"x": {"0": 1, "1": 2}}', ["'x'", "orient='records'"]),
    "ragged": ("d.json", '{"x": [[1], [1, 2]]}', ["'x' is no array of numbers"]),
    "mixed": ("d.json", '{"x": [1, "a"]}', ["'x', entry 1", "'a' is no number"]),
    "mixed records": ("d.json", '[{"x": 1}, {"x": "a"}]', ["record 1, 'x'", "'a' is no number"]),
    "header alone": ("d.csv", "a,b\n", ["at least one line of data"]),
    "header and a blank line": ("d.csv", "a,b\n\n", ["at least one line of data"]),
    "no header": ("d.csv", "1,2\n3,4\n", ["line 1", "names of the columns", "1, 2"]),
    "same column twice": ("d.csv", "a,a\n1,2\n", ["line 1", "'a' comes 2 times"]),
    "short row": ("d.csv", "a,b\n1,2\n3\n", ["d.csv, line 3: 1 cell for 2 columns", "comma"]),
    "long row": ("d.csv", "a,b\n1,2\n\n3,4,5\n", ["d.csv, line 4: 3 cells for 2 columns"]),
    "names of rows without a header": ("d.csv", "a,b\nr1,1,2\nr2,1,2\n", ["row.names=FALSE"]),
    "quotes that stay open": ("d.csv", 'a,b\n"x,1\n2,3\n', ["line 2", "quotes"]),
    "spaces": ("d.csv", "a b\n1 2\n3 4\n", ["separated by spaces", "commas"]),
    "decimal comma": ("d.csv", "a;x\nb;1,5\n", ["line 2, column 'x': '1,5' has a comma", "write.csv2"]),
    "thousands": ("d.csv", 'x\n1\n"1,500"\n', ["line 3, column 'x': '1,500' has a comma"]),
    "dot": ("d.csv", "x\n1\n.\n", ["line 3, column 'x': '.'", "SAS"]),
    "bad cell": (
        "d.csv",
        'a,x\n"b\nc",1\nd,oops\n',
        ["line 4, column 'x': 'oops' is no number", "1 of the 2"],
    ),
    "bad cell of truth": ("d.csv", "x\ntrue\nyes\n", ["line 3, column 'x': 'yes' is no truth value"]),
    "underscore": ("d.csv", "x\n1\n1_000\n", ["line 3, column 'x': '1_000' is no number"]),
    "too large": ("d.csv", "x\n99999999999999999999\n", ["line 2, column 'x'", "int64"]),
    "date": ("d.csv", "x\n2020-01-01\n", ["line 2, column 'x'", "date"]),
    "missing word": ("d.csv", "g,x\na,1\nNA,2\n", ["line 3, column 'g'", "missing", "1 of 2"]),
    "blank line at the end of the only column": ("d.csv", "x\n1\n\n", ["line 3", "blank", "NA"]),
    "bad npz": ("d.npz", "x", ["not an NPZ file"]),
    "bad parquet": ("d.parquet", "x", ["not a Parquet file"]),
    "no suffix": ("d", "x", [".json"]),
    "misspelt suffix": ("d.jsn", "x", ["Did you mean '.json'"]),
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_file_that_is_no_data_is_refused(tmp_path, name):
    file, content, words = ERRORS[name]
    (tmp_path / file).write_text(content)
    with pytest.raises(DataError) as error:
        read_data(tmp_path / file)
    for word in words:
        assert word in str(error.value)


# Bytes of a file, and words that the message must contain.
NOT_UTF8 = {
    "Latin": ("x,g\n1,a\n2,é\n".encode("latin-1"), ["line 3", "0xe9", "UTF-8"]),
    "UTF-16": ("x\n1\n".encode("utf-16"), ["UTF-16", "UTF-8"]),
}


@pytest.mark.parametrize("name", NOT_UTF8)
def test_text_in_another_encoding_is_refused_with_the_line(tmp_path, name):
    content, words = NOT_UTF8[name]
    (tmp_path / "d.csv").write_bytes(content)
    with pytest.raises(DataError) as error:
        read_data(tmp_path / "d.csv")
    for word in words:
        assert word in str(error.value)


def test_a_column_that_is_not_asked_for_may_be_anything(tmp_path):
    (tmp_path / "d.csv").write_text("x,day,remark\n1,2020-01-01,wet\n2,2020-01-02,\n")
    offered = open_data(tmp_path / "d.csv")
    assert list(offered) == ["x", "day", "remark"]
    np.testing.assert_array_equal(offered["x"](), [1, 2])


def test_whole_numbers_of_a_parquet_file_with_missing_ones_are_floats(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(
        pyarrow.table({"x": [1, None], "day": pyarrow.array([0, 1], pyarrow.date32())}),
        tmp_path / "d.parquet",
    )
    offered = open_data(tmp_path / "d.parquet")
    np.testing.assert_array_equal(offered["x"](), [1.0, np.nan])
    with pytest.raises(DataError, match=r"column 'day'.*dates"):
        offered["day"]()


def test_one_array_is_no_npz_file(tmp_path):
    np.save(tmp_path / "d.npy", np.arange(3))
    (tmp_path / "d.npy").rename(tmp_path / "d.npz")
    with pytest.raises(DataError, match=r"one array.*numpy.savez"):
        read_data(tmp_path / "d.npz")


def test_objects_in_an_npz_file_are_refused(tmp_path):
    np.savez(tmp_path / "d.npz", x=np.array([{}], object))
    with pytest.raises(DataError, match="plain arrays"):
        read_data(tmp_path / "d.npz")


def test_a_folder_is_no_data_file(tmp_path):
    (tmp_path / "d.json").mkdir()
    with pytest.raises(DataError, match="cannot be read"):
        read_data(tmp_path / "d.json")


def test_without_pyarrow_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match="pip install"):
        read_data(tmp_path / "d.parquet")
