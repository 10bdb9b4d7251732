"""Models of which the evidence and the posterior are known."""

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

SIGMA = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
EFFECTS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
Y = np.array([1, 2, 3, 2.5, 1.5])
MEAN, SD = 10 / (5 + 0.01), 1 / np.sqrt(5 + 0.01)  # of `normal(Y)`
EVIDENCE = -8.972955796


@ac.model
def normal(y):
    m = ac.sample("m", dist.Normal(0.0, 10.0))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(m, 1.0), obs=y)


@ac.model
def eight_schools(sigma, y):
    mu = ac.sample("mu", dist.Normal(0.0, 5.0))
    tau = ac.sample("tau", dist.HalfCauchy(5.0))
    with ac.plate("school", len(y)):
        z = ac.sample("z", dist.Normal(0.0, 1.0))
        theta = ac.deterministic("theta", mu + tau * z)
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


@ac.model
def two_modes():
    """Two modes of width 0.1 in a cube; the evidence is 4^-4, and one tenth of it to the right."""
    x = ac.sample("x", dist.Uniform(-2.0, 2.0).expand((4,)).to_event(1))

    def mode(share, centre):
        return jnp.log(share) - 0.5 * jnp.sum(((x - centre) / 0.1) ** 2)

    heights = jnp.logaddexp(mode(0.1, 0.5), mode(0.9, -0.5))
    ac.factor("f", heights - 4 * jnp.log(0.1 * jnp.sqrt(2 * jnp.pi)))


@ac.model
def one_of_two(y):
    mu = ac.sample("mu", dist.Normal(0.0, 1.0))
    with ac.plate("row", len(y)):
        kind = ac.sample("kind", dist.Bernoulli(0.3))
        ac.sample("y", dist.Normal(mu + 2 * kind, 1.0), obs=y)


@ac.model
def narrow(width):
    """Possible only where a uniform number is below the width."""
    x = ac.sample("x", dist.Uniform(0.0, 1.0))
    ac.factor("f", jnp.where(x < width, 0.0, -jnp.inf))


def found(model, *args, **options):
    return infer.smc(model, *args, **{"quiet": True, **options})


def same(first, second):
    assert list(first) == list(second)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])
        np.testing.assert_array_equal(first.particles[name], second.particles[name])
    np.testing.assert_array_equal(first.log_weights, second.log_weights)
    assert first.log_evidence.value == second.log_evidence.value
    assert list(first.stages) == list(second.stages)
    for number, stages in first.stages.items():
        for name, rows in stages.items():
            np.testing.assert_array_equal(rows, second.stages[number][name])
