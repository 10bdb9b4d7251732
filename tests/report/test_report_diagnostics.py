"""Check the diagnostics against arviz-stats, and where they have no answer."""

import warnings

import numpy as np
import pytest
from scipy.stats import rankdata

from accord.report import diagnostics
from accord.report.ranks import average_ranks


def autoregressive(rho: float, num_chains: int, num_draws: int, seed: int = 0) -> np.ndarray:
    """AR(1) draws of unit variance, shape `(chain, draw, 5)`."""
    draws = np.random.default_rng(seed).normal(size=(num_chains, num_draws, 5))
    for draw in range(1, num_draws):
        draws[:, draw] = rho * draws[:, draw - 1] + np.sqrt(1 - rho**2) * draws[:, draw]
    return draws


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=shape)


ARRAYS = {
    "independent": noise(4, 500, 5),
    "slow": autoregressive(0.95, 4, 500),
    "antithetic": autoregressive(-0.8, 4, 500),
    "odd length": autoregressive(0.5, 3, 77),
    "one chain": autoregressive(0.5, 1, 100),
    "many chains": autoregressive(0.5, 40, 12),
    "ties": np.random.default_rng(2).poisson(2.0, (4, 200, 5)),
    "two values": np.random.default_rng(3).random((4, 200, 5)) < 0.5,
    "a rare event": np.random.default_rng(4).random((4, 200, 5)) < 0.02,
    "chains apart": noise(4, 100, 5) + 5.0 * np.arange(4)[:, None, None],
    "scales apart": noise(4, 100, 5) * np.array([1.0, 1.0, 1.0, 9.0])[:, None, None],
    "heavy tails": np.random.default_rng(5).standard_cauchy((4, 200, 5)),
    "far from zero": 1e6 + 1e-3 * noise(4, 200, 5),
    "single precision": noise(4, 200, 5).astype(np.float32),
    "4 draws": noise(2, 4, 5),
    "5 draws": noise(2, 5, 5),
    "6 draws": noise(2, 6, 5),
    "7 draws": noise(2, 7, 5),
    "8 draws": noise(2, 8, 5),
    "9 draws": noise(2, 9, 5),
    "3 draws": noise(2, 3, 5),
    "not a number": np.where(np.arange(5) == 2, np.nan, noise(4, 50, 5)),
    "a lone not a number": np.where(np.arange(1000).reshape(4, 50, 5) == 7, np.nan, noise(4, 50, 5)),
}

MEASURES = {
    "r_hat": lambda stats, draws: stats.rhat(draws, chain_axis=0, draw_axis=1),
    "ess_bulk": lambda stats, draws: stats.ess(draws, chain_axis=0, draw_axis=1, method="bulk"),
    "ess_tail": lambda stats, draws: stats.ess(
        draws, chain_axis=0, draw_axis=1, method="tail", prob=(0.05, 0.95)
    ),
    "ess_mean": lambda stats, draws: stats.ess(draws, chain_axis=0, draw_axis=1, method="mean"),
    "mcse_mean": lambda stats, draws: stats.mcse(draws, chain_axis=0, draw_axis=1, method="mean"),
}


def arviz(measure: str, draws: np.ndarray) -> np.ndarray:
    from arviz_stats.base import array_stats

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ArviZ divides by zero on its way to NaN
        return MEASURES[measure](array_stats, np.asarray(draws, np.float64))


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("measure", MEASURES)
def test_a_measure_equals_that_of_arviz(measure, kind):
    found = getattr(diagnostics, measure)(ARRAYS[kind])
    np.testing.assert_allclose(found, arviz(measure, ARRAYS[kind]), rtol=1e-10)


@pytest.mark.parametrize("kind", ["independent", "slow", "antithetic", "odd length", "ties", "heavy tails"])
def test_the_error_of_the_sd_uses_the_ess_of_squared_deviations(kind):
    from arviz_stats.base import array_stats

    draws = np.asarray(ARRAYS[kind], np.float64)
    squares = np.square(draws - draws.mean(axis=(0, 1)))
    ess = array_stats.ess(squares, chain_axis=0, draw_axis=1, method="mean")
    variance = squares.mean(axis=(0, 1))
    expected = np.sqrt((np.square(squares).mean(axis=(0, 1)) - variance**2) / ess / variance) / 2
    np.testing.assert_allclose(diagnostics.mcse_sd(draws), expected, rtol=1e-10)


def test_the_error_of_the_sd_is_not_made_small_by_antithetic_draws():
    # The mean of such a chain is known far better than from independent draws; its sd is not.
    draws = autoregressive(-0.8, 4, 2000)
    assert np.all(diagnostics.ess_mean(draws) > 8000)
    assert np.all(diagnostics.mcse_sd(draws) > 1 / np.sqrt(2 * 8000))


ALL = [*MEASURES, "mcse_sd"]


@pytest.mark.parametrize("measure", ALL)
def test_a_constant_column_has_no_answer_and_spoils_no_other(measure):
    draws = noise(4, 100, 5)
    alone = getattr(diagnostics, measure)(draws)
    draws[:, :, 1] = 3.0
    draws[:, :, 3] = np.inf
    found = getattr(diagnostics, measure)(draws)
    assert np.isnan(found[[1, 3]]).all()
    np.testing.assert_array_equal(found[[0, 2, 4]], alone[[0, 2, 4]])


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize(
    "shape", [(0, 0, 2), (0, 10, 2), (4, 0, 2), (4, 1, 2), (1, 2, 2), (4, 3, 2), (4, 10, 0)]
)
def test_too_little_gives_no_answer_and_no_warning(measure, shape):
    found = getattr(diagnostics, measure)(np.zeros(shape))
    assert found.shape == (shape[2],)
    assert np.isnan(found).all()


@pytest.mark.parametrize("measure", ALL)
def test_a_column_has_the_same_bits_in_whatever_block_it_is_worked(measure):
    draws = noise(4, 2000, 70)
    draws[:, :, ::2] = autoregressive(0.7, 4, 2000)[
        :, :, :1
    ]  # columns that take other ways beside each other
    function = getattr(diagnostics, measure)
    alone = [function(draws[:, :, index : index + 1])[0] for index in range(0, 70, 3)]
    np.testing.assert_array_equal(function(draws)[::3], alone)


@pytest.mark.parametrize("rho", [-0.9, 0.0, 0.3, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("shape", [(4, 333), (2, 2000), (1, 20000)])
def test_the_ess_does_not_depend_on_where_its_sequence_ends(rho, shape):
    # After few lags, after an eighth of them and after all: each is worked out another way.
    draws = autoregressive(rho, *shape)
    np.testing.assert_allclose(diagnostics.ess_bulk(draws), arviz("ess_bulk", draws), rtol=1e-10)


def test_numbers_that_differ_in_their_last_bits_are_ranked():
    # Their keys are the same, since the place of each number takes its last bits.
    rows = 1.0 + np.finfo(float).eps * np.random.default_rng(0).permutation(3000).reshape(3, 1000)
    rows = np.concatenate([rows, -rows, np.zeros((1, 1000)), 1e300 * rows])
    rows[6, ::2] = -0.0
    expected = rankdata(rows, axis=1)
    np.testing.assert_array_equal(average_ranks(rows), expected)


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-500, 2.0**500, 2.0**1000])
def test_measures_keep_to_the_unit_of_the_draws(scale):
    draws = autoregressive(0.5, 4, 100)
    for measure in ("r_hat", "ess_bulk", "ess_tail", "ess_mean"):
        function = getattr(diagnostics, measure)
        np.testing.assert_allclose(function(scale * draws), function(draws), rtol=1e-9)
    for measure in ("mcse_mean", "mcse_sd"):
        function = getattr(diagnostics, measure)
        np.testing.assert_allclose(function(scale * draws) / scale, function(draws), rtol=1e-9)


def test_a_column_that_varies_only_in_the_draw_that_splitting_drops_has_no_r_hat():
    draws = np.zeros((2, 5, 1))
    draws[0, 2] = 1.0
    assert np.isnan(diagnostics.r_hat(draws)).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_is_not_taken_for_mixing(dtype):
    # The diagonal of a correlation that is computed as a product, against a site of true but small spread.
    draws = (1.0 + np.finfo(dtype).eps * np.random.default_rng(0).integers(-2, 3, (4, 100, 1))).astype(dtype)
    assert np.isnan(diagnostics.ess_bulk(draws)).all()
    draws = (1.0 + 100 * np.finfo(dtype).eps * np.random.default_rng(0).normal(size=(4, 100, 1))).astype(
        dtype
    )
    assert np.isfinite(diagnostics.ess_bulk(draws)).all()


def test_chains_that_stay_at_different_places_have_a_boundless_r_hat():
    draws = np.broadcast_to(np.arange(4.0)[:, None, None], (4, 100, 1))
    assert np.all(diagnostics.r_hat(draws) > 1e9)


def test_ranks_share_ties():
    ranks = average_ranks(np.array([[3.0, 1.0, 3.0, 2.0], [0.0, 0.0, 0.0, 0.0]]))
    np.testing.assert_array_equal(ranks, [[3.5, 1.0, 3.5, 2.0], [2.5, 2.5, 2.5, 2.5]])


def test_e_bfmi_equals_that_of_arviz():
    from arviz_stats.base import array_stats

    energy = np.cumsum(noise(4, 300), axis=1) + 5 * noise(4, 300)
    np.testing.assert_allclose(diagnostics.e_bfmi(energy), array_stats.bfmi(energy), rtol=1e-12)


@pytest.mark.parametrize(
    "energy", [np.zeros((2, 0)), np.zeros((2, 1)), np.zeros((2, 9)), np.full((2, 9), np.nan)]
)
def test_an_energy_that_tells_nothing_has_no_e_bfmi(energy):
    assert np.isnan(diagnostics.e_bfmi(energy)).all()
