"""Test systems with observed states against the normal distribution of all their states and observations."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from cases_series import SEEN, TRANSITION
from laws import assert_close, assert_finite, compiled

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import DistributionError, SiteError

STEPS = 5
DIGITS = 40
THERE = np.array([[1, 1], [0, 1], [0, 0], [1, 0], [1, 1]], bool)
RNG = np.random.default_rng(4)
Y = RNG.normal(size=(STEPS, 2))
# One observation of a level and a slope, of which the slope is fixed; with vague beginnings.
TREND = {
    "transition_matrix": np.array([[1.0, 1.0], [0.0, 1.0]]),
    "observation_matrix": np.array([[1.0, 0.0]]),
    "transition_scale": np.diag([0.3, 0.0]),
    "observation_scale": np.array([[0.5]]),
    "initial_mean": np.zeros(2),
    "initial_scale": np.diag([1e3, 10.0]),
}
SYSTEMS = {
    "two observations": {"transition_matrix": TRANSITION, **SEEN},
    "a trend": TREND,
    "no noise in what is seen": TREND | {"observation_scale": np.zeros((1, 1))},
}


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(DIGITS):
        yield


def dense(parts: dict) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of all states, one after another, and then all observations, in numbers of 40 digits."""
    parts = {name: np.vectorize(mpmath.mpf, otypes=[object])(value) for name, value in parts.items()}
    powers = [np.linalg.matrix_power(parts["transition_matrix"], p) for p in range(STEPS)]
    zero = np.zeros((2, 2), object)
    scales = [parts["initial_scale"], *[parts["transition_scale"]] * (STEPS - 1)]
    rows = [[powers[t - s] @ scales[s] if s <= t else zero for s in range(STEPS)] for t in range(STEPS)]
    states, shown = np.block(rows), np.kron(np.eye(STEPS, dtype=object), parts["observation_matrix"])
    noise = np.kron(np.eye(STEPS, dtype=object), parts["observation_scale"])
    beside = np.zeros((2 * STEPS, noise.shape[1]), object)
    whole = np.vstack([np.hstack([states, beside]), np.hstack([shown @ states, noise])])
    mean = np.concatenate([power @ parts["initial_mean"] for power in powers])
    return np.concatenate([mean, shown @ mean]), whole @ whole.T


def known(parts: dict, y: np.ndarray, there: np.ndarray) -> tuple[np.ndarray, ...]:
    """Log density of what is observed, and mean and covariance of all states given that."""
    mean, covariance = dense(parts)
    states, seen = np.arange(2 * STEPS), 2 * STEPS + np.flatnonzero(there)
    within, across = (
        mpmath.matrix(covariance[np.ix_(seen, seen)]),
        mpmath.matrix(covariance[np.ix_(states, seen)]),
    )
    away = mpmath.matrix(y[there] - mean[seen])
    solved = mpmath.lu_solve(within, away)
    log_density = (
        -((away.T * solved)[0] + mpmath.log(mpmath.det(within)) + len(seen) * mpmath.log(2 * mpmath.pi)) / 2
    )
    after = mpmath.matrix(covariance[np.ix_(states, states)]) - across * mpmath.inverse(within) * across.T
    centre = mpmath.matrix(mean[states]) + across * solved
    size = 2 * STEPS
    found = (
        np.asarray(centre.tolist(), float).reshape(size),
        np.asarray(after.tolist(), float).reshape(size, size),
    )
    return np.asarray(float(log_density)), *found


def system(parts: dict, **more) -> dist.LinearGaussianStateSpace:
    return dist.LinearGaussianStateSpace(STEPS, **parts, **more)


QUICK = {("two observations", False), ("a trend", True)}
CASES = [
    pytest.param(
        parts, is_whole, id=f"{name}, {word}", marks=() if (name, is_whole) in QUICK else pytest.mark.slow
    )
    for name, parts in SYSTEMS.items()
    for is_whole, word in ((True, "whole"), (False, "with gaps"))
]


@pytest.mark.parametrize(("parts", "is_whole"), CASES)
def test_densities_and_states_are_those_of_the_normal_of_everything(parts: dict, is_whole: bool) -> None:
    k = parts["observation_matrix"].shape[0]
    y, there = Y[:, :k], np.ones((STEPS, k), bool) if is_whole else THERE[:, :k]
    d = system(parts, observed=None if is_whole else there)

    def everything(y):
        return d.log_prob(y), d.smooth(y), d.mean, d.variance

    found, smooth, its_mean, variance = compiled(everything)(np.where(there, y, np.nan))
    log_density, centre, after = known(parts, y, there)
    assert_close(found, log_density, rtol=1e-11)
    # Of a variance of 1e6 before the first observation, ten digits are left after it.
    assert_close(smooth.mean.ravel(), centre, rtol=1e-8, atol=1e-9)
    blocks = np.stack([after[t : t + 2, t : t + 2] for t in range(0, 2 * STEPS, 2)])
    assert_close(smooth.covariance, blocks, rtol=1e-8, atol=1e-9)
    mean, covariance = dense(parts)
    assert_close(its_mean.ravel(), mean[2 * STEPS :].astype(float))
    assert_close(variance.ravel(), np.diag(covariance)[2 * STEPS :].astype(float))


@pytest.mark.slow
def test_draws_of_states_are_normal_about_the_smooth_ones() -> None:
    """Each of 10 means and 55 second moments within 5 standard errors: a false alarm in 65 * 6e-7; the key is fixed."""
    parts, num = SYSTEMS["two observations"], 20_000
    d = system(parts, observed=THERE)
    draws = np.asarray(compiled(lambda key: d.sample_states(key, Y, (num,)))(jax.random.key(3))).reshape(
        num, -1
    )
    _, centre, after = known(parts, Y, THERE)
    scale, away = np.sqrt(np.diag(after)), draws - centre
    assert (np.abs(away.mean(axis=0)) < 5 * scale / num**0.5).all()
    error = 5 * np.sqrt((np.outer(scale, scale) ** 2 + after**2) / num)
    assert (np.abs(away.T @ away / num - after) < error).all()


def test_what_is_not_observed_has_no_influence_on_density_or_gradient() -> None:
    def log_prob(parts, y):
        return system(parts, observed=THERE).log_prob(y)

    slopes = compiled(jax.value_and_grad(log_prob, (0, 1)))
    first = slopes(SYSTEMS["two observations"], np.where(THERE, Y, np.nan))
    assert_finite(first)
    assert_close(slopes(SYSTEMS["two observations"], np.where(THERE, Y, 1e9)), first, rtol=0, atol=0)
    assert (np.asarray(first[1][1])[~THERE] == 0).all()


@pytest.mark.slow
def test_a_slope_by_each_parameter_is_that_of_the_dense_density() -> None:
    parts = {name: jnp.asarray(value) for name, value in SYSTEMS["two observations"].items()}

    def dense_log_prob(parts):
        def seen_by(noise):
            states = [parts["initial_mean"] + parts["initial_scale"] @ noise[:2]]
            for t in range(1, STEPS):
                move = parts["transition_scale"] @ noise[2 * t : 2 * t + 2]
                states.append(parts["transition_matrix"] @ states[-1] + move)
            shown = jnp.stack(states) @ parts["observation_matrix"].T
            return (shown + noise[2 * STEPS :].reshape(STEPS, 2) @ parts["observation_scale"].T).ravel()

        zero = jnp.zeros(4 * STEPS)
        whole = jax.jacobian(seen_by)(zero)
        return dist.MultivariateNormal(seen_by(zero), covariance_matrix=whole @ whole.T).log_prob(Y.ravel())

    found = compiled(jax.grad(lambda parts: system(parts).log_prob(Y)))(parts)
    assert_close(found, compiled(jax.grad(dense_log_prob))(parts), rtol=1e-8, atol=1e-8)


def test_a_long_series_costs_no_square_matrix() -> None:
    d = dist.LinearGaussianStateSpace(1000, **TREND)
    jaxpr = jax.make_jaxpr(jax.grad(d.log_prob))(jnp.zeros(d.event_shape))
    sizes = [np.prod(out.aval.shape, dtype=int) for eqn in jaxpr.eqns for out in eqn.outvars]
    assert max(sizes) <= 20 * 1000


def test_a_series_with_gaps_may_be_data_of_a_model() -> None:
    @ac.model
    def level(y, observed):
        noise = ac.sample("noise", dist.HalfNormal(1.0))
        parts = TREND | {"observation_scale": noise * jnp.eye(1)}
        ac.sample("y", dist.LinearGaussianStateSpace(STEPS, **parts, observed=observed), obs=y)

    with_gap = np.where(THERE[:, :1], Y[:, :1], np.nan)
    density = level(with_gap, THERE[:, 0]).log_density()
    assert_finite(compiled(density.value_and_grad)(np.zeros(1)))
    with pytest.raises(SiteError, match="2 of 5 observed values are NaN"):
        infer.sample(level(with_gap, None), draws=1, warmup=1, chains=1, quiet=True, progress=False)


REFUSED = {
    "other states": (
        lambda: system(TREND | {"initial_mean": np.zeros(3)}),
        ["initial_mean has shape (3,)", "(..., 2)"],
    ),
    "other noise": (
        lambda: system(TREND | {"observation_scale": np.eye(2)}),
        ["observation_scale has shape (2, 2)", "(..., 1, 1)"],
    ),
    "a mask of another length": (
        lambda: system(TREND, observed=np.ones(3, bool)),
        ["observed", "(5,)", "(5, 1)"],
    ),
    "no steps": (lambda: dist.LinearGaussianStateSpace(0, **TREND), ["num_steps is 0"]),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_mistakes_are_refused_in_words_that_name_them(call, words) -> None:
    with pytest.raises(DistributionError) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)
