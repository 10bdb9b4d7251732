"""Check that log prior and log likelihood are kept with every draw, in whatever way it was made and stored."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.density import LogDensity
from accord.density.recorded import recorded
from accord.mcmc.sites_program import sites_program
from accord.mcmc.statistics import stored_stats

Y = np.array([0.5, -1.0, 2.0, 0.3])
SEEN = np.array([True, False, True, True])
QUIET = dict(progress=False, quiet=True)
PARTS = ["log_prior", "log_likelihood"]
STATS = [each.name for each in stored_stats(infer.NUTS.stats)]


@ac.model
def groups(y):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfNormal(2))
    ac.factor("penalty", -0.1 * mu**2)
    with ac.plate("group", len(y)):
        z = ac.sample("z", dist.Normal(0, 1))
        theta = ac.deterministic("theta", mu + tau * z)
        with handlers.scale(scale=0.5):
            ac.sample("y", dist.Normal(theta, 1.0), obs=y, obs_mask=SEEN)


@ac.model
def process(x):
    rho = ac.sample("rho", dist.Gamma(25, 4))
    alpha = ac.sample("alpha", dist.HalfNormal(2))
    with ac.plate("point", len(x)):
        z = ac.sample("z", dist.Normal(0, 1))
    covariance = alpha**2 * jnp.exp(-0.5 * ((x[:, None] - x[None]) / rho) ** 2) + 1e-10 * jnp.eye(len(x))
    ac.factor("data", -jnp.sum(ac.deterministic("f", jnp.linalg.cholesky(covariance) @ z) ** 2))


WAYS = {
    "one chain": dict(chains=1, draws=30, warmup=40),
    "thinned, in lanes": dict(chains=3, lanes=2, thinning=3, draws=20, warmup=40),
    "an ensemble": dict(sampler=infer.ChEES(), chains=4, draws=20, warmup=40),
    "in float32": dict(chains=1, draws=30, warmup=40, precision="float32"),
}


@each(WAYS, slow=("an ensemble",))
def test_a_draw_has_the_parts_of_its_log_density(options):
    draws = infer.sample(groups(Y), **options, **QUIET)
    rtol = 1e-12 if draws.manifest["precision"] == "float64" else 1e-4
    prior, joint = infer.log_prior(draws), infer.log_joint(draws)
    stats = [each.name for each in stored_stats(options.get("sampler", infer.NUTS()).stats)]
    assert list(draws.stats) == list(draws.warmup)[1:] == [*stats, *PARTS]
    for name, expected in zip(PARTS, (prior, joint - prior), strict=True):
        found = draws.stats[name]
        assert found.dtype == np.float64 and found.shape == draws.stats["lp"].shape
        np.testing.assert_allclose(found, expected, rtol=rtol)
    in_warm_up = draws.warmup["log_prior"] + draws.warmup["log_likelihood"]
    jacobian = draws.warmup["position"][..., 1]  # of the exponential
    np.testing.assert_allclose(in_warm_up + jacobian, draws.warmup["lp"], rtol=rtol)


def test_the_bits_of_sites_are_those_without_them():
    """A covariance shares its scale with the prior: in one loop, the factor of it came out otherwise."""
    density = LogDensity.from_model(process(np.linspace(-2, 2, 11)))
    positions = np.random.default_rng(2).normal(size=(64, density.dim))

    def alone(position, log_density):
        return density.constrain(position)

    def parts(position, log_density):
        return recorded(density, position, log_density)[1]

    found, expected = (
        jax.jit(sites_program(alone, divide, 64))(positions, np.zeros(64), np.int32(64), np.int32(64))
        for divide in (parts, lambda *_: {})
    )
    assert set(found) - set(expected) == set(PARTS)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)


def test_the_density_of_a_function_has_none():
    target = LogDensity.from_function(lambda x: -0.5 * (x**2).sum(), np.zeros(2))
    draws = infer.sample(target, draws=10, warmup=10, chains=1, **QUIET)
    assert list(draws.stats) == list(draws.warmup)[1:] == STATS


@pytest.fixture
def stored_before(tmp_path, monkeypatch):
    """The folder of a run of two chains with 20 draws, whose segments were written when none were kept."""
    with monkeypatch.context() as before:
        before.setattr("accord.mcmc.statistics.PARTS", ())
        infer.sample(
            groups(Y), draws=20, warmup=40, chains=2, store=infer.RunFolder(tmp_path / "run"), **QUIET
        )
    return tmp_path / "run"


def test_a_run_stored_before_loads_and_goes_on_without_them(stored_before):
    loaded = infer.load(stored_before)
    longer = infer.resume(stored_before, groups(Y), **QUIET).extend(10)
    for draws in (loaded, longer, infer.load(stored_before)):
        assert list(draws.stats) == list(draws.warmup)[1:] == STATS
    whole = infer.sample(groups(Y), draws=30, warmup=40, chains=2, **QUIET)
    for name in whole:
        np.testing.assert_array_equal(longer[name], whole[name])


def test_a_run_that_died_in_its_warm_up_before_has_them_with_its_draws(stored_before):
    for chain in stored_before.glob("chain-*"):
        sorted(chain.iterdir())[-1].unlink()
    for name in ("notices", "timings"):
        (stored_before / f"record-{name}.json").unlink()
    draws = infer.resume(stored_before, groups(Y), **QUIET)
    assert list(draws.stats) == [*STATS, *PARTS]
    assert list(draws.warmup)[1:] == STATS
    np.testing.assert_allclose(draws.stats["log_prior"], infer.log_prior(draws), rtol=1e-12)


def test_the_tree_has_a_sum_that_is_not_taken_for_that_of_each_observation():
    from arviz_stats.utils import get_log_likelihood

    draws = infer.sample(groups(Y), draws=10, warmup=40, chains=1, **QUIET)
    tree = draws.to_arviz()
    for group, stats in (("sample_stats", draws.stats), ("warmup_sample_stats", draws.warmup)):
        np.testing.assert_array_equal(tree[group]["log_prior"], stats["log_prior"])
        np.testing.assert_array_equal(tree[group]["total_log_likelihood"], stats["log_likelihood"])
    with pytest.raises(TypeError, match="not found"):
        get_log_likelihood(tree)
    beside = draws.to_arviz(infer.log_likelihood(draws))
    assert get_log_likelihood(beside).shape == (1, 10, 3)
