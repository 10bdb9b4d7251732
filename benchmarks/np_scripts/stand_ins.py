"""Make data in the place of those that NumPyro's example scripts download: the same shapes, by a fixed seed."""

import sys
from types import ModuleType
from typing import Any

import numpy as np


def _baseball(rng: np.random.Generator, split: str) -> Any:
    at_bats = np.full(18, 45 if split == "train" else 400)
    hits = rng.binomial(at_bats, rng.beta(30, 80, size=18))
    return np.stack([at_bats, hits], axis=1), [f"player {i}" for i in range(18)]


def _birds(rng: np.random.Generator, split: str) -> Any:
    alive = np.cumprod(rng.random((60, 7)) < 0.7, axis=1)
    seen = (alive * (rng.random((60, 7)) < 0.8)).astype(int)
    seen[np.arange(60), rng.integers(0, 4, 60)] = 1
    return (seen, rng.integers(0, 2, 60)) if split == "dipper" else (seen,)


def _rows(count: int, width: int) -> Any:
    def make(rng: np.random.Generator, split: str) -> Any:
        del split
        x = rng.normal(size=(count, width))
        return x, (x[:, 0] + rng.logistic(size=count) > 0).astype(int)

    return make


def _chorales(rng: np.random.Generator, split: str) -> Any:
    del split
    lengths = rng.integers(8, 14, size=5)
    return lengths, (rng.random((5, 14, 88)) < 0.05).astype(int)


def _mortality(rng: np.random.Generator, split: str) -> Any:
    del split
    a, s2, t = (each.ravel() for each in np.meshgrid(np.arange(4), np.arange(6), np.arange(4), indexing="ij"))
    population = rng.integers(500, 2000, size=a.size)
    return a, s2 // 2, s2, t, rng.poisson(population * np.exp(-5 + 0.7 * a)), population


def _hares(rng: np.random.Generator, split: str) -> Any:
    del split
    t = np.arange(21)
    hare = 30 * np.exp(0.9 * np.sin(2 * np.pi * t / 10))
    lynx = 20 * np.exp(0.9 * np.sin(2 * np.pi * (t - 2.5) / 10))
    return 1900 + t, np.stack([hare, lynx], axis=1) * np.exp(0.2 * rng.normal(size=(21, 2)))


def _returns(rng: np.random.Generator, split: str) -> Any:
    del split
    h = np.cumsum(0.1 * rng.normal(size=100)) - 4.5
    days = np.arange("2020-01-01", "2020-04-10", dtype="datetime64[D]")[:100]
    return [str(day) for day in days], np.exp(h) * rng.standard_t(6, 100)


def _admissions(rng: np.random.Generator, split: str) -> Any:
    del split
    dept, male = np.repeat(np.arange(6), 2), np.tile([1, 0], 6)
    applications = rng.integers(50, 600, size=12)
    return dept, male, applications, rng.binomial(applications, 1 / (1 + np.exp(0.4 * dept - 0.5)))


def _houses(rng: np.random.Generator, split: str) -> Any:
    del split
    x = rng.normal(size=(120, 13))
    return x, x[:, 0] + 0.3 * rng.normal(size=120)


def _angles(rng: np.random.Generator, split: str) -> Any:
    del split
    return tuple(np.concatenate([rng.vonmises(m, 4.0, size=(40, 2)) for m in (-1.0, 0.5, 2.0)]))  # rows


def _digits(rng: np.random.Generator, split: str) -> Any:
    count = 256 if split == "train" else 128
    centre, at = rng.uniform(8, 20, size=(count, 1, 1, 2)), np.stack(np.mgrid[:28, :28], axis=-1)
    return np.exp(-((at - centre) ** 2).sum(-1) / 20).astype("float32"), rng.integers(0, 10, size=count)


MAKERS: dict[str, Any] = {
    "BASEBALL": _baseball,
    "BOSTON_HOUSING": _houses,
    "COVTYPE": _rows(400, 6),
    "DIPPER_VOLE": _birds,
    "HIGGS": _rows(400, 5),
    "JSB_CHORALES": _chorales,
    "LYNXHARE": _hares,
    "MNIST": _digits,
    "MORTALITY": _mortality,
    "NINE_MERS": _angles,
    "SP500": _returns,
    "UCBADMIT": _admissions,
}


def put_in_place() -> None:
    """Put a module with these data in the place of `numpyro.examples.datasets`."""
    import jax.numpy as jnp
    from jax import lax

    module: Any = ModuleType("numpyro.examples.datasets")

    def load_dataset(
        dset: Any, batch_size: int | None = None, split: str = "train", shuffle: bool = True, **_: Any
    ) -> Any:
        del shuffle
        data = MAKERS[dset](np.random.default_rng(5), split)
        count = len(data[0])
        size = batch_size or count

        def taken(each: Any, rows: Any) -> Any:
            is_numbers = isinstance(each, np.ndarray) and each.dtype.kind in "fiub"
            return jnp.take(jnp.asarray(each), rows, axis=0) if is_numbers else each

        def fetch(i: Any = 0, order: Any = None) -> Any:
            rows = lax.dynamic_slice_in_dim(
                jnp.arange(count) if order is None else jnp.asarray(order), i * size, size
            )
            return tuple(taken(each, rows) for each in data)

        return (lambda: (count // size, np.arange(count))), fetch

    def load(dset: Any, num_datapoints: int | None = None) -> Any:
        del num_datapoints
        return {split: MAKERS[dset](np.random.default_rng(5), split) for split in ("train", "test")}

    module.load_dataset, module._load = load_dataset, load
    for name in MAKERS:
        setattr(module, name, name)
    sys.modules["numpyro.examples.datasets"] = module
    package: Any = ModuleType("numpyro.examples")
    package.datasets, package.__path__ = module, []
    sys.modules["numpyro.examples"] = package
