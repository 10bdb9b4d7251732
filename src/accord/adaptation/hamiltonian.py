"""Tune the trajectories of one chain: a step size for a target acceptance, and a metric."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from ..core.stats import Ending, Info
from ..core.tree import where
from . import metric as metrics
from . import step_size as step_sizes
from .base import AbstractChainAdaptation, Item, Window
from .metric import Care, Choice, MetricForm
from .schedule import EARLY_PART, Update, metric_updates
from .settled import is_settled
from .short_draws import max_doublings, shortening
from .step_size import StepSizeState
from .trial import Trial, begun, is_longer, judged, tried
from .tuning import FittedMetric, GivenMetric, Tuning

_SEVERAL = 2  # draws of a window: after a new form, the search for a step size often makes one diverge


@dataclass(frozen=True)
class Hamiltonian(AbstractChainAdaptation):
    """Dual averaging of the step size in the program; the metric, by Fisher divergence, on the host.

    **Fields**: `target_accept`, the mean acceptance to aim at, None where the form of the metric decides; `metric`, the
    form; `max_depth`, the most doublings of a trajectory, None for a kernel without any.
    """

    target_accept: float | None
    metric: MetricForm
    max_depth: int | None = None

    def begin(self, dim: int, dtype: np.dtype) -> StepSizeState:
        """See `AbstractAdaptation.begin`."""
        return StepSizeState.start(1.0, dtype)

    def check(self, dim: int) -> None:
        """See `AbstractAdaptation.check`."""
        metrics.check_room(dim, self.metric)

    def at_start(self, gradient: np.ndarray) -> FittedMetric:
        """See `AbstractAdaptation.at_start`."""
        rank = metrics.rank_for(len(gradient), self.metric)
        return FittedMetric(metrics.initial_metric(gradient, rank), Choice())

    def given(self, fitted: FittedMetric) -> GivenMetric:
        """See `AbstractAdaptation.given`."""
        target = metrics.target_accept(fitted.choice, self.target_accept)
        return GivenMetric(
            fitted.metric,
            np.asarray(target, fitted.metric.scale.dtype),
            np.int32(metrics.care(fitted.choice, self.target_accept)),
            np.int32(fitted.choice.doublings),
            np.int32(fitted.trial.doublings),
            np.bool_(fitted.trial.is_kept),
        )

    def due(self, num_warmup: int) -> tuple[Update, ...]:
        """See `AbstractAdaptation.due`."""
        return metric_updates(num_warmup)

    def tuning(self, learnt: StepSizeState, given: GivenMetric, item: Item) -> Tuning:
        """See `AbstractChainAdaptation.tuning`."""
        is_early = item.draw < item.num_warmup // EARLY_PART
        care = jnp.where(item.draw >= item.num_warmup, given.care, Care.NONE)
        factor = shortening(item.draw, care, learnt.step_size.dtype)
        tuning = Tuning(learnt.step_size * factor, given.metric, is_early, ~item.is_draw)
        if self.max_depth is None:
            return tuning
        goes_on = is_longer(item.draw, item.num_warmup, given.longer, given.keeps_longer & (factor == 1))
        most = max_doublings(factor, care, given.doublings, self.max_depth)
        return replace(tuning, max_doublings=jnp.where(goes_on, given.longer, most), goes_on=goes_on)

    def update(
        self, learnt: StepSizeState, given: GivenMetric, item: Item, info: Info
    ) -> tuple[StepSizeState, Bool[Array, ""]]:
        """See `AbstractChainAdaptation.update`."""
        acceptance, ending = info.acceptance, info.ending
        is_warmup = item.draw < item.num_warmup
        probed, is_found = step_sizes.probe(learnt, jnp.where(ending == Ending.GOOD, acceptance, 0))
        updated = step_sizes.update(learnt, acceptance, given.target_accept)
        updated = step_sizes.freeze(updated, item.draw + 1 == item.num_warmup)
        learnt = where(item.is_probe, probed, where(item.is_draw & is_warmup, updated, learnt))
        return learnt, item.is_draw | (item.is_probe & is_found)

    def learn(
        self, window: Window, learnt: StepSizeState, fitted: FittedMetric, update: Update
    ) -> tuple[StepSizeState, FittedMetric, bool]:
        """See `AbstractAdaptation.learn`."""
        previous, former = fitted.metric, fitted.choice.form
        metric, choice = metrics.learn_metric(
            window.positions, window.gradients, previous, self.metric, former
        )
        was_tried = tried(fitted.trial, update.start, len(window.positions))
        choice = replace(choice or fitted.choice, **self._seen(window, ~was_tried))
        is_other = bool(metric.is_diagonal) != bool(previous.is_diagonal)
        # Only these changes move the right step size by much. Restarting at every update was tried: each restart tries
        # large steps first, and effective draws per gradient fell by a quarter over eight reference posteriors.
        is_anew = update.is_first or is_other or (choice.form == "marginal") != (former == "marginal")
        if is_anew:
            step_size: Any = learnt.step_size
            learnt = StepSizeState.start(float(step_size), step_size.dtype)
        # While a form is new, its draws are few; and the others mostly whiten what is slow.
        may_try = update.is_late and former == choice.form == "marginal"
        trial = self._trial(window, update, fitted.trial, was_tried) if may_try else Trial()
        return learnt, FittedMetric(metric, choice, trial), is_anew

    def _trial(self, window: Window, update: Update, trial: Trial, was_tried: np.ndarray) -> Trial:
        """Return the trial of longer trajectories that begins here, or what is known of the one under way."""
        energy, num_steps = (window.stats.get(name) for name in ("energy", "n_steps"))
        if self.max_depth is None or energy is None or num_steps is None:
            return Trial()
        positions = np.asarray(window.positions, np.float64)
        if trial.since == 0:
            return begun(update.at, positions, energy, num_steps, self.max_depth)
        return judged(trial, positions, num_steps, was_tried, self.max_depth)

    def _seen(self, window: Window, is_usual: np.ndarray) -> dict[str, Any]:
        """Return what a choice records of the trajectories of a window, of the usual ones where that matters."""
        depth, diverging = (window.stats.get(name) for name in ("tree_depth", "diverging"))
        if diverging is None:
            diverging = np.zeros(len(window.positions), bool)
        # A trajectory that diverged may have ended at once.
        is_whole = ~diverging & is_usual
        whole = None if depth is None or not np.any(is_whole) else depth[is_whole]
        doublings = 0 if whole is None else int(np.median(whole))
        return {
            "doublings": doublings,
            "is_cut": self.max_depth is not None and doublings >= self.max_depth,
            "has_diverged": int(np.sum(diverging)) >= _SEVERAL,
        }

    def is_settled(self, window: Window) -> bool:
        """See `AbstractAdaptation.is_settled`."""
        depth = window.stats.get("tree_depth")
        return is_settled(window.positions, window.log_density, depth, self.max_depth)

    def as_of(
        self,
        learnt: StepSizeState,
        given: GivenMetric,
        stats: Mapping[str, Any],
        draw: Any,
        num_warmup: int,
    ) -> StepSizeState | None:
        """See `AbstractAdaptation.as_of`: told by the step of the draw, where the kernel reports it."""
        step_size = stats.get("step_size")
        if step_size is None:
            return super().as_of(learnt, given, stats, draw, num_warmup)
        if draw >= num_warmup:
            step_size = step_size / shortening(draw, given.care, step_size.dtype)
        return replace(learnt, step_size=step_size)

    def described(self, learnt: StepSizeState, fitted: FittedMetric) -> dict[str, Any]:
        """See `AbstractAdaptation.described`."""
        found = fitted.described(learnt.step_size, self.metric, self.target_accept)
        return found if self.max_depth is None else found | {"trajectories": fitted.trial.reason()}

    def shown(self, learnt: StepSizeState, fitted: FittedMetric) -> tuple[tuple[str, float], ...]:
        """See `AbstractAdaptation.shown`."""
        return (("step size", float(learnt.step_size)),)

    def stored(self, fitted: FittedMetric) -> dict[str, np.ndarray]:
        """See `AbstractAdaptation.stored`."""
        return fitted.arrays()

    def restored(self, arrays: Mapping[str, np.ndarray], dim: int, dtype: np.dtype) -> FittedMetric:
        """See `AbstractAdaptation.restored`."""
        return FittedMetric.stored(arrays, self.at_start(np.zeros(dim, dtype)))
