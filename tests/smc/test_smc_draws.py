"""Use draws of populations wherever draws are used, always by their weights; and refuse what cannot be."""

import jax.numpy as jnp
import numpy as np
import pytest
from laws import each
from smc_models import EVIDENCE, Y, found, narrow, normal

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import InitializationError, ModelError, OptionError, SamplingError
from accord.smc import machine
from accord.smc.estimate import log_evidence_of
from accord.smc.findings import findings
from accord.smc.result import SMCDraws, _pooled
from accord.smc.stored import Ended

SMALL = dict(particles=200, moves=10)


def ended(number, log_evidence, values, variance=0.0):
    stages = {
        "log_ratio": np.array([0.0, log_evidence]),
        "variance": np.array([0.0, variance]),
        "ancestors": np.array([100, 90]),
        "correlation": np.zeros((2, 1)),
        "non_finite": np.zeros(2),
    }
    return Ended(number, stages, np.asarray(values, float)[:, None], {"m": np.asarray(values, float)})


def test_populations_count_by_their_evidence_wherever_draws_are_used():
    run = found(normal(Y), populations=2, **SMALL)
    two = [ended(0, np.log(3.0), np.full(200, 1.0)), ended(1, 0.0, np.full(200, 5.0))]

    class Run:
        manifest, location, problems = run.manifest, None, ()

    draws = SMCDraws.of(Run, two).attached(run.drawn.density)
    np.testing.assert_allclose(np.exp(draws.log_weights[:, 0]) * 200, [0.75, 0.25])
    assert draws["m"].mean() == pytest.approx(2.0, abs=0.02)  # 3/4 of 1 and 1/4 of 5; their plain mean is 3
    assert float(draws.summary()["mean"][0]) == pytest.approx(2.0, abs=0.02)
    assert float(draws.to_arviz()["posterior"]["m"].mean()) == pytest.approx(2.0, abs=0.02)
    assert draws.to_dataframe()["m"].mean() == pytest.approx(2.0, abs=0.02)
    predicted = infer.predict(draws)["y"]
    assert predicted.shape == (1, 400, 5)
    assert abs(predicted.mean() - 2.0) < 0.5
    likelihood = infer.log_likelihood(draws)["y"]
    exact = [-0.5 * np.log(2 * np.pi) - 0.5 * (Y[0] - m) ** 2 for m in (1.0, 5.0)]
    assert likelihood[..., 0].mean() == pytest.approx(0.75 * exact[0] + 0.25 * exact[1], abs=0.1)
    starts = [start["m"] for start in draws.starts(range(400), 0)]
    assert 1.5 < np.mean(starts) < 2.5
    assert draws.effective_populations == pytest.approx(1.6)
    assert draws.log_evidence.value == pytest.approx(np.log(2.0))


def test_the_standard_error_is_the_larger_of_two():
    alone = log_evidence_of([ended(0, -3.0, [0.0], 0.04)])
    assert (alone.value, alone.standard_error) == pytest.approx((-3.0, 0.2))
    alike = log_evidence_of([ended(number, -3.0, [0.0], 0.04) for number in range(4)])
    assert (alike.value, alike.standard_error) == pytest.approx((-3.0, 0.1))
    apart = log_evidence_of([ended(0, np.log(1.0), [0.0]), ended(1, np.log(3.0), [0.0])])
    assert apart.value == pytest.approx(np.log(2.0))
    assert apart.standard_error == pytest.approx(np.std([0.5, 1.5], ddof=1) / np.sqrt(2))
    assert np.isnan(log_evidence_of([]).value)


def test_all_particles_are_taken_once_where_populations_weigh_the_same():
    shares, chosen = _pooled([ended(0, -2.0, np.zeros(50)), ended(1, -2.0, np.zeros(50))], 0, 50)
    assert shares.tolist() == [0.5, 0.5]
    assert np.bincount(chosen, minlength=100).max() <= 2 and len(np.unique(chosen)) >= 98


def test_draws_are_taken_where_draws_are():
    draws = found(normal(Y), **SMALL)
    assert infer.evidence(draws) is draws.log_evidence
    assert abs(draws.log_evidence.value - EVIDENCE) < 1
    assert repr(draws).startswith("<SMCDraws of normal: 4 populations x 200 particles; log evidence -")
    assert "population of SMC" in repr(draws.drawn)
    begun = infer.sample(normal(Y), init=draws, draws=20, warmup=20, chains=2, quiet=True)
    assert begun["m"].shape == (2, 20)
    with pytest.raises(OptionError, match=r"infer\.loo takes the draws of a run"):
        infer.loo(draws)
    stages = draws.stages[0]
    assert stages["power"][0] == 0 and stages["power"][-1] == 1 and np.all(np.diff(stages["power"]) > 0)
    assert np.all(stages["ess"][1:-1] == pytest.approx(100, abs=1e-3)) and stages["ess"][-1] >= 100 - 1e-3


def test_few_ancestors_and_apart_populations_have_notices_with_remedies_that_work():
    codes = [
        notice.code for notice in found(narrow(0.02), infer.RandomWalk(), particles=200, moves=10).notices
    ]
    assert "few_ancestors" in codes
    better = found(narrow(0.02), infer.RandomWalk(), particles=4000, moves=10)
    assert "few_ancestors" not in [notice.code for notice in better.notices]
    assert better.log_evidence.value == pytest.approx(np.log(0.02), abs=1.0)

    @ac.model
    def far(y):
        with ac.plate("i", 20):
            x = ac.sample("x", dist.Normal(0.0, 5.0))
            ac.sample("y", dist.Normal(x, 0.1), obs=y)

    options = dict(kernel=infer.RandomWalk(), moves=10)
    apart = found(far(np.zeros(20)), particles=100, **options)
    codes = {notice.code for notice in apart.notices}
    assert {"populations_disagree", "short_moves"} <= codes
    assert "'x'" in next(str(each) for each in apart.notices if each.code == "short_moves")
    less = found(far(np.zeros(20)), kernel=infer.NUTS(), particles=500, moves=10)
    assert not {"populations_disagree", "short_moves"} & {notice.code for notice in less.notices}


def test_a_short_moves_notice_goes_away_with_more_moves():
    options = dict(kernel=infer.RandomWalk(), seed=1)
    short = found(normal(Y), particles=400, moves=2, **options)
    assert "short_moves" in [notice.code for notice in short.notices]
    assert not found(normal(Y), particles=2000, moves=40, **options).notices


def test_likelihoods_that_are_no_numbers_count_as_zero_and_are_told():
    @ac.model
    def partly():
        x = ac.sample("x", dist.Normal(0.0, 1.0))
        ac.factor("f", jnp.where(x > 0, -0.0 * x, jnp.nan))

    draws = found(partly(), particles=2000, moves=10)
    assert "likelihood_not_finite" in [notice.code for notice in draws.notices]
    assert np.all(draws["x"] > 0)
    assert draws.log_evidence.value == pytest.approx(np.log(0.5), abs=0.3)


def test_a_likelihood_that_is_zero_everywhere_is_explained():
    with pytest.raises(
        InitializationError, match=r"(?s)population 0: .*200 tries, drawn from the prior.*'f'"
    ):
        found(narrow(0.0), **SMALL)


def test_a_population_that_fails_is_left_out(monkeypatch):
    whole = found(narrow(0.006), populations=8, **SMALL)  # 1.2 draws of the prior are possible, on average
    failed = [notice for notice in whole.notices if notice.code == "population_failed"]
    assert failed and 0 < len(whole.log_weights) < 8
    assert str(failed[0]).count("population ") >= 1
    monkeypatch.setattr(machine, "MOST_STAGES", 1)
    with pytest.raises(SamplingError, match=r"after 1 stages the likelihood has the power 0\.0"):
        found(normal(Y), executor=infer.Serial(), **SMALL)


@ac.model
def improper():
    x = ac.sample("x", dist.ImproperUniform(dist.constraints.real, (), ()))
    ac.sample("y", dist.Normal(x, 1.0), obs=0.0)


def test_priors_that_cannot_be_drawn_from_are_refused():
    with pytest.raises(ModelError, match=r"infer\.smc: site 'x'.*improper"):
        found(improper())


@each(
    {
        "particles": ({"particles": 105}, ["multiple of moves", "105", "100"]),
        "few particles": ({"particles": 30, "moves": 10}, ["4 times", "30"]),
        "no population": ({"populations": 0}, ["populations", "at least 1", "0"]),
        "one move": ({"moves": 1}, ["moves", "at least 2", "1"]),
        "ess": ({"ess": 1.0}, ["ess", "(0, 1)", "1.0"]),
        "seed": ({"seed": -1}, ["seed", "-1"]),
        "resampling": ({"resampling": infer.Systematic}, ["resampling", "infer.Systematic()", "parentheses"]),
        "kernel": ({"kernel": infer.ChEES()}, ["kernel", "ChEES", "infer.NUTS()"]),
        "slices": ({"kernel": infer.Slice()}, ["kernel", "Slice", "RandomWalk"]),
        "robust": ({"kernel": infer.RandomWalk(metric="robust")}, ["kernel", "RandomWalk"]),
        "tempered": ({"kernel": infer.Tempered()}, ["kernel", "Tempered"]),
        "no kernel": ({"kernel": 3}, ["sampler", "infer.NUTS()"]),
        "executor": ({"executor": infer.Devices()}, ["infer.smc", "Devices", "Each population", "Threads()"]),
        "unknown": ({"particle": 100}, ["'particle'", "Did you mean 'particles'?"]),
        "store": ({"store": "run"}, ["store", "RunFolder"]),
    }
)
def test_bad_options_are_refused(case):
    options, words = case
    with pytest.raises(OptionError) as raised:
        found(normal(Y), **options)
    for word in words:
        assert word in str(raised.value)


def test_a_model_that_was_not_called_is_refused():
    with pytest.raises(OptionError, match="Call it with its data"):
        found(normal)


def test_findings_of_nothing_are_an_interruption():
    manifest = found(normal(Y), infer.RandomWalk(), populations=1, **SMALL).manifest
    assert [each.code for each in findings([Ended(0, {}, None, {})], manifest)] == ["interrupted"]
