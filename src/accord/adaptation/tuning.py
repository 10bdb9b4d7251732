"""Define what warm-up learns for Hamiltonian kernels, and gives to them: a step size and a metric."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..core.tree import filled, flatten, node
from . import metric as metrics
from .metric import Care, Choice, Metric
from .trial import Trial


@node
class Tuning:
    """Tuning of a Hamiltonian kernel: `step_size`, shape `()`, in whitened units; and the metric.

    `is_early`, shape `()`: the metric is still a guess, so that long trajectories do not pay. `is_probe`, shape `()`:
    one step tells how well the step size fits, and the chain does not move. `num_steps`, shape `()`:
    steps of this draw for chains that move in step; None if each chain decides. `max_doublings`, shape `()`: most
    doublings of this draw's trajectory beside the limit of the kernel; None if that is the only one. `goes_on`, shape
    `()`: the trajectory doubles as often as it may, whether it turns back or not.
    """

    step_size: Float[Array, ""]
    metric: Metric
    is_early: Bool[Array, ""] | bool = False
    is_probe: Bool[Array, ""] | bool = False
    num_steps: Int[Array, ""] | None = None
    max_doublings: Int[Array, ""] | None = None
    goes_on: Bool[Array, ""] | bool = False


@node
class GivenMetric:
    """Part of a `FittedMetric` that the program takes as an argument.

    **Fields**: `metric`; of shape `()`, `target_accept` of step sizes; `care`, how many draws after warm-up are short;
    `doublings`, of most trajectories in warm-up; `longer`, doublings of longer ones that are tried, 0 for
    none; and `keeps_longer`, whether these are kept after warm-up.
    """

    metric: Metric
    target_accept: Float[Array, ""] | Any
    care: Int[Array, ""] | Any = np.int32(Care.NONE)
    doublings: Int[Array, ""] | Any = np.int32(0)
    longer: Int[Array, ""] | Any = np.int32(0)
    keeps_longer: Bool[Array, ""] | Any = np.bool_(False)


@dataclass(frozen=True, eq=False)
class FittedMetric:
    """Metric that the host has fitted.

    **Fields**: `metric`; `choice`, why it has its form; `trial`, of longer trajectories.
    """

    metric: Metric
    choice: Choice
    trial: Trial = field(default_factory=Trial)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a store keeps."""
        return flatten({"metric": self.metric}) | self.choice.arrays() | self.trial.arrays()

    @staticmethod
    def stored(arrays: Mapping[str, np.ndarray], like: "FittedMetric") -> "FittedMetric":
        """Read it from the result of `arrays`, of as many dimensions and directions as another one has.

        **Raises** `StorageError` for other arrays.
        """
        metric = filled({"metric": like.metric}, arrays)["metric"]
        return FittedMetric(metric, Choice.stored(arrays), Trial.stored(arrays))

    def described(self, step_size: Any, asked: str, target_accept: float | None) -> dict[str, Any]:
        """Return what `draws.tuning` shows of it, with the step size and the sampler's options."""
        return {
            "step_size": step_size,
            "inverse_mass": self.metric.inverse_mass(),
            "metric": self.choice.form,
            "metric_reason": metrics.reason(self.choice, asked),
            "target_accept": float(metrics.target_accept(self.choice, target_accept)),
        }
