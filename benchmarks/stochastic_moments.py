"""Compute which moments draws along stochastic gradients have, exactly, on the posterior of a linear regression.

Gradients of a normal posterior are linear, so the covariance after a step is a linear function of the one before it,
whatever the step size; the covariance that a draw leaves as it is solves a linear system. A part of the rows without
replacement gives a gradient of which the first two moments are those of a sample from a finite population.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import accord as ac
import accord.distributions as dist
from accord.kernels.minibatches import AbstractMinibatches
from known_models import Target

ROWS, PART = 40, 20
_GENERATOR = np.random.default_rng(0)
X = np.stack([np.ones(ROWS), _GENERATOR.normal(0.5, 1.0, ROWS)], axis=1)
Y = X @ [0.5, -1.0] + _GENERATOR.normal(size=ROWS)


@ac.model
def line(x: Any, y: Any, size: int) -> None:
    """A regression with unit noise: the posterior of the intercept and the slope is normal."""
    weights = ac.sample("weights", dist.Normal(np.zeros(2), 1.0).to_event(1))
    with ac.plate("row", len(y), subsample_size=size):
        ac.sample("y", dist.Normal(ac.subsample(x, 1) @ weights, 1.0), obs=ac.subsample(y))


PRECISION = np.eye(2) + X.T @ X
COVARIANCE = np.linalg.inv(PRECISION)
MEAN = COVARIANCE @ X.T @ Y


@dataclass(frozen=True)
class _Noise:
    """The spread over rows of what they add to a gradient: of its `matrices`, `(row, 2, 2)`, and `offsets`, `(row, 2)`.

    `weight` makes the sum of their products that of a gradient from a part.
    """

    matrices: np.ndarray
    offsets: np.ndarray
    weight: float

    def covariance(self, of_place: np.ndarray) -> np.ndarray:
        """Return the covariance of a gradient's noise where the place has covariance `of_place` about the mean."""
        by_place = np.einsum("nij,jk,nlk->il", self.matrices, of_place, self.matrices)
        return self.weight * (by_place + self.offsets.T @ self.offsets)


def _noise(is_controlled: bool) -> _Noise:
    """Return the noise of parts; with control variates there is none, since a second-order expansion is exact."""
    matrices = X[:, :, None] * X[:, None, :]
    offsets = X * (Y - X @ MEAN)[:, None]
    # A mean of a part without replacement has variance (1 / PART - 1 / ROWS) times that of rows.
    weight = 0.0 if is_controlled else ROWS**2 * (1 / PART - 1 / ROWS) / (ROWS - 1)
    return _Noise(matrices - matrices.mean(0), offsets - offsets.mean(0), weight)


def stationary(kernel: AbstractMinibatches, gradient_square: np.ndarray) -> np.ndarray:
    """Return the covariance of draws, `(2, 2)`, of a chain that scales its steps by `gradient_square`, `(2,)`."""
    friction, noise = kernel.lost, _noise(kernel.control_variates)
    rate = np.diag(0.5 * friction * kernel.step_size / gradient_square)
    new = rate / (2 - friction)  # of a new momentum: minus its mean by the gradient, and half of its variance

    def moved(both: np.ndarray, kick: np.ndarray) -> np.ndarray:
        """Move place and momentum by a step whose momentum is turned by `kick` times the gradient."""
        kept, turn = (1 - friction) * np.eye(2), kick @ PRECISION
        step = np.block([[np.eye(2) - turn, kept], [-turn, kept]])
        shake = kick @ noise.covariance(both[:2, :2]) @ kick + 2 * friction * rate
        return step @ both @ step.T + np.tile(shake, (2, 2))

    def draw(of_place: np.ndarray) -> np.ndarray:
        zero = np.zeros((2, 2))
        # A new momentum goes with the gradient of the first step.
        both = moved(np.block([[of_place, zero], [zero, 2 * new]]), rate - (1 - friction) * new)
        for _ in range(kernel.num_steps - 1):
            both = moved(both, rate)
        return both[:2, :2]

    return _fixed_point(draw)


def _fixed_point(function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the matrix, `(2, 2)`, that an affine function leaves as it is."""
    constant = function(np.zeros((2, 2))).ravel()
    columns = [function(each.reshape(2, 2)).ravel() - constant for each in np.eye(4)]
    return np.linalg.solve(np.eye(4) - np.stack(columns, axis=1), constant).reshape(2, 2)


def of_chains(kernel: AbstractMinibatches, draws: Any) -> np.ndarray:
    """Return the exact covariance of the draws of each chain, `(chain, 2, 2)`."""
    return np.stack([stationary(kernel, each) for each in np.asarray(draws.tuning["gradient_square"])])


def too_large(kernel: AbstractMinibatches, draws: Any) -> np.ndarray:
    """Return by what shares the variances of draws are too large, exactly: `(chain, 2)`."""
    variances = np.diagonal(of_chains(kernel, draws), axis1=1, axis2=2)
    return variances / np.diagonal(COVARIANCE) - 1


def around(kernel: AbstractMinibatches) -> Target:
    """Return a target whose quantities are averages of draws less those that the steps of a kernel have."""

    def quantities(draws: Any) -> list[np.ndarray]:
        a, b = np.moveaxis(np.asarray(draws["weights"]) - MEAN, -1, 0)
        exact = of_chains(kernel, draws)[:, None]
        return [a, b, a * a - exact[..., 0, 0], b * b - exact[..., 1, 1], a * b - exact[..., 0, 1]]

    (of_a, both), (_, of_b) = COVARIANCE
    variances = (of_a, of_b, 2 * of_a**2, 2 * of_b**2, of_a * of_b + both**2)
    return Target(lambda: line(X, Y, PART), quantities, (0.0,) * 5, tuple(map(float, variances)))
