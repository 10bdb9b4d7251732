"""Check what is evaluated at draws: log likelihood, prior and joint, and what a model returns."""

import jax.numpy as jnp
import numpy as np
import pytest
from predicted_models import QUIET, X, Y, groups, line, values
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import DataError, ModelError, SiteError


@ac.model
def normal(x):
    s = ac.sample("s", dist.InverseGamma(2, 3))
    m = ac.sample("m", dist.Normal(0, jnp.sqrt(s)))
    with ac.plate("n", len(x)):
        ac.sample("x", dist.Normal(m, jnp.sqrt(s)), obs=x)


def test_the_parts_of_a_log_density_are_those_known_exactly():
    at = {"s": np.array([[1.0, 2.0]]), "m": np.array([[1.0, 1.0]])}
    model = normal(np.array([1.5, 2.0]))
    likelihood = infer.log_likelihood(at, model)["x"]
    np.testing.assert_allclose(infer.log_prior(at, model), [[-2.221714, -2.897729]], atol=5e-7)
    np.testing.assert_allclose(likelihood.sum(-1), [[-2.462877, -2.843524]], atol=5e-7)
    np.testing.assert_allclose(infer.log_joint(at, model), [[-4.684591, -5.741253]], atol=5e-7)


def test_each_observation_has_its_log_likelihood():
    at = values()
    found = infer.log_likelihood(at, line(X, Y))
    mean = at["a"][..., None] + at["b"][..., None] * X
    np.testing.assert_allclose(found["y"], stats.norm.logpdf(Y, mean, at["s"][..., None]), rtol=1e-12)
    assert "LogLikelihood of line: 2 chains x 40 draws; y[12]" in repr(found)


def test_the_log_joint_is_that_of_the_run_but_for_the_jacobian():
    draws = infer.sample(line(X, Y), draws=20, warmup=60, chains=2, **QUIET)
    jacobian = np.log(draws["s"])  # of the exponential
    np.testing.assert_allclose(infer.log_joint(draws) + jacobian, draws.stats["lp"], rtol=1e-12)


def test_masks_scales_factors_and_multivariate_sites_count_as_in_the_density():
    seen = np.array([True, False, True])

    @ac.model
    def mixed(y, v):
        m = ac.sample("m", dist.Normal(0, 1))
        ac.factor("weight", -3.0 * m)
        with ac.plate("row", 3), handlers.mask(mask=seen), handlers.scale(scale=2.0):
            ac.sample("y", dist.Normal(m, 1), obs=y)
        with ac.plate("vector", 2):
            ac.sample("v", dist.MultivariateNormal(jnp.zeros(3), jnp.eye(3)), obs=v)

    at = {"m": np.array([[0.5, -1.0]])}
    model = mixed(np.array([1.0, np.nan, 2.0]), np.ones((2, 3)))
    found = infer.log_likelihood(at, model)
    assert found["v"].shape == (1, 2, 2) and found["y"].shape == (1, 2, 3)
    assert np.all(found["y"][..., 1] == 0)
    np.testing.assert_allclose(found["y"][0, 0, 2], 2 * stats.norm.logpdf(2.0, 0.5))
    whole = infer.log_prior(at, model) - 3 * at["m"] + found["y"].sum(-1) + found["v"].sum(-1)
    np.testing.assert_allclose(infer.log_joint(at, model), whole)


def test_masked_entries_are_left_out_of_the_tree():
    @ac.model
    def table(y, seen):
        m = ac.sample("m", dist.Normal(0, 1))
        with ac.plate("column", 3, coords=["a", "b", "c"]):
            with handlers.mask(mask=np.array([True, True, False])):
                ac.sample("z", dist.Normal(m, 1), obs=np.ones(3))
            with ac.plate("row", 2), handlers.mask(mask=seen):
                ac.sample("y", dist.Normal(m, 1), obs=y)

    at, seen = {"m": np.array([[0.5, -1.0]])}, np.array([[True, False, True], [True, True, False]])
    found = infer.log_likelihood(at, table(np.ones((2, 3)), seen))
    group = found.to_arviz()["log_likelihood"]
    assert list(group["y_entry"].values) == [0, 2, 3, 4] and list(group["z_entry"].values) == ["a", "b"]
    np.testing.assert_array_equal(group["y"].values, found["y"][:, :, seen])
    hidden = infer.log_likelihood(at, table(np.ones((2, 3)), np.zeros((2, 3), bool)))
    assert list(hidden.to_arviz()["log_likelihood"].data_vars) == ["z"]


def test_what_a_model_returns_has_an_array_for_each_draw():
    at = values()
    found = infer.returned(at, line(X, Y))
    np.testing.assert_array_equal(found["at zero"], at["a"])
    np.testing.assert_allclose(found["means"][..., 3], at["a"] + at["b"] * X[3], rtol=1e-14)
    assert infer.returned({"s": at["s"], "m": at["a"]}, normal(np.ones(2))) is None


def test_a_model_with_no_number_to_return_is_refused():
    @ac.model
    def wordy(y):
        ac.sample("y", dist.Normal(ac.sample("m", dist.Normal(0, 1)), 1), obs=y)
        return "done"

    with pytest.raises(DataError, match="returns a str"):
        infer.returned({"m": np.zeros((1, 2))}, wordy(1.0))


@pytest.mark.parametrize("function", [infer.log_likelihood, infer.log_prior, infer.log_joint, infer.returned])
def test_an_unknown_that_the_draws_lack_or_that_does_not_fit_is_named(function):
    with pytest.raises(SiteError, match=r"'s'.*hold no values of it"):
        function({"a": np.zeros((1, 2)), "b": np.zeros((1, 2))}, line(X, Y))
    at = {"mu": np.zeros((1, 2)), "effect": np.zeros((1, 2, 2))}
    with pytest.raises(SiteError, match=r"'effect'.*shape \(2,\).*needs \(3,\)"):
        function(at, groups(3, np.array([0, 1]), np.zeros(2)))


def test_a_model_without_observations_has_no_likelihood():
    with pytest.raises(ModelError, match="observes nothing"):
        infer.log_likelihood({"a": np.zeros((1, 2))}, ac.model(lambda: ac.sample("a", dist.Normal(0, 1)))())


@ac.model
def counted_by(way, seen):
    m = ac.sample("m", dist.Normal(0, 1))
    law, y = dist.Uniform(0, 1), np.full(3, 0.5)
    match way:
        case "nothing":
            ac.sample("y", law.expand((3,)), obs=y)
        case "handler":
            with ac.plate("row", 3), handlers.mask(mask=seen):
                ac.sample("y", law, obs=y)
        case "scale":
            with ac.plate("row", 3), handlers.scale(scale=np.where(seen, 2.0, 0.0)):
                ac.sample("y", law, obs=y)
        case "distribution":
            ac.sample("y", law.mask(seen), obs=y)
        case "expanded":
            ac.sample("y", law.mask(np.array(True)).expand((3,)).mask(seen), obs=y)
        case "event":
            ac.sample(
                "y", law.mask(np.stack([seen, np.zeros(3, bool)], -1)).to_event(1), obs=np.stack([y, y], -1)
            )
        case "missing":
            with ac.plate("row", 3):
                ac.sample("y", law, obs=y, obs_mask=seen)
        case "elements":
            both = np.stack([seen, np.zeros(3, bool)], -1)
            whole = dist.MultivariateNormal(np.zeros(2), np.eye(2))
            with ac.plate("row", 3):
                ac.sample("y", whole, obs=np.stack([y, y], -1), obs_mask=both)
        case "steps":
            ac.scan(lambda carry, here: (carry, ac.sample("y", law.mask(here), obs=0.5)), m, seen)
        case "branch":
            ac.cond(
                m < 0,
                lambda: ac.sample("y", law.expand((3,)), obs=y),
                lambda: ac.sample("y", law.mask(seen), obs=y),
            )


@pytest.mark.parametrize(
    "way",
    [
        "nothing",
        "handler",
        "scale",
        "distribution",
        "expanded",
        "event",
        "missing",
        "elements",
        "steps",
        "branch",
    ],
)
def test_entries_are_left_out_by_masks_and_not_because_they_are_zero(way):
    # The log density of Uniform(0, 1) is 0 at each of its values.
    seen = np.array([True, False, True])
    fill = {"missing": {"y_unobserved": 1}, "elements": {"y_unobserved": 4}}.get(way, {})
    at = {"m": np.ones((1, 2))} | {name: np.full((1, 2, size), 0.5) for name, size in fill.items()}
    group = infer.log_likelihood(at, counted_by(way, seen)).to_arviz()["log_likelihood"]
    if way == "nothing":
        assert group["y"].shape == (1, 2, 3)
    else:
        assert list(group["y_entry"].values) == [0, 2]


def test_an_entry_that_counts_for_one_draw_is_an_observation():
    seen = np.array([True, False, True])
    at = {"m": np.array([[-1.0, 1.0]])}
    group = infer.log_likelihood(at, counted_by("branch", seen)).to_arviz()["log_likelihood"]
    assert group["y"].shape == (1, 2, 3)
