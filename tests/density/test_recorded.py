"""Check what is kept of a log density with each draw: its prior, and what the data say, in the model's own space."""

import jax
import jax.numpy as jnp
import numpy as np
from laws import assert_close, compiled, each

import accord as ac
import accord.distributions as dist
from accord import LogDensity, handlers
from accord.core.needed import is_needed
from accord.core.tree import shapes
from accord.density.joint import Predictive
from accord.density.matching.alignment import Held
from accord.density.recorded import recorded
from accord.distributions import constraints
from accord.reparam import LocScale

NAN = np.nan
Y = np.array([0.5, -1.0, 2.0, 0.3])
SEEN = np.array([True, False, True, True])
TABLE = np.array([[0.5, NAN, 1.0], [1.0, 2.0, 3.0], [NAN, NAN, 0.3]])
COVARIANCE = np.array([[2.0, 0.8, 0.3], [0.8, 1.0, -0.2], [0.3, -0.2, 1.5]])


@ac.model
def prior_alone():
    tau = ac.sample("tau", dist.HalfCauchy(2))
    with ac.plate("entry", 3):
        ac.sample("x", dist.Normal(0, tau))


@ac.model
def with_factors(y):
    p = ac.sample("p", dist.Dirichlet(jnp.array([2.0, 3.0, 4.0])))
    with ac.plate("row", len(y)):
        ac.factor("data", -((y - p[0]) ** 2))
    ac.factor("whole", jnp.log(p[1]))


@ac.model
def groups(y):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfNormal(2))
    with ac.plate("group", len(y)):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.deterministic("twice", 2 * theta)
        ac.sample("y", dist.Normal(theta, 1.0), obs=y)


@ac.model
def weighed(y):
    """A mask and a scale on unknowns as well as on data."""
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", len(y)), handlers.mask(mask=SEEN), handlers.scale(scale=0.5):
        s = ac.sample("s", dist.LogNormal(m, 1))
        ac.sample("y", dist.Normal(m, s), obs=jnp.where(SEEN, y, NAN))


@ac.model
def in_part(y, seen):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Gamma(jnp.exp(m), 2.0), obs=jnp.abs(y), obs_mask=seen)


@ac.model
def vectors(table):
    m = ac.sample("m", dist.Normal(0, 1).expand([3]).to_event(1))
    with ac.plate("row", 3):
        ac.sample("y", dist.MultivariateNormal(m, COVARIANCE), obs=table, obs_mask=~np.isnan(TABLE))


@ac.model
def table_of_plates(y):
    with ac.plate("column", 2, dim=-1):
        a = ac.sample("a", dist.Beta(2, 3))
        with ac.plate("row", len(y), dim=-2):
            b = ac.sample("b", dist.Exponential(a))
            ac.sample("y", dist.Normal(b, 1), obs=jnp.stack([y, -y], axis=1))


@ac.model
def series(y):
    phi = ac.sample("phi", dist.Uniform(-1, 1))

    def step(previous, value):
        s = ac.sample("s", dist.LogNormal(phi * previous, 0.5))
        ac.sample("y", dist.Normal(0, s), obs=value)
        return jnp.log(s), None

    ac.scan(step, 0.0, y)


@ac.model
def either(y):
    z = ac.sample("z", dist.Normal(0, 1))

    def one():
        return ac.sample("x", dist.LogNormal(z, 1.0))

    x = ac.cond(z > 0, one, lambda: ac.sample("x", dist.Gamma(2.0, 1.0)))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(x, 1.0), obs=y)


@ac.model
def of_parts(y):
    ac.submodel(groups(y), prefix="first")
    ac.submodel(groups(2 * y), prefix="second")


@ac.model
def rows(x, y, chunk):
    """Unknowns of all rows and of each, whose law depends on the row."""
    b = ac.sample("b", dist.Normal(0, 1))
    s = ac.sample("s", dist.HalfNormal(1))
    with ac.plate("row", len(x), chunk=chunk):
        z = ac.sample("z", dist.Gamma(2.0, jnp.exp(x)))
        ac.sample("y", dist.Normal(b * x + z, s), obs=y)


@ac.model
def of_a_parameter(y):
    scale = ac.param("scale", 1.0, constraint=constraints.positive)
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(0, scale), obs=y)


CENTRED = {"theta": LocScale()}
MODELS = {
    "unknowns alone": lambda: prior_alone(),
    "a factor, and a factor by row": lambda: with_factors(Y),
    "a hierarchy": lambda: groups(Y),
    "masked and scaled": lambda: weighed(Y),
    "observed in part": lambda: in_part(Y, SEEN),
    "vectors observed in part": lambda: vectors(TABLE),
    "plates in plates": lambda: table_of_plates(Y),
    "a scan": lambda: series(Y),
    "two sides": lambda: either(Y),
    "submodels": lambda: of_parts(Y),
    "reparameterised": lambda: handlers.reparam(groups(Y), CENTRED),
    "reparameterised and scaled": lambda: handlers.reparam(handlers.scale(groups(Y), scale=0.3), CENTRED),
    "integrated out": lambda: handlers.collapse(groups(Y), ["theta"]),
    "a plate in chunks": lambda: rows(np.linspace(-1, 1, 7), np.arange(7.0), 2),
    "a parameter": lambda: of_a_parameter(Y),
    "set by do": lambda: groups(Y).do({"tau": 2.0}),
    "conditioned": lambda: groups(Y) | {"tau": 2.0},
}


@each(MODELS)
def test_the_parts_are_those_of_the_sites(model):
    density = LogDensity.from_model(model)
    like = {
        entry.name: jax.ShapeDtypeStruct(entry.shape, np.dtype(entry.dtype))
        for entry in density.layout.drawn
        if entry.kind in ("latent", "collapsed")
    }
    held = {name: Held.of(each.shape) for name, each in like.items()}
    dtypes = {name: each.dtype for name, each in like.items()}
    sites = Predictive.of(model, held, dtypes, "float64", draws_others=False)

    def evaluate(position):
        whole = density(position)
        values, parts = recorded(density, position, whole)
        given = {name: values[name] for name in like}
        return (
            (values, density.constrain(position)),
            whole,
            parts,
            sites.log_prior(given),
            sites.log_joint(given),
        )

    position = 0.7 * np.random.default_rng(3).normal(size=density.dim)
    values, whole, parts, log_prior, log_joint = compiled(evaluate)(position)
    assert_close(*values)
    assert_close(parts["log_prior"], log_prior)
    assert_close(
        parts["log_likelihood"], log_joint - log_prior, atol=1e-14 * float(abs(whole) + abs(log_prior))
    )


def test_without_data_the_likelihood_is_exactly_zero():
    density = LogDensity.from_model(prior_alone())
    evaluate = compiled(jax.vmap(lambda position: recorded(density, position, density(position))[1]))
    parts = evaluate(np.random.default_rng(0).normal(size=(50, density.dim)))
    assert np.all(parts["log_likelihood"] == 0)


def test_where_the_prior_is_infinite_nobody_knows_the_likelihood():
    @ac.model
    def at_the_edge(y):
        ac.sample("y", dist.Normal(ac.sample("s", dist.Gamma(0.5, 1.0)), 1), obs=y)

    density = LogDensity.from_model(at_the_edge(1.0))
    position = np.array([-800.0])  # its exponential rounds to zero, at the edge of the support
    parts = recorded(density, position, jnp.asarray(-3.0))[1]
    assert np.isinf(parts["log_prior"]) and np.isnan(parts["log_likelihood"])


def test_the_density_of_a_function_has_no_parts():
    density = LogDensity.from_function(lambda x: -0.5 * (x**2).sum(), np.zeros(3))
    values, parts = recorded(density, np.ones(3), jnp.asarray(-1.5))
    assert list(values) == ["x"] and parts == {}


def test_no_data_are_needed_where_no_prior_and_no_value_depends_on_them():
    density = LogDensity.from_model(rows(np.zeros(7), np.arange(7.0), None))

    def evaluate(data, position, whole):
        return recorded(density.with_data(data), position, whole)

    traced = jax.make_jaxpr(evaluate)(shapes(density.data), np.zeros(density.dim), np.float64(0))
    needs = dict(zip(sorted(density.data), is_needed(traced.jaxpr), strict=False))
    assert needs == {"x": True, "y": False}
