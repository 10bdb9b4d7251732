"""Check that a segment is read back bit for bit, or refused."""

import io
import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import numpy as np
import pytest

from accord.core.errors import StorageError
from accord.storage.base import Segment
from accord.storage.segments import Link, encode, read_segment

LINK = Link(run_id="r", index=3, previous="p")


def decode(data: bytes):
    return read_segment(io.BytesIO(data))


ARRAYS = {
    "reals": np.array([1.5, -0.0, np.nan, np.inf, 5e-324]),
    "singles": np.float32([[1.5], [2.5]]),
    "integers": np.array([2**63 - 1, -(2**63)]),
    "keys": np.array([[1, 2**32 - 1]], np.uint32),
    "booleans": np.array([True, False]),
    "complex": np.array([1 + 2j]),
    "big_endian": np.array([1.0, 2.0], ">f8"),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "strided": np.arange(12.0).reshape(3, 4)[:, ::2],
    "empty": np.zeros((2, 0)),
    "none": np.zeros((0, 3)),
}


def same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> bool:
    """Whether two sets of arrays are equal in names, order, dtypes, shapes and bits."""
    pairs = [(a, b) for a, b in zip(left.values(), right.values(), strict=True)]
    return list(left) == list(right) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs
    )


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_come_back_bit_for_bit_and_read_only(name):
    value = ARRAYS[name]
    segment = Segment(2, "sample", 5, 5 + len(value), {f"site/{name}": value}, {"state": value})
    back, link, _ = decode(encode(segment, LINK)[0])
    assert same(back.arrays, segment.arrays)
    assert same(back.end_state, segment.end_state)
    assert (back.chain, back.phase, back.start, back.stop, link) == (2, "sample", 5, 5 + len(value), LINK)
    assert not back.arrays[f"site/{name}"].flags.writeable


@pytest.mark.parametrize(
    "name", ["a/b", "../../etc/passwd", "θ", "a b", "", "array-000000.npy", "x" * 500, "\n"]
)
def test_names_of_sites_are_data_and_never_paths(name):
    data, _ = encode(Segment(0, "sample", 0, 1, {name: np.zeros(1)}), LINK)
    assert list(decode(data)[0].arrays) == [name]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == ["header.json", "array-000000.npy"]


def test_the_same_draws_give_the_same_bytes(make_segment):
    assert encode(make_segment(), LINK) == encode(make_segment(), LINK)
    assert encode(make_segment(), LINK)[1] != encode(make_segment(), Link("r", 3, "q"))[1]


def test_numpy_opens_a_segment_without_accord(make_segment, tmp_path):
    (tmp_path / "segment.npz").write_bytes(encode(make_segment(), LINK)[0])
    with np.load(tmp_path / "segment.npz", allow_pickle=False) as file:
        np.testing.assert_array_equal(file["array-000000"], make_segment().arrays["position"])


def test_no_truncated_segment_is_read(make_segment):
    data, _ = encode(make_segment(), LINK)
    for size in range(len(data)):
        with pytest.raises(StorageError):
            decode(data[:size])


def test_no_segment_with_a_flipped_bit_is_read(make_segment):
    data, _ = encode(make_segment(), LINK)
    for bit in np.random.default_rng(0).choice(8 * len(data), 200, replace=False):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << (bit % 8)
        with pytest.raises(StorageError, match="sha256"):
            decode(bytes(flipped))


def test_no_parser_fails_on_damage_whose_digest_was_made_to_fit(make_segment):
    data, _ = encode(make_segment(), LINK)
    rng = np.random.default_rng(1)
    for _ in range(2000):
        body = bytearray(data[:-64])
        for place in rng.integers(0, len(body), rng.integers(1, 4)):
            body[place] = rng.integers(256)
        try:
            decode(signed(bytes(body)))
        except StorageError:
            continue


def signed(body: bytes) -> bytes:
    return body + sha256(body).hexdigest().encode()


def forged(
    header: dict[str, object], members: dict[str, bytes], compression: int = zipfile.ZIP_STORED
) -> bytes:
    """A segment as an attacker would write it: with the right digest."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("header.json", json.dumps(header))
        for name, content in members.items():
            archive.writestr(name, content)
        archive.comment = b"0" * 64
    return signed(buffer.getvalue()[:-64])


HEADER = {
    "run_id": "r",
    "index": 0,
    "previous": "p",
    "chain": 0,
    "phase": "sample",
    "start": 0,
    "stop": 1,
    "arrays": ["x"],
    "end_state": [],
}


def npy(descr: str, shape: str, payload: bytes = b"") -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + payload


FORGERIES = {
    "a shape beyond all memory": (HEADER, {"array-000000.npy": npy("<f8", f"({2**40},)")}),
    "more elements than allowed, of no size": (HEADER, {"array-000000.npy": npy("<f8", f"(0, {2**62})")}),
    "a negative length": (HEADER, {"array-000000.npy": npy("<f8", "(-1, -1)", b"0" * 8)}),
    "a promise of more than there is": (HEADER, {"array-000000.npy": npy("<f8", "(2,)", b"0" * 8)}),
    "bytes after the array": (HEADER, {"array-000000.npy": npy("<f8", "(1,)", b"0" * 16)}),
    "pickled objects": (HEADER, {"array-000000.npy": npy("|O", "(1,)", b"cos\nsystem\n(S'true'\ntR.")}),
    "text": (HEADER, {"array-000000.npy": npy("<U1", "(1,)", b"0000")}),
    "an unknown npy version": (HEADER, {"array-000000.npy": b"\x93NUMPY\x09\x00" + b"0" * 100}),
    "no array": (HEADER, {}),
    "an array too many": (
        HEADER,
        {"array-000000.npy": npy("<f8", "(0,)"), "array-000001.npy": npy("<f8", "(0,)")},
    ),
    "a name twice": ({**HEADER, "arrays": ["x", "x"]}, {}),
    "names that are none": ({**HEADER, "arrays": [1]}, {"array-000000.npy": npy("<f8", "(0,)")}),
    "names in no list": ({**HEADER, "arrays": "x"}, {"array-000000.npy": npy("<f8", "(0,)")}),
    "a chain that is no number": ({**HEADER, "chain": "../0", "arrays": []}, {}),
    "a negative count": ({**HEADER, "start": -1, "arrays": []}, {}),
    "a header without fields": ({}, {}),
}


@pytest.mark.parametrize("kind", FORGERIES)
def test_a_forged_segment_is_refused(kind):
    header, members = FORGERIES[kind]
    with pytest.raises(StorageError, match="not a segment"):
        decode(forged(header, members))


def test_a_compressed_segment_is_refused_before_it_grows():
    bomb = forged(
        HEADER, {"array-000000.npy": npy("<f8", "(1000000,)", bytes(8_000_000))}, zipfile.ZIP_DEFLATED
    )
    with pytest.raises(StorageError, match="compressed"):
        decode(bomb)


def test_threads_read_at_the_same_time(make_segment):
    """Python's parser, which NumPy's reader of headers asks, fails at random where two threads use it."""
    data, _ = encode(make_segment(), LINK)
    with ThreadPoolExecutor(4) as pool:
        segments = list(pool.map(lambda _: decode(data)[0], range(400)))
    assert all(same(segment.arrays, make_segment().arrays) for segment in segments)
