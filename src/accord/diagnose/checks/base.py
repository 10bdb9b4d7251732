"""Define checks of a model: functions from a context to findings."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ...core.notice import Notice
from ...density import LogDensity
from ...language import Model
from .evaluator import Evaluator
from .survey import Survey
from .typical import Typical


@dataclass(frozen=True)
class Context:
    """Context of the checks: the model and its evaluations.

    **Fields**
    - `density`: as it was traced; `model`: what it was traced from, or None where a density was given.
    - `whole`: the log density as the model says it, on one device, unless the model itself names devices; where a plate
      has a chunk, in other chunks.
    - `summed`: the same as a run would sum it over blocks of rows, or None where no rows are cut.
    - `shard`: the arguments that are cut, with the axis of their rows; `num_rows`, how many there are.
    - `surveys`: of `whole` near where chains begin, wider around, and, where it can be drawn from, at the prior.
    - `points`: positions at which `whole` is finite, with its gradient; shape `(point, dim)`, at least one.
    - `typical`: where the posterior has its mass.
    - `direction`: shape `(dim,)`.
    """

    density: LogDensity
    model: Model | None
    whole: Evaluator
    summed: Evaluator | None
    shard: tuple[tuple[str, int], ...]
    num_rows: int
    surveys: tuple[Survey, ...]
    points: np.ndarray
    typical: Typical
    direction: np.ndarray

    @property
    def is_chunked(self) -> bool:
        """Return whether every device evaluates some rows at a time."""
        return bool(self.whole.density.program.cut_data)


Check = Callable[[Context], Iterable[Notice]]
"""Yields findings: faults, and confirmations that are worth knowing."""
