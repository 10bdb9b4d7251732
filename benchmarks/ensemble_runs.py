"""Run the prototypes of `ensemble_kernels.py` with the library's own starts, metric and warm-up schedule."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from accord.adaptation import ensemble, pooled_metric
from accord.adaptation import metric as metrics
from accord.adaptation.ensemble import EnsembleState
from accord.adaptation.metric import Metric
from accord.density import LogDensity
from accord.report import ess_bulk
from ensemble_kernels import (
    FOLDS,
    ROWS,
    Points,
    Walk,
    euclidean,
    microcanonical,
    trajectories,
    walks,
)
from ensemble_lengths import learn_at_any_cost

WARMUP, MAX_STEPS = 200, 1000
_LENGTH_FROM, _LENGTH_AT = (
    150,
    180,
)  # draws of warm-up whose effective number sets a length; the metric is fixed then
_TRIES, _RADIUS = 10, 2.0
_ROWS = 25_600  # that are constrained at a time, so that one program serves all runs


class Run(NamedTuple):
    """Sites, shape `(chain, draw, ...)`; gradients of a chain in warm-up and in sampling; what warm-up has found."""

    sites: dict[str, np.ndarray]
    warmup: float
    sample: float
    tuning: dict[str, float]


class Programs:
    """What is compiled for a density of `chains` chains, once for all samplers and seeds."""

    def __init__(self, density: LogDensity, chains: int) -> None:
        self.density, self.chains = density, chains
        self.evaluate = jax.jit(jax.vmap(density.value_and_grad))
        self.learn = jax.jit(partial(ensemble.learn, max_steps=MAX_STEPS))
        self.learn_at_any_cost = jax.jit(partial(learn_at_any_cost, max_steps=MAX_STEPS))
        self.probe = jax.jit(ensemble.probe)
        self.trajectories = {
            kind: trajectories(density.value_and_grad, kind) for kind in (euclidean, microcanonical)
        }
        self.walks = walks(density.value_and_grad)
        self._constrain = jax.jit(jax.vmap(density.constrain))

    def starts(self, seed: int) -> Points:
        """Where chains begin: the best of ten places each, as in the library."""
        random = np.random.default_rng([seed, 11])
        places = random.uniform(-_RADIUS, _RADIUS, (_TRIES, self.chains, self.density.dim))
        found = [Points(each, *map(np.asarray, self.evaluate(each))) for each in places]
        tried = Points(*(np.stack(each) for each in zip(*found, strict=True)))
        is_good = np.isfinite(tried.log_density) & np.isfinite(tried.gradient).all(2)
        best = np.where(is_good, tried.log_density, -np.inf).argmax(0)
        return Points(*(each[best, np.arange(self.chains)] for each in tried))

    def constrained(self, positions: np.ndarray) -> dict[str, np.ndarray]:
        """Sites at positions of shape `(chain, draw, dim)`."""
        shape = np.shape(positions)[:2]
        rows = np.reshape(positions, (-1, self.density.dim))
        padded = np.concatenate([rows, np.repeat(rows[:1], -len(rows) % _ROWS, 0)])
        blocks = [self._constrain(block) for block in np.split(padded, len(padded) // _ROWS)]
        return {
            name: np.concatenate([block[name] for block in blocks])[: len(rows)].reshape(
                *shape, *each.shape[1:]
            )
            for name, each in blocks[0].items()
        }


def first_metric(points: Points) -> Metric:
    """What chains begin with, from the gradients where they stand."""
    x, g = np.asarray(points.position), np.asarray(points.gradient)
    guess = metrics.initial_metric(np.median(np.abs(g), axis=0), metrics.rank_for(x.shape[1], "auto"))
    return pooled_metric.learn(x[:, None], g[:, None], np.asarray(points.log_density), guess, "auto")[0]


class Window:
    """The draws of warm-up, and the metrics that are learnt of them at the library's own draws."""

    def __init__(self, num_warmup: int) -> None:
        self.due = {update.at: update.start for update in pooled_metric.metric_updates(num_warmup)}
        self.rows: list[Points] = []

    def learnt(self, points: Points, metric: Metric) -> tuple[Metric, float] | None:
        """With another draw, the metric and the least mean length, if they are due."""
        self.rows.append(points)
        start = self.due.get(len(self.rows))
        if start is None:
            return None
        x, g = (
            np.stack([np.asarray(row[i]) for row in self.rows[start:]], 1)
            for i in map(Points._fields.index, ("position", "gradient"))
        )
        learnt, _, least = pooled_metric.learn(x, g, np.asarray(points.log_density), metric, "auto")
        return learnt, least


@dataclass(frozen=True)
class Trajectories:
    """Trajectories of equally many steps, tuned as ChEES is but for what the fields say; by default it is ChEES.

    **Fields**
    - `is_microcanonical`: how chains move.
    - `target_accept`: harmonic mean of the acceptance.
    - `is_length_by_ess`: set the mean length as BlackJAX 1.7 can for MAMS: 1.3 times the root of the mean variance,
      which whitened is one, later half the time that an effective draw takes; else as ChEES does.
    - `is_at_any_cost`: learn the length that moves chains most, where the library asks for most per unit of time.
    - `decay`: time after which velocities are renewed along a trajectory, in mean lengths; infinite, only between.
    """

    is_microcanonical: bool = False
    target_accept: float = 0.651
    is_length_by_ess: bool = False
    is_at_any_cost: bool = False
    decay: float = np.inf

    def run(self, programs: Programs, seed: int, num_draws: int, budget: tuple[float, float]) -> Run:
        """Warm-up and sampling; the budget is of no use here."""
        del budget
        draw = programs.trajectories[microcanonical if self.is_microcanonical else euclidean]
        learn = programs.learn_at_any_cost if self.is_at_any_cost else programs.learn
        key, points = jax.random.key(seed), programs.starts(seed)
        metric, state = first_metric(points), EnsembleState.begin(1.0, 1.0, 0.0, np.dtype(float))
        window, is_probing, number, work = Window(WARMUP), True, 0, [1, 0]
        positions, chances = [], []
        while len(positions) < WARMUP + num_draws:
            number, index = number + 1, len(positions)
            item, decay = jax.random.fold_in(key, number), self.decay * jnp.exp(state.log_length)
            if is_probing:
                _, moves = draw(item, points, metric, state.step_size, 1, decay)
                state, is_found = programs.probe(state, moves.acceptance, moves.weight)
                work[0], is_probing = work[0] + 1, not is_found
                continue
            steps = ensemble.num_steps(state, np.int32(index), np.int32(WARMUP), MAX_STEPS)
            factor = ensemble.step_factor(np.int32(index), np.int32(WARMUP), float)
            points, moves = draw(item, points, metric, factor * state.step_size, steps, decay)
            positions.append(points.position)
            work[index >= WARMUP] += int(steps)
            if index >= WARMUP:
                chances.append(np.asarray(moves.acceptance))
                continue
            if factor == 1:
                learnt = learn(state, moves, metric, self.target_accept)
                state = self.with_length(learnt, float(state.log_length))
            if index + 1 == WARMUP:
                state = ensemble.freeze(state, np.bool_(True))
            news = window.learnt(points, metric)
            if news is not None:
                is_probing = len(window.rows) == min(window.due) or news[0].is_diagonal != metric.is_diagonal
                state = self.restarted(state, news[1], is_probing)
                metric = news[0]
            if self.is_length_by_ess and len(positions) == _LENGTH_AT:
                state = self.with_length(state, self.length_by_ess(positions, float(state.log_length)))
        kept = np.stack(positions[WARMUP:], 1)
        tuning = {
            "step_size": float(state.step_size),
            "trajectory_length": float(np.exp(state.log_length)),
            "acceptance": float(np.mean(chances)),
        }
        return Run(programs.constrained(kept), *work, tuning)

    def restarted(self, state: EnsembleState, least: float, is_anew: bool) -> EnsembleState:
        """After a new metric, as the library does: all over again where it is of another form."""
        if self.is_length_by_ess:
            length = np.log(1.3)
            begun = EnsembleState.begin(float(state.step_size), 1.0, 0.0, np.dtype(float))
            return self.with_length(begun if is_anew else state, length)
        if is_anew:
            return EnsembleState.begin(float(state.step_size), 1.0, least, np.dtype(float))
        log_least = np.log(max(least, 1e-10))
        length = state.log_length + (log_least - state.least_log_length)
        zero = np.zeros(())
        return replace(state, log_length=length, least_log_length=log_least, square=zero, num_lengths=zero)

    def with_length(self, state: EnsembleState, log_length: float) -> EnsembleState:
        """The state with a length of its own, unless it learns one."""
        if not self.is_length_by_ess:
            return state
        known = np.asarray(log_length)
        return replace(state, log_length=known, mean_log_length=known, least_log_length=np.asarray(-20.0))

    @staticmethod
    def length_by_ess(positions: list[Any], log_length: float) -> float:
        """Logarithm of half the time that an effective draw takes, the mean over coordinates."""
        x = np.stack(positions[_LENGTH_FROM:_LENGTH_AT], 1)
        share = ess_bulk(x) / (x.shape[0] * x.shape[1])
        return log_length + float(np.log(0.5 * np.nanmean(1 / share)))


@dataclass(frozen=True)
class MEADS:
    """Generalized Hamiltonian Monte Carlo with four folds; by choice in the space that a learnt metric whitens."""

    learns_metric: bool = False

    def run(self, programs: Programs, seed: int, num_draws: int, budget: tuple[float, float]) -> Run:
        """Spend the budget: gradients of a chain in warm-up and in sampling. A chain at rest needs none."""
        del num_draws
        key, points, dim = jax.random.key(seed), programs.starts(seed), programs.density.dim
        plain = Metric.diagonal(np.ones(dim), metrics.rank_for(dim, "auto"))
        metric = first_metric(points) if self.learns_metric else plain
        walk, share = Walk.start(key, points), 1 - 1 / FOLDS
        kept: list[Any] = []
        work = []
        for phase, gradients in enumerate(budget):
            every = max(1, round(gradients / (share * ROWS * WARMUP)))
            count = round(gradients / (share * ROWS * every))
            window = Window(count)
            for index in range(count):
                item = jax.random.fold_in(jax.random.fold_in(key, 1 + phase), index)
                walk, rows = programs.walks(item, walk, metric, every)
                if phase == 1:
                    kept.append(rows.position)
                    continue
                news = window.learnt(walk.points, metric)
                if news is not None and self.learns_metric:
                    metric = news[0]
            work.append(share * ROWS * every * count + (phase == 0))
        positions = np.moveaxis(np.concatenate(kept), 0, 1)
        return Run(programs.constrained(positions), *work, {})
