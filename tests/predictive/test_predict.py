"""Check predictions: conditional on the draws, the same bits however they are made, and refused where they cannot be.

The tests of chance compare means of independent draws with exact figures: 8 comparisons at 4.9 standard errors, so that
the false-alarm rate of all is 8e-6. Keys are fixed.
"""

import pickle

import jax
import numpy as np
import pytest
from paced import paced
from predicted_models import QUIET, RNG, X, Y, groups, line, values

import accord as ac
import accord.distributions as dist
from accord import handlers, infer, reparam
from accord.core.errors import DataError, ModelError, OptionError, SiteError
from accord.density.joint import model_of
from accord.predictive import over_draws

RUN = dict(draws=30, warmup=60, chains=[1, 4], seed=2, **QUIET)


@pytest.fixture(scope="module")
def draws():
    return infer.sample(line(X, Y), **RUN)


def within(found, exact, sd):
    """Whether a mean of independent numbers is within 4.9 standard errors of what it should be."""
    return abs(np.mean(found) - exact) < 4.9 * sd / np.sqrt(np.size(found))


def test_what_was_observed_is_predicted_with_the_models_own_data(draws):
    found = infer.predict(draws)
    assert {name: array.shape for name, array in found.items()} == {"mean": (2, 30, 12), "y": (2, 30, 12)}
    np.testing.assert_allclose(found["mean"], draws["mean"], rtol=1e-14)
    assert found.kind == "posterior_predictive" and found.predicted == ("y",) and not found.notices
    assert "predicted: y[12]; computed: mean[12]" in repr(found)
    assert found["y"].dtype == np.float64 and not np.array_equal(found["y"], np.broadcast_to(Y, (2, 30, 12)))


def test_new_data_of_any_size_may_leave_out_what_is_predicted(draws):
    found = infer.predict(draws, line(np.array([0.0, 1.0, 2.0])))
    np.testing.assert_allclose(found["mean"][..., 1], draws["a"] + draws["b"], rtol=1e-14)
    assert found["y"].shape == (2, 30, 3) and found.kind == "predictions" and not found.notices


def test_sites_says_what_is_returned(draws):
    assert list(infer.predict(draws, sites=["y"])) == ["y"]
    np.testing.assert_array_equal(infer.predict(draws, sites=["y"])["y"], infer.predict(draws)["y"])


def test_bits_do_not_depend_on_blocks_nor_on_the_chains_beside(draws):
    whole = infer.predict(draws)["y"]
    alone = infer.predict({name: draws[name][1:] for name in "abs"}, line(X, Y))["y"]
    assert not np.array_equal(alone[0], whole[1])  # chain 0, since a mapping does not say that it is chain 4
    fourth = infer.sample(line(X, Y), **{**RUN, "chains": [4]})
    np.testing.assert_array_equal(infer.predict(fourth)["y"][0], whole[1])
    for rows in (1, 4, 16):
        found = infer.predict(draws, executor=paced(predicted_rows=rows))
        np.testing.assert_array_equal(found["y"], whole)


def test_the_seed_chooses_the_draws(draws):
    first, again, other = (infer.predict(draws, seed=seed)["y"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.any(first == other)


def test_draws_from_a_folder_are_predicted_from_alike(draws, tmp_path, monkeypatch):
    infer.sample(line(X, Y), **RUN, store=infer.RunFolder(tmp_path / "run"))
    monkeypatch.setattr("accord.mcmc.stored.record.KEPT_BYTES", 0)  # leave the draws on disk
    loaded = infer.load(tmp_path / "run")
    found = infer.predict(loaded, line(X, Y))
    np.testing.assert_array_equal(found["y"], infer.predict(draws)["y"])
    assert found.kind == "posterior_predictive"
    with pytest.raises(OptionError, match=r"loaded without their model.*predict\(draws, model\(...\)\)"):
        infer.predict(loaded)
    resumed = infer.resume(tmp_path / "run", line(X, Y), quiet=True)
    np.testing.assert_array_equal(infer.predict(resumed)["y"], found["y"])


def test_groups_that_were_not_among_the_data_are_drawn_from_their_prior():
    given = {"mu": np.full((1, 2000), 3.0), "effect": np.zeros((1, 2000, 2))}
    new = groups(3, np.array([0, 1, 2]))
    with pytest.raises(
        SiteError, match=r"(?s)'effect'.*have shape \(2,\).*needs \(3,\).*'group'.*redraw=\['eff"
    ):
        infer.predict(given, new, quiet=True)
    found = infer.predict(given, new, redraw=["effect"], quiet=True)
    assert [notice.code for notice in found.notices] == ["drawn_from_prior"]
    assert within(found["effect"], 3.0, 1.0) and within(found["y"][..., 0], 3.0, np.sqrt(2))
    lacking = infer.predict({"mu": given["mu"]}, new, redraw=["effect"], quiet=True)
    np.testing.assert_array_equal(lacking["effect"], found["effect"])


def test_the_model_without_its_reparameterisation_takes_what_the_run_has_computed():
    # Else its effects would come from their prior, with nothing but an informative notice.
    group = np.array([0, 0, 1, 2])
    model = groups(3, group, np.array([0.1, 0.4, -1.0, 2.0]))
    with_base = handlers.reparam(model, {"effect": reparam.LocScale()})
    run = infer.sample(with_base, draws=20, warmup=20, chains=1, **QUIET)
    assert "effect_base" in run and run["effect"].shape == (1, 20, 3)
    ahead = infer.predict(run, groups(3, group), quiet=True)
    assert "drawn_from_prior" not in {notice.code for notice in ahead.notices}
    assert "effect" not in ahead.anew
    found, expected = infer.log_likelihood(run, model)["y"], infer.log_likelihood(run)["y"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_an_unknown_that_a_run_lacks_is_drawn_with_a_notice(draws, capsys):
    @ac.model
    def wider(x):
        a = ac.sample("a", dist.Normal(0, 10))
        extra = ac.sample("extra", dist.Normal(0, 1))
        ac.sample("y", dist.Normal(a + extra * x, 1.0))

    found = infer.predict(draws, wider(X))
    assert {notice.code for notice in found.notices} == {"drawn_from_prior", "unused_draws"}
    assert "'extra' comes from the prior" in capsys.readouterr().err
    assert infer.predict(draws, wider(X), quiet=True)["extra"].shape == (2, 30)
    assert not capsys.readouterr().err


def test_the_posterior_predictive_of_a_coin_is_exact():
    @ac.model
    def coin(n, y=None):
        p = ac.sample("p", dist.Beta(2, 2))
        with ac.plate("toss", n):
            ac.sample("y", dist.Bernoulli(p), obs=y)

    found = infer.predict({"p": RNG.beta(10, 4, size=(4, 5000))}, coin(1))
    assert found["y"].dtype.kind == "i"  # discrete sites can be predicted though they could not be sampled
    assert within(found["y"], 10 / 14, np.sqrt(10 * 4) / 14)


def test_the_prior_of_a_model_is_its_prior_predictive():
    model = line(X, Y).condition({"b": 2.0})
    found = model.prior(draws=6, sites=["b", "y"], seed=4, precision="float32", quiet=True)
    same = infer.prior_predictive(model, draws=6, sites=["b", "y"], seed=4, precision="float32", quiet=True)
    assert dict(found.items()).keys() == {"b", "y"} and found.kind == same.kind == "prior_predictive"
    for name in found:
        np.testing.assert_array_equal(found[name], same[name])
    assert len(np.unique(found["b"])) == 6  # what was observed is drawn
    with pytest.raises(OptionError, match="prior has no option 'draw'"):
        line(X).prior(draw=5)


def test_the_prior_predictive_is_exact():
    @ac.model
    def normal(x):
        s = ac.sample("s", dist.InverseGamma(2, 3))
        m = ac.sample("m", dist.Normal(0, s**0.5))
        with ac.plate("n", 2):
            ac.sample("x", dist.Normal(m, s**0.5), obs=x)

    found = infer.prior_predictive(normal(np.array([1.5, 2.0])), draws=20_000)
    precision = 1 / found["s"]  # Gamma(2, 3): the variance of s itself is infinite
    assert within(precision, 2 / 3, np.sqrt(2) / 3)
    assert within(found["m"] / found["s"] ** 0.5, 0.0, 1.0)
    assert within((found["x"][..., 0] - found["m"]) ** 2 * precision, 1.0, np.sqrt(2))
    assert within((found["x"][..., 0] - found["x"][..., 1]) ** 2 * precision, 2.0, 2 * np.sqrt(2))
    assert found.predicted == ("x",)
    np.testing.assert_array_equal(infer.prior_predictive(normal(None), draws=7)["x"], found["x"][:, :7])


def test_draws_from_the_prior_are_draws_too():
    prior = infer.prior_predictive(line(X), draws=20)
    assert infer.log_likelihood(prior, line(X, Y))["y"].shape == (1, 20, 12)
    found = infer.predict(prior, line(X))
    np.testing.assert_allclose(found["mean"], prior["mean"], rtol=1e-14)


def test_rows_in_files_and_plates_in_chunks_are_predicted_like_others(tmp_path):
    @ac.model
    def chunks(x, y):
        b = ac.sample("b", dist.Normal(0, 10))
        with ac.plate("row", x.shape[0], chunk=5):
            ac.sample("y", dist.Normal(b * x, 1), obs=y)

    at = {"b": values()["b"]}
    for name, array in (("x", X), ("y", Y)):
        np.save(tmp_path / f"{name}.npy", array)
    in_files = chunks(*(infer.rows(tmp_path / f"{name}.npy") for name in "xy"))
    found, other = infer.predict(at, in_files), infer.predict(at, chunks(X, Y))
    np.testing.assert_array_equal(found["y"], other["y"])
    again = infer.predict(at, model_of(chunks(X, Y).log_density()))
    np.testing.assert_array_equal(found["y"], again["y"])


def test_later_sites_see_what_was_predicted_before_them():
    @ac.model
    def pair(y=None, z=None):
        y = ac.sample("y", dist.Normal(0, 1), obs=y)
        ac.sample("z", dist.Normal(100 * y, 1e-9), obs=z)

    found = infer.prior_predictive(pair(1.0, 100.0), draws=50)
    np.testing.assert_allclose(found["z"], 100 * found["y"], atol=1e-6)


def test_a_model_may_need_the_numbers_behind_its_arguments():
    @ac.model
    def chosen(y):
        mu = ac.sample("mu", dist.Normal(0, 1))
        kept = y[~np.isnan(y)]
        ac.sample("y", dist.Normal(mu, 1).expand(kept.shape), obs=kept)

    found = infer.predict({"mu": np.zeros((1, 5))}, chosen(np.array([1.0, np.nan, 2.0])), quiet=True)
    assert found["y"].shape == (1, 5, 2)


def test_an_unknown_can_be_set_by_intervention(draws):
    found = infer.predict(draws, line(X, Y).do({"a": 0.0}))
    np.testing.assert_allclose(found["mean"], draws["b"][..., None] * X, rtol=1e-14)
    assert list(found) == ["mean", "y"] and not found.notices


def test_a_condition_is_drawn_like_other_observations_and_an_intervention_is_kept():
    whole = line(X, Y)
    fixed = {"b": np.float64(2.0)}
    given = {"a": np.zeros((1, 50)), "s": np.ones((1, 50))}
    drawn = infer.predict(given, whole.condition(fixed), quiet=True)
    kept = infer.predict(given, whole.do(fixed), quiet=True)
    assert [(each.code, each.sites) for each in drawn.notices] == [("condition_drawn", ("b",))]
    assert "use `.do`" in drawn.notices[0].remedy and not kept.notices
    outcome = infer.predict(given | {"b": np.zeros((1, 50))}, line(X) | {"y": Y}, quiet=True)
    assert not outcome.notices and outcome["y"].shape == (1, 50, 12)  # nothing depends on it
    assert len(np.unique(drawn["b"])) == 50 and "b" in drawn.predicted
    assert "b" not in dict(kept.items())


def test_a_distribution_outside_of_the_model_is_the_same_afterwards():
    outside = dist.TruncatedNormal(low=1, high=2)
    before = pickle.dumps(outside)

    @ac.model
    def held(y=None):
        ac.sample("y", dist.Normal(ac.sample("m", outside), 1), obs=y)

    found = infer.prior_predictive(held(), draws=20)
    assert np.all((found["m"] > 1) & (found["m"] < 2))
    infer.predict(found.sites | {"y": found["m"]}, held().do({"y": 0.0}))
    assert pickle.dumps(outside) == before


def test_float32_runs_predict_in_float32():
    run = infer.sample(line(X, Y), **{**RUN, "draws": 10, "precision": "float32"})
    assert infer.predict(run)["y"].dtype == infer.log_likelihood(run)["y"].dtype == np.float32


def test_predictions_that_are_not_finite_are_told(capsys):
    @ac.model
    def rates(n=None):
        rate = ac.sample("rate", dist.Normal(0, 1))
        ac.deterministic("log rate", np.log(2.0) / (rate - rate))
        ac.sample("n", dist.Normal(rate, 1), obs=n)

    found = infer.predict({"rate": np.zeros((1, 4))}, rates())
    assert [(notice.code, notice.sites) for notice in found.notices] == [("not_finite", ("log rate",))]
    assert "4 of 4 values of 'log rate'" in capsys.readouterr().err


def test_what_was_computed_stands_beside_the_draws_in_one_tree(draws):
    prior = infer.prior_predictive(line(X), draws=5)
    ahead = infer.predict(draws, line(X[:3]))
    tree = draws.to_arviz(infer.predict(draws), ahead, infer.log_likelihood(draws), prior)
    added = ["posterior_predictive", "predictions", "predictions_constant_data", "log_likelihood"]
    assert list(tree.children)[-6:] == [*added, "prior", "prior_predictive"]
    assert tree["posterior_predictive"]["y"].dims == ("chain", "draw", "row")
    assert list(tree["predictions"]["chain"].values) == [1, 4]
    assert tree["predictions_constant_data"]["x"].shape == (3,)
    assert set(tree["prior"].data_vars) == {"a", "b", "s", "mean"}
    assert list(tree["prior_predictive"].data_vars) == ["y"]
    assert tree["prior_predictive"].sizes["draw"] == 5
    assert list(ahead.to_arviz().children) == ["predictions", "predictions_constant_data"]


def with_factor():
    @ac.model
    def weighed():
        m = ac.sample("m", dist.Normal(0, 1))
        ac.factor("weight", -(m**2))
        ac.sample("y", dist.Normal(m, 1))

    return weighed()


def improper():
    @ac.model
    def flat(y=None):
        m = ac.sample("m", dist.ImproperUniform(dist.constraints.real, (), ()))
        ac.sample("y", dist.Normal(m, 1), obs=y)

    return flat()


REFUSED = {
    "a model without its data": (lambda d: infer.predict(d, line), OptionError, ["Call it with its data"]),
    "inside of a trace": (
        lambda d: jax.jit(lambda x: infer.predict(d, line(x))["y"])(X),
        OptionError,
        ["inside of jax.jit"],
    ),
    "no draws": (lambda d: infer.predict([1.0], line(X)), OptionError, ["infer.sample", "list"]),
    "a mapping without a model": (lambda d: infer.predict(values()), OptionError, ["model(...)"]),
    "a log likelihood": (
        lambda d: infer.predict(infer.log_likelihood(d), line(X)),
        OptionError,
        ["LogLikelihood"],
    ),
    "predictions without unknowns": (
        lambda d: infer.predict(infer.predict(d), line(X)),
        OptionError,
        ["no draws of unknowns"],
    ),
    "an empty mapping": (lambda d: infer.predict({}, line(X)), OptionError, ["there are no draws"]),
    "one axis": (lambda d: infer.predict({"a": np.zeros(3)}, line(X)), DataError, ["'a'", "value[None]"]),
    "uneven draws": (
        lambda d: infer.predict({"a": np.zeros((1, 3)), "b": np.zeros((1, 4))}, line(X)),
        DataError,
        ["'b'", "(1, 4)", "(1, 3)"],
    ),
    "no numbers": (lambda d: infer.predict({"a": [["x"]]}, line(X)), DataError, ["'a'", "not numbers"]),
    "a name that is no site": (
        lambda d: infer.predict({"slop": np.zeros((1, 3))} | values(1, 3), line(X)),
        OptionError,
        ["no site 'slop'"],
    ),
    "another model": (
        lambda d: infer.predict(d, groups(2, np.array([0, 1]))),
        OptionError,
        ["another model"],
    ),
    "sites that are not there": (lambda d: infer.predict(d, sites=["yy"]), OptionError, ["Did you mean 'y'"]),
    "sites as a string": (lambda d: infer.predict(d, sites="y"), OptionError, ["sites=['y']"]),
    "redraw of no unknown": (lambda d: infer.predict(d, redraw=["mean"]), OptionError, ["unknowns", "mean"]),
    "a bad seed": (lambda d: infer.predict(d, seed=-1), OptionError, ["seed"]),
    "a misspelt option": (lambda d: infer.predict(d, sede=1), OptionError, ["Did you mean 'seed'"]),
    "no count of draws": (lambda d: infer.prior_predictive(line(X), draws=0), OptionError, ["draws"]),
    "draws that are observed": (
        lambda d: infer.predict(d, line(X, Y).condition({"a": 1.0})),
        ModelError,
        ["'a' is observed", "`.do`"],
    ),
    "a prior with a factor": (
        lambda d: infer.prior_predictive(with_factor()),
        SiteError,
        ["factor 'weight'"],
    ),
    "an improper prior": (lambda d: infer.prior_predictive(improper()), SiteError, ["'m'", "no draws"]),
    "draws of a function": (
        lambda d: infer.predict(
            infer.sample(
                ac.LogDensity.from_function(lambda q: -(q**2), 0.0), draws=5, warmup=20, chains=1, **QUIET
            )
        ),
        ModelError,
        ["log density of a function", "`draws[name]`", "computed={...}", "`ac.model`"],
    ),
    "the prior of a function": (
        lambda d: infer.prior_predictive(ac.LogDensity.from_function(lambda q: -(q**2), 0.0)),
        OptionError,
        ["got LogDensity. A log density has no statements", "`ac.model`"],
    ),
    "populations of a function": (
        lambda d: infer.smc(ac.LogDensity.from_function(lambda q: -(q**2), 0.0), particles=100, quiet=True),
        ModelError,
        ["infer.smc needs prior and likelihood apart", "infer.BridgeSampling()", "`ac.model`"],
    ),
    "a group twice": (
        lambda d: d.to_arviz(infer.predict(d), infer.predict(d)),
        OptionError,
        ["two groups", "posterior_predictive"],
    ),
    "what was computed from other draws": (
        lambda d: d.to_arviz(infer.predict(values(), line(X))),
        OptionError,
        ["chains [0, 1] with 40 draws", "[1, 4] with 30"],
    ),
    "no group": (lambda d: d.to_arviz(d), OptionError, ["infer.predict", "Draws"]),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_predicted_is_refused_by_name(draws, case):
    call, error, words = case
    with pytest.raises(error) as caught:
        call(draws)
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_result_that_memory_cannot_hold_is_refused_before_it_is_made(draws, monkeypatch):
    monkeypatch.setattr(over_draws, "free_bytes", lambda: 10_000)
    assert infer.predict(draws, line(X[:1]))["y"].shape == (2, 30, 1)
    with pytest.raises(OptionError, match=r"GiB.*sites=\[\.\.\.\]"):
        infer.predict(draws)
