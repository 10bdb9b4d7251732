"""Models of which some sites are integrated out, each with the marginal log density of the others in closed form."""

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers

SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
RNG = np.random.default_rng(3)


@ac.model
def schools(sigma=SIGMA, y=Y):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", sigma.shape[0]):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.deterministic("twice", 2 * theta)
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


def schools_by_hand(u, y=Y):
    mu, tau = u[0], jnp.exp(u[1])
    prior = dist.Normal(0, 5).log_prob(mu) + dist.HalfCauchy(5).log_prob(tau) + u[1]
    return prior + dist.Normal(mu, jnp.sqrt(tau**2 + SIGMA**2)).log_prob(y).sum()


X = RNG.normal(size=(12, 7)) + 1.0
Z = X @ RNG.normal(size=7) + 0.3 * RNG.normal(size=12)


@ac.model
def regression(x=X, z=Z):
    spread = ac.sample("spread", dist.HalfNormal(2))
    noise = ac.sample("noise", dist.HalfNormal(1))
    beta = ac.sample("beta", dist.Normal(0.5, spread).expand((x.shape[1],)).to_event(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("z", dist.Normal(x @ beta, noise), obs=z)


def positive_half_normals(u, *scales):
    return sum(dist.HalfNormal(scale).log_prob(jnp.exp(u[i])) + u[i] for i, scale in enumerate(scales))


def regression_by_hand(u, x=X, z=Z):
    spread, noise = jnp.exp(u[0]), jnp.exp(u[1])
    covariance = spread**2 * x @ x.T + noise**2 * jnp.eye(len(z))
    marginal = dist.MultivariateNormal(x.sum(axis=1) * 0.5, covariance_matrix=covariance)
    return positive_half_normals(u, 2, 1) + marginal.log_prob(jnp.asarray(z))


STEPS = RNG.normal(size=20).cumsum() + RNG.normal(size=20)
SEEN = np.arange(20) != 7


@ac.model
def walk(series=STEPS, seen=SEEN):
    step = ac.sample("step", dist.HalfNormal(1))
    noise = ac.sample("noise", dist.HalfNormal(1))

    def move(previous, here):
        level = ac.sample("level", dist.Normal(previous, step))
        with handlers.mask(mask=here[1]):
            ac.sample("series", dist.Normal(level, noise), obs=here[0])
        return level, None

    ac.scan(move, 0.0, (series, seen), name="time")


def walk_by_hand(u):
    step, noise = jnp.exp(u[0]).reshape(1, 1), jnp.exp(u[1]).reshape(1, 1)
    one = jnp.ones((1, 1))
    law = dist.LinearGaussianStateSpace(
        20,
        one,
        one,
        transition_scale=step,
        observation_scale=noise,
        initial_mean=jnp.zeros(1),
        initial_scale=step,
        observed=SEEN,
    )
    return positive_half_normals(u, 1, 1) + law.log_prob(jnp.asarray(STEPS)[:, None])


GROUP = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3])
T = RNG.normal(size=10)
V = RNG.normal(size=10)


@ac.model
def slopes(group=GROUP, t=T, v=V):
    """Two effects of each group: blocks of two."""
    scale = ac.sample("scale", dist.HalfNormal(1))
    noise = ac.sample("noise", dist.HalfNormal(1))
    with ac.plate("group", 4):
        level = ac.sample("level", dist.Normal(0.3, scale))
        slope = ac.sample("slope", dist.Normal(0.0, 1.5))
    with ac.plate("row", len(t)):
        ac.sample("v", dist.Normal(level[group] + slope[group] * t, noise), obs=v)


def slopes_by_hand(u):
    is_same = (GROUP[:, None] == GROUP).astype(float)
    covariance = is_same * (jnp.exp(2 * u[0]) + 1.5**2 * np.outer(T, T)) + jnp.exp(2 * u[1]) * jnp.eye(10)
    marginal = dist.MultivariateNormal(jnp.full(10, 0.3), covariance_matrix=covariance)
    return positive_half_normals(u, 1, 1) + marginal.log_prob(jnp.asarray(V))


PAIRS = RNG.normal(size=(3, 2))


@ac.model
def vectors(pairs=PAIRS):
    """A vector for each entry of a plate, whose prior couples its entries, and which is reparameterised in part."""
    scale = ac.sample("scale", dist.HalfNormal(1))
    noise = ac.sample("noise", dist.HalfNormal(1))
    with ac.plate("pair", 3):
        law = dist.MultivariateNormal(jnp.zeros(2), scale_tril=scale * jnp.array([[1.0, 0.0], [0.5, 1.0]]))
        effect = ac.sample("effect", law)
        ac.sample("pairs", dist.Normal(effect, noise).to_event(1), obs=pairs)


def vectors_by_hand(u):
    root = jnp.exp(u[0]) * jnp.array([[1.0, 0.0], [0.5, 1.0]])
    covariance = root @ root.T + jnp.exp(2 * u[1]) * jnp.eye(2)
    marginal = dist.MultivariateNormal(jnp.zeros(2), covariance_matrix=covariance)
    return positive_half_normals(u, 1, 1) + marginal.log_prob(jnp.asarray(PAIRS)).sum()


# By name: the model, the sites integrated out, the log density of the others, and the groups (number, size).
CASES = {
    "effects of groups": (schools, ["theta"], schools_by_hand, (8, 1)),
    "coefficients": (regression, ["beta"], regression_by_hand, (1, 7)),
    "a series in a scan, with a gap": (walk, ["level"], walk_by_hand, (1, 20)),
    "two effects of each group": (slopes, ["level", "slope"], slopes_by_hand, (4, 2)),
    "vectors in a plate": (vectors, ["effect"], vectors_by_hand, (3, 2)),
}
