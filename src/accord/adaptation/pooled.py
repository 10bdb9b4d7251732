"""Tune chains that move in step: a metric, a step size and a trajectory length for all of them, from all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from ..core.tree import where
from . import ensemble, pooled_metric
from . import metric as metrics
from .base import AbstractPopulationAdaptation, Item, Window
from .ensemble import EnsembleState, Moves
from .metric import Choice, MetricForm
from .schedule import Update
from .tuning import FittedMetric, GivenMetric, Tuning


@dataclass(frozen=True)
class Pooled(AbstractPopulationAdaptation):
    """Adaptation of an ensemble: one metric, step size and trajectory length for all chains.

    **Fields**: `target_accept`, harmonic mean of the acceptance to aim at; `metric`, the form; `trajectory_length`, the
    first mean; `max_steps` of a trajectory.
    """

    target_accept: float
    metric: MetricForm
    trajectory_length: float
    max_steps: int

    def begin(self, dim: int, dtype: np.dtype) -> EnsembleState:
        """See `AbstractAdaptation.begin`."""
        return EnsembleState.begin(1.0, self.trajectory_length, 0.0, dtype)

    def check(self, dim: int) -> None:
        """See `AbstractAdaptation.check`."""
        metrics.check_room(dim, self.metric)

    def at_start(self, gradient: np.ndarray) -> FittedMetric:
        """See `AbstractAdaptation.at_start`."""
        rank = metrics.rank_for(len(gradient), self.metric)
        return FittedMetric(metrics.initial_metric(gradient, rank), Choice())

    def at_starts(
        self, positions: np.ndarray, gradients: np.ndarray, log_densities: np.ndarray
    ) -> FittedMetric:
        """See `AbstractPopulationAdaptation.at_starts`."""
        typical = np.median(np.abs(gradients), axis=0)
        guess = self.at_start(typical.astype(gradients.dtype))
        metric, choice, _ = pooled_metric.learn(
            positions[:, None], gradients[:, None], log_densities, guess.metric, self.metric
        )
        return FittedMetric(metric, choice or guess.choice)

    def given(self, fitted: FittedMetric) -> GivenMetric:
        """See `AbstractAdaptation.given`."""
        return GivenMetric(fitted.metric, np.asarray(self.target_accept, fitted.metric.scale.dtype))

    def due(self, num_warmup: int) -> tuple[Update, ...]:
        """See `AbstractAdaptation.due`."""
        return pooled_metric.metric_updates(num_warmup)

    def learn(
        self, window: Window, learnt: EnsembleState, fitted: FittedMetric, update: Update
    ) -> tuple[EnsembleState, FittedMetric, bool]:
        """See `AbstractAdaptation.learn`. `window.log_density` is that of the newest draws, shape `(chain,)`."""
        previous = fitted.metric
        metric, choice, least = pooled_metric.learn(
            window.positions, window.gradients, window.log_density, previous, self.metric
        )
        is_anew = update.is_first or bool(metric.is_diagonal) != bool(previous.is_diagonal)
        learnt = self._restarted(learnt, least) if is_anew else _bounded(learnt, least)
        return learnt, FittedMetric(metric, choice or fitted.choice), is_anew

    def is_settled(self, window: Window) -> bool:
        """See `AbstractAdaptation.is_settled`: the length of this warm-up is what was asked for."""
        return True

    def as_of(
        self,
        learnt: EnsembleState,
        given: GivenMetric,
        stats: Mapping[str, Any],
        draw: Any,
        num_warmup: int,
    ) -> EnsembleState | None:
        """See `AbstractAdaptation.as_of`: told by the step of the draw, where the kernel reports it."""
        step_size = stats.get("step_size")
        if step_size is None:
            return super().as_of(learnt, given, stats, draw, num_warmup)
        # How long trajectories were then is not known. As long as can be: they end at the first bad place.
        length: Any = np.full((), 80.0, step_size.dtype)
        step_size = step_size / ensemble.step_factor(draw, num_warmup, step_size.dtype)
        return replace(learnt, log_length=length, step_size=step_size)

    def tuning(self, learnt: EnsembleState, given: GivenMetric, item: Item) -> tuple[Tuning, Bool[Array, ""]]:
        """See `AbstractPopulationAdaptation.tuning`."""
        steps = ensemble.num_steps(learnt, item.draw, item.num_warmup, self.max_steps)
        # Of a draw: a probe knows the step size that it tries.
        factor = ensemble.step_factor(item.draw, item.num_warmup, learnt.step_size.dtype)
        factor = jnp.where(item.is_draw, factor, 1)
        return Tuning(
            factor * learnt.step_size, given.metric, is_probe=~item.is_draw, num_steps=steps
        ), factor == 1

    def update(
        self, learnt: EnsembleState, given: GivenMetric, item: Item, seen: Moves, is_usual: Bool[Array, ""]
    ) -> tuple[EnsembleState, Bool[Array, ""]]:
        """See `AbstractPopulationAdaptation.update`."""

        def by_draw() -> EnsembleState:
            after = ensemble.learn(learnt, seen, given.metric, given.target_accept, self.max_steps)
            return ensemble.freeze(after, item.draw + 1 == item.num_warmup)

        is_learning = item.is_draw & (item.draw < item.num_warmup) & is_usual
        after = jax.lax.cond(is_learning, by_draw, lambda: learnt)
        probed, is_found = ensemble.probe(learnt, seen.acceptance, seen.weight)
        return where(item.is_probe, probed, after), item.is_draw | (item.is_probe & is_found)

    def described(self, learnt: EnsembleState, fitted: FittedMetric) -> dict[str, Any]:
        """See `AbstractAdaptation.described`."""
        tuning = fitted.described(learnt.step_size, self.metric, self.target_accept)
        return tuning | {"trajectory_length": np.exp(learnt.log_length)}

    def shown(self, learnt: EnsembleState, fitted: FittedMetric) -> tuple[tuple[str, float], ...]:
        """See `AbstractAdaptation.shown`."""
        return (("step size", float(learnt.step_size)),)

    def stored(self, fitted: FittedMetric) -> dict[str, np.ndarray]:
        """See `AbstractAdaptation.stored`."""
        return fitted.arrays()

    def restored(self, arrays: Mapping[str, np.ndarray], dim: int, dtype: np.dtype) -> FittedMetric:
        """See `AbstractAdaptation.restored`."""
        return FittedMetric.stored(arrays, self.at_start(np.zeros(dim, dtype)))

    def _restarted(self, learnt: EnsembleState, least: float) -> EnsembleState:
        """Restart the search for step size and trajectory length, after a change of the metric's form."""
        step_size: Any = learnt.step_size
        return EnsembleState.begin(float(step_size), self.trajectory_length, least, step_size.dtype)


def _bounded(state: EnsembleState, least: float) -> EnsembleState:
    """Set another minimal trajectory length, adjust the length to it, and restart averages of lengths."""
    dtype = np.asarray(state.log_length).dtype
    log_least: Any = np.asarray(np.log(max(least, 1e-10)), dtype)
    zero: Any = np.zeros((), dtype)
    length: Any = np.asarray(state.log_length + (log_least - state.least_log_length), dtype)
    return replace(state, log_length=length, least_log_length=log_least, square=zero, num_lengths=zero)
