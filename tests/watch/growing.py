"""Write run folders segment by segment, as a run would, without one."""

from pathlib import Path

import numpy as np

from accord.storage import Manifest, RunFolder, Segment

SITES = {"mu": (), "theta": (3,)}


def manifest(chains=2, draws=1000, warmup=100, names=SITES, **fields) -> Manifest:
    """Describe a run of NUTS with these sites."""
    sites = [
        {"name": name, "kind": "latent", "shape": list(shape), "dtype": "float64", "dims": [], "source": ""}
        for name, shape in names.items()
    ]
    statistics = {"diverging": "bool", "n_steps": "int32", "tree_depth": "int32", "step_size": "float64"}
    return Manifest.new(
        {
            "model": "grown",
            "target": {"kind": "log density", "dim": 4},
            "sampler": {"name": "NUTS", "target_accept": 0.8, "max_tree_depth": 10},
            "seed": 0,
            "precision": "float64",
            "lanes": 1,
            "chains": list(range(chains)),
            "draws": draws,
            "warmup": warmup,
            "thinning": 1,
            "method": "mcmc",
            "layout": {"dim": 4, "sites": sites, "coords": {}},
            "statistics": [{"name": name, "dtype": dtype} for name, dtype in statistics.items()],
            "tuning": [],
            **fields,
        }
    )


def begin(path: Path, **options):
    """Create the run, and return it as its writer has it."""
    return RunFolder(path).create(manifest(**options))


def segment(chain, phase, start, stop, names=SITES, **end) -> Segment:
    """Return a segment whose draws are a function of its place."""
    rng = np.random.default_rng([chain, start, phase == "warmup"])
    size = stop - start
    arrays = {
        "stat/diverging": rng.random(size) < 0.1,
        "stat/n_steps": np.full(size, 7, np.int32),
        "stat/tree_depth": np.full(size, 3, np.int32),
        "stat/step_size": np.full(size, 0.25),
        "stat/lp": rng.normal(size=size),
    }
    if phase == "sample":
        arrays |= {f"site/{name}": rng.normal(size=(size, *shape)) for name, shape in names.items()}
    state = {"num_warmup": np.asarray(100), "is_given_up": np.asarray(False), **end}
    return Segment(chain, phase, start, stop, arrays, state)


def grow(run, chains, phase, start, stop, step=None, **options):
    """Append the segments of some chains from one draw to another."""
    for first in range(start, stop, step or stop - start):
        for chain in chains:
            run.append(segment(chain, phase, first, min(first + (step or stop), stop), **options))


def drawn(path: Path, chain: int, name: str) -> np.ndarray:
    """Return the draws of a chain that are stored."""
    found = RunFolder(path).load().segments(chain)
    return np.concatenate([each.arrays[f"site/{name}"] for each in found if each.phase == "sample"])
