"""Draw in groups of thousands of chains: moments are right, and the draws the same however the run was cut.

Every first and second moment of a normal is compared with the truth within 4.5 Monte Carlo errors, which the spread of
the chains' averages gives: 170 of them at most, each wrong by chance in 7e-6 of runs, and in 1e-5 with what skewness
averages of so many chains have left. A line that fails is drawn once more: a false alarm in 3e-6 of runs.
"""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import once_more_in_doubt
from paced import paced

from accord import infer
from accord.core.pace import USUAL
from accord.density import LogDensity
from accord.kernels import AbstractKernel
from accord.mcmc.block import rows_for
from accord.mcmc.draws import Draws
from accord.storage.run_folder import RunFolderRun

MAX_SCORE = 4.5


@dataclass(frozen=True)
class Wide:
    """A group of `chains` that draw from a normal of `dim` dimensions."""

    sampler: AbstractKernel
    chains: int
    dim: int
    draws: int
    warmup: int

    @property
    def target(self) -> LogDensity:
        precision = np.linalg.inv(self.covariance)

        def log_density(x: jax.Array) -> jax.Array:
            return -0.5 * x @ (jnp.asarray(precision) @ x)

        return LogDensity.from_function(log_density, np.zeros(self.dim))

    @property
    def covariance(self) -> np.ndarray:
        """Of scales from 1 to 3, every two coordinates with correlation 0.8."""
        scales = np.linspace(1, 3, self.dim)
        return np.outer(scales, scales) * (0.8 + 0.2 * np.eye(self.dim))

    def sample(self, **options: Any) -> Draws:
        common = dict(draws=self.draws, warmup=self.warmup, chains=self.chains, lanes=self.chains)
        return infer.sample(
            self.target, self.sampler, **(common | dict(seed=0, progress=False, quiet=True) | options)
        )

    def scores(self, x: np.ndarray) -> np.ndarray:
        """How many errors each moment of draws, shape `(chain, draw, dim)`, is from the truth."""
        first, second = np.triu_indices(self.dim)
        averages = np.concatenate([x.mean(1), np.mean(x[..., first] * x[..., second], 1)], 1)
        truth = np.concatenate([np.zeros(self.dim), self.covariance[first, second]])
        error = averages.std(0, ddof=1) / np.sqrt(len(averages))
        return (averages.mean(0) - truth) / error


CHEES = Wide(infer.ChEES(), 1024, 4, 20, 200)
# So wide that a block has room for fewer draws than fit into warm-up.
WIDEST = Wide(infer.ChEES(), 4096, 17, 10, 140)
# Each at a draw of its own, written where it belongs by a scatter.
IN_LANES = Wide(infer.NUTS(), 256, 3, 60, 100)
GROUPS = {"ChEES, 1024": CHEES, "ChEES, 4096": WIDEST, "NUTS, 256": IN_LANES}


def assert_same(found: Draws, expected: Draws) -> None:
    for kind in ("sites", "stats", "tuning", "warmup"):
        for name, array in getattr(expected, kind).items():
            np.testing.assert_array_equal(getattr(found, kind)[name], array, err_msg=f"{kind} {name}")


@pytest.fixture(scope="module")
def drawn() -> dict[str, Draws]:
    """What was drawn before, by group: that of 4096 chains takes most of a minute."""
    return {}


def draws_of(name: str, drawn: dict[str, Draws]) -> Draws:
    if name not in drawn:
        drawn[name] = GROUPS[name].sample()
    return drawn[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPS)
@once_more_in_doubt(0, 1)
def test_moments_are_right(name: str, drawn: dict[str, Draws], seed: int) -> None:
    group = GROUPS[name]
    found = draws_of(name, drawn) if seed == 0 else group.sample(seed=seed)
    scores = group.scores(found["x"])
    print(f"{len(scores)} scores, the largest {np.abs(scores).max():.2f}")
    assert np.all(np.abs(scores) < MAX_SCORE), scores
    # Draws that are ten percent too wide would not pass.
    assert np.any(np.abs(group.scores(1.1 * found["x"])) > 1.5 * MAX_SCORE)


@pytest.mark.slow
def test_an_interruption_of_a_thousand_chains_changes_no_bit(drawn: dict[str, Draws], tmp_path: Path) -> None:
    """In warm-up, where half of them have stored more than the others; with blocks of other lengths."""
    append, seen = RunFolderRun.append, []

    def and_interrupt(run: RunFolderRun, segment: Any) -> None:
        append(run, segment)
        if segment.chain == CHEES.chains // 2:
            seen.append(segment.stop)
            if len(seen) == 2:
                raise KeyboardInterrupt

    with (
        mock.patch.object(RunFolderRun, "append", and_interrupt),
        contextlib.suppress(KeyboardInterrupt),
    ):
        where = paced(first_block=13, unsaved_seconds=0.0)
        CHEES.sample(store=infer.RunFolder(tmp_path / "run"), executor=where)
    assert len(seen) == 2
    found = infer.resume(tmp_path / "run", CHEES.target, progress=False, quiet=True)
    assert_same(found, draws_of("ChEES, 1024", drawn))


@pytest.mark.slow
def test_the_room_of_a_block_changes_no_bit(drawn: dict[str, Draws]) -> None:
    """It is less where very many numbers are drawn at a time."""
    lanes, dim = WIDEST.chains, WIDEST.dim
    rows = rows_for(dim, lanes, USUAL)
    assert rows == 128 < rows_for(dim, lanes // 2, USUAL) == 256
    whole = draws_of("ChEES, 4096", drawn)
    where = paced(most_numbers=2**22)
    assert rows_for(dim, lanes, where.pace) == 32
    assert_same(WIDEST.sample(draws=4, executor=where).extend(WIDEST.draws - 4), whole)


@pytest.mark.slow
def test_a_chain_alone_has_the_draws_that_it_has_in_a_lane_of_many(drawn: dict[str, Draws]) -> None:
    chain = 200
    whole = draws_of("NUTS, 256", drawn)
    alone = IN_LANES.sample(chains=[chain])
    for kind in ("sites", "stats", "warmup"):
        for name, array in getattr(whole, kind).items():
            expected = array[chain : chain + 1]
            np.testing.assert_array_equal(getattr(alone, kind)[name], expected, err_msg=f"{kind} {name}")
