"""Estimate the evidence by NumPyro's name for nested sampling."""

import jax
import numpy as np
import pytest

import accord.numpyro as door
import accord.numpyro.distributions as dist
from accord.core.errors import ModelError, OptionError
from accord.numpyro.contrib.nested_sampling import NestedSampler


def _coin(y: int) -> None:
    f = door.sample("f", dist.Uniform(0.0, 1.0))
    door.sample("y", dist.Binomial(10, f), obs=y)


@pytest.mark.slow
def test_evidence_and_draws_are_those_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    """The evidence is 1/11. It is off by 7 errors of 0.05, or the mean by 7 of 0.005, a false alarm in 3e-12 runs."""
    sampler = NestedSampler(_coin, constructor_kwargs={"num_live_points": 999})
    sampler.run(jax.random.key(0), 7)
    assert sampler.live == 500
    assert sampler.draws is not None
    assert abs(sampler.draws.log_evidence.value + np.log(11)) < 7 * 0.05
    samples = sampler.get_samples(jax.random.key(1), 4000)
    assert samples["f"].shape == (4000,)
    assert abs(float(samples["f"].mean()) - 8 / 12) < 7 * 0.005
    _, log_weights = sampler.get_weighted_samples()
    assert abs(float(np.exp(log_weights).sum()) - 1) < 1e-4
    sampler.print_summary()
    assert "log evidence: -2." in capsys.readouterr().out


def test_what_has_not_run_says_so() -> None:
    with pytest.raises(ModelError, match="no draws yet"):
        NestedSampler(_coin).get_samples(jax.random.key(0), 10)
    with pytest.raises(OptionError, match="num_live_points must be at least 1"):
        NestedSampler(_coin, constructor_kwargs={"num_live_points": 0})
