"""Define models with unsuitable data."""

import jax.numpy as jnp
import numpy as np
from failure_case import Case

import accord as ac
import accord.distributions as dist
from accord import handlers

RNG = np.random.default_rng(0)
X = RNG.normal(size=20)
Y = 1 + 2 * X + 0.5 * RNG.normal(size=20)
COUNTS = np.array([2, 0, 3, 5, 1])


def with_entry(array, index, value):
    """A copy of an array with another value in one place."""
    changed = array.copy()
    changed[index] = value
    return changed


@ac.model
def line(x, y):
    a = ac.sample("a", dist.Normal(0, 10))
    b = ac.sample("b", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(a + b * x, 0.5), obs=y)


@ac.model
def waiting_times(y):
    rate = ac.sample("rate", dist.HalfNormal(1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Exponential(rate), obs=y)


@ac.model
def counts(y):
    rate = ac.sample("rate", dist.HalfNormal(5))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Poisson(rate), obs=y)


@ac.model
def coin(y):
    p = ac.sample("p", dist.Beta(1, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Bernoulli(p), obs=y)


@ac.model
def successes(total, y):
    p = ac.sample("p", dist.Beta(1, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Binomial(total, p), obs=y)


@ac.model
def categories(y):
    p = ac.sample("p", dist.Dirichlet(jnp.ones(3)))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Categorical(p), obs=y)


@ac.model
def shares(y):
    concentration = ac.sample("concentration", dist.HalfNormal(2))
    ac.sample("y", dist.Dirichlet(concentration * jnp.ones(3)), obs=y)


@ac.model
def known_errors(y, sigma):
    m = ac.sample("m", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(m, sigma), obs=y)


@ac.model
def masked(y):
    m = ac.sample("m", dist.Normal(0, 10))
    with ac.plate("row", len(y)), handlers.mask(mask=jnp.isfinite(y)):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def forgets_x(x, y):
    a = ac.sample("a", dist.Normal(0, 10))
    b = ac.sample("b", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(a + b, 0.5), obs=y)


@ac.model
def forgets_m(y):
    ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(0, 1), obs=y)


@ac.model
def offset_line(x, y):
    a = ac.sample("a", dist.Normal(1e5, 10))
    b = ac.sample("b", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(a + b * x, 0.1), obs=y)


@ac.model
def far_uniform(y):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Uniform(m - 1, m + 1), obs=y)


DATA = {
    "a NaN observation": Case(
        line, "SiteError", ("'y'", "1 of 20", "NaN", "mask"), dict(x=X, y=with_entry(Y, 3, np.nan))
    ),
    "an infinite observation": Case(
        line, "SiteError", ("'y'", "1 of 20", "infinite"), dict(x=X, y=with_entry(Y, 3, np.inf))
    ),
    "a NaN covariate": Case(
        line, "InitializationError", ("'y'", "loc", "nan", "data"), dict(x=with_entry(X, 3, np.nan), y=Y)
    ),
    "an observation outside the support": Case(
        waiting_times, "SiteError", ("'y'", "-2", "support"), dict(y=np.array([1.0, -2.0, 3.0]))
    ),
    "a negative count": Case(
        counts, "SiteError", ("'y'", "-1", "support"), dict(y=with_entry(COUNTS, 1, -1))
    ),
    "a count that is not whole": Case(
        counts,
        "SiteError",
        ("'y'", "2.5", "support"),
        dict(y=with_entry(COUNTS.astype(float), 0, 2.5)),
    ),
    "a Bernoulli outcome of two": Case(
        coin, "SiteError", ("'y'", "2", "support"), dict(y=np.array([0, 1, 2]))
    ),
    "more successes than trials": Case(
        successes,
        "SiteError",
        ("'y'", "7", "support"),
        dict(total=np.array([10, 5, 8]), y=np.array([3, 7, 2])),
    ),
    "an unknown category": Case(
        categories, "SiteError", ("'y'", "3", "support"), dict(y=np.array([0, 1, 3, 2]))
    ),
    "proportions that do not add up to one": Case(
        shares, "SiteError", ("'y'", "support"), dict(y=np.array([0.5, 0.4, 0.3]))
    ),
    "a proportion of zero": Case(
        shares, "InitializationError", ("'y'", "0", "support"), dict(y=np.array([0.5, 0.5, 0.0]))
    ),
    "a known error of zero": Case(
        known_errors, "error", ("'y'", "scale", "0"), dict(y=Y[:3], sigma=np.array([1.0, 0.0, 2.0]))
    ),
    "a support far from the data": Case(
        far_uniform, "InitializationError", ("'y'", "50", "support"), dict(y=np.array([50.0, 50.5]))
    ),
    "all data missing": Case(masked, "warning", ("'y'", "0 of 5"), dict(y=np.full(5, np.nan))),
    "no rows": Case(known_errors, "warning", ("'y'", "0"), dict(y=np.zeros(0), sigma=np.ones(0))),
    "an unused covariate": Case(forgets_x, "warning", ("'x'",), dict(x=X, y=Y)),
    "a parameter that no data depends on": Case(forgets_m, "info", ("'m'",), dict(y=Y)),
    "a float32 array in a float64 run": Case(
        line, "warning", ("'x'", "float32", "NumPy"), dict(x=jnp.asarray(X, jnp.float32), y=Y)
    ),
    "an offset in float32": Case(
        offset_line,
        "warning",
        ("'y'", "float32", "0.0036", "mean"),
        dict(x=X, y=Y + 1e5),
        dict(precision="float32"),
    ),
    "a count beyond int32": Case(
        counts, "DataError", ("'y'", "int32"), dict(y=np.array([2**40, 3])), dict(precision="float32")
    ),
    "a table of strings": Case(counts, "DataError", ("'y'", "numbers"), dict(y=np.array(["a", "b"]))),
}
