"""Define models that compute correctly but whose posterior is improper or cannot be sampled."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from failure_case import Case

import accord as ac
import accord.distributions as dist
from accord.distributions import constraints

RNG = np.random.default_rng(2)
X = RNG.normal(size=20)
Y = 1 + 2 * X + 0.5 * RNG.normal(size=20)
CALLS = itertools.count()


def flat(constraint):
    return dist.ImproperUniform(constraint, (), ())


@ac.model
def flat_and_unobserved(y):
    ac.sample("a", flat(constraints.real))
    b = ac.sample("b", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(b, 1), obs=y)


@ac.model
def constant_likelihood():
    m = ac.sample("m", flat(constraints.real))
    ac.factor("f", 0.0 * m)


@ac.model
def sum_of_two(y):
    a = ac.sample("a", flat(constraints.real))
    b = ac.sample("b", flat(constraints.real))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(a + b, 1), obs=y)


@ac.model
def collinear(x, y):
    a = ac.sample("a", flat(constraints.real))
    b = ac.sample("b", flat(constraints.real))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(a + b * x, 0.5), obs=y)


@ac.model
def logistic(x, y):
    b = ac.sample("b", flat(constraints.real))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Bernoulli(logits=b * x), obs=y)


@ac.model
def scale_of_one_point(y):
    m = ac.sample("m", flat(constraints.real))
    s = ac.sample("s", flat(constraints.positive))
    ac.sample("y", dist.Normal(m, s), obs=y)


@ac.model
def two_modes():
    m = ac.sample("m", dist.Normal(0, 20))
    ac.factor("f", jnp.logaddexp(-0.5 * ((m - 10) / 0.5) ** 2, -0.5 * ((m + 10) / 0.5) ** 2))


@ac.model
def labels_switch(y):
    with ac.plate("component", 2):
        mu = ac.sample("mu", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample(
            "y", dist.MixtureSameFamily(dist.Categorical(jnp.array([0.5, 0.5])), dist.Normal(mu, 1)), obs=y
        )


@ac.model
def funnel():
    v = ac.sample("v", dist.Normal(0, 3))
    with ac.plate("row", 9):
        ac.sample("x", dist.Normal(0, jnp.exp(v / 2)))


@ac.model
def end_of_a_range(y):
    top = ac.sample("top", dist.LogNormal(0, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Uniform(0, top), obs=y)


@ac.model
def narrow_ridge():
    x = ac.sample("x", dist.Normal(0, 1).expand([2]).to_event(1))
    ac.factor("f", -0.5 * ((x[0] - x[1] ** 2) / 1e-3) ** 2)


@jax.custom_jvp
def drifting(m):
    return jax.pure_callback(_drift, jax.ShapeDtypeStruct((), m.dtype), m, vmap_method="sequential")


@drifting.defjvp
def _drifting_slope(primals, tangents):
    return drifting(*primals), tangents[0]


def _drift(m):
    return np.asarray(m + 0.05 * next(CALLS), m.dtype)


@ac.model
def callback_with_a_memory(y):
    m = ac.sample("m", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(drifting(m), 1), obs=y)


@ac.model
def stopped_gradient(x, y):
    a = ac.sample("a", dist.Normal(0, 10))
    b = ac.sample("b", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(a + jax.lax.stop_gradient(b) * x, 0.5), obs=y)


def sum_without_psum(m, y):
    """The log likelihood of the rows of one device, taken for that of all."""
    return -0.5 * jnp.sum((y - m) ** 2)


@ac.model
def lost_parts(y):
    m = ac.sample("m", dist.Normal(0, 1))
    mesh = jax.make_mesh((2,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    specs = dict(in_specs=(jax.P(), jax.P("data")), out_specs=jax.P())
    ac.factor("f", jax.shard_map(sum_without_psum, mesh=mesh, **specs)(m, y))


@ac.model
def lost_parts_unchecked(y):
    m = ac.sample("m", dist.Normal(0, 1))
    mesh = jax.make_mesh((2,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    specs = dict(in_specs=(jax.P(), jax.P("data")), out_specs=jax.P(), check_vma=False)
    ac.factor("f", jax.shard_map(sum_without_psum, mesh=mesh, **specs)(m, y))


SEPARATED = dict(x=np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0]), y=np.array([0, 0, 0, 1, 1, 1]))
GROUPS = np.concatenate([RNG.normal(-3, 1, 10), RNG.normal(3, 1, 10)])

POSTERIORS = {
    "a flat prior without data": Case(
        flat_and_unobserved, "error", ("'a'", "proper prior"), dict(y=Y), dict(chains=4)
    ),
    "a constant likelihood under a flat prior": Case(constant_likelihood, "error", ("'m'", "proper prior")),
    "only a sum is identified": Case(sum_of_two, "error", ("'a'|'b'", "proper prior"), dict(y=Y)),
    "a constant covariate": Case(collinear, "error", ("'a'|'b'", "proper prior"), dict(x=np.ones(20), y=Y)),
    "separation under a flat prior": Case(logistic, "error", ("'b'", "proper prior"), SEPARATED),
    "a scale estimated from one observation": Case(
        scale_of_one_point, "error", ("'m'|'s'", "proper prior"), dict(y=np.float64(1.0))
    ),
    "two modes": Case(two_modes, "error", ("'m'", "modes"), {}, dict(chains=4)),
    "components that switch labels": Case(
        labels_switch, "error", ("'mu[0]'|'mu[1]'", "modes"), dict(y=GROUPS), dict(chains=4)
    ),
    "a funnel": Case(funnel, "warning", ("'v'", "eparameterise")),
    "a posterior at the end of its support": Case(
        end_of_a_range, "warning", ("'y'", "support"), dict(y=np.array([0.2, 0.9, 1.7]))
    ),
    "a narrow curved ridge": Case(narrow_ridge, "error", ("'x[",)),
    "a callback with state": Case(
        callback_with_a_memory, "error", ("changes from one call to the next", "callback"), dict(y=Y)
    ),
    "a stopped gradient": Case(stopped_gradient, "error", ("'a'|'b'",), dict(x=X, y=Y)),
    "shards that are not summed": Case(
        lost_parts, "error", ("shard_map", "jax.lax.psum"), dict(y=Y), num_devices=2
    ),
    "shards that are not summed, unchecked": Case(
        lost_parts_unchecked, "ModelError", ("shard_map", "sharded_sum"), dict(y=Y), num_devices=2
    ),
}
