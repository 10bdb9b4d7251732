"""Test WAIC against its formula where the posterior is known in closed form, and what it refuses."""

import numpy as np
import pytest
from laws import each
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import DataError, OptionError

Y = np.array([0.3, -1.2, 2.5, 0.7])
MEAN, VARIANCE = 0.4, 0.2  # of the posterior of `mu`


@ac.model
def normal(y, other=None, is_seen=True):
    mu = ac.sample("mu", dist.Normal(0, 1))
    with ac.plate("row", len(y)), ac.handlers.mask(mask=is_seen):
        ac.sample("y", dist.Normal(mu, 1), obs=y)
    if other is not None:
        ac.sample("other", dist.Normal(mu, 1), obs=other)


def likelihood(*data, num_draws=20_001):
    """At quantiles of the posterior of `mu`, evenly spaced, in place of draws from it: free of chance."""
    levels = (np.arange(num_draws) + 0.5) / num_draws
    mu = MEAN + np.sqrt(VARIANCE) * stats.norm.ppf(levels)
    return infer.log_likelihood({"mu": mu[None]}, normal(*data))


def test_waic_of_a_normal_model_is_its_closed_form():
    found = infer.waic(likelihood(Y))
    # The log likelihood is quadratic in mu: its variance is that of a normal number and of its square.
    variances = VARIANCE * (Y - MEAN) ** 2 + VARIANCE**2 / 2
    density = stats.norm.logpdf(Y, MEAN, np.sqrt(1 + VARIANCE))
    np.testing.assert_allclose(found.variances, variances, rtol=2e-3)
    np.testing.assert_allclose(found.pointwise, density - variances, rtol=2e-3)
    assert found.elpd == pytest.approx((density - variances).sum(), rel=2e-3)
    assert found.num_effective == pytest.approx(variances.sum(), rel=2e-3)
    assert found.se == pytest.approx(2 * np.std(density - variances, ddof=1), rel=2e-3)


def test_variances_over_draws_and_the_error_over_observations_are_those_of_a_sample():
    # With few draws, to divide by their number less one makes a difference.
    found = infer.waic(likelihood(Y, num_draws=3))
    mu = MEAN + np.sqrt(VARIANCE) * stats.norm.ppf((np.arange(3) + 0.5) / 3)
    each = stats.norm.logpdf(Y, mu[:, None], 1)
    variances = ((each - each.mean(axis=0)) ** 2).sum(axis=0) / 2
    pointwise = np.log(np.exp(each).mean(axis=0)) - variances
    np.testing.assert_allclose(found.variances, variances, rtol=1e-12)
    np.testing.assert_allclose(found.pointwise, pointwise, rtol=1e-12)
    error = np.sqrt(4 * ((pointwise - pointwise.mean()) ** 2).sum() / 3)
    assert found.se == pytest.approx(error, rel=1e-12)


def test_an_observation_that_varies_too_much_is_warned_of_with_the_number():
    assert not infer.waic(likelihood(Y[[0, 3]], num_draws=100)).notices
    (notice,) = infer.waic(likelihood(Y, num_draws=100)).notices
    assert (notice.severity, notice.code) == ("warning", "waic_variance")
    assert "2 of 4 observations of 'y'" in notice.message and "loo" in notice.remedy
    assert str(notice) in str(infer.waic(likelihood(Y, num_draws=100)))


def test_masked_entries_have_no_part():
    partly = infer.waic(likelihood(Y, None, np.array([True, False, True, True]), num_draws=50))
    whole = infer.waic(likelihood(Y[[0, 2, 3]], num_draws=50))
    assert partly.pointwise.shape == (3,)
    np.testing.assert_allclose(partly.pointwise, whole.pointwise, rtol=1e-14)


def test_one_of_several_sites_is_taken_by_name():
    both = likelihood(Y, 0.5, num_draws=50)
    found = infer.waic(both, "other")
    assert found.site == "other" and found.pointwise.shape == () and np.isnan(found.se)
    assert "WAIC of normal, site 'other', 1 observations" in repr(found)


@each(
    {
        "no likelihood": lambda: (infer.waic, {"y": Y}, None, OptionError, r"infer.log_likelihood\(draws\)"),
        "several sites": lambda: (infer.waic, likelihood(Y, 0.5, num_draws=3), None, OptionError, "site="),
        "no such site": lambda: (
            infer.waic,
            likelihood(Y, num_draws=3),
            "yy",
            OptionError,
            "Did you mean 'y'",
        ),
        "one draw": lambda: (infer.waic, likelihood(Y, num_draws=1), None, DataError, "two draws at least"),
        "infinite": lambda: (
            infer.waic,
            infer.log_likelihood({"mu": np.array([[0.0, np.inf]])}, normal(Y)),
            None,
            DataError,
            "4 of 8 log likelihoods of site 'y'",
        ),
    }
)
def test_what_has_no_waic_is_refused(case):
    function, given, site, error, words = case
    with pytest.raises(error, match=words):
        function(given, site)
