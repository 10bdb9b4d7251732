"""Check that models are compared by what they would have predicted: leave-one-out against conjugate answers.

For a normal mean with known variance each observation's density given the others is known. Over 25 other seeds,
leave-one-out by importance sampling was off by 0.0094 (standard deviation) for the outermost observations, less for the
others, and by 0.025 for the sum: at 5.3 and 6 of them the false-alarm rate of all is below 5e-6. Keys are fixed.
"""

import warnings

import arviz_stats
import numpy as np
import pytest
from predicted_models import QUIET
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers, infer

NOISE = 0.8
Y = 0.9 + NOISE * stats.norm.ppf((np.arange(40) + 0.5) / 40)
EACH, SUM = 0.05, 0.15


@ac.model
def mean_of(y, prior):
    m = ac.sample("m", dist.Normal(0, prior))
    with ac.plate("row", len(y)), handlers.mask(mask=np.isfinite(y)):
        ac.sample("y", dist.Normal(m, NOISE), obs=y)


def tree_of(y, prior):
    draws = infer.sample(mean_of(y, prior), draws=1000, warmup=200, seed=3, **QUIET)
    return draws.to_arviz(infer.log_likelihood(draws))


def left_out(y, prior):
    """The log density of each observation given all others."""
    precision = prior**-2 + (len(y) - 1) / NOISE**2
    mean = (y.sum() - y) / NOISE**2 / precision
    return stats.norm.logpdf(y, mean, np.sqrt(1 / precision + NOISE**2))


@pytest.fixture(scope="module")
def trees():
    return {"wide": tree_of(Y, 1.0), "narrow": tree_of(Y, 0.05)}


def test_leave_one_out_is_exact_for_a_normal_mean(trees):
    for name, prior in (("wide", 1.0), ("narrow", 0.05)):
        found = arviz_stats.loo(trees[name], pointwise=True)
        np.testing.assert_allclose(found.elpd_i, left_out(Y, prior), atol=EACH)
        assert found.n_data_points == 40 and not found.warning


def test_models_are_ranked_by_it(trees):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, on the way that ArviZ sorts
        table = arviz_stats.compare(trees)
    assert list(table.index) == ["wide", "narrow"]
    exact = left_out(Y, 1.0).sum() - left_out(Y, 0.05).sum()
    difference = table["elpd"]["wide"] - table["elpd"]["narrow"]
    assert abs(difference - exact) < SUM


def test_a_masked_entry_is_no_observation():
    missing = np.where(np.arange(40) == 4, np.nan, Y)
    tree = tree_of(missing, 1.0)
    assert tree["log_likelihood"]["y"].dims == ("chain", "draw", "y_entry")
    assert list(tree["log_likelihood"]["y_entry"].values) == [0, 1, 2, 3, *range(5, 40)]
    found = arviz_stats.loo(tree, pointwise=True)
    assert found.n_data_points == 39
    np.testing.assert_allclose(found.elpd_i, left_out(np.delete(Y, 4), 1.0), atol=EACH)
