"""Make run folders by hand, whose every checksum and link fits: what nobody but an attacker, or a bug, would write."""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from accord import infer
from accord.core.errors import StorageError
from accord.storage import RunFolder, Segment
from accord.storage.manifest import to_json
from accord.storage.segments import Link, encode


def content_of(path: Path) -> Any:
    """What a manifest or a record holds."""
    return json.loads(path.read_text())["content"]


def sign(path: Path, content: Any) -> str:
    """Write a manifest or a record with the sha256 that fits; return that."""
    text = to_json(content)
    digest = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(f'{{"sha256": "{digest}", "content": {text}}}')
    return digest


def forge(
    folder: Path,
    copy: Path,
    content: Any = None,
    change: Callable[[Segment], Segment] = lambda segment: segment,
) -> Path:
    """A copy of a run with another manifest, or other segments, linked as they should be."""
    run = RunFolder(folder).load()
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    first = sign(copy / "manifest.json", dict(run.manifest) if content is None else content)
    for chain in run.manifest.chains:
        digest = first
        for index, segment in enumerate(run.segments(chain)):
            data, digest = encode(change(segment), Link(run.manifest.run_id, index, digest))
            (copy / f"chain-{chain:04d}" / f"segment-{index:06d}.npz").write_bytes(data)
    return copy


def flip_bits(count: int, folder: Path, copy: Path, beginning: Callable[[Path], int]) -> dict[str, int]:
    """Flip one bit after another in the files of a run: it is read as far as it is right, or refused.

    `beginning` checks that what loads is a beginning of the run, and returns how many draws that are. Returns how many
    flips were found in which kind of file, and how many changed nothing (a letter of `1e-5`).
    """
    shutil.copytree(folder, copy)
    files = sorted(path for path in copy.rglob("*") if path.is_file())
    records, total = RunFolder(copy).load().records, beginning(copy)
    sizes = np.cumsum([path.stat().st_size for path in files])
    rng, found = np.random.default_rng(4), Counter[str]()
    for number in range(count):
        # Every other one in the next file, since small ones would hardly be met otherwise.
        place = int(rng.integers(sizes[-1]))
        file = files[int(np.searchsorted(sizes, place, "right")) if number % 2 else number // 2 % len(files)]
        data = file.read_bytes()
        flipped = bytearray(data)
        flipped[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        file.write_bytes(bytes(flipped))
        kind = file.name.partition("-")[0].partition(".")[0]
        try:
            read = beginning(copy)
            run = RunFolder(copy).load()
        except StorageError:
            assert kind == "manifest"
        else:
            assert (read < total) == (kind == "segment")
            if not run.problems:
                assert kind != "segment" and run.records == records
                kind = "no change"
            if number % 8 == 0:
                loaded = infer.load(copy)
                assert loaded.complete == (kind == "no change") == (loaded.notices[0].code != "damaged")
        found[kind] += 1
        file.write_bytes(data)
    assert (
        found["no change"] <= count // 20 + 3
    )  # as many as last digits of timings give, which differ from run to run
    return dict(found)
