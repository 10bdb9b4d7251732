"""Run models with sites integrated out by an approximation, and judge how good it is.

A right program fails the tests that compare two posteriors with a chance of 2 * 6 * 6e-7, their false-alarm rate: means
and standard deviations of three unknowns, of two models, each beyond 5 standard errors of the difference; keys are
fixed.
"""

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer, reparam
from accord.report.notices import examine

RNG = np.random.default_rng(4)
NUM_GROUPS = 15
GROUP = np.repeat(np.arange(NUM_GROUPS), RNG.integers(1, 5, NUM_GROUPS))
EFFECT = RNG.normal(size=NUM_GROUPS)
COUNTS = RNG.poisson(np.exp(0.5 + 0.8 * EFFECT[GROUP]))
IS_HIT = RNG.random(len(GROUP)) < 1 / (1 + np.exp(-0.3 - 1.5 * EFFECT[GROUP]))
RUN = dict(quiet=True, progress=False, executor=infer.Serial())


@ac.model
def counts(y, group=GROUP):
    level = ac.sample("level", dist.Normal(0, 1))
    tau = ac.sample("tau", dist.HalfNormal(1))
    with ac.plate("group", NUM_GROUPS):
        effect = ac.sample("effect", dist.Normal(0, tau))
    with ac.plate("row", len(group)):
        ac.sample("y", dist.Poisson(jnp.exp(level + effect[group])), obs=y)


@ac.model
def hits(y, group=GROUP):
    level = ac.sample("level", dist.Normal(0, 1))
    tau = ac.sample("tau", dist.HalfNormal(1.5))
    with ac.plate("group", NUM_GROUPS):
        effect = ac.sample("effect", dist.Normal(0, 1))
    with ac.plate("row", len(group)):
        ac.sample("y", dist.Bernoulli(logits=level + tau * effect[group]), obs=y)


MODELS = {"counts": lambda: counts(COUNTS), "hits": lambda: hits(IS_HIT.astype(int))}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_posterior_is_the_same_with_and_without_a_quadrature(name):
    model = MODELS[name]()
    many = dict(draws=2000, chains=4, **RUN)
    one = infer.sample(handlers.collapse(model, ["effect"], by=handlers.Quadrature()), seed=1, **many)
    other = infer.sample(
        handlers.reparam(model, {"effect": reparam.LocScale()}), infer.NUTS(target_accept=0.9), seed=2, **many
    )
    tables = [run.summary().to_dataframe() for run in (one, other)]
    for site in ("level", "tau", "effect[3]"):
        for moment in ("mean", "sd"):
            found, error = (
                np.array([table.loc[site, column] for table in tables])
                for column in (moment, f"mcse_{moment}")
            )
            assert abs(found[0] - found[1]) < 5 * np.hypot(*error), (site, moment)
    assert [notice.severity for notice in one.notices if notice.code == "few_nodes"] == ["info"]


@pytest.mark.slow
def test_draws_by_laplace_hold_the_sites_and_their_weights():
    draws = infer.sample(
        handlers.collapse(counts(COUNTS), ["effect"], by=handlers.Laplace()),
        draws=200,
        chains=2,
        seed=3,
        **RUN,
    )
    assert draws["effect"].shape == (2, 200, NUM_GROUPS)
    assert np.isfinite(draws.stats["integral.log_weight"]).all()
    assert [notice.code for notice in draws.notices].count("laplace_poor") == 1
    assert draws.manifest["settings"]["collapsed_by"] == "Laplace's approximation"
    ahead = infer.predict(draws, counts(None), quiet=True)
    assert ahead["y"].shape == (2, 200, len(GROUP))
    assert draws.to_arviz().posterior["effect"].dims == ("chain", "draw", "group")
    assert "integral.log_weight" in draws.to_arviz().sample_stats


def judged(**stats):
    """The notices about an integral of `u`, of draws with these statistics."""
    generator = np.random.default_rng(0)
    sites = {"a": generator.normal(size=(4, 500))}
    named = {f"integral.{name}": each.reshape(4, 500) for name, each in stats.items()}
    found = examine(sites, named, approximated=["u"])
    return [notice for notice in found if notice.sites == ("u",)]


def test_weights_of_a_good_approximation_are_told_and_those_of_a_poor_one_warned_of():
    noise = np.random.default_rng(1).normal(size=2000)
    (good,) = judged(log_weight=0.1 * noise)
    assert (good.severity, good.code) == (
        "info",
        "laplace_poor",
    ) and "posterior is approximate" in good.message
    # Weights of a normal distribution with a quarter of the variance have k = 3/4 in theory: these are heavier.
    (poor,) = judged(log_weight=1.2 * np.abs(noise) ** 2)
    assert poor.severity in ("warning", "error") and "Quadrature" in poor.remedy
    (infinite,) = judged(log_weight=np.full(2000, -np.inf)) or [None]
    assert infinite is None or infinite.severity == "error"


def test_what_fewer_nodes_change_is_told_beside_what_is_the_same_for_all():
    noise = np.random.default_rng(1).normal(size=2000)
    (good,) = judged(error=1.0 + 1e-4 * noise)
    assert (good.severity, good.code) == ("info", "few_nodes") and good.remedy == ""
    (poor,) = judged(error=1.0 + 0.1 * noise)
    assert poor.severity == "warning" and "twice as many nodes" in poor.remedy
    assert "up to 100, or 50 and 13 along each of two and three sites together" in poor.remedy


def test_draws_of_which_that_is_not_known_are_counted():
    error = 1.0 + 1e-4 * np.random.default_rng(1).normal(size=2000)
    error[:3] = np.nan, np.inf, -np.inf
    (some,) = judged(error=error)
    assert some.severity == "warning" and "not finite for 3 of 2000 draws" in some.message
    (none,) = judged(error=np.full(2000, np.nan))
    assert none.severity == "warning" and "not finite for 2000 of 2000 draws" in none.message


def test_nothing_is_told_of_what_is_exact():
    assert not judged()
