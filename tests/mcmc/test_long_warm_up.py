"""Hold that a bad start lengthens warm-up rather than spoiling the draws, and that nothing of it is lost."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from paced import paced

import accord as ac
from accord import infer

QUIET = dict(progress=False, quiet=True)
SHORT = paced(infer.Serial(), most_rows=32)  # segments
RUN = dict(seed=3, draws=40, chains=3, executor=SHORT, **QUIET)


def _correlated(dim: int) -> tuple[np.ndarray, ac.LogDensity]:
    """A normal density with neighbours correlated by 0.99 and scales over six decades; the scales, and the density."""
    scale = np.logspace(-3, 3, dim)
    index = np.arange(dim)
    precision = np.linalg.inv(0.99 ** np.abs(index[:, None] - index))

    def log_density(values):
        whitened = values["x"] / scale
        return -0.5 * whitened @ precision @ whitened

    return scale, ac.LogDensity.from_function(log_density, {"x": np.zeros(dim)})


@pytest.fixture
def by_own_draws(monkeypatch):
    """A short warm-up, and a rule by which some chains have not settled: by one number of their own."""
    monkeypatch.setattr("accord.mcmc.prepare.DEFAULT_WARMUP", 60)
    monkeypatch.setattr("accord.mcmc.prepare.MAX_WARMUP", 120)
    monkeypatch.setattr("accord.adaptation.hamiltonian.is_settled", lambda positions, *_: positions[0, 1] > 0)


@pytest.mark.slow
def test_from_far_away_warm_up_grows_until_the_draws_are_right():
    """The posterior standard deviations are known; those of 600 draws are within a tenth of them."""
    scale, density = _correlated(60)
    far = infer.from_values({"x": 1e6 * scale * np.sign(np.sin(np.arange(60) + 1))})
    run = dict(seed=1, draws=300, chains=2, init=far, **QUIET)
    fixed = infer.sample(density, warmup=350, **run)
    assert np.all(fixed.tuning["num_warmup"] == 350)
    assert np.max((fixed["x"] / scale).std((0, 1))) > 10
    grown = infer.sample(density, **run)
    assert np.all(grown.tuning["num_warmup"] > 350) and np.all(grown.tuning["is_settled"])
    deviations = (grown["x"] / scale).std((0, 1))
    assert np.all((deviations > 0.8) & (deviations < 1.25))
    assert "long_warmup" in [notice.code for notice in grown.notices]


@pytest.mark.usefixtures("by_own_draws")
def test_chains_of_unlike_warm_ups_are_joined_and_taken_up_again(tmp_path: Path):
    _, density = _correlated(3)
    folder = tmp_path / "whole"
    whole = infer.sample(density, store=infer.RunFolder(folder), **RUN)
    lengths = whole.tuning["num_warmup"]
    assert set(lengths) == {60, 120}
    np.testing.assert_array_equal(whole.tuning["is_settled"], lengths == 60)
    assert whole.complete and whole["x"].shape == (3, 40, 3)
    assert whole.warmup["position"].shape == (3, 60, 3)
    assert [notice.severity for notice in whole.notices if notice.code == "long_warmup"] == ["warning"]

    longest = whole.chains[int(np.argmax(lengths))]
    alone = infer.sample(density, **(RUN | dict(chains=[longest])))
    np.testing.assert_array_equal(alone["x"][0], whole["x"][whole.chains.index(longest)])
    assert alone.warmup["position"].shape == (1, 120, 3)

    for left in (2, 3, 4):  # segments of 32 draws: in warm-up as planned, at its end, and in what was added
        copy = tmp_path / f"with {left}"
        shutil.copytree(folder, copy)
        for home in copy.glob("chain-*"):
            for path in sorted(home.iterdir())[left:]:
                path.unlink()
        for name in ("notices", "timings"):
            (copy / f"record-{name}.json").unlink()
        resumed = infer.resume(copy, density, executor=SHORT, **QUIET)
        for part in ("sites", "stats", "warmup", "tuning"):
            for name, array in getattr(whole, part).items():
                np.testing.assert_array_equal(getattr(resumed, part)[name], array, err_msg=f"{part}: {name}")
        assert resumed.work == whole.work and resumed.complete

    longer = infer.resume(folder, density, executor=SHORT, **QUIET).extend(10)
    np.testing.assert_array_equal(longer["x"][:, :40], whole["x"])
    np.testing.assert_array_equal(longer.tuning["num_warmup"], lengths)


@pytest.mark.usefixtures("by_own_draws")
def test_a_warm_up_that_is_asked_for_has_its_length():
    _, density = _correlated(3)
    draws = infer.sample(density, warmup=60, **RUN)
    assert np.all(draws.tuning["num_warmup"] == 60)
    assert "long_warmup" not in [notice.code for notice in draws.notices]
