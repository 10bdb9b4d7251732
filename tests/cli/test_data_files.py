"""Read data from every kind of file, and refuse what is not data."""

import json
import sys

import numpy as np
import pytest

from accord.cli.data import read_data
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


WRITERS = {"json": write_json, "csv": write_csv, "parquet": write_parquet, "npz": write_npz}


@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_of_file_gives_the_same_arrays(tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    WRITERS[kind](path)
    found = read_data(path)
    assert list(found) == ["n", "x", "ok", "who"]
    for name, column in COLUMNS.items():
        np.testing.assert_array_equal(found[name], column)
        assert found[name].dtype == column.dtype
    assert list(found["who"]) == list("abc")


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


# File name, content, and words that the message must contain.
ERRORS = {
    "bad json": ("d.json", "{", "is not JSON"),
    "a list": ("d.json", "[1, 2]", "got a list"),
    "ragged": ("d.json", '{"x": [[1], [1, 2]]}', "'x' is no array of numbers"),
    "mixed": ("d.json", '{"x": [1, "a"]}', "'x' mixes numbers with words"),
    "header alone": ("d.csv", "a,b\n", "at least one line of data"),
    "same column twice": ("d.csv", "a,a\n1,2\n", "must be different"),
    "short row": ("d.csv", "a,b\n1,2\n3\n", "row 2 has 1 cells for 2 columns"),
    "bad npz": ("d.npz", "x", "not an NPZ file"),
    "bad parquet": ("d.parquet", "x", "not a Parquet file"),
    "no suffix": ("d", "x", ".json"),
    "misspelt suffix": ("d.jsn", "x", "Did you mean '.json'"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_file_that_is_no_data_is_refused(tmp_path, name):
    file, content, words = ERRORS[name]
    (tmp_path / file).write_text(content)
    with pytest.raises(DataError) as error:
        read_data(tmp_path / file)
    assert words in str(error.value)


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
