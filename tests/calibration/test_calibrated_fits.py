"""Check calibrations of fits: a guide that can be the posterior passes, one that cannot is found out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError

QUIET: dict[str, Any] = dict(progress=False, quiet=True)
SHORT: dict[str, Any] = dict(draws=30, **QUIET)


@ac.model
def sum_seen(y: Any) -> None:
    """Two unknowns whose sum is seen: they are correlated in a normal posterior, by -0.96."""
    a = ac.sample("a", dist.Normal(0, 1))
    b = ac.sample("b", dist.Normal(0, 1))
    ac.sample("y", dist.Normal(a + b, 0.2), obs=y)


@ac.model
def rate_seen(y: Any) -> None:
    """A posterior that is far from normal in unconstrained space: a Gamma of shape 0.5, mostly."""
    rate = ac.sample("rate", dist.Gamma(0.5, 1.0))
    ac.sample("y", dist.Poisson(rate), obs=y)


MODEL = sum_seen(np.array(0.0))


@pytest.fixture(scope="module")
def narrow() -> Any:
    return infer.calibrate(MODEL, infer.guides.MeanField(), simulations=25, **SHORT)


def test_a_mean_field_of_correlated_unknowns_is_too_narrow(narrow: Any) -> None:
    """Its standard deviations are 0.27 of the posterior's."""
    (notice,) = [each for each in narrow.notices if each.code == "not_calibrated"]
    assert narrow.shapes[:2] == ("too narrow", "too narrow") and not narrow.ok
    assert set(notice.sites) == {"a", "b"}
    assert "'a' too narrow" in notice.message and "FullRank" in notice.remedy
    assert narrow.thinning == 1 and narrow.ranks["a"].shape == (25,)
    codes = [each.code for each in narrow.notices]
    # Draws are independent, so that nothing is said of their dependence.
    assert "high_pareto_k" in codes and not {"dependent_draws", "failed_simulations"} & set(codes)


@pytest.mark.slow
def test_a_guide_that_holds_the_posterior_is_calibrated() -> None:
    """Of three tests at an adjusted p-value of 1e-5, a false alarm in 1e5."""
    found = infer.calibrate(MODEL, infer.guides.FullRank(), simulations=40, **SHORT)
    assert found.values["p_adjusted"].min() > 1e-5, found
    assert not [each for each in found.notices if each.code == "failed_simulations"]


@pytest.mark.slow
def test_a_guide_that_cannot_bend_is_shifted() -> None:
    found = infer.calibrate(rate_seen(np.array(0)), infer.guides.MeanField(), simulations=300, **SHORT)
    assert found.shapes[0] != "uniform", found


def test_a_simulation_is_made_again_from_its_seed(narrow: Any) -> None:
    number = 7
    guide, seed = infer.guides.MeanField(), narrow.seeds[number]
    again = infer.simulate_and_recover(MODEL, guide, seed=seed, draws=30, **QUIET)
    assert again.draws["a"].shape == (1, 30)
    assert (again.draws["a"][0] < again.truth["a"]).sum() == narrow.ranks["a"][number]
    assert np.isfinite(again["z"]).all() and list(again.labels) == ["a", "b"]


@each(
    {
        "serial": lambda: dict(executor=infer.Serial()),
        "processes": lambda: dict(executor=infer.Processes(workers=2)),
    },
    slow=("processes",),
)
def test_ranks_do_not_depend_on_where_guides_are_fitted(case: Any, narrow: Any) -> None:
    found = infer.calibrate(MODEL, infer.guides.MeanField(), simulations=4, **case, **SHORT)
    for name, ranks in found.ranks.items():
        assert np.array_equal(ranks, narrow.ranks[name][:4])


def test_a_stored_calibration_of_fits_is_read_and_taken_up(narrow: Any, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    kept = infer.calibrate(
        MODEL, infer.guides.MeanField(), simulations=5, store=infer.RunFolder(folder), **SHORT
    )
    assert str(infer.load(folder)) == str(kept)
    (folder / "chain-0003" / "segment-000000.npz").unlink()
    cut: Any = infer.load(folder)
    assert len(cut.simulations) == 4
    again: Any = infer.resume(folder, MODEL, **QUIET)
    assert again.complete and np.array_equal(again.ranks["a"], narrow.ranks["a"][:5])
    with pytest.raises(OptionError, match="one of fits"):
        infer.resume(folder, MODEL, sampler=infer.NUTS(), **QUIET)


@each(
    {
        "a point": (lambda: infer.calibrate(MODEL, infer.guides.Delta(), **QUIET), "is one point"),
        "a class": (
            lambda: infer.calibrate(MODEL, infer.guides.MeanField, **QUIET),  # pyright: ignore[reportArgumentType]
            "Build it first",
        ),
        "thinning": (
            lambda: infer.calibrate(MODEL, infer.guides.MeanField(), thinning=2, **QUIET),
            "thinning=2 is an option of chains",
        ),
        "warm-up": (
            lambda: infer.simulate_and_recover(MODEL, infer.guides.MeanField(), warmup=2, **QUIET),
            "warmup=2 is an option of chains",
        ),
        "chains": (
            lambda: infer.simulate_and_recover(MODEL, infer.guides.MeanField(), chains=2, **QUIET),
            "chains=2 is an option of chains",
        ),
        "devices": (
            lambda: infer.calibrate(MODEL, infer.guides.MeanField(), executor=infer.Devices(), **QUIET),
            "is for chains",
        ),
    }
)
def test_what_fits_do_not_take_is_refused(case: Any) -> None:
    call, words = case
    with pytest.raises(OptionError, match=words):
        call()
