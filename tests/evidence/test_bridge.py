"""Bridge independent draws whose normalising constant is known."""

import numpy as np
import pytest
from scipy import stats

from accord.evidence.bridge import NormalProposal, bridged, effective_draws, error_of_both, ratios

HEADS, TOSSES = 2, 10
LOG_Z = -np.log(11.0)  # a binomial count with a uniform probability


def heights(positions):
    """The log density of the log odds, with its Jacobian and all constants: 45 p^3 (1 - p)^9."""
    odds = positions[:, 0]
    return np.log(45.0) - (HEADS + 1) * np.logaddexp(0, -odds) - (TOSSES - HEADS + 1) * np.logaddexp(0, odds)


def draws_of(rng, num_draws):
    share = rng.beta(HEADS + 1, TOSSES - HEADS + 1, size=(4, num_draws, 1))
    return np.log(share) - np.log1p(-share)


def once(rng, *, is_warped):
    fitted, used = draws_of(rng, 250), draws_of(rng, 250)
    return bridged(ratios(heights, fitted, used, rng, is_warped=is_warped))


def test_standard_errors_are_the_spread_over_repetitions():
    """Over 200 repetitions: the spread over the mean error has a standard error of 5%, and is within 35% of one."""
    rng = np.random.default_rng(0)
    for is_warped, most in ((False, 0.0045), (True, 0.003)):
        found = [once(rng, is_warped=is_warped) for _ in range(200)]
        values, errors = np.array([each[:2] for each in found]).T
        spread = values.std(ddof=1)
        assert abs(values.mean() - LOG_Z) < 6 * spread / np.sqrt(200)
        assert abs(errors.mean() / spread - 1) < 0.35
        assert spread < most
        assert all(each.is_settled for each in found)


@pytest.mark.slow
def test_the_error_of_both_halves_counts_that_each_fits_and_is_bridged():
    """Over 600 repetitions, on a normal posterior: the error over the spread has a standard error of 2.9%.

    It is within 17% of one: a false alarm in 1e-7. As if the halves were independent, it was 0.78.
    """
    rng = np.random.default_rng(7)
    normal = stats.multivariate_normal(np.zeros(3))
    found = []
    for _ in range(600):
        one, other = rng.standard_normal((2, 4, 125, 3))
        each = [
            bridged(ratios(normal.logpdf, fitted, used, rng, is_warped=False))
            for fitted, used in ((one, other), (other, one))
        ]
        found.append((np.mean([bridge.value for bridge in each]), error_of_both(*each)))
    values, errors = np.array(found).T
    spread = values.std(ddof=1)
    assert abs(values.mean()) < 6 * spread / np.sqrt(600) + 1 / 500
    assert abs(np.sqrt(np.mean(errors**2)) / spread - 1) < 0.17


def test_simple_estimates_are_from_both_sides():
    rng = np.random.default_rng(1)
    found = once(rng, is_warped=False)
    assert abs(found.forward - LOG_Z) < 0.05 and abs(found.backward - LOG_Z) < 0.3


def test_a_normal_posterior_is_bridged_exactly():
    """Where the proposal is the posterior, every ratio is the normalising constant."""
    rng = np.random.default_rng(2)
    positions = rng.standard_normal((2, 500, 3)) @ np.array([[1.0, 0.3, 0], [0, 2, 0.5], [0, 0, 0.1]])
    proposal = NormalProposal.of(positions.reshape(-1, 3))
    exact = lambda places: proposal.log_prob(proposal.noise(places)) - 7.25  # noqa: E731
    for is_warped in (False, True):
        found = bridged(ratios(exact, positions, positions, rng, is_warped=is_warped))
        np.testing.assert_allclose(found[:4], [-7.25, 0.0, -7.25, -7.25], atol=1e-9)


def test_a_proposal_has_the_density_of_a_normal_distribution():
    rng = np.random.default_rng(3)
    fitted = rng.standard_normal((100, 2)) * [0.1, 10.0]
    proposal = NormalProposal.of(fitted)
    places = proposal.place(rng.standard_normal((5, 2)))
    expected = stats.multivariate_normal(fitted.mean(0), np.cov(fitted.T)).logpdf(places)
    np.testing.assert_allclose(proposal.log_prob(proposal.noise(places)), expected, rtol=1e-9)


def test_few_draws_of_many_unknowns_still_give_a_proposal():
    rng = np.random.default_rng(4)
    proposal = NormalProposal.of(rng.standard_normal((20, 50)))
    assert np.isfinite(proposal.log_prob(np.zeros(50)))
    twins = np.repeat(rng.standard_normal((200, 1)), 2, axis=1)
    assert np.isfinite(NormalProposal.of(twins).factor).all() and NormalProposal.of(twins).factor[1, 1] > 0


def test_the_error_without_overlap_is_infinite():
    rng = np.random.default_rng(5)
    zero = lambda places: np.where(np.abs(places[:, 0]) < 1e-300, 0.0, -np.inf)  # noqa: E731
    positions = rng.standard_normal((2, 100, 1))
    at_draws = ratios(zero, positions, positions, rng, is_warped=False)
    found = bridged(at_draws._replace(at_draws=np.zeros((2, 100))))
    assert found.standard_error == np.inf and not found.is_settled


def test_effective_draws_are_those_of_the_median_unknown():
    rng = np.random.default_rng(6)
    assert 500 < effective_draws(rng.standard_normal((4, 250, 5))) <= 1000
