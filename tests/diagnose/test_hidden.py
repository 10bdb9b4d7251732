"""Hide what is observed: a site that says nothing is told of, and one that says something is not."""

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.diagnose.checks.hidden import check_hidden

X = np.arange(4.0)


@ac.model
def masked(x, y, keep):
    slope = ac.sample("slope", dist.Normal(0, 10))
    with ac.plate("row", len(x)):
        law = dist.Normal(slope * x, 1)
        with handlers.mask(mask=jnp.isfinite(y)):
            ac.sample("finite", law, obs=y)
        with handlers.mask(mask=~jnp.isnan(y)):
            ac.sample("not_nan", law, obs=y)
        with handlers.mask(mask=keep):
            ac.sample("given", law, obs=x)
        ac.sample("own", law.mask(np.isfinite(y)), obs=y)
        with handlers.mask(mask=(x > 3) & (slope > 0)):
            ac.sample("by_a_latent", law, obs=x)
        with handlers.mask(mask=jnp.sort(x) > 9):
            ac.sample("by_an_unusual_operation", law, obs=x)


def codes(*arguments):
    return {notice.sites[0]: notice.code for notice in check_hidden(masked(*arguments).log_density())}


def test_masks_that_hide_all_are_named_as_far_as_they_follow_from_data():
    found = codes(X, np.full(4, np.nan), np.zeros(4, bool))
    assert found == dict.fromkeys(("finite", "not_nan", "given", "own"), "all_masked")


def test_a_mask_that_keeps_one_value_is_no_finding():
    one = np.array([np.nan, 1.0, np.nan, np.nan])
    assert codes(X, one, X == 2) == {}


@pytest.mark.parametrize("size", [0, 1])
def test_a_site_without_rows_is_named(size):
    found = codes(np.zeros(size), np.zeros(size), np.ones(size, bool))
    assert set(found.values()) == ({"nothing_observed_here"} if size == 0 else set())
