"""Check the leapfrog step and the metric it moves in."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from kernel_targets import CORRELATED, Case, funnel, normal
from machine import dense_metric, diagonal_metric, transform_of

from accord.adaptation.metric import Metric
from accord.core.position import Position
from accord.kernels.integrator import PhasePoint, drift, kicked
from accord.kernels.momentum import Momentum, force_at, kinetic_energy
from accord.kernels.point import Point

METRICS: dict[str, Callable[[], Metric]] = {
    "identity": lambda: diagonal_metric(3, 3),
    "identity without room for directions": lambda: diagonal_metric(3),
    "diagonal": lambda: Metric.diagonal(np.array([0.5, 1.0, 2.0]), 3),
    "dense": lambda: dense_metric(3),
    "one direction": lambda: Metric(
        np.array([0.5, 1.0, 2.0]), np.full((3, 1), 3**-0.5), np.array([-0.7]), np.bool_(False)
    ),
    "diagonal that ignores its directions": lambda: Metric(
        np.ones(3), dense_metric(3).factor, dense_metric(3).stretch, np.bool_(True)
    ),
}
TARGETS: dict[str, Callable[[], Case]] = {"normal": lambda: normal(CORRELATED), "funnel": lambda: funnel(3)}


def leapfrog(
    target: Callable[[Any], Any],
    metric: Metric,
    step: Any,
    position: Any,
    momentum: Momentum,
    force: Momentum,
) -> PhasePoint:
    """Make a whole step, as the program does around its evaluation."""
    position, half = drift(metric, step, position, momentum, force)
    return kicked(metric, step, half, Point(Position(position), *target(position)))


each_metric = pytest.mark.parametrize("metric", METRICS)
each_target = pytest.mark.parametrize("target", TARGETS)

START = np.array([0.3, -0.4, 0.8])
MOMENTUM = np.array([0.7, 1.1, -0.5])


@each_metric
def test_pull_is_the_adjoint_of_push(metric: str) -> None:
    it, generator = METRICS[metric](), np.random.default_rng(0)
    y, g = generator.standard_normal((2, 3))
    np.testing.assert_allclose(it.push(y) @ g, y @ it.pull(g), rtol=1e-13)


@each_metric
def test_push_is_the_matrix_that_the_fields_describe(metric: str) -> None:
    it = METRICS[metric]()
    np.testing.assert_allclose(jax.jacfwd(it.push)(MOMENTUM), transform_of(it), rtol=1e-13, atol=1e-15)


@each_metric
@each_target
def test_a_step_back_undoes_a_step(metric: str, target: str) -> None:
    case, it = TARGETS[target](), METRICS[metric]()
    start = _start(case, it)
    end = _integrate(case, it, start, 0.1, 50)
    assert np.max(np.abs(end.position - start.position)) > 0.1
    for way_back in (_integrate(case, it, end, -0.1, 50), _integrate(case, it, _reversed(end), 0.1, 50)):
        np.testing.assert_allclose(way_back.position, start.position, atol=1e-10)
        np.testing.assert_allclose(
            np.abs(way_back.momentum.vector), np.abs(start.momentum.vector), atol=1e-10
        )


@each_metric
@each_target
def test_the_energy_error_is_of_second_order(metric: str, target: str) -> None:
    case, it = TARGETS[target](), METRICS[metric]()
    start = _start(case, it)
    steps = np.array([8e-3, 4e-3, 2e-3, 1e-3])
    errors = [
        abs(float(_energy(it, _integrate(case, it, start, step, round(1.6 / step))) - _energy(it, start)))
        for step in steps
    ]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert abs(slope - 2) < 0.1


@each_metric
@each_target
def test_a_step_keeps_volume(metric: str, target: str) -> None:
    case, it = TARGETS[target](), METRICS[metric]()

    def step(both: jax.Array) -> jax.Array:
        position, momentum = both[:3], Momentum(both[3:])
        force = force_at(it, case.evaluate(position)[1], momentum)
        end = leapfrog(case.evaluate, it, jnp.asarray(0.3), position, momentum, force)
        return jnp.concatenate([end.position, end.momentum.vector])

    jacobian = jax.jacfwd(step)(np.concatenate([START, MOMENTUM]))
    np.testing.assert_allclose(jnp.linalg.det(jacobian), 1.0, rtol=1e-12)


@each_target
def test_a_step_of_zero_evaluates_where_it_stands(target: str) -> None:
    case, it = TARGETS[target](), dense_metric(3)
    end = leapfrog(
        case.evaluate, it, jnp.asarray(0.0), START, Momentum(jnp.asarray(MOMENTUM)), Momentum(jnp.zeros(3))
    )
    value, gradient = case.numpy(START)
    np.testing.assert_array_equal(end.position, START)
    np.testing.assert_allclose(end.log_density, value, rtol=1e-14)
    np.testing.assert_allclose(end.gradient, gradient, rtol=1e-14)


def _start(case: Case, metric: Metric) -> PhasePoint:
    log_density, gradient = case.evaluate(START)
    momentum = Momentum(jnp.asarray(MOMENTUM))
    return PhasePoint(START, momentum, force_at(metric, gradient, momentum), gradient, log_density)


def _reversed(end: PhasePoint) -> PhasePoint:
    return PhasePoint(end.position, Momentum(-end.momentum.vector), end.force, end.gradient, end.log_density)


def _integrate(case: Case, metric: Metric, start: PhasePoint, step: float, count: int) -> PhasePoint:
    def body(_: int, at: PhasePoint) -> PhasePoint:
        return leapfrog(case.evaluate, metric, jnp.asarray(step), at.position, at.momentum, at.force)

    return jax.lax.fori_loop(0, count, body, start)


def _energy(metric: Metric, at: PhasePoint) -> jax.Array:
    return kinetic_energy(metric, at.momentum) - at.log_density
