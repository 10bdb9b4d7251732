"""Filter and smooth the states of a linear Gaussian system, with one forward and one backward pass.

All functions take one series, without batch axes. A missing observation has a row of zeros in the observation matrix
and in its noise, and a variance of 1 that nothing depends on. So it drops out of every sum.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from ..special import HALF_LOG_TWO_PI
from ..special.basic.linear import product

Pair = tuple[jax.Array, jax.Array]


class System(NamedTuple):
    """Matrices of a system with n states and k observations at each step.

    **Fields**: `transition` `(n, n)`, `observation` `(k, n)`, `state_noise` `(n, n)` and `noise` `(k, k)` covariances,
    `mean` `(n,)` and `covariance` `(n, n)` of the first state.
    """

    transition: jax.Array
    observation: jax.Array
    state_noise: jax.Array
    noise: jax.Array
    mean: jax.Array
    covariance: jax.Array


class Step(NamedTuple):
    """Prediction of a state before its observation, and what the observation adds.

    **Fields**: `mean` `(n,)` and `covariance` `(n, n)` of the state given what came before; `information` `(n,)`, which
    is H' S^-1 v, and `precision` `(n, n)`, H' S^-1 H, for the error of prediction v with covariance S; `passed_on`
    `(n, n)`, which maps an error in the state to one in the next; `log_density` of the observation.
    """

    mean: jax.Array
    covariance: jax.Array
    information: jax.Array
    precision: jax.Array
    passed_on: jax.Array
    log_density: jax.Array


def filter_states(system: System, values: jax.Array, is_there: jax.Array) -> Step:
    """Filter observations `values`, `(steps, k)`; only those with `is_there` true count.

    **Source**: Durbin & Koopman (2012), Time Series Analysis by State Space Methods, section 4.3; the covariance is
    updated in Joseph's form, which stays symmetric and positive however vague the first state is.
    """
    dtype = values.dtype
    values = jnp.where(is_there, values, jnp.zeros((), dtype))
    eye = jnp.eye(system.transition.shape[0], dtype=dtype)

    def advance(state: Pair, seen: Pair) -> tuple[Pair, Step]:
        (mean, covariance), (value, there) = state, seen
        weight = there.astype(dtype)
        seen_by = system.observation * weight[:, None]
        noise = system.noise * weight[:, None] * weight[None, :]
        error = weight * (value - seen_by @ mean)
        shared = product(covariance, seen_by.T)
        total = product(seen_by, shared) + noise + jnp.diag(1 - weight)
        solved, log_root = _solve(total, jnp.concatenate([error[:, None], seen_by], axis=1))
        gain = product(covariance, solved[:, 1:].T)
        kept = eye - product(gain, seen_by)
        passed_on = product(system.transition, kept)
        after = product(product(kept, covariance), kept.T) + product(product(gain, noise), gain.T)
        information = seen_by.T @ solved[:, 0]
        log_density = -0.5 * (error @ solved[:, 0]) - log_root - HALF_LOG_TWO_PI * weight.sum()
        step = Step(mean, covariance, information, product(seen_by.T, solved[:, 1:]), passed_on, log_density)
        moved = system.transition @ (mean + product(covariance, information[:, None])[:, 0])
        spread = product(product(system.transition, after), system.transition.T) + system.state_noise
        return (moved, spread), step

    idle = _idle(values)
    return jax.lax.scan(advance, (system.mean + idle, system.covariance + idle), (values, is_there))[1]


def smooth_states(steps: Step) -> tuple[jax.Array, jax.Array]:
    """Compute means `(steps, n)` and covariances `(steps, n, n)` of the states, given all observations.

    **Source**: Durbin & Koopman (2012), section 4.4, equations 4.39 to 4.43: no covariance is inverted, so that states
    without noise are no exception.
    """

    def go_back(later: Pair, step: Step) -> tuple[Pair, Pair]:
        information, precision = later
        information = step.information + step.passed_on.T @ information
        precision = step.precision + product(product(step.passed_on.T, precision), step.passed_on)
        mean = step.mean + step.covariance @ information
        covariance = step.covariance - product(product(step.covariance, precision), step.covariance)
        return (information, precision), (mean, covariance)

    idle = _idle(steps.mean)
    start = (jnp.zeros_like(steps.mean[0]) + idle, jnp.zeros_like(steps.covariance[0]) + idle)
    return jax.lax.scan(go_back, start, steps, reverse=True)[1]


def _idle(series: jax.Array) -> jax.Array:
    """Return a zero that varies across devices if the series does, as a loop's carry must."""
    zero = jnp.zeros((), series.dtype)
    return jnp.where(jnp.isnan(series.ravel()[0]), zero, zero)


def _solve(matrix: jax.Array, right: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Solve a positive definite system, and return half the log of its determinant too."""
    if matrix.shape[0] == 1:
        # Most series have one observation at a time, and a division costs a hundredth of a call of LAPACK.
        return right / matrix, 0.5 * jnp.log(matrix[0, 0])
    factor = jnp.linalg.cholesky(matrix)
    return jax.scipy.linalg.cho_solve((factor, True), right), jnp.log(jnp.diagonal(factor)).sum()
