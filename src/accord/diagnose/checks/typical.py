"""Find points where a posterior has its mass: climb a little, then walk by Hamiltonian Monte Carlo on the host.

The walk is short: to compile the steps of a kernel takes half a second, and each gradient would need two more calls of
a program.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...optimise.lbfgs import LBFGS, Point
from .evaluator import Evaluator

_CLIMB = 60  # evaluations; short, since a density may have no maximum
_LEAST_GAIN = 0.05  # nats
_MAX_DIM = 64  # up to which curvature is taken from differences of the gradient
_BURN_IN, _KEPT = 30, 40  # trajectories
_ENOUGH = 2.0  # seconds, for each of climbing and walking
_STRAIGHTENING = {"float64": (1e3, 1e6), "float32": (1e2,)}  # distances
_SMALL = 1e-3  # of a direction: what is more has another reason
_DROP = 1e3  # nats of energy lost by which a trajectory has diverged


@dataclass(frozen=True)
class Typical:
    """Rough position of the mass of a posterior.

    **Fields**
    - `points`: shape `(point, dim)`, at least one, finite with their gradients. `value`: log density at the last one.
    - `climb`: from where it began to where it came by climbing, shape `(dim,)`.
    - `level`: directions without curvature, shape `(direction, dim)`, orthonormal.
    """

    points: np.ndarray
    value: float
    climb: np.ndarray
    level: np.ndarray

    @staticmethod
    def of(whole: Evaluator, start: np.ndarray) -> "Typical":
        """Start at a point with a finite log density and gradient."""
        top = _climb(whole, start)
        scales, axes, level = _shape(whole, top)
        walk = list(_walk(whole, top, axes * scales))
        points = np.array([point for point, _ in walk])
        return Typical(points, walk[-1][1], (top - start).astype(float), level)


def _climb(whole: Evaluator, start: np.ndarray) -> np.ndarray:
    def at(position: np.ndarray) -> Point:
        position = position.astype(start.dtype)
        numbers: Any = [np.asarray(each, float) for each in (position, *whole.value_and_grad(position))]
        return Point(*numbers)

    began, search = time.perf_counter(), LBFGS(epsilon=float(np.finfo(start.dtype).eps))
    with np.errstate(all="ignore"):  # slopes may be as large as numbers can be
        state = begun = search.init(at(start))
        for _ in range(_CLIMB):
            if state.is_over or time.perf_counter() - began > _ENOUGH:
                break
            state = search.tell(state, at(search.ask(state)))
    # Where a density is so wide that nothing is gained, a climb leads nowhere.
    is_higher = state.point.log_density > begun.point.log_density + _LEAST_GAIN
    return np.asarray(state.point.position, start.dtype) if is_higher else start


def _shape(whole: Evaluator, top: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standard deviations along orthonormal axes (the columns of the second), and the axes without curvature."""
    dim, epsilon = top.size, float(np.finfo(top.dtype).eps)
    began = time.perf_counter()
    whole.value_and_grad(top)
    if dim > _MAX_DIM or 2 * dim * (time.perf_counter() - began) > _ENOUGH:
        return np.full(dim, 0.1), np.eye(dim), np.zeros((0, dim))
    rows = np.zeros((dim, dim))
    for i in range(dim):
        step = np.zeros_like(top)
        step[i] = epsilon ** (1 / 3) * (1 + abs(top[i]))
        ends = [np.asarray(whole.value_and_grad(top + sign * step)[1], float) for sign in (1, -1)]
        rows[i] = (ends[1] - ends[0]) / (2 * float(step[i]))
    rows = np.nan_to_num(rows + rows.T, posinf=0.0, neginf=0.0) / 2
    curvatures, axes = np.linalg.eigh(rows)
    largest = max(float(np.abs(curvatures).max()), 1e-300)
    is_level = np.abs(curvatures) <= epsilon**0.5 * largest
    level = axes[:, is_level].T
    if len(level) and not is_level.all():
        level = _straightened(whole, top, level, axes[:, ~is_level], curvatures[~is_level])
    scales = np.clip(1 / np.sqrt(np.maximum(np.abs(curvatures), 1e-12)), 1e-6, 2.0)
    return scales, axes, level


def _straightened(
    whole: Evaluator, top: np.ndarray, level: np.ndarray, axes: np.ndarray, curvatures: np.ndarray
) -> np.ndarray:
    """Directions without curvature, so precise that one can follow them far out.

    Far out, the gradient shows what is left in them of the other axes; Newton's step takes it away.
    """
    start = np.asarray(whole.value_and_grad(top)[1], float)
    for distance in _STRAIGHTENING[whole.density.program.precision]:
        for i, direction in enumerate(level):
            end = whole.value_and_grad((top + distance * direction).astype(top.dtype))[1]
            with np.errstate(all="ignore"):
                rest = axes @ ((axes.T @ (np.asarray(end, float) - start)) / curvatures) / distance
            if np.linalg.norm(rest) < _SMALL:  # false where it is NaN
                level[i] = (direction - rest) / np.linalg.norm(direction - rest)
    return level


def _walk(whole: Evaluator, top: np.ndarray, whitening: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
    """Return points and their log densities; the first one is `top` if no other is reached."""
    generator, began = np.random.default_rng(20), time.perf_counter()
    evaluate = _whitened(whole, top, whitening)
    position, size = np.zeros(top.size), 0.5
    value, slope = evaluate(position)
    for count in range(_BURN_IN + _KEPT):
        # Down the neck of a funnel slopes are so large that momenta overflow: such a move is not taken.
        with np.errstate(over="ignore", invalid="ignore"):
            momentum = generator.normal(size=top.size)
            new, new_value, new_slope, energy = position, value, slope, momentum @ momentum / 2 - value
            momentum = momentum + size / 2 * slope
            steps = generator.integers(4, 12)
            for step in range(steps):
                new = new + size * momentum
                new_value, new_slope = evaluate(new)
                momentum = momentum + size * (0.5 if step == steps - 1 else 1.0) * new_slope
                if not new_value > value - _DROP:
                    break
            gain = energy - (momentum @ momentum / 2 - new_value)
        is_taken = np.log(generator.uniform()) < gain if np.isfinite(gain) else False
        size = float(np.clip(size * (1.1 if is_taken else 0.7), 1e-4, 1.0))
        if is_taken:
            position, value, slope = new, new_value, new_slope
        is_over = time.perf_counter() - began > _ENOUGH
        if is_over or count >= _BURN_IN:
            yield (top + whitening @ position).astype(top.dtype), value
        if is_over:
            return


def _whitened(
    whole: Evaluator, top: np.ndarray, whitening: np.ndarray
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    def evaluate(position: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = whole.value_and_grad((top + whitening @ position).astype(top.dtype))
        if not np.all(np.isfinite(gradient)):
            return -np.inf, np.zeros_like(position)
        return float(value), whitening.T @ np.asarray(gradient, float)

    return evaluate
