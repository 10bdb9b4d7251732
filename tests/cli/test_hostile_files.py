"""Give the command line damaged and hostile files of data: each is one message, before anything large is allocated."""

import os
import threading
import tracemalloc

import numpy as np
import pytest
from hostile import archive, headed, npy, write_sparse

from accord.cli.data import open_data, read_data
from accord.core.errors import DataError

GOOD = npy(np.arange(3.0))
TERABYTE = 2**40
PROMISED = (TERABYTE - len(headed((TERABYTE,)))) // 8
"""Entries of an array that has a terabyte with its header."""
NINES = "9" * 400
# Name and content of a file, and words that the message must contain.
REFUSED = {
    "a whole number of 400 digits": (
        "d.json",
        f'{{"x": [1, {NINES}]}}',
        ["'x', entry 1", "400 digits", "int64"],
    ),
    "one number of 400 digits": ("d.json", f'{{"x": {NINES}}}', ["'x'", "does not fit int64"]),
    "400 digits in rows": ("d.json", f'{{"x": [[1, {NINES}]]}}', ["'x'", "does not fit int64"]),
    "400 digits beside null": (
        "d.json",
        f'{{"x": [null, {NINES}]}}',
        ["'x', entry 1", "too large for float64"],
    ),
    "5000 digits": ("d.json", '{"x": [' + "9" * 5000 + "]}", ["whole number", "too large for float64"]),
    "a number beyond float64": ("d.json", '{"x": [1e999]}', ["1e999", "too large for float64"]),
    "400 digits in a table": ("d.csv", f"x,y\n1,{NINES}\n", ["line 2, column 'y'", "400 digits", "int64"]),
    "400 digits beside a missing cell": (
        "d.csv",
        f"x,y\n1,\n1,{NINES}\n",
        ["line 3, column 'y'", "too large for float64"],
    ),
    "5000 digits in a table": ("d.csv", "x\n" + "9" * 5000 + "\n", ["line 2, column 'x'", "too large"]),
    "a cell beyond float64": ("d.csv", "x\n1e999\n", ["line 2, column 'x'", "too large"]),
    "a cell without end": ("d.csv", "x\n" + "9" * 200_000 + "\n", ["line 2", "field larger"]),
    "lists in lists": ("d.json", '{"x":' + "[" * 100_000 + "]" * 100_000 + "}", ["nested too deeply"]),
    "rows in rows": ("d.json", '{"x":' + "[" * 100 + "1" + "]" * 100 + "}", ["'x' is no array"]),
    "objects in objects": (
        "d.json",
        '{"x":' + '{"a":' * 900 + "1" + "}" * 900 + "}",
        ["'x'", "nested too deeply"],
    ),
    "objects in lists": ("d.json", '{"x": [{"a": 1}, 2]}', ["'x' is no array"]),
    "a key twice within": ("d.json", '{"x": {"a": 1, "b": 2, "a": 3}}', ["'a' 2 times"]),
    "text that is none": ("d.json", b'{"x": "\xe9"}', ["is not JSON"]),
    "nothing": ("d.json", "", ["is not JSON"]),
    "a name twice": ("d.npz", archive([("x.npy", GOOD), ("x.npy", GOOD)]), ["2 arrays are called 'x'"]),
    "a name twice, once with its ending": ("d.npz", archive([("x", GOOD), ("x.npy", GOOD)]), ["called 'x'"]),
    "text for an array": ("d.npz", archive([("x.npy", b"hello")]), ["d.npz", "damaged"]),
    "an array that is cut off": ("d.npz", archive([("x.npy", GOOD[:-8])]), ["shape (3,)"]),
    "an array with more": ("d.npz", archive([("x.npy", GOOD + b"more")]), ["shape (3,)"]),
    "an archive that is cut off": ("d.npz", archive([("x.npy", GOOD)])[:-30], ["damaged"]),
    "bytes that are changed": ("d.npz", archive([("x.npy", GOOD)]).replace(b"NUMPY", b"NUMPZ"), ["damaged"]),
    "terabytes that are promised": ("d.npz", archive([("x.npy", headed((10**12,)))]), ["1000000000000"]),
    "more entries than there are numbers": ("d.npz", archive([("x.npy", headed((10**30,)))]), ["damaged"]),
    "fewer entries than none": ("d.npz", archive([("x.npy", headed((-1,)))]), ["damaged"]),
    "entries of no size": ("d.npz", archive([("x.npy", headed((10**12,), "<U0"))]), ["damaged", "empty"]),
    "a header that is no header": ("d.npz", archive([("x.npy", GOOD[:20])]), ["damaged"]),
    "a header that calls a function": ("d.npz", archive([("x.npy", headed("exit()"))]), ["damaged"]),
    "objects": ("d.npz", archive([("x.npy", headed((1,), "|O", b"\x80\x04N."))]), ["pickles"]),
    "words that are none": (
        "d.npz",
        archive([("x.npy", npy(np.array([b"\xff", b"b"])))]),
        ["damaged", "utf-8"],
    ),
    "a terabyte, packed": (
        "d.npz",
        archive([("x.npy", headed((PROMISED,)))], (TERABYTE, 1000)),
        ["array 'x' has 1099511627776 bytes, packed to 1000"],
    ),
    "a terabyte that is not packed": (
        "d.npz",
        archive([("x.npy", headed((PROMISED,)))], (TERABYTE, TERABYTE)),
        ["array 'x'", "of memory", "there is room for"],
    ),
    "a Parquet file that is none": (
        "d.parquet",
        b"PAR1" + b"\0" * 100 + b"\x10\0\0\0PAR1",
        ["is not a Parquet file"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_file_is_refused_before_anything_large_is_allocated(tmp_path, name):
    file, content, words = REFUSED[name]
    if file.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    tracemalloc.start()
    try:
        with pytest.raises(DataError) as error:
            read_data(tmp_path / file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert all(word in str(error.value) for word in words), error.value
    assert peak < 2**25


@pytest.mark.parametrize("file", ["d.json", "d.csv"])
def test_a_file_that_memory_has_no_room_for_is_refused_by_its_size(tmp_path, file):
    write_sparse(tmp_path / file, TERABYTE)
    with pytest.raises(
        DataError, match=r"reading it takes about .*e\+0\d GiB of memory, and there is room for"
    ):
        open_data(tmp_path / file)


def test_an_array_that_is_not_asked_for_may_be_damaged_or_huge(tmp_path):
    content = archive([("x.npy", GOOD), ("y.npy", b"hello"), ("z.npy", headed((10**12,)))])
    (tmp_path / "d.npz").write_bytes(content)
    np.testing.assert_array_equal(open_data(tmp_path / "d.npz")["x"](), np.arange(3.0))


def test_arrays_of_every_plain_kind_come_back(tmp_path):
    arrays = {
        "rows": np.arange(6.0).reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "big": np.arange(3, dtype=">i4"),
        "none": np.zeros((0, 3)),
        "truth": np.array([True, False]),
        "scalar": np.array(2.5),
        "wide": np.zeros(3, np.float16),
    }
    np.savez_compressed(
        tmp_path / "d.npz", **arrays, words=np.array(["a", "bc"]), octets=np.array([b"a", b"bc"])
    )
    found = read_data(tmp_path / "d.npz")
    assert found.pop("words") == found.pop("octets") == ["a", "bc"]
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


ENDINGS = [".json", ".csv", ".npz", pytest.param(".parquet", marks=pytest.mark.slow)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_pipe_that_nothing_writes_to_is_refused_and_not_waited_for(tmp_path, ending):
    os.mkfifo(tmp_path / f"d{ending}")
    found = []

    def read():
        with pytest.raises(DataError) as error:
            open_data(tmp_path / f"d{ending}")
        found.append(str(error.value))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(60)
    assert found and "pipe or a device" in found[0]


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_device_is_no_file_of_data(tmp_path, ending):
    (tmp_path / f"d{ending}").symlink_to("/dev/zero")
    with pytest.raises(DataError, match="pipe or a device"):
        open_data(tmp_path / f"d{ending}")


def test_a_file_without_a_size_is_not_read_to_its_end(tmp_path):
    if not os.path.exists("/proc/self/status"):
        pytest.skip("no such files")
    (tmp_path / "d.csv").symlink_to("/proc/self/status")
    with pytest.raises(DataError, match="no file on a disk"):
        open_data(tmp_path / "d.csv")
