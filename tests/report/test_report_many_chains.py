"""Compare the diagnostics of many chains with simulations whose answers are known.

The simulated draws are NumPy's and fixed: no change of accord alters them.
"""

import numpy as np
import pytest

from accord.report import ess_bulk, ess_mean, ess_tail, examine, mcse_mean, mcse_sd, nested_r_hat, summarise
from accord.report.many_chains import MANY


def autoregression(phi: float, chains: int, draws: int, scalars: int, seed: int = 0) -> np.ndarray:
    """Stationary chains with correlation `phi` from draw to draw; shape `(chain, draw, scalar)`."""
    noise = np.random.default_rng(seed).normal(size=(draws, chains, scalars))
    x = np.empty_like(noise)
    x[0] = noise[0]
    for draw in range(1, draws):
        x[draw] = phi * x[draw - 1] + np.sqrt(1 - phi**2) * noise[draw]
    return np.moveaxis(x, 0, 1)


def effective(phi: float, chains: int, draws: int) -> float:
    """Independent draws with the same error of the mean."""
    lags = np.arange(1, draws)
    return chains * draws / (1 + 2 * np.sum((1 - lags / draws) * phi**lags))


@pytest.mark.parametrize("draws", [1, 3, 10, 200])
@pytest.mark.parametrize("phi", [-0.4, 0.0, 0.9])
def test_effective_draws_are_those_of_autoregressions_of_any_length(phi: float, draws: int) -> None:
    x = autoregression(phi, 256, draws, 100)
    known = effective(phi, 256, draws)
    for statistic in (ess_mean, ess_bulk):
        assert np.median(statistic(x)) == pytest.approx(known, rel=0.05)
    error = 1 / np.sqrt(known)
    assert np.median(mcse_mean(x)) == pytest.approx(error, rel=0.05)
    assert np.median(mcse_sd(x)) == pytest.approx(np.sqrt(0.5 / effective(phi**2, 256, draws)), rel=0.08)


def test_independent_draws_are_each_effective_in_the_tails() -> None:
    x = autoregression(0.0, 512, 20, 50)
    assert np.median(ess_tail(x)) == pytest.approx(512 * 20, rel=0.08)  # the smaller of two


@pytest.mark.parametrize(("draws", "offset"), [(1, 0.0), (1, 1.0), (50, 0.0), (50, 0.3)])
def test_nested_r_hat_is_that_of_its_formula(draws: int, offset: float) -> None:
    """Superchains of normal draws that are `offset` standard deviations apart, in the long run over superchains."""
    sets = np.repeat(np.arange(64), 50)
    x = autoregression(0.0, len(sets), draws, 20)
    x += offset * np.random.default_rng(1).normal(size=(64, 1, 20))[sets]
    known = np.sqrt(1 + (offset**2 + 1 / (50 * draws)) / (1 + 1 / draws if draws > 1 else 1))
    # Folded draws see offsets less, and without them as much chance again: the larger of both is near.
    assert np.median(nested_r_hat(x, sets)) == pytest.approx(known, rel=0.02 if offset else 0.003)


def test_superchains_that_have_not_forgotten_their_starts_are_seen() -> None:
    sets = np.repeat(np.arange(8), 16)
    x = autoregression(0.0, 128, 100, 1)
    assert nested_r_hat(x, sets) < 1.01
    x += np.random.default_rng(2).normal(size=(8, 1, 1))[sets]
    assert nested_r_hat(x, sets) > 1.2
    (notice,) = [each for each in examine({"x": x}, {}, superchains=sets) if each.code == "r_hat"]
    assert notice.message.startswith("Nested R-hat") and notice.severity == "error"


def test_many_short_chains_that_agree_are_no_cause_for_notices() -> None:
    x = autoregression(0.5, 512, 20, 3)
    assert examine({"x": x}, {}) == []


def test_a_summary_of_many_chains_is_made_of_the_same_figures() -> None:
    x = autoregression(0.5, MANY, 30, 2)
    found = summarise({"x": x})
    np.testing.assert_array_equal(found["ess_bulk"], ess_bulk(x))
    for statistic in (ess_tail, mcse_mean, mcse_sd):
        np.testing.assert_allclose(found[statistic.__name__], statistic(x), rtol=1e-12)
    np.testing.assert_array_equal(found["r_hat"], nested_r_hat(x))


def test_what_is_constant_or_not_finite_has_no_figures() -> None:
    x = autoregression(0.5, MANY, 30, 3)
    x[:, :, 0], x[0, 0, 1] = 1.0, np.nan
    for statistic in (ess_bulk, ess_tail, mcse_mean, mcse_sd, nested_r_hat):
        assert np.isnan(statistic(x)).tolist() == [True, True, False]
