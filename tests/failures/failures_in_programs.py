"""Define models with wrong code, which are refused before sampling."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from failure_case import Case

import accord as ac
import accord.distributions as dist
from accord import handlers

Y = np.array([1.0, 2.0, 3.0])
COUNTER = itertools.count()


@ac.model
def plain(y):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def twice(y):
    ac.sample("m", dist.Normal(0, 1))
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def without_plate(y):
    m = ac.sample("m", dist.Normal(0, 1))
    ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def plate_of_four(y):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", 4):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def column_against_row(x, y):
    b = ac.sample("b", dist.Normal(0, 1))
    ac.sample("y", dist.Normal(b * x, 1), obs=y)


@ac.model
def branch(y):
    m = ac.sample("m", dist.Normal(0, 1))
    s = 1.0 if m > 0 else 2.0
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(m, s), obs=y)


@ac.model
def numpy_of_a_latent(y):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(np.exp(m), 1), obs=y)


@ac.model
def unsummed_count(y):
    k = ac.sample("k", dist.Poisson(3.0))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(k, 1.0), obs=y)


@ac.model
def site_in_vmap(y):
    def row(value):
        m = ac.sample("m", dist.Normal(0, 1))
        ac.sample("y", dist.Normal(m, 1), obs=value)

    jax.vmap(row)(y)


@ac.model
def model_in_a_model(y):
    plain(y)
    ac.sample("m", dist.Normal(0, 1))


@ac.model
def nothing_latent(y):
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(0, 1), obs=y)


@ac.model
def negative_scale(y):
    m = ac.sample("m", dist.Normal(0, -1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def bounds_the_wrong_way_round(y):
    p = ac.sample("p", dist.Uniform(1, 0))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(p, 1), obs=y)


@ac.model
def covariance_without_a_root(y):
    m = ac.sample("m", dist.Normal(0, 1))
    ac.sample(
        "y", dist.MultivariateNormal(m * jnp.ones(2), covariance_matrix=jnp.array([[1.0, 2], [2, 1]])), obs=y
    )


@ac.model
def raises(y):
    m = ac.sample("m", dist.Normal(0, 1))
    sizes = {"small": 1}
    with ac.plate("row", sizes["large"]):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@jax.custom_jvp
def simulated(m):
    """A simulator of the user's own that cannot go below -1."""
    return jax.pure_callback(_simulate, jax.ShapeDtypeStruct((), m.dtype), m, vmap_method="sequential")


@simulated.defjvp
def _slope(primals, tangents):
    return simulated(*primals), tangents[0]


def _simulate(m):
    if m < -1:
        raise FloatingPointError("the simulator has no answer below -1")
    return np.asarray(m)


@ac.model
def raises_in_a_callback(y):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(simulated(m) - 3, 1), obs=y)


@ac.model
def numpy_randomness(y):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(m + np.random.normal(size=3), 1), obs=y)


@ac.model
def global_counter(y):
    m = ac.sample("m", dist.Normal(float(next(COUNTER)), 1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(m, 1), obs=y)


def condition_on_no_site(y):
    return handlers.condition(plain(y), {"n": 1.0})


def own_distribution_that_keeps(y):
    class Mine(dist.Normal):
        @functools.cached_property
        def width(self):
            return 2 * self.scale

        def log_prob(self, value):
            return super().log_prob(value) + 0 * self.width

    @ac.model
    def observed(y):
        m = ac.sample("m", Mine(0, 1))
        with ac.plate("row", 3):
            ac.sample("y", dist.Normal(m, 1), obs=y)

    return observed(y)


@ac.model
def nested_plates_that_share_a_dim(y):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("group", 2, dim=-1), ac.plate("row", 3, dim=-1):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def counts_of_a_rate(y):
    rate = ac.sample("rate", dist.Gamma(2.0, 1.0))
    with ac.plate("row", 3):
        ac.sample("y", dist.Poisson(rate), obs=y)


PROGRAMS = {
    "a site defined twice": Case(twice, "SiteError", ("'m'", "unique"), dict(y=Y)),
    "a vector observed without a plate": Case(
        without_plate, "SiteError", ("'y'", "(3,)", "with ac.plate("), dict(y=Y)
    ),
    "a plate of the wrong size": Case(plate_of_four, "SiteError", ("'y'", "(3,)", "'row'", "4"), dict(y=Y)),
    "a column added to a row": Case(
        column_against_row, "SiteError", ("'y'", "(3, 1)", "(3,)"), dict(x=Y[:, None], y=Y)
    ),
    "two plates at one dim": Case(
        nested_plates_that_share_a_dim, "SiteError", ("'group'", "'row'", "-1"), dict(y=Y)
    ),
    "a Python branch on a latent value": Case(
        branch, "ModelError", ("'m'", "1.0 if m > 0", "jnp.where"), dict(y=Y)
    ),
    "NumPy's exp of a latent value": Case(
        numpy_of_a_latent, "ModelError", ("'m'", "np.exp(m)", "jnp"), dict(y=Y)
    ),
    "a discrete latent": Case(
        unsummed_count,
        "SiteError",
        ("'k'", "Poisson", "infinitely many values", "handlers.collapse"),
        dict(y=Y),
    ),
    "a site inside jax.vmap": Case(site_in_vmap, "SiteError", ("'m'", "vmap", "ac.plate"), dict(y=Y)),
    "a model called inside a model": Case(
        model_in_a_model, "ModelError", ("'plain'", "ac.submodel"), dict(y=Y)
    ),
    "a model without latent sites": Case(
        nothing_latent, "ModelError", ("'nothing_latent'", "no latent"), dict(y=Y)
    ),
    "a negative scale": Case(negative_scale, "DistributionError", ("'m'|\"m\"", "scale", "-1"), dict(y=Y)),
    "bounds in the wrong order": Case(
        bounds_the_wrong_way_round, "DistributionError", ("'p'|\"p\"", "low=1", "high=0"), dict(y=Y)
    ),
    "an invalid covariance matrix": Case(
        covariance_without_a_root, "error", ("'y'", "covariance_matrix", "positive definite"), dict(y=Y[:2])
    ),
    "an exception in the model": Case(raises, "KeyError", ("'large'", "'raises'"), dict(y=Y)),
    "an exception during sampling": Case(
        raises_in_a_callback,
        "JaxRuntimeError",
        ("failures_in_programs.py", "_simulate", "FloatingPointError: the simulator has no answer below -1"),
        dict(y=Y),
    ),
    "NumPy's random numbers in the model": Case(
        numpy_randomness, "warning", ("'y'", "np.random", "as data"), dict(y=Y)
    ),
    "a counter in the model": Case(
        global_counter, "warning", ("'m'", "count its calls", "as data"), dict(y=Y)
    ),
    "a condition on an unknown site": Case(
        condition_on_no_site, "SiteError", ("'n'", "'m'", "'y'"), dict(y=Y)
    ),
    "a distribution that stores computed values": Case(
        own_distribution_that_keeps, "DistributionError", ("Mine.width", "cached_property"), dict(y=Y)
    ),
    "a misspelt argument": Case(plain, "DataError", ("'yy'", "'y'"), dict(yy=Y)),
    "a missing argument": Case(plain, "DataError", ("'y'", "missing")),
    "no draws": Case(plain, "OptionError", ("draws", "0"), dict(y=Y), dict(draws=0)),
    "more draws than can be counted": Case(
        plain, "OptionError", ("draws", "at most 2147483647"), dict(y=Y), dict(draws=10**12)
    ),
    "a misspelt option": Case(plain, "OptionError", ("'warmpu'", "'warmup'"), dict(y=Y), dict(warmpu=10)),
    "an initial value outside the support": Case(
        counts_of_a_rate,
        "DataError",
        ("'rate'", "-1", "support"),
        dict(y=Y.astype(int)),
        dict(init={"rate": -1.0}),
    ),
    "an initial value for an unknown site": Case(
        counts_of_a_rate, "DataError", ("'rat'", "'rate'"), dict(y=Y.astype(int)), dict(init={"rat": 1.0})
    ),
}
