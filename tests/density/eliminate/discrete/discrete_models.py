"""Models with discrete unknowns, each with the values and shapes of these."""

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist

ROWS = jnp.array([[0.7, 0.3], [0.4, 0.6], [0.6, 0.4]])
"""Transitions from states 0 and 1; from 2, how a chain begins."""

X = np.array([-0.5, 0.4])


@ac.model
def plain(x):
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    with ac.plate("n", x.shape[0]):
        z = ac.sample("z", dist.Categorical(np.array([0.5, 0.3, 0.2])))
        ac.sample("x", dist.Normal(a * z, 1.0), obs=x)


@ac.model
def nested(x):
    """A site of the whole model, one of each group, one of each entry; and a support that depends on it."""
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    k = ac.sample("k", dist.DiscreteUniform(2, 3))
    with ac.plate("group", 2, dim=-2):
        c = ac.sample("c", dist.Bernoulli(0.3))
        with ac.plate("entry", 2, dim=-1):
            z = ac.sample("z", dist.Binomial(k, jax.nn.sigmoid(a + c)))
            u = ac.sample("u", dist.Uniform(0.0, 1.0 + z))
            ac.sample("x", dist.Normal(u + c, 1.0), obs=x)


@ac.model
def by_entry(x):
    """As many values as the entry says, from one that it says; some are observed; a log density of their own."""
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    with ac.plate("n", 2):
        w = ac.sample("w", dist.DiscreteUniform(np.array([1, 3]), np.array([2, 5])))
        labels = ac.sample(
            "l", dist.Bernoulli(jax.nn.sigmoid(a)), obs=np.array([1, 0]), obs_mask=np.array([True, False])
        )
        ac.factor("f", -0.1 * w * labels)
        ac.sample("x", dist.Normal(a * w - labels, 1.0), obs=x)


@ac.model
def without_chance(x):
    """Values of probability zero, and values that leave none."""
    q = ac.sample("q", dist.Normal(0.0, 1.0))
    p = jax.nn.sigmoid(q)
    with ac.plate("n", 2):
        z = ac.sample("z", dist.Categorical(jnp.stack([jnp.zeros(()), p, 1 - p])))
        w = ac.sample("w", dist.Bernoulli(jnp.where(z == 1, 1.0, p)))
        ac.sample("x", dist.Normal(z * q + w, 1.0), obs=x)


@ac.model
def switches(y):
    a = ac.sample("a", dist.Normal(0.0, 1.0))

    def step(before, seen):
        z = ac.sample("z", dist.Categorical(ROWS[before]))
        ac.sample("y", dist.Normal(a * z, 1.0), obs=seen)
        return z.astype(jnp.int32), None

    ac.scan(step, jnp.int32(2), y)


@ac.model
def second_order(y):
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    rows = jnp.array([[[0.8, 0.2], [0.5, 0.5]], [[0.4, 0.6], [0.1, 0.9]]])

    def step(before, seen):
        z = ac.sample("z", dist.Categorical(rows[before])).astype(jnp.int32)
        ac.sample("y", dist.Normal(a * z, 1.0), obs=seen)
        return (before[1], z), None

    ac.scan(step, (jnp.int32(0), jnp.int32(1)), y)


@ac.model
def two_chains(y):
    """Two chains, a site of each step, and the steps in plates; backwards in time."""
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    k = ac.sample("k", dist.Bernoulli(0.4))
    with ac.plate("series", y.shape[1]):
        c = ac.sample("c", dist.Bernoulli(0.4))

        def step(before, seen):
            w = ac.sample("w", dist.Categorical(ROWS[before[0]])).astype(jnp.int32)
            v = ac.sample("v", dist.Categorical(ROWS[before[1] + k])).astype(jnp.int32)
            u = ac.sample("u", dist.Bernoulli(0.1 + 0.2 * w))
            ac.sample("y", dist.Normal(a * w + v + u + c, 1.0), obs=seen)
            return (w, v), None

        ac.scan(step, (jnp.zeros(y.shape[1], jnp.int32), jnp.ones(y.shape[1], jnp.int32)), y, reverse=True)


@ac.model
def annotated(y):
    """Ratings of items: the class of an item is taken by an index, as is that of the group that it is in."""
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    k = ac.sample("k", dist.Bernoulli(0.4))
    with ac.plate("group", 2):
        c = ac.sample("c", dist.Bernoulli(0.3))
    with ac.plate("item", 3):
        z = ac.sample(
            "z", dist.Categorical(jnp.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])[c[np.array([1, 0, 1])]])
        )
    with ac.plate("rating", 4):
        u = ac.sample("u", dist.Bernoulli(jax.nn.sigmoid(a)))
        ac.sample("y", dist.Normal(a * z[np.array([2, 0, 2, 1])] + u * k, 1.0), obs=y)


@ac.model
def shuffled(y):
    """Entries of the same plate in another order, some twice; two sites by the same index; some labels are known."""
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    with ac.plate("n", 3):
        z = ac.sample("z", dist.Categorical(np.array([0.5, 0.3, 0.2])))
        w = ac.sample(
            "w", dist.Bernoulli(0.3), obs=np.array([1, 0, 0]), obs_mask=np.array([True, False, False])
        )
        at = np.array([1, 2, 1])
        ac.sample("y", dist.Normal(a * z[at] + w[at], 1.0), obs=y)


@ac.model
def collected(y):
    """States that are observed after their scan, and the last one once more."""
    a = ac.sample("a", dist.Normal(0.0, 1.0))

    def step(before, _):
        z = ac.sample("z", dist.Categorical(ROWS[before])).astype(jnp.int32)
        return z, z

    last, states = ac.scan(step, jnp.int32(2), None, length=3)
    with ac.plate("time", 3):
        ac.sample("y", dist.Normal(a * states, 1.0), obs=y)
    ac.sample("end", dist.Normal(a + last, 1.0), obs=0.4)


def _hyper(shape, values=2):
    return range(values), shape


Y = np.array([0.3, 1.0, -0.2, 1.5])

CASES = {
    "a plate": (plain(X), {"z": (range(3), (2,))}),
    "plates in plates, supports that depend": (
        nested(np.array([[1.0, 2.0], [0.3, -1.0]])[:, :2]),
        {"k": ((2, 3), ()), "c": _hyper((2, 1)), "z": (range(4), (2, 2))},
    ),
    "values by entry, some observed": (
        by_entry(X),
        {"w": (range(1, 6), (2,)), "l_unobserved": _hyper((1,))},
    ),
    "probabilities of zero": (without_chance(X), {"z": (range(3), (2,)), "w": _hyper((2,))}),
    "a chain": (switches(Y), {"z": _hyper((4,))}),
    "a chain of second order": (second_order(Y), {"z": _hyper((4,))}),
    "two chains in plates": (
        two_chains(np.array([[0.3], [0.2]])),
        {"k": _hyper(()), "c": _hyper((1,)), "w": _hyper((2, 1)), "v": _hyper((2, 1)), "u": _hyper((2, 1))},
    ),
    "labels of groups": (
        annotated(np.array([0.3, 1.0, -0.2, 1.5])),
        {"k": _hyper(()), "c": _hyper((2,)), "z": (range(3), (3,)), "u": _hyper((4,))},
    ),
    "another order": (
        shuffled(np.array([0.3, 1.0, -0.2])),
        {"z": (range(3), (3,)), "w_unobserved": _hyper((2,))},
    ),
    "states observed after their scan": (collected(Y[:3]), {"z": _hyper((3,))}),
}
