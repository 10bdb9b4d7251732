"""Follow log densities far out: proper ones fall along every line, however heavy their tails; improper ones do not."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord.core.precision import float_dtype
from accord.density import LogDensity
from accord.diagnose.checks.base import Context
from accord.diagnose.checks.evaluator import Evaluator
from accord.diagnose.checks.flat import check_flat
from accord.diagnose.checks.typical import Typical

X = np.random.default_rng(3).normal(size=30)
Y = 1.0 + 2.0 * X + np.random.default_rng(4).normal(size=30)
IS_HIGH = np.array(Y > 1.0, int)
FLAT = dist.ImproperUniform(dist.constraints.real, (), ())
FLAT_ABOVE = dist.ImproperUniform(dist.constraints.positive, (), ())


def prior(distribution):
    @ac.model
    def model():
        ac.sample("a", distribution)

    return model()


@ac.model
def line(x, y, prior_of_slope, prior_of_scale):
    a = ac.sample("a", FLAT)
    b = ac.sample("b", prior_of_slope)
    s = ac.sample("s", prior_of_scale)
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(a + b * x, s), obs=y)


@ac.model
def robust(x, y):
    a = ac.sample("a", FLAT)
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Cauchy(a, 1.0), obs=y)


@ac.model
def logistic(x, y, prior_of_slope):
    b = ac.sample("b", prior_of_slope)
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Bernoulli(logits=b * x), obs=y)


@ac.model
def schools(y, is_centred):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", y.shape[0]):
        if is_centred:
            theta = ac.sample("theta", dist.Normal(mu, tau))
        else:
            theta = mu + tau * ac.sample("z", dist.Normal(0, 1))
        ac.sample("y", dist.Normal(theta, 10.0), obs=y)


@ac.model
def horseshoe(x, y):
    tau = ac.sample("tau", dist.HalfCauchy(1.0))
    with ac.plate("coefficient", 2):
        width = ac.sample("width", dist.HalfCauchy(1.0))
        b = ac.sample("b", dist.Normal(0.0, tau * width))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(b[0] * x + b[1], 1.0), obs=y)


@ac.model
def funnel():
    v = ac.sample("v", dist.Normal(0, 3))
    with ac.plate("entry", 9):
        ac.sample("x", dist.Normal(0, jnp.exp(v / 2)))


@ac.model
def mixture(y):
    w = ac.sample("w", dist.Dirichlet(np.ones(2)))
    with ac.plate("component", 2):
        m = ac.sample("m", dist.Normal(0, 10))
    with ac.plate("row", y.shape[0]):
        ac.sample("y", dist.MixtureSameFamily(dist.Categorical(probs=w), dist.Normal(m, 1.0)), obs=y)


@ac.model
def pair(y, prior_of_second):
    a = ac.sample("a", FLAT)
    b = ac.sample("b", prior_of_second)
    with ac.plate("row", y.shape[0]):
        ac.sample("y", dist.Normal(a + b, 1.0), obs=y)


@ac.model
def rising():
    a = ac.sample("a", dist.Normal(0, 1))
    ac.factor("f", a**2)


HEALTHY = {
    "normal": lambda: prior(dist.Normal(0, 1)),
    "normal, wide": lambda: prior(dist.Normal(0, 1e6)),
    "cauchy": lambda: prior(dist.Cauchy(0, 1)),
    "cauchy, wide": lambda: prior(dist.Cauchy(3, 1e3)),
    "half-cauchy": lambda: prior(dist.HalfCauchy(1)),
    "student t of half a degree": lambda: prior(dist.StudentT(0.5, 0, 1)),
    "pareto": lambda: prior(dist.Pareto(1.0, 0.3)),
    "gamma near zero": lambda: prior(dist.Gamma(0.01, 0.01)),
    "uniform": lambda: prior(dist.Uniform(-3, 8)),
    "beta with two modes": lambda: prior(dist.Beta(0.2, 0.2)),
    "simplex": lambda: prior(dist.Dirichlet(np.full(4, 0.1))),
    "correlations": lambda: prior(dist.LKJCholesky(4, 1.0)),
    "flat priors that data make proper": lambda: line(X, Y, FLAT, FLAT_ABOVE),
    "cauchy observations and a flat prior": lambda: robust(X, Y),
    "logistic regression with a flat prior": lambda: logistic(X, np.roll(IS_HIGH, 1), FLAT),
    "separated, with a proper prior": lambda: logistic(X, np.array(X > 0, int), dist.Cauchy(0, 2.5)),
    "schools, centred": lambda: schools(Y[:8] * 10, True),
    "schools, not centred": lambda: schools(Y[:8] * 10, False),
    "horseshoe": lambda: horseshoe(X, Y),
    "funnel": funnel,
    "mixture": lambda: mixture(Y),
    "a sum of which one part is known": lambda: pair(Y, dist.Normal(0, 1)),
}

IMPROPER = {
    "an unknown that nothing depends on": (lambda: line(0 * X, Y, FLAT, FLAT_ABOVE), ("b",)),
    "separated, with a flat prior": (lambda: logistic(X, np.array(X > 0, int), FLAT), ("b",)),
    "a sum of two unknowns and five outcomes": (lambda: pair(1 + 2 * X[:5], FLAT), ("a", "b")),
    "a sum of two unknowns": (lambda: pair(Y, FLAT), ("a", "b")),
    "a factor that rises": (rising, ("a",)),
}


def flat_directions(model, precision):
    """What the check finds, with the parts of a context that it looks at."""
    with jax.enable_x64(precision == "float64"):
        density = LogDensity.from_model(model, precision)
        whole = Evaluator.of(density, precision, jax.local_devices()[:1])
        start = np.full(density.dim, 0.3, float_dtype(precision))
        direction = np.random.default_rng(20).normal(size=density.dim).astype(start.dtype)
        typical = Typical.of(whole, start)
        context = Context(density, model, whole, None, (), 0, (), start[None], typical, direction)
        return list(check_flat(context))


@pytest.mark.parametrize("precision", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_proper_density_falls_along_every_line(name, precision):
    assert not flat_directions(HEALTHY[name](), precision)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("name", IMPROPER)
def test_a_direction_that_is_flat_is_named_by_its_sites(name, precision):
    model, sites = IMPROPER[name]
    (found,) = flat_directions(model(), precision)
    assert (found.severity, found.code, found.sites) == ("warning", "flat_direction", sites)
    assert all(repr(site) in found.message for site in sites)


def test_an_entry_of_a_site_is_named_by_its_index():
    @ac.model
    def model(y):
        with ac.plate("column", 3):
            b = ac.sample("b", FLAT)
        with ac.plate("row", y.shape[0]):
            ac.sample("y", dist.Normal(b[0] - b[2], 1.0), obs=y)

    found = flat_directions(model(Y), "float64")
    assert [each.sites for each in found] == [("b",)]
    assert "Along site 'b', entry 1, the log density does not fall" in found[0].message


def test_where_momenta_overflow_the_typical_points_are_the_top_and_nothing_warns():
    """As down the neck of a funnel: scales are bounded, slopes are not."""
    steep = SimpleNamespace(value_and_grad=lambda x: (-0.5e200 * float(x @ x), -1e200 * x))
    found = Typical.of(steep, np.zeros(2))
    assert np.all(found.points == 0)
