"""Make runs for tests of reports, from arrays."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from accord.core.notice import Notice
from accord.core.series import InMemory
from accord.report.document.base import Document
from accord.report.document.chains import ChainRun, document_of

EVIL = "<script>alert('&')</script>"


def stats_of(num_chains: int, num_draws: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Statistics of NUTS."""
    shape = (num_chains, num_draws)
    return {
        "lp": rng.normal(size=shape),
        "energy": rng.normal(size=shape),
        "diverging": rng.uniform(size=shape) < 0.02,
        "non_finite": np.zeros(shape, bool),
        "step_size": np.full(shape, 0.5),
        "tree_depth": rng.integers(1, 5, size=shape).astype(np.int32),
        "acceptance_rate": rng.uniform(0.5, 1, size=shape),
    }


def document(
    sites: Mapping[str, np.ndarray], notices: tuple[Notice, ...] = (), seed: int = 0, **changes: Any
) -> Document:
    """The report of a run with these draws; `changes` are fields of `ChainRun`."""
    num_chains, num_draws = next(iter(sites.values())).shape[:2]
    stats = stats_of(num_chains, num_draws, np.random.default_rng(seed))
    layout = [
        {"name": name, "kind": "latent", "shape": list(array.shape[2:]), "dims": []}
        for name, array in sites.items()
    ]
    manifest = {
        "model": "made_up",
        "seed": 3,
        "sampler": {"name": "NUTS", "max_tree_depth": 10},
        "precision": "float64",
        "warmup": 100,
        "layout": {"sites": layout, "coords": {}},
        "versions": {"accord": "0"},
        "machine": {"system": "none"},
        "data_hashes": {"y": "0" * 64},
        "created": "2026-01-01T00:00:00+00:00",
    }
    known: dict[str, Any] = dict(
        sites=InMemory(sites),
        stats=InMemory(stats),
        warmup=InMemory({"step_size": np.full((num_chains, 10), 0.7)}),
        chains=tuple(range(num_chains)),
        dims={},
        coords={},
        superchains=None,
        notices=notices,
        problems=(),
        lost=(),
        manifest=manifest,
        num_draws=num_draws,
        requested=num_draws,
        complete=True,
        timings={"warmup": 1.0, "sampling": 2.0, "total": 3.0},
        work={"warmup": 10, "sample": 20},
        counts={
            "divergence": {"warmup": np.zeros(num_chains, int), "sample": stats["diverging"].sum(axis=1)}
        },
        max_tree_depth=10,
        again="infer.sample(made_up(y))",
    )
    return document_of(ChainRun(**(known | changes)))
