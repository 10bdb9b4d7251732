"""Check what is proposed for hierarchies: what the data say of each site, and the choice."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer, reparam
from accord.centring.propose import _decided
from accord.centring.shares import shares
from accord.core.errors import OptionError
from accord.density import LogDensity
from accord.diagnose.hierarchy import hierarchical_sites
from accord.reparam import LocScale, Structured, Transform

SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])


@ac.model
def schools(sigma, y):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(sigma)):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


@ac.model
def log_normal_vector():
    s = ac.sample("s", dist.HalfNormal(1))
    ac.sample("theta", dist.MultivariateLogNormal(0.0, scale_tril=s * jnp.eye(2)))


@pytest.mark.parametrize("size", [3, 70])
def test_the_share_of_the_data_is_that_of_normal_laws(size):
    sigma = np.linspace(0.5, 20.0, size)
    model = schools(sigma, np.zeros(size))
    density = LogDensity.from_model(model)
    found = hierarchical_sites(density.program, density.data)
    changed = LogDensity.from_model(handlers.reparam(model, found[0].config))
    tau = np.array([0.5, 4.0])
    values = {"mu": np.zeros(2), "tau": tau, "theta_base": np.ones((2, size))}
    with jax.enable_x64(True):
        share = shares(changed, values, found)["theta"]
    square = tau[:, None] ** 2
    np.testing.assert_allclose(share, (square / (square + sigma**2)).mean(axis=0), rtol=1e-10)


# share of the data by entry: what is proposed
DECISIONS = {
    "little": ([0.1, 0.4], {"theta": LocScale()}),
    "much": ([0.9, 0.6], {}),
    "of some": ([0.9, 0.1], {"theta": LocScale([1.0, 0.0])}),
}


@pytest.mark.parametrize("case", DECISIONS)
def test_entries_are_centred_where_the_data_say_more_than_the_prior(case):
    share, wanted = DECISIONS[case]
    density = LogDensity.from_model(schools(SIGMA, Y))
    (site,) = hierarchical_sites(density.program, density.data)
    assert _decided(site, np.array(share)) == wanted


def test_a_vector_is_whitened_whole_or_not_at_all():
    density = LogDensity.from_model(log_normal_vector())
    (site,) = hierarchical_sites(density.program, density.data)
    assert _decided(site, np.array([0.9, 0.2, 0.1])) == {"theta": Transform(), "theta_base": Structured()}
    assert _decided(site, np.array([0.9, 0.8, 0.1])) == {}


def test_many_entries_are_decided_together():
    density = LogDensity.from_model(schools(SIGMA, Y))
    (site,) = hierarchical_sites(density.program, density.data)
    share = np.linspace(0.0, 0.9, 2000)
    assert _decided(site, share) == {"theta": LocScale()}
    assert _decided(site, 1 - share) == {}


def test_a_model_without_a_hierarchy_is_left_as_it_is():
    @ac.model
    def line(y):
        ac.sample("y", dist.Normal(ac.sample("mu", dist.Normal(0, 1)), 1), obs=y)

    proposal = reparam.propose(line(1.0))
    assert dict(proposal) == {} and "No site" in str(proposal)
    assert handlers.reparam(line(1.0), proposal).sites().rows == line(1.0).sites().rows


def test_a_model_without_its_data_is_refused():
    with pytest.raises(OptionError, match="Call it with its data"):
        reparam.propose(schools)
    with pytest.raises(OptionError, match="'sed'"):
        reparam.propose(schools(SIGMA, Y), sed=1)


@pytest.mark.slow
def test_eight_schools_are_proposed_to_be_non_centred_and_eight_large_ones_not():
    few, many = reparam.propose(schools(SIGMA, Y)), reparam.propose(schools(SIGMA / 100, Y))
    assert dict(few) == {"theta": LocScale()} and dict(many) == {}
    assert str(few).splitlines()[1].split() == ["theta", "tau", *str(few).splitlines()[1].split()[2:]]
    assert "non-centred" in str(few) and "as it is" in str(many)


@pytest.mark.slow
def test_a_funnel_is_met_with_the_line_that_mends_it():
    run = {"draws": 1000, "seed": 2, "progress": False, "quiet": True}
    found = {each.code: each for each in infer.sample(schools(SIGMA, Y), **run).notices}
    line = 'handlers.reparam(model, {"theta": reparam.LocScale()})'
    assert "small 'tau'" in found["divergences"].message and line in found["divergences"].remedy
    mended = infer.sample(handlers.reparam(schools(SIGMA, Y), {"theta": LocScale()}), **run)
    assert all(each.severity == "info" for each in mended.notices)


@ac.model
def levels(y):
    scale = ac.sample("scale", dist.HalfNormal(0.5))
    noise = ac.sample("noise", dist.HalfNormal(1.0))

    def step(level, observed):
        level = ac.sample("level", dist.Normal(level, scale))
        ac.sample("y", dist.Normal(level, noise), obs=observed)
        return level, None

    ac.scan(step, 0.0, y)


def test_sites_in_the_steps_of_a_scan_are_named_and_not_judged():
    proposal = reparam.propose(levels(np.zeros(5)))
    assert not proposal and proposal.in_steps == ("level",)
    line = '`ac.scan(handlers.reparam(step, {"level": reparam.LocScale()}), ...)`'
    assert str(proposal).startswith("Not judged, in the steps of a scan: level.") and line in str(proposal)


def test_a_run_with_slow_scales_prints_what_to_put_around_the_step():
    """The level hardly changes, so the scale may be small, where chains are slow; no draw needs to diverge for it."""
    generator = np.random.default_rng(0)
    y = 0.5 * generator.normal(size=100)
    draws = infer.sample(levels(y), draws=300, seed=0, progress=False, quiet=True)
    (notice,) = (each for each in draws.notices if each.code == "e_bfmi")
    assert 'ac.scan(handlers.reparam(step, {"level": reparam.LocScale()}), ...)' in notice.remedy
