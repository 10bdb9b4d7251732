"""Hold that models of very many unknowns start, sample, are stored and report, like small ones."""

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.pace import USUAL, Pace
from accord.mcmc.block import ATTEMPTS, rows_for

SAMPLERS: dict[str, tuple[Callable[[], Any], int]] = {
    "NUTS": (lambda: infer.NUTS(max_tree_depth=3), 1),
    "ChEES": (infer.ChEES, 4),
}
BLOCKS = [(1, 1, 4096), (10, 1, 4096), (100, 4, 512), (4000, 1, 256), (10_000, 16, 64), (65_536, 1, 16)]
MOST_MEMORY = (
    2**32
)  # bytes, for a million unknowns; the metric has 16 directions for each, and a block ten draws


@ac.model
def wide(y: Any) -> None:
    with ac.plate("row", y.shape[0]):
        x = ac.sample("x", dist.Normal(0, 1))
        ac.sample("y", dist.Normal(x, 1), obs=y)


@pytest.mark.parametrize("dim", [1, 2, 65_536, 65_537, 10**5, 10**6, 10**9])
@pytest.mark.parametrize("lanes", [1, 4, 1024, 4096])
@pytest.mark.parametrize("pace", [USUAL, Pace(most_rows=1), Pace(most_numbers=1)])
def test_a_block_has_room_for_all_candidates(dim: int, lanes: int, pace: Pace) -> None:
    assert rows_for(dim, lanes, pace) >= ATTEMPTS


@pytest.mark.parametrize(("dim", "lanes", "rows"), BLOCKS)
def test_blocks_of_other_models_have_room_for_the_draws_that_they_had(
    dim: int, lanes: int, rows: int
) -> None:
    assert rows_for(dim, lanes, USUAL) == rows


def check_run(dim: int, sampler: str, folder: Path) -> None:
    """Sample a few draws of `dim` unknowns into a folder; look at them in all usual ways."""
    make, chains = SAMPLERS[sampler]
    draws = infer.sample(
        wide(np.linspace(-1, 1, dim)),
        make(),
        draws=3,
        warmup=4,
        chains=chains,
        store=infer.RunFolder(folder),
        quiet=True,
    )
    assert draws["x"].shape == (chains, 3, dim)
    assert draws.complete
    assert np.all(np.ptp(draws["x"], axis=1) > 0)  # every unknown has moved
    assert f"x[{dim}]" in str(draws)
    assert "x[0]" in str(draws.summary(["x"]))
    loaded = infer.load(folder)
    np.testing.assert_array_equal(loaded["x"], draws["x"])
    assert loaded.complete


def test_a_hundred_thousand_unknowns_are_sampled_and_reported(tmp_path: Path) -> None:
    check_run(100_000, "NUTS", tmp_path / "run")


@pytest.mark.slow
def test_chains_in_step_have_a_hundred_thousand_unknowns_too(tmp_path: Path) -> None:
    check_run(100_000, "ChEES", tmp_path / "run")


@pytest.mark.slow
def test_a_million_unknowns_are_sampled_and_reported_in_bounded_memory(tmp_path: Path) -> None:
    """In a process of its own, whose largest memory can be asked for."""
    here = Path(__file__)
    call = f"import {here.stem} as t, pathlib; t.check_run(10**6, 'NUTS', pathlib.Path('run')); print(t.most_memory())"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(here.parent)!r}); {call}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout.split()[-1]) < MOST_MEMORY


def most_memory() -> int:
    """Most memory that this process has had, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
