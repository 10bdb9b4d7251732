"""Reopen folders whose manifest names no method that this version knows."""

from pathlib import Path

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import StorageError
from accord.storage import Manifest


@ac.model
def normal(y: np.ndarray) -> None:
    mean = ac.sample("mean", dist.Normal(0, 10))
    ac.sample("y", dist.Normal(mean, 1), obs=y)


@pytest.mark.parametrize("method", ["divination", None])
def test_a_run_of_an_unknown_method_is_neither_read_nor_resumed(tmp_path: Path, method: str | None) -> None:
    model, options = normal(np.array(0.5)), dict(draws=20, warmup=20, chains=1, quiet=True)
    made = infer.sample(model, store=infer.RunFolder(tmp_path / "run"), **options)
    fields = {name: made.manifest[name] for name in made.manifest if name != "method"}
    fields |= {} if method is None else {"method": method}
    other = tmp_path / "other"
    run = infer.RunFolder(other).create(Manifest(fields))
    run.record("note", 1)
    run.close()
    words = rf"has the method {method!r}, and this version of accord knows mcmc"
    with pytest.raises(StorageError, match=words):
        infer.load(other)
    with pytest.raises(StorageError, match=words):
        infer.resume(other, model, quiet=True)
    assert infer.load(tmp_path / "run").manifest["method"] == "mcmc"


def test_a_run_of_chains_with_other_phases_is_refused(tmp_path: Path) -> None:
    made = infer.sample(normal(np.array(0.5)), draws=20, warmup=20, chains=1, quiet=True)
    run = infer.RunFolder(tmp_path / "run").create(
        Manifest({**made.manifest, "phases": ["warmup", "anneal"]})
    )
    run.record("note", 1)
    run.close()
    with pytest.raises(StorageError, match=r"'phases' in manifest\.json are not warmup, sample"):
        infer.load(tmp_path / "run")


def test_each_method_is_known_by_what_its_runs_write():
    from accord.calibration.stored import KIND as CALIBRATION
    from accord.mcmc.plan import KIND as MCMC
    from accord.nested.plan import KIND as NESTED
    from accord.reopen.methods import METHODS
    from accord.smc.plan import KIND as SMC
    from accord.vi.pathfinder.plan import KIND as PATHFINDER
    from accord.vi.plan import KIND as FIT

    assert [*METHODS] == [MCMC, CALIBRATION, FIT, PATHFINDER, SMC, NESTED]
    assert all(each().words for each in METHODS.values())
