"""Define models whose log density or derivatives are NaN or infinite, everywhere or at some points."""

import jax
import jax.numpy as jnp
import numpy as np
from failure_case import Case

import accord as ac
import accord.distributions as dist

RNG = np.random.default_rng(1)
X = RNG.normal(size=10)
Y = 0.5 * X + 0.1 * RNG.normal(size=10)


@ac.model
def where_log():
    x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("f", jnp.where(x > 0, jnp.log(x), 0.0))


@ac.model
def where_sqrt():
    x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("f", jnp.where(x > 0, jnp.sqrt(x), 0.0))


@ac.model
def zero_by_zero():
    x = ac.sample("x", dist.Normal(0, 1))
    g = jnp.maximum(x, 0.0)
    ac.factor("f", -jnp.where(g > 0, g / g, 0.0))


@ac.model
def norm_of_zero():
    x = ac.sample("x", dist.Normal(0, 1).expand([3]).to_event(1))
    distances = jnp.linalg.norm(x[:, None, None] - x[None, :, None], axis=-1)
    ac.factor("f", -jnp.sum(distances))


@ac.model
def plus_infinity():
    x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("f", jnp.where(x > 1.5, jnp.inf, 0.0))


@ac.model
def not_a_number():
    x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("f", jnp.where(x > 1.5, jnp.nan, 0.0))


@ac.model
def minus_infinity():
    x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("f", jnp.where(x > 1.5, -jnp.inf, 0.0))


@jax.custom_jvp
def absolute(x):
    return jnp.abs(x)


@absolute.defjvp
def _absolute_slope(primals, tangents):
    (x,), (t,) = primals, tangents
    return jnp.abs(x), t * jnp.sqrt(x) / jnp.sqrt(x)


@ac.model
def own_derivative():
    x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("f", -absolute(x))


@jax.custom_jvp
def square(x):
    return x**2


@square.defjvp
def _square_slope(primals, tangents):
    return square(*primals), 3 * primals[0] * tangents[0]


@ac.model
def wrong_derivative():
    x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("f", -square(x))


@ac.model
def exp_of_exp(y):
    b = ac.sample("b", dist.Normal(0, 3))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(jnp.exp(jnp.exp(b)) * jnp.zeros(len(y)), 1), obs=y)


@ac.model
def log_of_a_mean(x, y):
    a = ac.sample("a", dist.Normal(1, 1))
    b = ac.sample("b", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(jnp.log(a + b * x), 1), obs=y)


@ac.model
def correlation_beyond_one(y):
    r = ac.sample("r", dist.Normal(0, 1))
    cov = jnp.eye(2) + r * (1 - jnp.eye(2))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.MultivariateNormal(jnp.zeros(2), covariance_matrix=cov), obs=y)


@ac.model
def bounds_that_cross(y):
    low = ac.sample("low", dist.Normal(0, 1))
    m = ac.sample("m", dist.Uniform(low, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def computed_of_no_use(y):
    m = ac.sample("m", dist.Normal(0, 1))
    ac.deterministic("log_m", jnp.log(m))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def scale_of_either_sign(y):
    m = ac.sample("m", dist.Normal(0, 1))
    s = ac.sample("s", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(m, s), obs=y)


@ac.model
def small_dirichlet():
    ac.sample("p", dist.Dirichlet(0.01 * jnp.ones(5)))


@ac.model
def small_gamma():
    ac.sample("x", dist.Gamma(1e-3, 1.0))


@ac.model
def loose_lkj():
    ac.sample("L", dist.LKJCholesky(3, 1e-3))


@ac.model
def tight_lkj():
    ac.sample("L", dist.LKJCholesky(3, 1e5))


@ac.model
def far_tail():
    ac.sample("v", dist.TruncatedNormal(0, 1, low=40.0))


@ac.model
def near_tail(y):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.TruncatedNormal(m, 1, low=20.0), obs=y)


@ac.model
def half_open_interval():
    sigma = ac.sample("sigma", dist.InverseGamma(2, 3))
    ac.sample("V", dist.TruncatedNormal(0, sigma, low=0.0, high=jnp.inf))


@ac.model
def overdispersed(y):
    k = ac.sample("k", dist.LogNormal(16.0, 0.5))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.BetaBinomial(k, k, 100), obs=y)


DERIVATIVES = {
    "where around log": Case(
        where_log, "warning", ("'x'", "modes|diverged"), options=dict(draws=500, warmup=500, chains=4)
    ),
    "where around sqrt": Case(where_sqrt, "warning", ("'x'", "derivative", "sqrt", "jnp.where")),
    "zero divided by zero": Case(zero_by_zero, "warning", ("'x'", "derivative", "jnp.where")),
    "the norm of a zero vector": Case(
        norm_of_zero, "InitializationError", ("'x'", "derivative", "sqrt", "jnp.linalg.norm")
    ),
    "a factor of plus infinity": Case(plus_infinity, "error", ("'x' = ", "'f'", "inf")),
    "a factor that is NaN": Case(not_a_number, "warning", ("'x' = ", "'f'", "nan")),
    "a factor of minus infinity": Case(minus_infinity, "warning", ("'x' = ", "'f'", "-inf")),
    "a custom derivative that is NaN": Case(own_derivative, "warning", ("'x'", "derivative", "absolute")),
    "a custom derivative that is wrong": Case(
        wrong_derivative, "error", ("'x'", "derivative", "differ"), asks="check"
    ),
    "exp of exp": Case(exp_of_exp, "warning", ("'b' = ", "'y'", "loc", "exp"), dict(y=Y)),
    "log of a mean that may be negative": Case(
        log_of_a_mean, "warning", ("'y'", "loc", "log"), dict(x=X, y=Y)
    ),
    "a correlation beyond one": Case(
        correlation_beyond_one,
        "warning",
        ("'r' = ", "'y'", "covariance_matrix", "positive definite"),
        dict(y=RNG.normal(size=(4, 2))),
    ),
    "bounds that cross": Case(bounds_that_cross, "warning", ("'m'", "Uniform", "low"), dict(y=Y)),
    "a computed site that is NaN": Case(
        computed_of_no_use, "error", ("'log_m'", "not finite", "log"), dict(y=Y)
    ),
    "a scale that may be negative": Case(
        scale_of_either_sign, "warning", ("'s' = -", "'y'", "scale of Normal is -"), dict(y=Y[:1])
    ),
    "Dirichlet(0.01)": Case(small_dirichlet, "sound", (), options=dict(draws=1000, warmup=350, chains=4)),
    "Gamma(0.001)": Case(small_gamma, "warning", ("'x'",)),
    "LKJ(0.001)": Case(loose_lkj, "warning", ("'L",)),
    "LKJ(100000)": Case(tight_lkj, "sound", ()),
    "a normal beyond 40": Case(far_tail, "sound", ()),
    "a normal beyond 20, observed": Case(near_tail, "sound", (), dict(y=np.array([20.01, 20.05]))),
    "an infinite bound": Case(half_open_interval, "sound", ()),
    "a beta-binomial close to a binomial": Case(overdispersed, "sound", (), dict(y=np.array([48, 55, 50]))),
    "a beta-binomial close to a binomial, in float32": Case(
        overdispersed, "sound", (), dict(y=np.array([48, 55, 50])), dict(precision="float32")
    ),
}
