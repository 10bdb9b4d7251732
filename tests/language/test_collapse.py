"""Check sites that are integrated out among other rules, what is done with their draws, and what cannot be collapsed.

A right program fails the test that compares two posteriors with a chance of 8e-6, its false-alarm rate: ten means, each
beyond 5 standard errors of the difference; keys are fixed.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import compiled, each

import accord as ac
import accord.distributions as dist
from accord import LogDensity, bijectors, handlers, infer, reparam
from accord.core.errors import DataError, ModelError, OptionError, SiteError
from accord.language.treatment import Eliminated

SIGMA = np.array([15.0, 10.0, 16.0, 11.0])
Y = np.array([28.0, 8.0, -3.0, 7.0])
RUN = dict(draws=60, warmup=100, chains=2, seed=5, quiet=True, progress=False)


@ac.model
def schools(sigma, y=None):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(sigma), coords=["A", "B", "C", "D"]):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.deterministic("gain", theta - mu)
        ac.sample("y", dist.Normal(theta, sigma), obs=y)
    return theta


def collapsed(y=Y):
    return handlers.collapse(schools(SIGMA, y), ["theta"])


@pytest.fixture(scope="module")
def draws():
    return infer.sample(collapsed(), executor=infer.Serial(), **RUN)


def test_the_table_of_sites_says_which_are_collapsed():
    kinds = {site.name: site.kind for site in collapsed().sites()}
    assert kinds == {
        "mu": "latent",
        "tau": "latent",
        "theta": "collapsed",
        "gain": "deterministic",
        "y": "observed",
    }


def test_a_model_that_is_drawn_from_is_what_it_was():
    one, other = (
        compiled(lambda model=model: handlers.seed(model, 3)())()
        for model in (schools(SIGMA), collapsed(None))
    )
    assert np.array_equal(one, other)


def test_a_function_can_have_it_put_on():
    function = handlers.collapse(schools.function, {"theta"})
    sites = handlers.trace(handlers.seed(function, 0)).get_trace(SIGMA, Y)
    assert [name for name, site in sites.items() if isinstance(site.treatment, Eliminated)] == ["theta"]


def test_a_submodel_and_a_branch_keep_what_is_collapsed_inside():
    @ac.model
    def around(is_first):
        scale = ac.sample("scale", dist.HalfNormal(1))
        ac.submodel(collapsed(), prefix="a")

        def side(offset):
            return lambda: ac.sample("x", dist.Normal(offset, scale))

        x = ac.cond(is_first, side(0.0), side(1.0))
        ac.sample("z", dist.Normal(x, 1.0), obs=0.3)

    layout = handlers.collapse(around(np.array(True)), ["x"]).log_density().layout
    assert [entry.name for entry in layout.entries] == ["scale", "a/mu", "a/tau"]
    assert [entry.name for entry in layout.sites if entry.kind == "collapsed"] == ["a/theta", "x"]


def test_the_others_can_be_sampled_through_a_bijector():
    fitted = bijectors.LowerCholeskyAffine(np.zeros(2), np.eye(2))
    layout = handlers.reparam(collapsed(), reparam.Neutra(fitted)).log_density().layout
    assert [entry.name for entry in layout.entries] == ["unknowns_base"] and layout.dim == 2
    assert layout["theta"].kind == "collapsed"


def test_the_same_bits_by_threads_and_in_one_go_or_two(draws):
    other = infer.sample(collapsed(), executor=infer.Threads(2), **{**RUN, "draws": 40}).extend(20)
    for name in ("mu", "tau", "theta", "gain"):
        assert np.array_equal(draws[name], other[name]), name


def test_draws_hold_collapsed_sites_and_what_depends_on_them(draws):
    assert draws["theta"].shape == (2, 60, 4) and len(np.unique(draws["theta"])) > 400
    np.testing.assert_allclose(draws["gain"], draws["theta"] - draws["mu"][..., None], rtol=1e-12)
    assert "theta[A]" in str(draws.summary())
    assert draws.to_arviz().posterior["theta"].dims == ("chain", "draw", "school")


def test_what_is_computed_from_draws_uses_those_of_collapsed_sites(draws):
    from scipy import stats

    expected = stats.norm(draws["theta"], SIGMA).logpdf(Y)
    np.testing.assert_allclose(infer.log_likelihood(draws)["y"], expected, rtol=1e-10)
    ahead = infer.predict(draws, schools(SIGMA), quiet=True)
    assert ahead["y"].shape == (2, 60, 4) and "theta" not in ahead


def test_chains_begin_where_those_of_a_model_with_or_without_the_site_ended(draws):
    from accord.mcmc.start.choose import start_of

    for model in (schools(SIGMA, Y), collapsed()):
        density = model.log_density()
        start = start_of(draws).points(density, 0, [0]).rows[0][0]
        found = density.unconstrain(
            {entry.name: draws[entry.name][0, -1] for entry in density.layout.entries}
        )
        np.testing.assert_allclose(start, found, rtol=1e-12)


def test_starts_are_drawn_from_the_prior_of_the_others():
    points = infer.from_prior().points(collapsed().log_density(), 0, [0, 1])
    assert points.rows[0].shape[1] == 2


@pytest.mark.slow
def test_a_check_finds_nothing_wrong():
    report = infer.check(collapsed(), executor=infer.Serial())
    assert report.ok and not [finding for finding in report.findings if finding.severity == "warning"]


def with_prior(prior, law=None, sigma=1.0):
    """A model of one effect `x`, with a prior, and data by a law of a mean."""

    @ac.model
    def model():
        scale = ac.sample("scale", dist.HalfNormal(1))
        with ac.plate("entry", 3):
            x = ac.sample("x", prior(scale))
            ac.sample("y", law(x) if law else dist.Normal(x, sigma), obs=np.array([0.0, 1.0, 1.0]))

    return model()


def normal(scale):
    return dist.Normal(0.0, scale)


@ac.model
def chunked(y):
    mean = ac.sample("mean", dist.Normal(0, 1))
    scale = ac.sample("scale", dist.HalfNormal(1))
    with ac.plate("row", len(y), chunk=2):
        ac.sample("y", dist.Normal(mean, scale), obs=y)


@ac.model
def long_series(y):
    scale = ac.sample("scale", dist.HalfNormal(1))
    steps = ac.sample("steps", dist.GaussianRandomWalk(scale, num_steps=len(y)))
    ac.sample("y", dist.Normal(steps, 1.0).to_event(1), obs=y)


@ac.model
def flat(y):
    scale = ac.sample("scale", dist.HalfNormal(1))
    ac.sample("x", dist.ImproperUniform(dist.constraints.real, (), ()))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(0, scale), obs=y)


@ac.model
def moving():
    scale = ac.sample("scale", dist.HalfNormal(1))
    x = ac.sample("x", dist.Normal(0, scale))
    near = ac.sample("near", dist.Uniform(x - 1, x + 1))
    ac.sample("y", dist.Normal(near, 1.0), obs=0.3)


@ac.model
def nowhere():
    scale = ac.sample("scale", dist.HalfNormal(1))
    ac.sample("x", dist.Normal(0, scale))
    ac.factor("half", jnp.log(-scale))


@jax.custom_jvp
def misdeclared(x):
    return -(x**2)


@misdeclared.defjvp
def _(primals, tangents):
    return misdeclared(*primals), -3.0 * primals[0] * tangents[0]


def with_factor(function):
    @ac.model
    def model():
        scale = ac.sample("scale", dist.HalfNormal(1))
        ac.factor("f", function(ac.sample("x", dist.Normal(0, scale))))

    return model()


EXACT = r"cannot be integrated out exactly: .* the term of site '{}' \({}\) .*leave the site out of `handlers.collapse`"


def density_of(model, *names):
    return lambda: handlers.collapse(model, names or ("x",)).log_density()


# What is asked for, the error, and words that it has.
REFUSED = {
    "no names": (lambda: handlers.collapse(schools(SIGMA), []), OptionError, r'like \["theta"\]'),
    "one name": (lambda: handlers.collapse(schools(SIGMA), "theta"), OptionError, r"write \['theta'\]"),
    "a misspelt option": (lambda: handlers.collapse(schools(SIGMA), sites=["x"]), OptionError, "names"),
    "an unknown name": (density_of(schools(SIGMA, Y), "tehta"), SiteError, "Did you mean 'theta'"),
    "a deterministic site": (density_of(schools(SIGMA, Y), "gain"), SiteError, "name the sites"),
    "an observed site": (density_of(schools(SIGMA, Y), "y"), SiteError, "'y'.* is observed"),
    "a site with a value": (
        lambda: handlers.collapse(schools(SIGMA, Y).do({"theta": Y}), ["theta"]).log_density(),
        SiteError,
        "has been given a value",
    ),
    "a hidden site": (
        lambda: handlers.collapse(
            handlers.block(handlers.seed(schools(SIGMA, Y), 0), hide=["theta"]), ["theta"]
        ).log_density(),
        SiteError,
        "is hidden by `handlers.block`",
    ),
    "a count without end": (
        density_of(with_prior(lambda _: dist.Poisson(2.0))),
        SiteError,
        "'x'.*discrete.*Poisson has infinitely many values",
    ),
    "a bounded site": (
        density_of(schools(SIGMA, Y), "tau"),
        SiteError,
        "'tau'.*not the whole real line .HalfCauchy.*Leave it out",
    ),
    "one reparameterised before": (
        lambda: handlers.collapse(
            handlers.reparam(schools(SIGMA, Y), {"theta": reparam.LocScale()}), ["theta"]
        ).log_density(),
        SiteError,
        "collapsed and reparameterised",
    ),
    "one reparameterised after": (
        lambda: handlers.reparam(collapsed(), {"theta": reparam.LocScale()}).log_density(),
        SiteError,
        "collapsed and reparameterised",
    ),
    "all unknowns": (
        lambda: handlers.collapse(collapsed().condition({"mu": 0.0, "tau": 1.0}), ["theta"]).log_density(),
        ModelError,
        "nothing is left to sample",
    ),
    "a plate in chunks": (density_of(chunked(Y), "mean"), SiteError, "has chunk=2: site 'y' depends on"),
    "too many at once": (
        density_of(long_series(np.zeros(2001)), "steps"),
        SiteError,
        "2001 entries of 'steps'",
    ),
    "a likelihood of counts": (
        density_of(with_prior(normal, lambda x: dist.Poisson(jnp.exp(x)))),
        SiteError,
        EXACT.format("y", "Poisson"),
    ),
    "a likelihood with heavy tails": (
        density_of(with_prior(normal, lambda x: dist.StudentT(1e4, x, 1.0))),
        SiteError,
        EXACT.format("y", "StudentT"),
    ),
    "a prior with a kink": (
        density_of(with_prior(lambda scale: dist.Laplace(0.0, scale))),
        SiteError,
        EXACT.format("x", "Laplace"),
    ),
    "a mean that bends": (
        density_of(with_prior(normal, lambda x: dist.Normal(jnp.sinh(1e-4 * x), 1.0))),
        SiteError,
        EXACT.format("y", "Normal"),
    ),
    "a scale that depends on it": (
        density_of(with_prior(normal, lambda x: dist.Normal(0.0, jnp.exp(x)))),
        SiteError,
        EXACT.format("y", "Normal"),
    ),
    "a support that moves with it": (
        density_of(moving()),
        SiteError,
        "'x' cannot be integrated out, since the support of site 'near' depends on it",
    ),
    "no prior and no data": (density_of(flat(np.ones(3))), SiteError, "falls like a normal one at none of"),
    "what is finite nowhere": (
        density_of(nowhere()),
        SiteError,
        r"the log density is finite at none of 6 points of the other unknowns, because of site 'half'",
    ),
    "a rule of its own for derivatives that is wrong": (
        density_of(with_factor(misdeclared)),
        SiteError,
        "departs by .* from the normal one that its derivatives at zero give. Either a derivative rule",
    ),
    "a start of it": (
        lambda: infer.sample(collapsed(), init=infer.from_values({"theta": Y}), **RUN),
        DataError,
        "'theta' is collapsed, .*Leave it out; give values of 'mu', 'tau'",
    ),
}


@each(REFUSED)
def test_what_cannot_be_is_refused_with_words_that_help(case):
    call, error, words = case
    with pytest.raises(error) as raised:
        call()
    assert re.search(words, str(raised.value), re.DOTALL), str(raised.value)


def test_proposals_leave_collapsed_sites_alone():
    from accord.diagnose.hierarchy import hierarchical_sites

    density = LogDensity.from_model(collapsed())
    assert not hierarchical_sites(density.program.whole, density.data)


@pytest.mark.slow
def test_a_posterior_is_the_same_with_and_without_a_site_integrated_out():
    many = dict(draws=2000, chains=4, quiet=True, progress=False)
    one = infer.sample(collapsed(), seed=1, **many)
    other = infer.sample(handlers.reparam(schools(SIGMA, Y), {"theta": reparam.LocScale()}), seed=2, **many)
    tables = [run.summary().to_dataframe() for run in (one, other)]
    for name in tables[0].index:
        mean, error = (
            np.array([table.loc[name, column] for table in tables]) for column in ("mean", "mcse_mean")
        )
        assert abs(mean[0] - mean[1]) < 5 * np.hypot(*error), name


@pytest.mark.slow
def test_inference_with_a_collapsed_site_is_calibrated_on_simulated_data():
    @ac.model
    def model(y):
        mu = ac.sample("mu", dist.Normal(0, 1))
        with ac.plate("group", 3):
            theta = ac.sample("theta", dist.Normal(mu, 0.5))
            ac.sample("y", dist.Normal(theta, 1.0), obs=y)

    found = infer.calibrate(
        handlers.collapse(model(np.zeros(3)), ["theta"]), simulations=20, draws=30, quiet=True
    )
    assert set(found.ranks) == {"mu", "lp"}
