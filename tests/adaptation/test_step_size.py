"""Check the search for a step size and its averaging, on acceptances that are known functions of the step."""

from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from accord.adaptation.step_size import StepSizeState, freeze, probe, update
from accord.core.precision import scope

ACCEPTANCES: dict[str, Callable[[float], float]] = {
    "exponential": lambda step: float(np.exp(-step)),
    "steep": lambda step: 1.0 if step < 0.3 else 0.0,
    "tiny": lambda step: float(np.exp(-(step * 1e6))),
    "large": lambda step: float(np.exp(-(step / 1e6))),
    "of a leapfrog step in 100 dimensions": lambda step: float(np.exp(-((100**0.25 * step) ** 4) / 8)),
}


@pytest.fixture(autouse=True)
def _float64() -> Iterator[None]:
    with scope("float64"):
        yield


@pytest.mark.parametrize("start", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("name", ACCEPTANCES)
def test_the_search_ends_within_a_factor_of_two_of_the_crossing(name: str, start: float) -> None:
    acceptance = ACCEPTANCES[name]
    state, num_probes = _search(acceptance, start)
    step = float(state.step_size)
    is_high = acceptance(step) > 0.8
    other = step / 2 if not is_high else step * 2
    assert (acceptance(other) > 0.8) != is_high
    assert num_probes <= 1 + np.ceil(abs(np.log2(step / start))) + 1
    np.testing.assert_allclose(state.log_anchor, np.log(10 * step), rtol=1e-12)


@pytest.mark.parametrize("acceptance", [0.0, 1.0, np.nan])
def test_a_search_that_never_crosses_is_given_up(acceptance: float) -> None:
    state, num_probes = _search(lambda step: acceptance, 1.0)
    assert num_probes == 101
    assert 0 < float(state.step_size) < np.inf


@pytest.mark.parametrize("target", [0.6, 0.8, 0.95])
@pytest.mark.parametrize("name", ["exponential", "of a leapfrog step in 100 dimensions"])
def test_averaging_reaches_the_target_acceptance(name: str, target: float) -> None:
    acceptance = ACCEPTANCES[name]
    state, _ = _search(acceptance, 1.0)
    step = jax.jit(update)
    for _ in range(1000):
        state = step(state, jnp.asarray(acceptance(float(state.step_size))), jnp.asarray(target))
    assert abs(acceptance(float(freeze(state, jnp.asarray(True)).step_size)) - target) < 0.01
    assert state.count == 1000


def test_averaging_is_that_of_hoffman_and_gelman() -> None:
    acceptances, target = np.random.default_rng(0).uniform(size=50), 0.8
    state = StepSizeState.start(0.3, np.dtype(float))
    error = log_average = 0.0
    for count, acceptance in enumerate(acceptances, 1):
        state = update(state, jnp.asarray(acceptance), jnp.asarray(target))
        error += (target - acceptance - error) / (count + 10)
        log_step = np.log(3.0) - np.sqrt(count) / 0.05 * error
        log_average = count**-0.75 * log_step + (1 - count**-0.75) * log_average
        np.testing.assert_allclose(state.step_size, np.exp(log_step), rtol=1e-12)
        np.testing.assert_allclose(state.log_average, log_average, rtol=1e-12)


def test_only_the_last_draw_of_warm_up_settles_on_the_average() -> None:
    state = update(StepSizeState.start(0.3, np.dtype(float)), jnp.asarray(0.5), jnp.asarray(0.8))
    state = update(state, jnp.asarray(0.9), jnp.asarray(0.8))
    assert freeze(state, jnp.asarray(False)).step_size == state.step_size
    assert freeze(state, jnp.asarray(True)).step_size == jnp.exp(state.log_average) != state.step_size


def _search(acceptance: Callable[[float], float], start: float) -> tuple[StepSizeState, int]:
    state, step = StepSizeState.start(start, np.dtype(float)), jax.jit(probe)
    for num_probes in range(1, 1000):
        state, is_found = step(state, jnp.asarray(acceptance(float(state.step_size))))
        if is_found:
            return state, num_probes
    raise AssertionError("the search did not end")
