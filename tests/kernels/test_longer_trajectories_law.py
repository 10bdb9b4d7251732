"""Check that trajectories of a fixed length keep a posterior as it is, and which draws have them.

False alarms: 6 means within 6 standard errors, 2e-9 each. Keys are fixed.
"""

import numpy as np
import pytest
from skewed import assert_is_kept, skewed

from accord import infer
from accord.adaptation import hamiltonian
from accord.adaptation.metric import Care
from accord.adaptation.short_draws import shortening
from accord.adaptation.trial import Trial

DOUBLINGS = 5


@pytest.fixture(scope="module")
def draws():
    """Draws as if every chain had found that longer trajectories pay, and its posterior curved."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hamiltonian, "begun", lambda at, *window: Trial(at, DOUBLINGS, gain=3.0, cost=1.5))
        patch.setattr(hamiltonian, "judged", lambda trial, *window: trial)
        patch.setattr(hamiltonian.metrics, "care", lambda choice, asked: Care.SOME)
        kernel = infer.NUTS(metric="marginal")
        return infer.sample(
            skewed(),
            kernel,
            draws=3000,
            seed=4,
            executor=infer.Serial(),
            progress=False,
            quiet=True,
        )


def test_all_but_short_draws_go_on_after_warm_up_and_every_other_one_of_its_second_half_does(draws) -> None:
    number = np.arange(3000) + draws.tuning["num_warmup"][0]
    is_usual = shortening(number, Care.SOME, float) == 1
    is_whole = ~draws.stats["diverging"] & is_usual
    assert np.mean(is_whole) > 0.9
    assert np.all(draws.stats["n_steps"][is_whole] == 2**DOUBLINGS - 1)
    assert np.any(draws.stats["n_steps"][:, ~is_usual] != 2**DOUBLINGS - 1)
    steps = draws.warmup["n_steps"]
    tried, others = steps[:, 201:-1:2], steps[:, 200::2]
    assert np.mean(tried == 2**DOUBLINGS - 1) > 0.8, "all but those that diverged while steps were too long"
    assert np.median(others) < 2**DOUBLINGS - 1
    assert all(reason.startswith("31 steps: ") for reason in draws.tuning["trajectories"])


def test_longer_trajectories_keep_the_posterior_as_it_is(draws) -> None:
    assert_is_kept(draws)
