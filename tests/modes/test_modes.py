"""Hold modes and their standard errors against what is known of them, and what is said of those that are none."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import ridge

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import DataError, InitializationError, ModelError, OptionError, SiteError
from accord.optimise.climb import climb

RNG = np.random.default_rng(14)
X = RNG.normal(size=(40, 3))
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=40)
SIGMA = np.array([15, 10, 16, 11, 9, 11, 10, 18.0])
SCHOOLS = np.array([28, 8, -3, 7, -1, 1, 18, 12.0])


@ac.model
def regression(x, y):
    with ac.plate("column", x.shape[1]):
        b = ac.sample("b", dist.Normal(0, 10))
    sd = ac.sample("sd", dist.HalfNormal(5))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(x @ b, sd), obs=y)


@ac.model
def urn(y):
    p = ac.sample("p", dist.Dirichlet(jnp.array([3.0, 3.0])))
    with ac.plate("n", len(y)):
        ac.sample("y", dist.Categorical(p), obs=y)


@ac.model
def schools(sigma, y):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(y)):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


@ac.model
def schools_without_effects(sigma, y):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(y)):
        ac.sample("y", dist.Normal(mu, jnp.hypot(tau, sigma)), obs=y)


@ac.model
def root(y):
    m = ac.sample("m", dist.Normal(0, 10))
    ac.sample("y", dist.Normal(m**2 + 0.2 * m, 0.5), obs=y)


@ac.model
def rates(n, y, chunk=None):
    a = ac.sample("a", dist.Gamma(6.5, 1 / 2.25))
    with ac.plate("row", n.shape[0], chunk=chunk):
        ac.sample("y", dist.Poisson(a * n), obs=y)


@ac.model
def prior_alone():
    ac.sample("x", dist.Normal(0, 1))


@ac.model
def never_finite(y):
    s = ac.sample("s", dist.HalfNormal(1))
    ac.sample("y", dist.Normal(jnp.log(-s), 1), obs=y)


@ac.model
def counts(y):
    k = ac.sample("k", dist.Poisson(2.0))
    ac.sample("y", dist.Normal(k, 1), obs=y)


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def backward_only(x, scale):
    return scale * jnp.exp(x)


backward_only.defvjp(
    lambda x, scale: (scale * jnp.exp(x), x), lambda scale, x, slope: (slope * scale * jnp.exp(x),)
)


@ac.model
def rate_by_a_solver(y):
    a = ac.sample("a", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Poisson(ac.deterministic("rate", backward_only(a, 1.0))), obs=y)


@ac.model
def many_means(y):
    with ac.plate("n", len(y)):
        t = ac.sample("t", dist.Normal(0, 1))
        ac.sample("y", dist.Normal(t, 1), obs=y)


KEPT = []


@ac.model
def from_an_earlier_trace(y):
    KEPT.append(ac.sample("m", dist.Normal(0, 1)))
    ac.sample("y", dist.Normal(KEPT[0], 1), obs=y)


def find(*arguments, **options):
    return infer.find_mode(*arguments, quiet=True, **options)


@functools.cache
def least_squares():
    return find(regression(X, Y), "mle")


def codes(mode):
    return [notice.code for notice in mode.notices]


def test_a_climb_reaches_the_end_of_a_curved_valley_beside_one_that_cannot_begin():
    def valley(x):
        return -jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    places = np.random.default_rng(1).normal(size=(3, 10, 12))
    places[1] = np.nan
    run = jax.jit(jax.vmap(lambda rows: climb(jax.value_and_grad(valley), rows, 500)))
    with jax.enable_x64(True):
        found = run(places)
    np.testing.assert_array_equal(found.state.is_settled, [True, False, True])
    np.testing.assert_allclose(found.state.point.position[np.array([0, 2])], 1, atol=1e-4)
    assert np.all(found.num_evaluations < 400)
    assert found.num_evaluations[1] == 10


def test_maximum_likelihood_of_a_regression_is_least_squares():
    mode = least_squares()
    b = np.linalg.lstsq(X, Y)[0]
    variance = np.mean((Y - X @ b) ** 2)
    np.testing.assert_allclose(mode.values["b"], b, rtol=1e-10)
    np.testing.assert_allclose(mode.covariance[:3, :3], np.linalg.inv(X.T @ X) * variance, rtol=1e-8)
    np.testing.assert_allclose(mode["z"][:3], b / mode.standard_errors["b"], rtol=1e-12)
    np.testing.assert_allclose(
        mode["upper"] - mode["lower"], 2 * 1.959964 * mode["standard_error"], rtol=1e-6
    )
    assert mode.labels == ("b[0]", "b[1]", "b[2]", "sd")
    text = str(mode)
    assert text.startswith("Maximum likelihood (MLE) of regression: log likelihood")
    assert "reached by 8 of 8 starts\n" in text and "note" not in text


def test_in_float32_they_agree_to_some_digits():
    wide, narrow = least_squares(), find(regression(X, Y), "mle", precision="float32")
    np.testing.assert_allclose(narrow["estimate"], wide["estimate"], rtol=1e-3)
    np.testing.assert_allclose(narrow["standard_error"], wide["standard_error"], rtol=1e-2)
    assert narrow.values["b"].dtype == np.float32 and not narrow.notices


def test_on_a_simplex_the_errors_add_up_to_nothing():
    mode = find(urn(np.array([0, 0] + [1] * 8)))
    np.testing.assert_allclose(mode.values["p"], [4 / 14, 10 / 14], rtol=1e-12)
    variance = (4 / 14) * (10 / 14) / 14
    np.testing.assert_allclose(mode.covariance, variance * np.array([[1, -1], [-1, 1]]), rtol=1e-10)


@pytest.mark.slow
def test_rows_in_chunks_are_counted_once():
    n = RNG.uniform(1, 3, size=30)
    y = RNG.poisson(4 * n)
    likeliest, mode = (find(rates(n, y, chunk=8), estimator) for estimator in ("mle", "map"))
    np.testing.assert_allclose(likeliest.values["a"], y.sum() / n.sum(), rtol=1e-12)
    np.testing.assert_allclose(likeliest.standard_errors["a"], np.sqrt(y.sum()) / n.sum(), rtol=1e-10)
    shape, rate = 6.5 + y.sum(), 1 / 2.25 + n.sum()
    np.testing.assert_allclose(mode.values["a"], (shape - 1) / rate, rtol=1e-12)


def test_a_function_of_unconstrained_arrays_has_a_mode():
    density = ac.LogDensity.from_function(lambda x: -jnp.sum((x - 3) ** 2) * 50, np.zeros(2))
    mode = find(density)
    np.testing.assert_allclose(mode.values["x"], 3)
    np.testing.assert_allclose(mode.covariance, np.eye(2) / 100, atol=1e-14)


def test_a_function_that_has_no_forward_derivative_costs_no_standard_errors():
    y = np.array([3, 5, 4])
    mode = find(rate_by_a_solver(y), "mle")
    np.testing.assert_allclose(mode.values["a"], np.log(4), rtol=1e-9)
    np.testing.assert_allclose(mode.standard_errors["a"], 12**-0.5, rtol=1e-8)
    np.testing.assert_allclose(mode.deterministics["rate"], 4, rtol=1e-8)


def test_in_many_dimensions_there_are_no_standard_errors():
    y = np.linspace(-2, 2, 1200)
    mode = find(many_means(y), starts=2)
    assert codes(mode) == ["no_standard_errors"] and mode.num_reached == 2
    np.testing.assert_allclose(mode.values["t"], y / 2, atol=1e-4)
    assert mode.covariance is None and np.all(np.isnan(mode["z"]))
    assert "1140 more rows" in str(mode)


def test_columns_that_add_up_leave_the_others_their_errors():
    collinear = np.column_stack([X, X[:, 0] + X[:, 1]])
    mode = find(regression(collinear, Y), "mle")
    alone = least_squares()
    (notice,) = mode.notices
    assert notice.code == "singular_information" and notice.sites == ("b",)
    assert mode.is_converged
    is_untold = [True, True, False, True, False]
    np.testing.assert_array_equal(np.isnan(mode["standard_error"]), is_untold)
    assert [bool(note) for note in mode.notes] == is_untold
    np.testing.assert_allclose(mode["standard_error"][[2, 4]], alone["standard_error"][[2, 3]], rtol=1e-8)
    assert "singular information" in str(mode)


def test_unknowns_that_only_priors_speak_of_are_named():
    mode = find(schools(SIGMA, SCHOOLS), "mle")
    np.testing.assert_allclose(mode.values["theta"], SCHOOLS, rtol=1e-10)
    np.testing.assert_allclose(mode.standard_errors["theta"], SIGMA, rtol=1e-10)
    (notice,) = mode.notices
    assert notice.code == "singular_information" and notice.sites == ("mu", "tau")
    assert "Priors are left out" in notice.remedy


def test_a_scale_that_goes_to_zero_is_at_the_edge_of_its_support():
    mode = find(schools_without_effects(SIGMA, SCHOOLS))
    (notice,) = mode.notices
    assert notice.code == "edge_of_support" and notice.sites == ("tau",)
    assert mode.notes == ("", "edge of support")
    assert 0 < mode.values["tau"] < 1e-4 and mode.is_converged
    shrunk = 1 / (1 / 25 + np.sum(SIGMA**-2.0))
    np.testing.assert_allclose(mode.values["mu"], shrunk * np.sum(SCHOOLS / SIGMA**2), rtol=1e-6)
    np.testing.assert_allclose(mode.standard_errors["mu"], np.sqrt(shrunk), rtol=1e-6)


def test_a_maximum_near_an_edge_keeps_its_standard_error():
    # In exp(v), a peak at 0.2 standard errors from zero.
    def bump(v):
        return -((jnp.exp(v) - 0.2) ** 2) / 2

    mode = find(ac.LogDensity.from_function(bump, 0.0))
    assert not mode.notices
    np.testing.assert_allclose(np.exp(mode.values["x"]) * mode.standard_errors["x"], 1, rtol=1e-8)


def test_a_density_without_a_maximum_is_an_error_and_has_no_errors():
    mode = find(schools(SIGMA, SCHOOLS))
    assert codes(mode)[0] == "not_converged" and mode.notices[0].severity == "error"
    assert not mode.is_converged and np.all(np.isnan(mode["standard_error"]))
    assert "not converged" in str(mode)


def test_steps_that_do_not_suffice_are_named():
    mode = find(regression(X, Y), max_steps=2)
    assert "max_steps" in mode.notices[0].remedy and not mode.is_converged


def test_modes_elsewhere_are_counted():
    mode = find(root(4.0), starts=12)
    assert codes(mode) == ["other_modes"]
    assert 0 < mode.num_reached < 12
    assert f"{12 - mode.num_reached} of 12" in mode.notices[0].message


def test_starts_are_those_of_chains_and_one_where_they_are_at_one_place():
    values = {"b": np.zeros(3), "sd": 1.0}
    mode = find(regression(X, Y), "mle", init=values)
    assert len(mode.heights) == 1
    np.testing.assert_allclose(mode["estimate"], least_squares()["estimate"], rtol=1e-8)
    mode = find(prior_alone(), init=infer.from_prior(), starts=3)
    assert len(mode.heights) == mode.num_reached == 3


def test_notices_are_told_unless_it_is_to_be_quiet(capsys):
    infer.find_mode(root(4.0), starts=12)
    assert "starts ended elsewhere" in capsys.readouterr().err


REFUSED = {
    "another estimator": (lambda: find(prior_alone(), "mpa"), OptionError, "Did you mean 'map'"),
    "no data": (lambda: find(prior_alone(), "mle"), ModelError, "observes nothing"),
    "a function": (
        lambda: find(ac.LogDensity.from_function(lambda x: -(x**2), 0.0), "mle"),
        ModelError,
        "without sites",
    ),
    "no model": (lambda: find(prior_alone), OptionError, "called with its data"),
    "discrete": (lambda: find(counts(1.0)), SiteError, "discrete"),
    "a kept tracer": (lambda: find(from_an_earlier_trace(1.0)), ModelError, "earlier run of itself"),
    "nowhere finite": (lambda: find(never_finite(1.0), "mle"), InitializationError, "log of -"),
    "misspelt": (lambda: find(prior_alone(), start=3), OptionError, "Did you mean 'starts'"),
    "no starts": (lambda: find(prior_alone(), starts=0), OptionError, "starts must be"),
    "outside": (lambda: find(regression(X, Y), init={"sd": -1.0}), DataError, "'sd'"),
    "no column": (lambda: find(prior_alone())["se"], OptionError, "no column 'se'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused(case):
    call, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        call()


def test_climbs_along_a_ridge_go_on_to_its_peak():
    found = infer.find_mode(ridge.trend(ridge.YEAR, ridge.Y), starts=4, quiet=True)
    assert "other_modes" not in [notice.code for notice in found.notices]
