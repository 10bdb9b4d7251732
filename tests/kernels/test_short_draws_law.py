"""Check that draws of shorter steps keep a posterior as it is, and that their trajectories have a limit of their own.

False alarms: 6 means within 6 standard errors, 2e-9 each. Keys are fixed.
"""

import numpy as np
import pytest
from skewed import assert_is_kept, skewed

from accord import infer
from accord.adaptation import metric
from accord.adaptation.metric import Care


@pytest.fixture(scope="module")
def draws():
    """Draws as if every chain had found its posterior strongly curved."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metric, "care", lambda choice, asked: Care.MUCH)
        return infer.sample(skewed(), draws=3000, seed=3, executor=infer.Serial(), progress=False, quiet=True)


def test_an_eighth_of_the_draws_is_short_and_none_of_them_long(draws) -> None:
    factors = draws.stats["step_size"] / draws.tuning["step_size"][:, None]
    number = np.arange(3000) + draws.tuning["num_warmup"][0]
    short = number % 8 == 7
    np.testing.assert_allclose(factors[:, ~short], 1, rtol=1e-12)
    assert set(np.round(1 / factors[:, short], 6).ravel()) == {4.0, 16.0}
    depth = draws.stats["tree_depth"]
    # Without the limit, steps of a 16th would take four doublings more than usual.
    assert np.median(depth[:, ~short]) < depth[:, short].max() <= depth[:, ~short].max() + 2


def test_short_draws_keep_the_posterior_as_it_is(draws) -> None:
    assert_is_kept(draws)
