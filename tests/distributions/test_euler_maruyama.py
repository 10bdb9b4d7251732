"""Test discretised stochastic differential equations against the normal distribution of a linear one."""

import jax
import numpy as np
from laws import assert_close, compiled
from scipy import stats

import accord.distributions as dist

TIMES = np.array([0.0, 0.1, 0.25, 0.5, 1.0])


def pull_back(x: jax.Array, t: jax.Array) -> tuple:
    """A process of Ornstein and Uhlenbeck."""
    del t
    return -0.8 * x, 0.5


def exact() -> stats.rv_continuous:
    """The joint normal distribution of the discretised process, from its recursion."""
    n, dt = TIMES.size, np.diff(TIMES)
    factor = np.zeros((n, n))
    factor[0, 0] = 2.0
    for i in range(n - 1):
        factor[i + 1] = factor[i] * (1 - 0.8 * dt[i])
        factor[i + 1, i + 1] = 0.5 * np.sqrt(dt[i])
    mean = np.cumprod(np.append(1.0, 1 - 0.8 * dt))
    return stats.multivariate_normal(mean, factor @ factor.T)


def test_a_linear_equation_gives_its_normal_distribution() -> None:
    d = dist.EulerMaruyama(TIMES, pull_back, dist.Normal(1.0, 2.0))
    assert (d.batch_shape, d.event_shape) == ((), (5,))
    draws, log_prob, slope = compiled(
        lambda key: (s := d.sample(key, (4000,)), d.log_prob(s), jax.grad(d.log_prob)(s[0]))
    )(jax.random.key(0))
    assert_close(log_prob, exact().logpdf(np.asarray(draws)), rtol=1e-10)
    assert_close(slope, -np.linalg.solve(exact().cov, np.asarray(draws[0]) - exact().mean), rtol=1e-8)
    spread = np.sqrt(np.diag(exact().cov))
    assert (np.abs(draws.mean(0) - exact().mean) < 4.5 * spread / np.sqrt(4000)).all()
    assert (np.abs(np.cov(np.asarray(draws).T) / np.outer(spread, spread) - _correlation()) < 0.1).all()


def test_vectors_and_batches_are_independent_paths() -> None:
    init = dist.Normal(np.array([1.0, -1.0]), 2.0).to_event(1).expand((3,))
    d = dist.EulerMaruyama(np.stack([TIMES, 2 * TIMES, TIMES + 1]), pull_back, init)
    assert (d.batch_shape, d.event_shape) == ((3,), (5, 2))
    draws, log_prob = compiled(lambda key: (s := d.sample(key, (2,)), d.log_prob(s)))(jax.random.key(0))
    assert draws.shape == (2, 3, 5, 2)
    one = dist.EulerMaruyama(2 * TIMES, pull_back, dist.Normal(-1.0, 2.0)).log_prob(draws[1, 1, :, 1])
    other = dist.EulerMaruyama(2 * TIMES, pull_back, dist.Normal(1.0, 2.0)).log_prob(draws[1, 1, :, 0])
    assert_close(log_prob[1, 1], one + other)


def _correlation() -> np.ndarray:
    """The correlations of the exact distribution."""
    spread = np.sqrt(np.diag(exact().cov))
    return exact().cov / np.outer(spread, spread)
