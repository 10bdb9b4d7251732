"""Models for nested sampling, what finds their evidence, and what holds two results equal."""

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

Y = np.array([1, 2, 3, 2.5, 1.5])
MEAN, SD = 10 / (5 + 0.01), 1 / np.sqrt(5 + 0.01)  # of `normal(Y)`
EVIDENCE = -8.972955796
SMALL = dict(live=60, batch=12, steps=4)


@ac.model
def normal(y):
    m = ac.sample("m", dist.Normal(0.0, 10.0))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(m, 1.0), obs=y)


@ac.model
def stairs():
    """Likelihood 1 in a tenth of the prior, 1/2 in a half, and zero elsewhere."""
    x = ac.sample("x", dist.Uniform(0.0, 1.0))
    ac.factor("f", jnp.where(x < 0.1, 0.0, jnp.where(x < 0.6, jnp.log(0.5), -jnp.inf)))


def found(model, **options):
    return infer.evidence(model, infer.NestedSampling(**{"quiet": True, **options}))


def same(first, second):
    """Hold the draws of two results equal, bit for bit."""
    assert list(first) == list(second)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])
        np.testing.assert_array_equal(first.points[name], second.points[name])
    np.testing.assert_array_equal(first.log_weights, second.log_weights)
    np.testing.assert_array_equal(first.run, second.run)
    assert (first.log_evidence, first.by_run) == (second.log_evidence, second.by_run)
    assert list(first.rounds) == list(second.rounds)
    for number, rounds in first.rounds.items():
        for name, rows in rounds.items():
            np.testing.assert_array_equal(rows, second.rounds[number][name])
