"""Run NumPyro's samplers by blocks, with updates of the user's own, and without gradients."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord.numpyro as door
import accord.numpyro.distributions as dist
from accord.core.errors import ModelError, OptionError
from accord.numpyro.contrib.nested_sampling import NestedSampler
from accord.numpyro.infer import (
    ESS,
    HMC,
    MCMC,
    NUTS,
    SA,
    CustomGibbs,
    DiscreteGibbs,
    DiscreteHMCGibbs,
    Gibbs,
    HMCGibbs,
)
from accord.numpyro.infer.gibbs import discrete_latent_sites


@pytest.fixture(autouse=True)
def as_users_have_it():
    """64 bits, and JAX's own rules of promotion, as in scripts."""
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def _sum() -> None:
    """Two unknowns of which the sum is observed: both have mean 4/9 and variance 20/9 given it."""
    x = door.sample("x", dist.Normal(0.0, 2.0))
    y = door.sample("y", dist.Normal(0.0, 2.0))
    door.sample("obs", dist.Normal(x + y, 1.0), obs=1.0)


def _x_given(rng_key: Any, gibbs_sites: Any, hmc_sites: Any) -> dict[str, Any]:
    assert gibbs_sites.keys() == {"x"}
    return {"x": dist.Normal(0.8 * (1 - hmc_sites["y"]), 0.8**0.5).sample(rng_key)}


def _run(kernel: Any, *, draws: int, warmup: int = 200) -> dict[str, Any]:
    chain = MCMC(kernel, num_warmup=warmup, num_samples=draws, num_chains=2, progress_bar=False)
    chain.run(jax.random.key(3))
    assert "diverging" in chain.get_extra_fields()
    return {name: np.asarray(each) for name, each in chain.get_samples(group_by_chain=True).items()}


def _check(values: Any, mean: float, sd: float, ess: float) -> None:
    assert abs(values.mean() - mean) < 6 * sd / ess**0.5
    assert abs(values.var() - sd**2) < 6 * sd**2 * (2 / ess) ** 0.5


@pytest.mark.slow
def test_a_block_by_an_update_of_ones_own_has_the_posterior() -> None:
    """Each of two checks is off by 6 errors by a false alarm in 2 of 1e9 runs; draws count as at least 150."""
    samples = _run(HMCGibbs(NUTS(_sum), _x_given, ["x"]), draws=1500)
    _check(samples["x"], 4 / 9, (20 / 9) ** 0.5, 150)


@pytest.mark.slow
def test_blocks_of_discrete_own_and_other_unknowns_have_the_posterior() -> None:
    """Each of four checks is off by 6 errors by a false alarm in 2 of 1e9 runs; draws count as at least 150."""

    def model() -> None:
        z = door.sample("z", dist.Bernoulli(0.3))
        _sum()
        door.sample("seen", dist.Normal(1.0 * z, 1.0), obs=1.0)

    blocks = [
        (DiscreteGibbs(model), discrete_latent_sites),
        (CustomGibbs(_x_given), ["x"]),
        (NUTS(model), None),
    ]
    samples = _run(Gibbs(blocks), draws=2000)
    share = 0.3 / (0.3 + 0.7 * np.exp(-0.5))
    _check(samples["x"], 4 / 9, (20 / 9) ** 0.5, 150)
    _check(samples["z"], share, (share * (1 - share)) ** 0.5, 150)


@pytest.mark.slow
def test_draws_without_gradients_have_the_posterior() -> None:
    """Each of two checks is off by 6 errors by a false alarm in 2 of 1e9 runs; draws count as at least 200."""
    samples = _run(SA(_sum), draws=8000, warmup=4000)
    _check(samples["x"], 4 / 9, (20 / 9) ** 0.5, 200)


def _returns(found: Any) -> Any:
    return lambda: _run(HMCGibbs(NUTS(_sum), lambda rng_key, gibbs_sites, hmc_sites: found, ["x"]), draws=10)


ERRORS = {
    "another name": (_returns({"y": 0.0}), OptionError, "gibbs_fn returns 'y', and gibbs_sites has 'x'"),
    "another shape": (_returns({"x": jnp.zeros(2)}), OptionError, "'x' of shape .2,., and the site has"),
    "no mapping": (_returns(1.0), OptionError, "must return a mapping"),
    "no function": (lambda: CustomGibbs(3), OptionError, "gibbs_fn must be a function"),
    "no model": (lambda: Gibbs([(CustomGibbs(_x_given), ["x"])]), OptionError, "samplers of one model"),
    "no pair": (lambda: Gibbs([NUTS(_sum)]), OptionError, "a pair of a sampler and its sites"),
    "no sites": (lambda: Gibbs([(NUTS(_sum), None)]).sampler(), ModelError, "Use it by `MCMC`"),
    "none found": (
        lambda: _run(Gibbs([(DiscreteGibbs(_sum), discrete_latent_sites), (NUTS(_sum), None)]), draws=1),
        OptionError,
        "DiscreteGibbs has no site in this model",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_blocks_that_cannot_be_say_why(case: str) -> None:
    call, error, words = ERRORS[case]
    with pytest.raises(error, match=words):
        call()


UNUSED: dict[str, Callable[[], Any]] = {
    "HMC: num_steps=10": lambda: HMC(_sum, num_steps=10),
    "ESS: tune_mu=True": lambda: ESS(_sum, tune_mu=True),
    "SA: adapt_state_size=30": lambda: SA(_sum, adapt_state_size=30),
    "DiscreteGibbs: random_walk=True": lambda: DiscreteGibbs(_sum, random_walk=True),
    "DiscreteHMCGibbs: random_walk=True": lambda: DiscreteHMCGibbs(NUTS(_sum), random_walk=True),
    "NestedSampler: dlogZ=0.1": lambda: NestedSampler(_sum, termination_kwargs={"dlogZ": 0.1}),
}


@pytest.mark.parametrize("option", UNUSED)
def test_an_option_without_effect_is_told(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    UNUSED[option]()
    assert f"info: {option} has no effect." in capsys.readouterr().err


def test_options_that_are_not_given_are_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    HMC(_sum), ESS(_sum), SA(_sum), DiscreteGibbs(_sum)
    NestedSampler(_sum, constructor_kwargs={"num_live_points": 100})
    assert not capsys.readouterr().err
