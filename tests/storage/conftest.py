"""Give the storage tests a manifest and segments to write."""

from collections.abc import Callable

import numpy as np
import pytest

from accord.storage import Manifest, Segment

FIELDS = {
    "model": "eight_schools",
    "target": {"kind": "model", "fingerprint": "abc"},
    "sampler": {"name": "NUTS", "target_accept": 0.8, "max_tree_depth": 10},
    "seed": 0,
    "precision": "float64",
    "lanes": 1,
    "chains": [0, 1, 5],
    "draws": 1000,
    "warmup": 500,
    "thinning": 1,
}


@pytest.fixture
def manifest() -> Manifest:
    return Manifest.new(FIELDS)


@pytest.fixture
def make_segment() -> Callable[..., Segment]:
    def make(chain: int = 0, start: int = 0, stop: int = 3, phase: str = "sample") -> Segment:
        rng = np.random.default_rng([chain, start, stop, phase == "warmup"])
        size = stop - start
        arrays = {
            "position": rng.normal(size=(size, 2)),
            "site/theta": rng.normal(size=(size, 2, 2)).astype(np.float32),
            "site/n in [a/b]": rng.integers(0, 9, size),
            "stat/diverging": rng.random(size) < 0.5,
        }
        end_state = {"key": rng.integers(0, 2**32, 2, np.uint32), "draw": np.asarray(stop)}
        return Segment(chain, phase, start, stop, arrays, end_state)  # type: ignore[arg-type]

    return make
