"""Let trajectories end badly: they are counted by kind, their places are kept, and a chain that is stuck ends alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from paced import paced

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.adaptation import hamiltonian, metric
from accord.adaptation.metric import Care
from accord.core.errors import OptionError, SamplingError
from accord.density import LogDensity
from accord.mcmc import cause
from accord.mcmc.endings import MAX_UNMOVED

RUN = dict(draws=200, warmup=100, chains=2, seed=4, progress=False, quiet=True)


def walled(x):
    """A standard normal without a log density above 1, without a gradient below -1, and with a cliff by its side."""
    inside = jnp.where(x[0] > 1.0, jnp.nan, -0.5 * jnp.sum(x**2))
    no_gradient = jnp.where(x[0] < -1.0, 0.0, 1.0)
    return inside + 0.0 * jnp.sqrt(no_gradient * (x[0] + 1.0)) - jnp.where(x[1] > 1.0, 5000.0, 0.0)


def target():
    return LogDensity.from_function(walled, np.zeros(2))


@pytest.fixture(scope="module")
def draws():
    return infer.sample(target(), executor=infer.Serial(), **RUN)


def places(found):
    return [
        (each.chain, each.phase, each.draw, each.kind, each.position.tolist(), str(each.log_density))
        for each in found.failures
    ]


def test_each_kind_of_bad_end_is_counted_by_chain_and_phase(draws):
    for stats, phase in ((draws.warmup, "warmup"), (draws.stats, "sample")):
        non_finite = draws.counts["log_density"][phase] + draws.counts["gradient"][phase]
        np.testing.assert_array_equal(non_finite, stats["non_finite"].sum(axis=1))
        np.testing.assert_array_equal(draws.counts["divergence"][phase], stats["diverging"].sum(axis=1))
    for kind in ("log_density", "gradient", "divergence"):
        assert (draws.counts[kind]["sample"] > 0).all(), kind


def test_the_first_three_places_of_each_kind_are_kept(draws):
    for place, chain in enumerate(draws.chains):
        for kind in ("log_density", "gradient", "divergence"):
            found = [each for each in draws.failures if each.chain == chain and each.kind == kind]
            assert len(found) == 3
        flagged = np.flatnonzero(draws.stats["diverging"][place])[:3]
        assert [each.draw for each in found] == flagged.tolist()
        assert {each.phase for each in found} == {"sample"}


def test_what_is_said_of_a_place_is_true_there(draws):
    density = target()
    for each in draws.failures:
        value, gradient = jax.value_and_grad(density)(each.position)
        np.testing.assert_allclose(each.log_density, value, rtol=1e-12)
        match each.kind:
            case "log_density":
                assert not np.isfinite(value)
            case "gradient":
                assert np.isfinite(value) and not np.isfinite(gradient).all()
            case "divergence":
                assert value < -1000 and np.isfinite(gradient).all()


IN_SHORT_BLOCKS = paced(first_block=37, growth=1, block_seconds=1e9)
"""Blocks of 37 gradients, which end in the middle of draws, whatever the clock says."""


@pytest.mark.parametrize("way", ["blocks", "threads", "chain"])
def test_places_do_not_depend_on_how_a_run_was_made(draws, way):
    others = {"blocks": dict(executor=IN_SHORT_BLOCKS), "threads": {}, "chain": dict(chains=[1])}
    found = infer.sample(target(), **(RUN | others[way]))
    assert places(found) == [each for each in places(draws) if each[0] in found.chains]


@pytest.mark.parametrize(
    ("sampler", "lanes"),
    [(infer.NUTS(), 2), (infer.HMC(max_steps=100), 2), (infer.ChEES(max_steps=100), 6)],
    ids=["NUTS", "HMC", "ChEES"],
)
def test_places_of_lanes_do_not_depend_on_blocks(sampler, lanes):
    options = RUN | dict(draws=50, lanes=lanes, chains=lanes)
    expected = infer.sample(target(), sampler, **options)
    assert len(expected.failures) > 6
    found = infer.sample(target(), sampler, **(options | dict(executor=IN_SHORT_BLOCKS)))
    assert places(found) == places(expected)


@pytest.mark.parametrize("lanes", [1, 2])
def test_places_of_draws_with_shorter_steps_are_found(lanes, monkeypatch):
    """As if both chains had found their posterior curved, and every draw were short: bad ends are in short ones."""

    def shortening(draw, care, dtype):
        return jnp.where(care != Care.NONE, 0.75 - 0.25 * (draw & 1).astype(dtype), 1)

    monkeypatch.setattr(metric, "care", lambda choice, asked: Care.SOME)
    monkeypatch.setattr(hamiltonian, "shortening", shortening)
    wide = LogDensity.from_function(walled, np.zeros(3))  # of a size that no other test has compiled
    options = RUN | dict(lanes=lanes, executor=infer.Serial())
    expected = infer.sample(wide, **options)
    factors = expected.stats["step_size"] / expected.tuning["step_size"][:, None]
    np.testing.assert_allclose(factors, np.tile([0.75, 0.5], (2, 100)), rtol=1e-12)
    assert {each.kind for each in expected.failures} == {"log_density", "gradient", "divergence"}
    for each in expected.failures:
        assert each.position[0] > 1.0 or each.position[0] < -1.0 or each.position[1] > 1.0
    found = infer.sample(wide, **(options | dict(executor=IN_SHORT_BLOCKS)))
    assert places(found) == places(expected)


def test_places_are_kept_with_a_run_and_do_not_change_when_it_is_made_longer(draws, tmp_path):
    store = infer.RunFolder(tmp_path / "run")
    short = infer.sample(target(), store=store, **(RUN | dict(draws=20)))
    assert places(infer.load(tmp_path / "run")) == places(short)
    longer = infer.resume(tmp_path / "run", target(), progress=False, quiet=True).extend(180)
    assert places(longer) == places(draws)
    for kind, phases in draws.counts.items():
        for phase, counts in phases.items():
            np.testing.assert_array_equal(longer.counts[kind][phase], counts)


def test_thinning_hides_no_bad_end(draws):
    thinned = infer.sample(target(), thinning=4, **(RUN | dict(draws=50)))
    made = draws.stats["diverging"][:, : 49 * 4 + 1].sum(axis=1)
    np.testing.assert_array_equal(thinned.counts["divergence"]["sample"], made)
    assert places(thinned) == places(draws)


# What a user reads


@ac.model
def rooted():
    x = ac.sample("x", dist.Normal(0.0, 1.0))
    ac.factor("penalty", -jnp.where(x > 0, jnp.sqrt(x), 0.0))


def test_an_explanation_names_site_derivative_and_line(tmp_path):
    draws = infer.sample(rooted(), store=infer.RunFolder(tmp_path / "run"), **RUN)
    text = str(infer.explain(draws))
    assert text.count("a gradient that is not finite") == len(draws.failures) == 6
    for words in ("'x'", "sqrt", "test_bad_ends.py"):
        assert words in text
    (notice,) = [each for each in draws.notices if each.code == "non_finite_gradient"]
    assert notice.severity == "error" and "x" in notice.sites and "sqrt" in notice.message
    loaded = infer.load(tmp_path / "run")
    assert [str(each) for each in loaded.notices] == [str(each) for each in draws.notices]
    with pytest.raises(OptionError, match=r"infer.explain\(draws, model"):
        infer.explain(loaded)
    assert str(infer.explain(loaded, rooted())) == text
    with pytest.raises(OptionError, match="2 unknowns, and these draws 1"):
        infer.explain(loaded, target())


def test_an_explanation_of_whole_numbers_alone_names_site_and_line():
    @ac.model
    def alone():
        k = ac.sample("k", dist.DiscreteUniform(0, 3))
        ac.factor("half", jnp.log(1.0 - k))

    draws = infer.sample(alone(), infer.DiscreteGibbs(), **(RUN | dict(draws=20, warmup=20)))
    (first, *_) = infer.explain(draws).reports
    assert first.sites == ("half",) and first.values["k"] >= 2 and first.cause == "undefined"
    assert first.operation is not None and "jnp.log(1.0 - k)" in first.operation.line
    (notice,) = [each for each in draws.notices if each.code == "non_finite"]
    assert "'k' = " in notice.message and "log of -" in notice.message


def test_a_place_that_cannot_be_looked_at_costs_no_draws(monkeypatch):
    def fails(density, position):
        raise NotImplementedError("no rule for this operation")

    monkeypatch.setattr(cause, "blame", fails)
    draws = infer.sample(rooted(), **RUN)
    (notice,) = [each for each in draws.notices if each.code == "non_finite_gradient"]
    assert draws.complete and "NotImplementedError: no rule for this operation" in notice.message
    with pytest.raises(SamplingError, match="no rule for this operation"):
        infer.sample(rooted(), on_nonfinite="raise", **RUN)


def test_of_a_place_that_takes_long_to_look_at_nothing_is_said():
    draws = infer.sample(rooted(), **(RUN | dict(executor=paced(explain_seconds=0.0))))
    (notice,) = [each for each in draws.notices if each.code == "non_finite_gradient"]
    assert "takes more than a few seconds" in notice.message


def test_a_good_run_has_nothing_to_explain():
    normal = LogDensity.from_function(lambda x: -0.5 * jnp.sum(x**2), np.zeros(2))
    assert str(infer.explain(infer.sample(normal, **RUN))).startswith("No draw ended")


@pytest.mark.parametrize(
    "executor",
    [infer.Serial(), pytest.param(infer.Processes(1), marks=pytest.mark.slow)],
    ids=["here", "there"],
)
def test_a_run_that_is_to_raise_stops_at_the_first_number_that_is_not_finite(executor):
    with pytest.raises(SamplingError, match=r"(?s)a gradient that is not finite.*'x'.*sqrt"):
        infer.sample(rooted(), on_nonfinite="raise", executor=executor, **RUN)


def test_a_word_that_is_no_choice_is_refused():
    with pytest.raises(OptionError, match="on_nonfinite must be one of notice, raise, got 'stop'"):
        infer.sample(rooted(), on_nonfinite="stop", **RUN)


# Chains that are stuck


def needle(x):
    """A standard normal, and one point far away from which no step is possible."""
    return jnp.where(jnp.all(x == 10.0), 0.0, jnp.where(x[0] > 5.0, jnp.nan, -0.5 * jnp.sum(x**2)))


STARTS = infer.from_values([{"x": np.array([10.0, 10.0])}, {"x": np.array([0.5, 0.5])}])


@pytest.mark.parametrize("lanes", [1, 2])
def test_a_chain_that_does_not_move_ends_and_the_others_go_on(lanes):
    density, options = LogDensity.from_function(needle, np.zeros(2)), RUN | dict(draws=400)
    draws = infer.sample(density, init=STARTS, lanes=lanes, **options)
    (lost,) = draws.lost_chains
    assert (lost["chains"], lost["draw"]) == ([0], MAX_UNMOVED + 1)
    (notice,) = [each for each in draws.notices if each.code == "chain_failed"]
    assert notice.severity == "error" and "has not moved for 250 draws" in notice.message
    assert draws.chains == (1,) and not draws.complete and draws.num_draws == 400
    alone = infer.sample(density, init=STARTS, lanes=lanes, **(options | dict(chains=[1])))
    np.testing.assert_array_equal(draws["x"], alone["x"])


def test_where_no_chain_moves_there_is_an_error_before_any_draw():
    density = LogDensity.from_function(needle, np.zeros(2))
    with pytest.raises(SamplingError, match=r"chain 0 has not moved for 250 draws in a row"):
        infer.sample(density, init=STARTS, **(RUN | dict(chains=1, warmup=300)))
    draws = infer.sample(density, init=STARTS, **(RUN | dict(chains=1, draws=400)))
    assert draws.num_draws == MAX_UNMOVED + 1 - 100
    assert {"chain_failed", "constant_chains"} <= {
        each.code for each in draws.notices if each.severity == "error"
    }
