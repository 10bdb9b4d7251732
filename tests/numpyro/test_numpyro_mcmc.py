"""Run chains of NumPyro programs: exact answers, shapes, continuation, starts, and errors."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord.numpyro as door
import accord.numpyro.distributions as dist
from accord.core.errors import ModelError, OptionError, SiteError
from accord.numpyro import handlers
from accord.numpyro.contrib.control_flow import scan
from accord.numpyro.infer import (
    AIES,
    HMC,
    HMCECS,
    MCMC,
    NUTS,
    BarkerMH,
    DiscreteHMCGibbs,
    MixedHMC,
    Predictive,
    init_to_mean,
    init_to_median,
    init_to_sample,
    init_to_value,
    log_likelihood,
)
from accord.numpyro.infer.util import initialize_model

Y = np.array([1.2, 0.4, 2.2, 1.6])
PRECISION = 1 / 9 + len(Y)
"""Of the posterior of `_normal`, whose mean is `Y.sum() / PRECISION`."""


@pytest.fixture(autouse=True)
def as_users_have_it():
    """64 bits, and JAX's own rules of promotion, as in scripts."""
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def _normal(y: Any = None) -> None:
    mu = door.sample("mu", dist.Normal(0.0, 3.0))
    with door.plate("row", len(Y)):
        door.sample("y", dist.Normal(mu, 1.0), obs=y)
    door.deterministic("double", 2 * mu)


def _run(kernel: Any, *args: Any, chains: int = 2, draws: int = 400, **options: Any) -> MCMC:
    extra = {name: options.pop(name) for name in ("extra_fields", "init_params") if name in options}
    chain = MCMC(kernel, num_warmup=200, num_samples=draws, num_chains=chains, progress_bar=False, **options)
    chain.run(jax.random.key(0), *args, **extra)
    return chain


def test_draws_are_of_the_posterior_in_numpyros_shapes() -> None:
    """A mean is off by more than 6 errors in 2 of 1e9 runs; the effective sample size is at least 200."""
    chain = _run(NUTS(_normal), Y, extra_fields=("num_steps", "potential_energy"))
    samples, grouped = chain.get_samples(), chain.get_samples(group_by_chain=True)
    assert samples["mu"].shape == (800,)
    assert grouped["double"].shape == (2, 400)
    np.testing.assert_array_equal(samples["mu"][:400], grouped["mu"][0])
    assert chain.get_extra_fields().keys() == {"diverging", "num_steps", "potential_energy"}
    sd = PRECISION**-0.5
    assert abs(float(samples["mu"].mean()) - Y.sum() / PRECISION) < 6 * sd / 200**0.5
    again = _run(NUTS(_normal), Y)
    np.testing.assert_array_equal(again.get_samples()["mu"], samples["mu"])


def test_one_chain_at_a_time_gives_the_same_bits() -> None:
    parallel = _run(NUTS(_normal), Y, draws=50)
    sequential = _run(NUTS(_normal), Y, draws=50, chain_method="sequential")
    np.testing.assert_array_equal(parallel.get_samples()["mu"], sequential.get_samples()["mu"])


def test_the_summary_has_the_columns_of_numpyro(capsys: pytest.CaptureFixture[str]) -> None:
    _run(NUTS(_normal), Y, draws=100).print_summary()
    printed = capsys.readouterr().out
    for word in ("mean", "std", "median", "5.0%", "95.0%", "n_eff", "r_hat", "Number of divergences: 0"):
        assert word in printed
    assert "double" not in printed


def test_chains_go_on_after_warm_up_and_from_their_last_state() -> None:
    whole = _run(NUTS(_normal), Y, draws=61)
    chain = MCMC(NUTS(_normal), num_warmup=200, num_samples=30, num_chains=2, progress_bar=False)
    chain.warmup(jax.random.key(0), Y)
    chain.run(jax.random.key(1), Y)
    first = chain.get_samples(group_by_chain=True)["mu"]
    chain.post_warmup_state = chain.last_state
    chain.run(jax.random.key(2), Y)
    second = chain.get_samples(group_by_chain=True)["mu"]
    joined = jnp.concatenate([first, second], axis=1)
    np.testing.assert_array_equal(joined, whole.get_samples(group_by_chain=True)["mu"][:, 1:])
    with pytest.raises(OptionError, match=r"whose posterior is that of"):
        chain.run(jax.random.key(3), Y + 1)


@pytest.mark.parametrize(
    "strategy",
    [init_to_median, init_to_sample, init_to_mean, init_to_value(values={"mu": 1.0, "absent": 2.0})],
)
def test_chains_begin_by_numpyros_strategies(strategy: Any) -> None:
    assert _run(NUTS(_normal, init_strategy=strategy), Y, chains=1, draws=20).get_samples()["mu"].shape == (
        20,
    )


def test_chains_begin_at_unconstrained_values_of_each() -> None:
    def scale(y: Any) -> None:
        s = door.sample("s", dist.HalfNormal(1.0))
        door.sample("y", dist.Normal(0.0, s), obs=y)

    begin = {"s": jnp.array([0.1, 0.3])}
    chain = _run(NUTS(scale), Y, draws=20, init_params=begin)
    assert np.isfinite(chain.get_samples()["s"]).all()


def test_a_potential_energy_is_sampled() -> None:
    def potential(z: Any) -> Any:
        return 0.5 * jnp.sum((z["a"] - 3.0) ** 2)

    chain = _run(NUTS(potential_fn=potential), chains=1, init_params={"a": jnp.zeros(2)})
    assert chain.get_samples()["a"].shape == (400, 2)
    assert abs(float(chain.get_samples()["a"].mean()) - 3.0) < 0.6  # twelve standard errors at 400 draws


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [HMC(_normal), BarkerMH(_normal), AIES(_normal)])
def test_other_samplers_draw_from_the_posterior(kernel: Any) -> None:
    """A mean is off by more than 6 errors in 2 of 1e9 runs, at an effective sample size of 50 or more."""
    chain = _run(kernel, Y, chains=4, draws=1000)
    sd = PRECISION**-0.5
    assert abs(float(chain.get_samples()["mu"].mean()) - Y.sum() / PRECISION) < 6 * sd / 50**0.5


def _labels(y: Any) -> None:
    w = door.sample("w", dist.Beta(1.0, 1.0))
    with door.plate("row", len(y)):
        z = door.sample("z", dist.Bernoulli(w), infer={"enumerate": "parallel"})
        door.sample("y", dist.Normal(4.0 * z, 1.0), obs=y)


FAR = np.array([0.1, 3.9, 4.2, -0.3, 4.4])
"""Data of which three are near 4: the posterior of `w` is nearly Beta(4, 3)."""


def test_labels_are_summed_out_and_drawn_by_predictions() -> None:
    chain = _run(NUTS(_labels), FAR)
    assert chain.get_samples().keys() == {"w"}
    drawn = Predictive(_labels, chain.get_samples(), infer_discrete=True)(jax.random.key(1), FAR)
    np.testing.assert_allclose(
        drawn["z"].mean(axis=0), [0, 1, 1, 0, 1], atol=0.05
    )  # their odds are 3000 or more


@pytest.mark.parametrize("kernel", [DiscreteHMCGibbs(NUTS(_labels)), MixedHMC(HMC(_labels))])
def test_labels_that_are_marked_to_be_summed_out_are_not_sampled(kernel: Any) -> None:
    with pytest.raises(OptionError, match=r"no discrete unknown to draw.*leave the mark out"):
        _run(kernel, FAR)


def _labels_to_draw(y: Any) -> None:
    w = door.sample("w", dist.Beta(1.0, 1.0))
    with door.plate("row", len(y)):
        z = door.sample("z", dist.Bernoulli(w))
        door.sample("y", dist.Normal(4.0 * z, 1.0), obs=y)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [DiscreteHMCGibbs(NUTS(_labels_to_draw)), MixedHMC(HMC(_labels_to_draw))])
def test_labels_may_be_sampled(kernel: Any) -> None:
    """A mean is off by more than 6 errors in 2 of 1e9 runs, at an effective sample size of 100 or more."""
    chain = _run(kernel, FAR, chains=4, draws=500)
    assert chain.get_samples().keys() == {"w", "z"}
    sd = (12 / 49 / 8) ** 0.5
    assert (
        abs(float(chain.get_samples()["w"].mean()) - 4 / 7) < 6 * sd / 10 + 0.01
    )  # what the labels leave open


@pytest.mark.slow
def test_parts_of_the_data_need_hmcecs() -> None:
    x = np.random.default_rng(0).normal(1.0, 1.0, size=500)

    def part(x: Any) -> None:
        mu = door.sample("mu", dist.Normal(0.0, 3.0))
        with door.plate("row", len(x), subsample_size=50):
            door.sample("x", dist.Normal(mu, 1.0), obs=door.subsample(x, event_dim=0))

    chain = _run(HMCECS(HMC(part), num_blocks=5), x, chains=1)
    assert abs(float(chain.get_samples()["mu"].mean()) - x.mean()) < 0.2


def test_predictions_and_log_likelihoods_have_the_shapes_of_draws() -> None:
    samples = {"mu": jnp.linspace(0.0, 1.0, 6), "double": jnp.linspace(0.0, 2.0, 6)}
    drawn = Predictive(_normal, samples)(jax.random.key(0))
    assert {name: value.shape for name, value in drawn.items()} == {"y": (6, 4), "double": (6,)}
    np.testing.assert_allclose(drawn["double"], 2 * samples["mu"])
    terms = log_likelihood(_normal, samples, Y)
    expected = -0.5 * (Y - np.asarray(samples["mu"])[:, None]) ** 2 - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(terms["y"], expected)
    grouped = {name: value.reshape(2, 3) for name, value in samples.items()}
    assert Predictive(_normal, grouped, batch_ndims=2)(jax.random.key(0))["y"].shape == (2, 3, 4)
    assert Predictive(_normal, num_samples=7)(jax.random.key(0))["mu"].shape == (7,)


def test_forecasts_follow_the_data_of_a_scan() -> None:
    def walk(y: Any = None, steps: int = 4) -> None:
        s = door.sample("s", dist.HalfNormal(0.1))

        def step(last: Any, _: Any) -> Any:
            return door.sample("y", dist.Normal(last, s)), None

        if y is None:
            scan(step, 0.0, None, length=steps)
        else:
            with handlers.condition(data={"y": y}):
                scan(step, 0.0, None, length=steps)

    y = jnp.array([1.0, 2.0, 3.0, 4.0])
    ahead = Predictive(walk, {"s": jnp.full(5, 1e-3)}, return_sites=["y"])(jax.random.key(0), y, steps=6)
    np.testing.assert_allclose(ahead["y"][:, 4:], 4.0, atol=0.05)  # some 35 standard deviations
    assert ahead["y"].shape == (5, 6)


def test_the_functional_interface_gives_a_point_and_a_potential() -> None:
    info = initialize_model(jax.random.key(0), _normal, model_args=(Y,))
    z = info.param_info.z
    assert float(info.potential_fn(z)) == pytest.approx(float(info.param_info.potential_energy))
    assert info.postprocess_fn(z)["double"] == pytest.approx(2 * float(z["mu"]))


def test_errors_name_what_is_wrong_before_any_draw() -> None:
    with pytest.raises(OptionError, match=r"NUTS: adapt_step_size fixes what accord's warm-up learns"):
        NUTS(_normal, adapt_step_size=False)
    with pytest.raises(OptionError, match=r"NUTS: give one of `model` and `potential_fn`"):
        NUTS()
    with pytest.raises(OptionError, match=r"chain_method must be"):
        MCMC(NUTS(_normal), num_warmup=1, num_samples=1, chain_method="pmap")
    with pytest.raises(OptionError, match=r"extra_fields has 'speed'"):
        _run(NUTS(_normal), Y, extra_fields=("speed",))
    with pytest.raises(ModelError, match=r"there are no draws yet"):
        MCMC(NUTS(_normal), num_warmup=1, num_samples=1).get_samples()
    with pytest.raises(SiteError, match=r"counts\s+each of the data several times"):
        _run(NUTS(_copied), Y)
    with pytest.raises(OptionError, match=r"give `posterior_samples=` or `num_samples=`"):
        Predictive(_normal)
    with pytest.raises(SiteError, match=r"no name is\s+in both"):
        Predictive(_normal, {"nu": jnp.ones(3)})(jax.random.key(0))


def _copied(y: Any) -> None:
    mu = door.sample("mu", dist.Normal(jnp.zeros((3, 1)), 1.0))
    door.sample("y", dist.Normal(mu, 1.0), obs=y)


def test_what_numpyro_takes_without_a_word_has_a_notice() -> None:
    def program(y: Any) -> None:
        scale = door.param("scale", 2.0)
        mu = door.sample("mu", dist.Normal(0.0, 1.0))
        door.sample("y", dist.Normal(mu, scale), obs=y)

    chain = _run(NUTS(program), Y, chains=1, draws=20)
    told = {notice.code: str(notice) for notice in chain.notices}
    assert told.keys() == {"numpyro_broadcast", "numpyro_param"}
    assert 'with numpyro.plate("row", 4):' in told["numpyro_broadcast"]
    assert not _run(NUTS(_normal), Y, chains=1, draws=20).notices


def test_missing_data_are_unknowns_of_their_own() -> None:
    """A mean is off by more than 6 errors in 2 of 1e9 runs; the effective sample size is at least 200."""
    seen = np.array([True, True, False, True])

    def program(y: Any) -> None:
        mu = door.sample("mu", dist.Normal(0.0, 3.0))
        with door.plate("row", 4):
            door.sample("y", dist.Normal(mu, 1.0), obs=y, obs_mask=seen)

    chain = _run(NUTS(program), np.where(seen, Y, np.nan))
    samples = chain.get_samples()
    assert samples["y_unobserved"].shape == (800, 1)
    precision = 1 / 9 + 3
    assert abs(float(samples["mu"].mean()) - Y[seen].sum() / precision) < 6 * precision**-0.5 / 200**0.5


def test_prng_keys_of_a_program_stay_the_same_through_a_run() -> None:
    def program(y: Any) -> None:
        noise = jax.random.normal(door.prng_key(), (4,))
        mu = door.sample("mu", dist.Normal(0.0, 1.0))
        door.sample("y", dist.Normal(mu + 0 * noise, 1.0), obs=y)

    assert _run(NUTS(program), Y, chains=1, draws=20).get_samples()["mu"].shape == (20,)


@pytest.mark.slow
def test_a_circular_unknown_is_sampled_through_a_law_without_draws() -> None:
    """The mean direction is off by 7 errors of at most 0.02 by a false alarm in 3e-12 of runs."""

    def model() -> None:
        with handlers.reparam(config={"phi": door.infer.reparam.CircularReparam()}):
            door.sample("phi", dist.VonMises(3.0, 4.0))

    phi = _run(NUTS(model), draws=1000).get_samples()["phi"]
    assert abs(float(jnp.angle(jnp.mean(jnp.exp(1j * (phi - 3.0)))))) < 7 * 0.02
