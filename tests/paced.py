"""Run on an executor at another pace, for tests of what happens between blocks, tasks and workers."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx

from accord import infer
from accord.core.pace import Pace
from accord.executors import AbstractExecutor, AbstractPool, Surroundings

IMPATIENT = Pace(task_seconds=0.1, patience=3.0, patience_at_first=60.0)
"""Find the stuck after 3 seconds; one task takes a tenth of one."""


class Paced(AbstractExecutor):
    """Another executor at this pace."""

    executor: AbstractExecutor
    given: Pace = eqx.field(static=True)

    @property
    def shares_memory(self) -> bool:
        return self.executor.shares_memory

    @property
    def spans_devices(self) -> bool:
        return self.executor.spans_devices

    @property
    def sharding(self) -> tuple[tuple[str, int], ...] | str:
        return self.executor.sharding

    @property
    def pace(self) -> Pace:
        return self.given

    def device_groups(self) -> Sequence[Sequence[Any] | None]:
        return self.executor.device_groups()

    def open(self, num_tasks: int, surroundings: Surroundings) -> AbstractPool:
        return self.executor.open(num_tasks, surroundings)


def paced(executor: AbstractExecutor | None = None, **numbers: Any) -> Paced:
    """An executor, threads where none is given, at the usual pace but for these numbers."""
    return Paced(executor or infer.Threads(), Pace(**numbers))
