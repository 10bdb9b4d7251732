"""Hold log densities of which sites are integrated out against closed forms, and draws of these against their law.

A right program fails `test_draws_of_a_collapsed_site_have_its_law` with a chance of 4e-6, its false-alarm rate: two
statistics of chi-square type, each beyond its quantile of 1e-6 at either end; keys are fixed.
"""

import cloudpickle
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from collapsed_models import (
    CASES,
    GROUP,
    SIGMA,
    T,
    V,
    X,
    Y,
    regression,
    regression_by_hand,
    schools,
    schools_by_hand,
)
from laws import assert_close, compiled, each
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import DataError, ModelError, SiteError
from accord.density import LogDensity
from accord.density.blaming import blame
from accord.density.eliminate.collapsed import CollapsedProgram
from accord.density.given import position_with
from accord.density.weights import MAP, MLE

POSITIONS = np.array([[0.3, 0.4], [-1.2, 1.5], [2.0, -1.0]])


def collapsed(model=None, names=("theta",)):
    return handlers.collapse(schools() if model is None else model, list(names))


def at(density, position=POSITIONS[0]):
    """The log density, without the cost of doing operation after operation."""
    return compiled(density.__call__)(position)


@pytest.fixture(scope="module")
def schools_density():
    return collapsed().log_density()


@each(CASES, slow={"vectors in a plate"})
def test_log_density_and_gradient_are_those_of_the_closed_form(case):
    model, names, by_hand, groups = case
    density = handlers.collapse(model(), names).log_density()
    assert density.dim == 2 and (density.program.groups.num, density.program.groups.size) == groups

    def both(function):
        return compiled(lambda positions: jax.lax.map(jax.value_and_grad(function), positions))(POSITIONS)

    (values, slopes), (known, known_slopes) = both(density), both(by_hand)
    assert_close(values, known, rtol=1e-10, atol=1e-10)
    assert_close(slopes, known_slopes, rtol=1e-8, atol=1e-8)


def test_second_derivatives_are_those_of_the_closed_form(schools_density):
    found, known = (compiled(jax.hessian(each))(POSITIONS[0]) for each in (schools_density, schools_by_hand))
    assert_close(found, known, rtol=1e-9, atol=1e-9)


def test_a_single_group_is_factored_as_one_matrix():
    """Several at once would have the chains of a run wait for each other."""
    density = handlers.collapse(regression(), ["beta"]).log_density()
    text = str(jax.make_jaxpr(density.value_and_grad)(POSITIONS[0]))
    assert "f64[7,7] = cholesky" in text and "f64[1,7,7] = cholesky" not in text


def test_terms_add_up_to_the_log_density(schools_density):
    terms = compiled(schools_density.site_terms)(POSITIONS[0])
    assert {*terms} == {"mu", "tau", "theta", "y", "collapsed"}
    assert_close(sum(terms.values()), at(schools_density))


def test_a_scale_next_to_zero_leaves_the_gradient_exact(schools_density):
    value, (slope, _) = compiled(schools_density.value_and_grad)(np.array([4.0, -25.0]))
    expected = stats.norm(4.0, SIGMA).logpdf(Y).sum() + stats.norm(0, 5).logpdf(4.0)
    assert_close(slope, ((Y - 4.0) / SIGMA**2).sum() - 4.0 / 25, rtol=1e-9)
    assert_close(value, expected + stats.halfcauchy(0, 5).logpdf(0.0) - 25.0, rtol=1e-9)


def test_the_layout_has_the_sites_where_they_were(schools_density):
    layout = schools_density.layout
    assert [(e.name, e.kind) for e in layout.sites] == [
        ("mu", "latent"),
        ("tau", "latent"),
        ("theta", "collapsed"),
        ("twice", "deterministic"),
        ("y", "observed"),
    ]
    assert [e.name for e in layout.drawn] == ["mu", "tau", "theta", "twice"]
    assert layout["theta"].dims == ("school",) and list(layout.coords["school"]) == list(range(8))


def test_a_chain_of_sites_is_collapsed_at_once():
    @ac.model
    def nested(y):
        scale = ac.sample("scale", dist.HalfNormal(1))
        mean = ac.sample("mean", dist.Normal(0, 2))
        with ac.plate("group", 3):
            theta = ac.sample("theta", dist.Normal(mean, scale))
            ac.sample("y", dist.Normal(theta, 1.0), obs=y)

    y = np.array([0.1, 1.0, -0.4])
    model = handlers.collapse(handlers.collapse(nested(y), ["theta"]), ["mean"])
    density = model.log_density()
    covariance = 4.0 + np.eye(3) * (1.0 + np.exp(0.6))
    expected = stats.multivariate_normal(np.zeros(3), covariance).logpdf(y)
    expected += stats.halfnorm(0, 1).logpdf(np.exp(0.3)) + 0.3
    assert density.dim == 1 and density.program.groups.names == ("mean", "theta")
    assert_close(at(density, np.array([0.3])), expected, rtol=1e-11)


def test_what_a_site_follows_from_can_be_collapsed(schools_density):
    centred = schools_density
    base = handlers.reparam(schools(), {"theta": ac.reparam.LocScale()})
    other = collapsed(base, ["theta_base"]).log_density()
    assert_close(at(other), at(centred), rtol=1e-12)
    assert [e.name for e in other.layout.drawn] == ["mu", "tau", "theta", "theta_base", "twice"]


def test_a_scope_around_renames_what_is_collapsed():
    model = handlers.scope(collapsed(), prefix="a")
    assert [(e.name, e.kind) for e in model.sites()][2] == ("a/theta", "collapsed")
    assert model.log_density().dim == 2


def test_a_site_that_gets_a_value_is_not_integrated_out():
    given = {"theta": np.linspace(-1, 1, 8)}
    found, expected = collapsed().condition(given).log_density(), schools().condition(given).log_density()
    assert found.layout == expected.layout and at(found) == at(expected)


def independent_of_position():
    """Of which the collapsed sites have one law, wherever `other` is, and pairs of entries are dependent."""

    @ac.model
    def model(group=GROUP, t=T, v=V):
        ac.sample("other", dist.Normal(0, 1))
        with ac.plate("group", 4):
            level = ac.sample("level", dist.Normal(0.3, 0.7))
            slope = ac.sample("slope", dist.Normal(0.0, 1.5))
        with ac.plate("row", len(t)):
            ac.sample("v", dist.Normal(level[group] + slope[group] * t, 0.5), obs=v)

    return handlers.collapse(model(), ["level", "slope"])


def test_draws_of_a_collapsed_site_have_its_law():
    density = independent_of_position().log_density()
    count, quantile = 4000, 1e-6
    positions = np.linspace(-2, 2, count)[:, None]
    values = jax.jit(jax.vmap(density.constrain))(positions)
    at_means = compiled(lambda u: density.program.means(u, density.data))(positions[0])
    draws = np.stack([values["level"], values["slope"]], axis=-1)  # by draw, group, and effect
    for group in range(4):
        rows = np.stack([np.ones(10), T], axis=1)[group == GROUP]
        precision = rows.T @ rows / 0.25 + np.diag([1 / 0.49, 1 / 2.25])
        mean = np.linalg.solve(precision, rows.T @ V[group == GROUP] / 0.25 + [0.3 / 0.49, 0.0])
        assert_close(at_means["level"][group], mean[0], rtol=1e-10)
        draws[:, group] = (draws[:, group] - mean) @ np.linalg.cholesky(precision)
    white = draws.reshape(count, 8)
    of_mean = count * np.sum(white.mean(axis=0) ** 2)
    assert stats.chi2(8).ppf(quantile) < of_mean < stats.chi2(8).isf(quantile)
    products = (white.T @ white - count * np.eye(8))[np.triu_indices(8)] / np.sqrt(count)
    products[[i for i, (a, b) in enumerate(zip(*np.triu_indices(8), strict=True)) if a == b]] /= np.sqrt(2)
    assert stats.chi2(36).ppf(quantile) < np.sum(products**2) < stats.chi2(36).isf(quantile)


def test_a_draw_is_a_function_of_the_position(schools_density):
    constrain = jax.jit(schools_density.constrain)
    first, again, other = (constrain(each)["theta"] for each in (*POSITIONS[[0, 0]], POSITIONS[0] + 1e-15))
    assert np.array_equal(first, again)
    assert np.abs(np.asarray(first) - np.asarray(other)).min() > 1e-3
    many = jax.jit(jax.vmap(schools_density.constrain))(POSITIONS)["theta"]
    assert_close(many[0], first, rtol=1e-13)


def test_what_depends_on_a_collapsed_site_follows_its_draw(schools_density):
    program, data = schools_density.program, schools_density.data
    found, at_means = compiled(lambda u: (program.values(u, data), program.means(u, data)))(POSITIONS[0])
    assert_close(found["twice"], 2 * found["theta"])
    mu, tau = POSITIONS[0][0], np.exp(POSITIONS[0][1])
    share = tau**2 / (tau**2 + SIGMA**2)
    assert_close(at_means["theta"], mu + share * (Y - mu), rtol=1e-12)
    assert_close(at_means["twice"], 2 * at_means["theta"])


def test_a_position_needs_the_other_unknowns_alone(schools_density):
    position = schools_density.unconstrain({"mu": 1.0, "tau": 2.0})
    assert_close(position, np.array([1.0, np.log(2.0)]))
    with pytest.raises(DataError, match=r"'theta' is collapsed.*Leave it out"):
        schools_density.unconstrain({"mu": 1.0, "tau": 2.0, "theta": np.zeros(8)})


@ac.model
def effect_of_a_mean(y):
    mean = ac.sample("mean", dist.Normal(0, 1))
    effect = ac.sample("effect", dist.Normal(mean, 1))
    ac.sample("y", dist.Normal(effect, 1), obs=y)


def test_a_value_that_follows_from_a_collapsed_site_too_has_no_place():
    shifted = handlers.reparam(effect_of_a_mean(0.5), {"effect": ac.reparam.LocScale()})
    density = handlers.collapse(shifted, ["mean"]).log_density()
    assert_close(density.unconstrain({"effect_base": 0.4}), np.array([0.4]))
    words = r"'effect_base' follows from .* 'mean'.*Give the value of 'effect_base'"
    with pytest.raises(DataError, match=words):
        density.unconstrain({"effect": 0.4})
    assert_close(position_with(density, {"effect_base": 0.4}, np.zeros(1))[0], np.array([0.4]))
    with pytest.raises(DataError, match=words):
        infer.sample(density, init={"effect": 0.4}, draws=20, quiet=True)


def test_other_data_of_the_same_shapes_are_looked_at_again(schools_density):
    other = schools_density.with_data({"y": Y + 1.0})
    assert other.program is schools_density.program
    assert_close(at(other), schools_by_hand(POSITIONS[0], Y + 1.0), rtol=1e-10)
    longer = schools_density.with_data({"y": np.append(Y, 3.0), "sigma": np.append(SIGMA, 2.0)})
    assert isinstance(longer.program, CollapsedProgram) and longer.program.groups.num == 9


def test_data_with_which_it_is_not_exact_are_refused_when_they_come():
    @ac.model
    def bent(bend, y):
        scale = ac.sample("scale", dist.HalfNormal(1))
        x = ac.sample("x", dist.Normal(0, scale))
        ac.sample("y", dist.Normal(x + bend * x**2, 1.0), obs=y)

    density = handlers.collapse(bent(np.array(0.0), np.array(0.5)), ["x"]).log_density()
    with pytest.raises(SiteError, match=r"cannot be integrated out exactly: .* site 'y' \(Normal\) departs"):
        density.with_data({"bend": np.array(1e-3)})


def test_traced_data_pass_once_the_density_is_made(schools_density):
    value = compiled(lambda y: schools_density.with_data({"y": y})(POSITIONS[0]))(Y)
    assert_close(value, schools_by_hand(POSITIONS[0]), rtol=1e-10)
    with pytest.raises(ModelError, match="Make the log density outside"):
        jax.jit(lambda y: collapsed(schools(y=y)).log_density()(POSITIONS[0]))(Y)


def test_a_density_can_be_made_while_jax_traces_something_around_it():
    value = compiled(lambda u: collapsed().log_density()(u))(POSITIONS[0])
    assert_close(value, schools_by_hand(POSITIONS[0]), rtol=1e-10)


def test_a_density_travels(schools_density):
    again = cloudpickle.loads(cloudpickle.dumps(schools_density))
    assert at(again) == at(schools_density)


def test_single_precision_is_as_exact_as_it_can_be():
    density = LogDensity.from_model(collapsed(), "float32")
    with jax.enable_x64(False):
        value, found = compiled(lambda u: (density(u), density.constrain(u)))(POSITIONS[0].astype(np.float32))
    assert value.dtype == found["theta"].dtype == np.float32
    assert_close(np.asarray(value, float), schools_by_hand(POSITIONS[0]), rtol=1e-5)


@pytest.mark.parametrize("dtype", [float, int])
def test_entries_that_depend_on_each_other_with_other_data_are_one_group(dtype):
    """A matrix of zeros and ones makes groups, and another of its shape does not."""
    dummies = np.eye(4)[GROUP].astype(dtype)
    density = handlers.collapse(regression(dummies, V), ["beta"]).log_density()
    assert density.program.groups.size == 4
    if dtype is int:
        return
    expected = regression_by_hand(POSITIONS[0], X[:10, :4], V)
    assert_close(at(density.with_data({"x": X[:10, :4]})), expected, rtol=1e-10)


def test_the_likelihood_of_the_others_is_what_their_priors_leave(schools_density):
    mu, tau = POSITIONS[0][0], np.exp(POSITIONS[0][1])
    expected = stats.norm(mu, np.sqrt(tau**2 + SIGMA**2)).logpdf(Y).sum()
    found = compiled(lambda u: schools_density.value(u, MLE))(POSITIONS[0])
    assert_close(found, expected, rtol=1e-12)


def test_no_likelihood_is_told_from_a_prior_that_depends_on_a_collapsed_site():
    density = handlers.collapse(effect_of_a_mean(0.5), ["mean"]).log_density()
    with pytest.raises(ModelError, match="prior of site 'effect' depends on 'mean'"):
        jax.eval_shape(lambda u: density.value(u, MLE), np.zeros(1))
    found, expected = compiled(lambda u: (density.value(u, MAP), density(u)))(np.ones(1))
    assert_close(found, expected)  # without a Jacobian


@pytest.mark.slow
def test_the_maximum_of_the_likelihood_is_that_of_a_one_way_layout():
    """Balanced groups with a known noise: means of groups have variance tau**2 + noise**2 / rows."""
    rng = np.random.default_rng(8)
    num_groups, rows, noise = 6, 4, 0.5
    y = rng.normal(size=(num_groups, 1)) + noise * rng.normal(size=(num_groups, rows))

    @ac.model
    def layout(y):
        mean = ac.sample("mean", dist.Normal(3.0, 0.1))
        tau = ac.sample("tau", dist.HalfNormal(1))
        with ac.plate("group", y.shape[0], dim=-2):
            effect = ac.sample("effect", dist.Normal(mean, tau))
            with ac.plate("row", y.shape[1], dim=-1):
                ac.sample("y", dist.Normal(effect, noise), obs=y)

    mode = infer.find_mode(handlers.collapse(layout(y), ["effect"]), "mle", quiet=True)
    means = y.mean(axis=1)
    tau = np.sqrt(means.var() - noise**2 / rows)
    assert_close(mode.values["mean"], means.mean(), rtol=1e-6)
    assert_close(mode.values["tau"], tau, rtol=1e-6)
    share = tau**2 / (tau**2 + noise**2 / rows)
    assert_close(
        mode.deterministics["effect"].squeeze(), means.mean() + share * (means - means.mean()), rtol=1e-5
    )
    assert_close(mode.standard_errors["mean"], np.sqrt(means.var() / num_groups), rtol=1e-5)


def test_what_is_not_finite_is_blamed_on_its_site():
    @ac.model
    def model(y):
        scale = ac.sample("scale", dist.Normal(0, 1))
        with ac.plate("group", 2):
            theta = ac.sample("theta", dist.Normal(0, jnp.sqrt(scale)))
            ac.sample("y", dist.Normal(theta, 1.0), obs=y)

    density = handlers.collapse(model(np.zeros(2)), ["theta"]).log_density()
    assert np.isnan(at(density, np.array([-1.0])))
    found = blame(density, np.array([-1.0]))
    assert found.sites[0] == "theta" and "sqrt" in str(found) and np.isnan(found.log_density)
    assert blame(density, np.array([1.0])).is_finite


def test_a_law_without_variance_is_blamed_on_the_collapsed_site():
    @ac.model
    def model():
        pull = ac.sample("pull", dist.Normal(0, 1))
        theta = ac.sample("theta", dist.Normal(0, 1))
        ac.factor("well", -pull * theta**2)

    density = handlers.collapse(model(), ["theta"]).log_density()
    found = blame(density, np.array([-1.0]))  # the precision is 1 + 2 pull
    assert found.sites[0] == "theta" and found.cause == "not_positive_definite"
    assert "collapsed site 'theta'" in str(found) and "leave the site out of `handlers.collapse`" in str(
        found
    )
