"""Match moments of draws to a posterior without one observation, where importance weights are too uneven.

Draws are moved so that their mean, then their variances, then their covariance are those of the weighted draws. Where
they are moved to, the model is evaluated again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..density import LogDensity
from ..density.joint import Predictive
from ..report.weights import smoothed

_MOST_MOVES = 30
_LEAST_GAIN = 0.05  # of Pareto k, for which a move is worth its evaluations
_ENOUGH = 10  # draws for each unknown, from which a covariance is matched

Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From positions, shape `(draw, dim)`, to log densities of the posterior and log likelihoods of the observation."""


@dataclass(frozen=True)
class Both:
    """A density and a model of the same data, as the target of one program."""

    density: LogDensity
    model: Predictive

    @property
    def data(self) -> dict[str, Any]:
        """Return the arrays of both, by name."""
        parts = (("density", self.density.data), ("model", self.model.data))
        return {f"{word} {name}": value for word, data in parts for name, value in data.items()}

    def with_data(self, data: Any) -> "Both":
        """Return both with other arrays of the same shapes."""

        def of(word: str) -> dict[str, Any]:
            return {
                name.removeprefix(f"{word} "): value
                for name, value in data.items()
                if name.startswith(f"{word} ")
            }

        return Both(self.density.with_data(of("density")), self.model.with_data(of("model")))


@dataclass(frozen=True)
class Affine:
    """Map of positions, centre + factor (u - centre) + shift. **Fields**: a factor of shape `(dim,)` is diagonal."""

    centre: np.ndarray
    shift: np.ndarray
    factor: np.ndarray

    def __call__(self, positions: np.ndarray) -> np.ndarray:
        """Move positions of shape `(draw, dim)`."""
        away = positions - self.centre
        return (
            self.centre + self.shift + (away @ self.factor.T if self.factor.ndim == 2 else away * self.factor)
        )

    def inverse(self, positions: np.ndarray) -> np.ndarray:
        """Move positions back."""
        away = positions - self.centre - self.shift
        return self.centre + (
            np.linalg.solve(self.factor, away.T).T if self.factor.ndim == 2 else away / self.factor
        )

    @property
    def log_det(self) -> float:
        """Log of the volume that a unit cube is moved to."""
        if self.factor.ndim == 2:
            return float(np.linalg.slogdet(self.factor)[1])
        return float(np.log(np.abs(self.factor)).sum())


@dataclass(frozen=True)
class Weighted:
    """Draws with weights towards the posterior without an observation.

    **Fields**: `positions`, shape `(draw, dim)`; `log_weights`, which sum to one; `heights`, log likelihoods of the
    observation; `pareto_k` of the weights.
    """

    positions: np.ndarray
    log_weights: np.ndarray
    heights: np.ndarray
    pareto_k: float

    @property
    def elpd(self) -> float:
        """The log predictive density of the observation given all others."""
        return float(np.logaddexp.reduce(self.log_weights + self.heights))


def match(positions: np.ndarray, evaluate: Evaluate, relative_ess: float) -> Weighted:
    """Estimate the log predictive density of one observation from moved draws.

    A move is kept if it lowers Pareto k, and moves are tried in turn until none helps. At the end, half of the draws
    take all moves and the others none; they are weighted as draws of the mixture of both, which bounds the contribution
    of each draw. Where that did not lower Pareto k, the draws stay where they were.

    **Arguments**: `positions`, shape `(draw, dim)`, unconstrained.

    **Source**: Paananen, Piironen, Bürkner & Vehtari (2021), Statistics and Computing 31, 16, algorithm 2 and section
    3.1.3. Three departures: moves go on below the threshold of k, where estimates of a normal posterior's outlier had
    a standard deviation of 0.01 nats in place of 0.12; the halves are every other draw, so that each has draws of all
    chains; and `pareto_k` is that of the weights used.
    """
    own, heights = evaluate(positions)
    log_weights, k = smoothed(_number(-heights), relative_ess)
    first = now = Weighted(positions, log_weights, heights, k)
    moves: list[Affine] = []
    while len(moves) < _MOST_MOVES:
        for move in _moves(now):
            moved = move(now.positions)
            target, there = evaluate(moved)
            log_weights, k = smoothed(_number(target - own - there), relative_ess)
            if k < now.pareto_k - _LEAST_GAIN:
                now = Weighted(moved, log_weights, there, k)
                moves.append(move)
                break
        else:
            break
    if not moves:
        return first
    found = _split(positions, moves, evaluate, relative_ess)
    return found if found.pareto_k < first.pareto_k else first


def _split(positions: np.ndarray, moves: list[Affine], evaluate: Evaluate, relative_ess: float) -> Weighted:
    """Weigh draws of which every other one has been moved, as draws of the mixture of both kinds."""
    is_moved = np.arange(len(positions)) % 2 == 0
    ahead, back, log_det = positions, positions, sum(move.log_det for move in moves)
    for move in moves:
        ahead = move(ahead)
    for move in reversed(moves):
        back = move.inverse(back)
    # Where each draw is now, and where it would have to come from by the moves.
    places = np.where(is_moved[:, None], ahead, positions)
    origins = np.where(is_moved[:, None], positions, back)
    target, heights = evaluate(places)
    mixture = np.logaddexp(target, _number(evaluate(origins)[0]) - log_det)
    log_weights, k = smoothed(_number(target - mixture - heights), relative_ess)
    return Weighted(places, log_weights, heights, k)


def _moves(now: Weighted) -> Iterator[Affine]:
    """Match the mean; mean and variances; mean and covariance, if there are enough draws."""
    positions, weights = now.positions, np.exp(now.log_weights)
    size, dim = positions.shape
    mean = positions.mean(axis=0)
    towards = weights @ positions
    shift = towards - mean
    yield Affine(mean, shift, np.ones(dim))
    away, around = positions - mean, positions - towards
    # Variances of weighted draws are corrected for their number, as those of draws are.
    correction = 1 - np.sum(weights**2)
    if not correction > 0:
        return
    variances, weighted = away.var(axis=0, ddof=1), weights @ around**2 / correction
    if not (np.all(variances > 0) and np.all(weighted > 0)):
        return
    yield Affine(mean, shift, np.sqrt(weighted / variances))
    if size < _ENOUGH * dim or dim < 2:
        return
    try:
        before = np.linalg.cholesky(away.T @ away / (size - 1))
        after = np.linalg.cholesky((weights[:, None] * around).T @ around / correction)
    except np.linalg.LinAlgError:
        return
    yield Affine(mean, shift, np.linalg.solve(before.T, after.T).T)


def _number(log_weights: np.ndarray) -> np.ndarray:
    """Give no weight to draws that were moved to where the model is no number."""
    return np.where(np.isnan(log_weights) | np.isposinf(log_weights), -np.inf, log_weights)
