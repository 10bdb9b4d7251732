"""Leave rows in files: what is computed is what it is of the array, and nobody reads more than his share."""

import json
import os
import pickle

import jax
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from paced import paced

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import DataError, ModelError, OptionError, SiteError
from accord.density import LogDensity, sharded
from accord.density.rows.blocks import mesh_of
from accord.density.rows.collect import laid_out
from accord.density.rows.cutting import Cut
from accord.density.rows.file_blocks import FileBlocks
from accord.programs.placement import Placement

X = np.random.default_rng(0).normal(size=(37, 3))
Y = X @ [1.0, -1.0, 0.5]


def as_npy(folder, array, name="array"):
    np.save(folder / f"{name}.npy", array)
    return infer.rows(folder / f"{name}.npy")


def as_zarr(folder, array):
    stored = zarr.open_array(
        folder / "array.zarr", mode="w", shape=array.shape, dtype=array.dtype, chunks=(10,) * array.ndim
    )
    stored[:] = array
    return infer.rows(folder / "array.zarr")


def as_parquet(folder, array):
    columns = {"a": array} if array.ndim == 1 else {name: array[:, i] for i, name in enumerate("abc")}
    pq.write_table(pa.table(columns), folder / "array.parquet", row_group_size=10)
    return infer.rows(folder / "array.parquet", "a" if array.ndim == 1 else list(columns))


def from_table(folder, table):
    pq.write_table(table, folder / "table.parquet")
    return infer.rows(folder / "table.parquet", "a")


def test_missing_floats_of_a_column_are_nan(tmp_path):
    rows = from_table(tmp_path, pa.table({"a": pa.array([0.5, None])}))
    np.testing.assert_array_equal(rows, [0.5, np.nan])


@pytest.mark.parametrize("store", [as_npy, as_zarr, as_parquet])
@pytest.mark.parametrize("array", [X, Y, np.arange(37)], ids=["matrix", "vector", "ints"])
def test_every_stretch_of_rows_is_that_of_the_array(store, array, tmp_path):
    rows = store(tmp_path, array)
    assert (rows.shape, rows.dtype) == (array.shape, array.dtype)
    assert np.array_equal(rows, array)
    for start, stop in [(0, 1), (9, 11), (10, 20), (5, 37), (36, 37)]:
        assert np.array_equal(rows.read(start, stop), array[start:stop])
    assert np.array_equal(np.concatenate(list(rows.pieces())), array)


@pytest.mark.parametrize("num_rows", [2, 16, 33, 37])
@pytest.mark.parametrize("chunk", [None, 2])
def test_blocks_are_those_of_the_array(num_rows, chunk, tmp_path):
    cut, mesh = Cut.of(num_rows, chunk), mesh_of(jax.devices()[:1])
    expected = laid_out(cut.blocks(X[:num_rows], 0), mesh)
    blocks = FileBlocks(as_npy(tmp_path, X[:num_rows]), cut, len(expected))
    assert blocks.shape == expected.shape
    whole = (slice(None),) * expected.ndim
    assert np.array_equal(blocks.read(whole), expected)
    assert np.array_equal(blocks.read(()), expected)
    assert np.array_equal(blocks.read((slice(3, 7), *whole[1:])), expected[3:7])


@ac.model
def line(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([3]).to_event(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(x @ b, 1.0), obs=y)


def test_a_model_of_rows_in_files_draws_and_is_recorded_as_one_of_arrays(tmp_path):
    options = dict(draws=20, warmup=20, chains=1, progress=False, quiet=True)
    for executor in (infer.Threads(), infer.Devices(shard={"x": 0, "y": 0})):
        expected = infer.sample(line(X, Y), executor=executor, **options)
        found = infer.sample(line(as_npy(tmp_path, X), Y), executor=executor, **options)
        assert np.array_equal(found["b"], expected["b"])
        assert found.manifest["data_hashes"] == expected.manifest["data_hashes"]


@ac.model
def centred(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([3]).to_event(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal((x - x.mean(0)) @ b, 1.0), obs=y)


def test_rows_that_the_model_couples_are_found_unless_there_are_too_many_to_read(tmp_path):
    options = dict(draws=5, warmup=5, chains=1, progress=False, quiet=True)
    target, executor = centred(as_npy(tmp_path, X), Y), infer.Devices(shard={"x": 0, "y": 0})
    with pytest.raises(ModelError, match="couples rows"):
        infer.sample(target, executor=executor, **options)
    assert "not_compared" not in codes(
        infer.sample(line(as_npy(tmp_path, X), Y), executor=executor, **options)
    )
    assert "not_compared" in codes(infer.sample(target, executor=paced(executor, most_compared=0), **options))


def codes(draws):
    return [notice.code for notice in draws.notices]


@ac.model
def in_chunks(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([3]).to_event(1))
    with ac.plate("row", x.shape[0], chunk=2):
        ac.sample("y", dist.Normal(x @ b, 1.0), obs=y)


def test_chunks_of_rows_in_files_are_those_of_the_array(tmp_path):
    options = dict(draws=5, warmup=5, chains=1, progress=False, quiet=True)
    rows = as_npy(tmp_path, X)
    assert np.array_equal(
        infer.sample(in_chunks(rows, Y), **options)["b"], infer.sample(in_chunks(X, Y), **options)["b"]
    )
    at = np.zeros(3)
    assert LogDensity.from_model(in_chunks(rows, Y))(at) == LogDensity.from_model(in_chunks(X, Y))(at)


def test_devices_are_given_blocks_that_were_read_for_them(tmp_path):
    mesh = mesh_of(jax.devices()[:1])
    density = sharded(LogDensity.from_model(line(as_npy(tmp_path, X), Y)), mesh, {"x": 0, "y": 0})
    assert isinstance(density.data["x"], FileBlocks)
    placed = Placement(tuple(jax.devices()[:1])).put_data(density.data, density.program.cut_data)
    in_memory = sharded(LogDensity.from_model(line(X, Y)), mesh, {"x": 0, "y": 0}).data
    for name, array in zip(sorted(density.data), placed, strict=True):
        assert np.array_equal(array, in_memory[name])


def test_nan_among_observed_rows_is_found(tmp_path):
    y = np.where(np.arange(37) == 30, np.nan, Y)
    with pytest.raises(SiteError, match=r"'y': 1 of 37 observed values are NaN"):
        LogDensity.from_model(line(X, as_npy(tmp_path, y)))


def test_ints_that_do_not_fit_are_refused_when_they_are_read(tmp_path):
    rows = as_npy(tmp_path, np.array([1, 2**40])).astype("int32")
    assert rows.read(0, 1) == 1
    with pytest.raises(DataError, match="do not fit int32"):
        rows.read(0, 2)


def test_a_file_that_has_changed_is_refused(tmp_path):
    rows = as_npy(tmp_path, X)
    as_npy(tmp_path, X[:5])
    with pytest.raises(
        DataError, match=r"\(5, 3\).*when the run began it was \(37, 3\).*it must not change during the run"
    ):
        rows.read(0, 1)


def stored_zarr(folder, about, content=b""):
    """A Zarr array as a stranger could make it: its description, or what differs in a usual one, and its one chunk."""
    path = folder / "array.zarr"
    path.mkdir()
    usual = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<f8", "fill_value": 0.0, "order": "C"}
    if isinstance(about, dict):
        about = usual | {"filters": None, "compressor": None} | about
    name = "zarr.json" if isinstance(about, dict) and "codecs" in about else ".zarray"
    (path / name).write_text("{" if about is None else json.dumps(about))
    (path / "0").write_bytes(content)
    return infer.rows(path)


class Canary:
    """Object that makes a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __reduce__(self):
        return os.mkdir, (self.folder,)


CODECS_THAT_RUN_CODE = {
    "a filter": dict(filters=[{"id": "pickle", "protocol": 5}]),
    "the compressor": dict(compressor={"id": "pickle", "protocol": 5}),
    "a later filter": dict(filters=[{"id": "delta", "dtype": "<f8"}, {"id": "pickle"}]),
    "of objects": dict(dtype="|O", filters=[{"id": "pickle"}]),
    "a codec of format 3": dict(zarr_format=3, codecs=[{"name": "bytes"}, {"name": "numcodecs.pickle"}]),
    "inside of shards": dict(
        zarr_format=3,
        codecs=[{"name": "sharding_indexed", "configuration": {"codecs": [{"name": "numcodecs.pickle"}]}}],
    ),
}


@pytest.mark.parametrize("case", CODECS_THAT_RUN_CODE)
def test_a_zarr_array_of_pickles_is_refused_and_runs_nothing(case, tmp_path):
    canary = tmp_path / "canary"
    with pytest.raises(DataError, match=r"array\.zarr holds pickles.*Store the array with another codec"):
        stored_zarr(tmp_path, CODECS_THAT_RUN_CODE[case], pickle.dumps(Canary(canary))).read(0, 4)
    assert not canary.exists()


REFUSED = {
    "no file": (lambda at: infer.rows(at / "none.npy"), DataError, "no file"),
    "no zarr": (lambda at: infer.rows(at / "none.zarr"), DataError, "no file"),
    "an unknown dtype": (
        lambda at: stored_zarr(at, {"dtype": "no dtype"}),
        DataError,
        "not an array of numbers in Zarr format",
    ),
    "no description": (lambda at: stored_zarr(at, []), DataError, r"its \.zarray describes no array"),
    "a damaged description": (
        lambda at: stored_zarr(at, None),
        DataError,
        "not an array of numbers in Zarr format",
    ),
    "another kind": (lambda at: infer.rows(at / "a.csv"), DataError, r"\.npy, \.zarr, \.parquet"),
    "objects": (lambda at: as_npy(at, np.array([{}], object)), DataError, "not an array of numbers"),
    "words": (lambda at: as_npy(at, np.array(["a"])), DataError, "rows of numbers are needed"),
    "no rows": (lambda at: as_npy(at, np.zeros(0)), DataError, "rows of numbers are needed"),
    "no axis": (lambda at: as_npy(at, np.array(1.0)), DataError, "rows of numbers are needed"),
    "columns of an array": (
        lambda at: infer.rows(as_npy(at, X).path, "a"),
        OptionError,
        "no other file has any",
    ),
    "an unknown column": (
        lambda at: infer.rows(as_parquet(at, X).path, "z"),
        OptionError,
        r"no column 'z'\. There are: a, b, c",
    ),
    "integers of which some are missing": (
        lambda at: np.asarray(from_table(at, pa.table({"a": pa.array([1, None, 3])}))),
        DataError,
        "column 'a' misses 1 entries in rows 0 to 2",
    ),
    "truth of which some is missing": (
        lambda at: np.asarray(from_table(at, pa.table({"a": pa.array([True, None])}))),
        DataError,
        "column 'a' misses 1 entries",
    ),
    "a name twice": (
        lambda at: from_table(at, pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])),
        DataError,
        "2 columns are called 'a'",
    ),
    "another axis": (
        lambda at: sharded(
            LogDensity.from_model(line(as_npy(at, X), Y)), mesh_of(jax.devices()[:1]), {"x": 1}
        ),
        OptionError,
        "'x' lie in a file, along its first axis",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_by_rows_is_refused(case, tmp_path):
    act, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        act(tmp_path)
