"""Open the workers of a run, with what they need to do its tasks."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..executors import AbstractExecutor, AbstractPool
from . import worker
from .method import AbstractMethod

# Seconds of a task, by whether memory is shared: short in threads, one second across a process boundary.
_TASK_SECONDS = {True: 0.05, False: 1.0}


@dataclass(frozen=True)
class Workers:
    """Workers that are ready.

    **Fields**: `pool`; `do`, the function of a task with its argument besides the task; `seconds` that building took,
    by phase; `task_seconds`, about how long a task should take.
    """

    pool: AbstractPool
    do: tuple[Callable[..., worker.Outcome], Any]
    seconds: Mapping[str, float]
    task_seconds: float

    @staticmethod
    def open(
        method: AbstractMethod,
        executor: AbstractExecutor,
        num_tasks: int,
        meanwhile: Callable[[], None],
        is_ending: Callable[[], bool],
    ) -> "Workers":
        """Open no more workers than tasks. `meanwhile()` is called while XLA compiles.

        `is_ending()`: asked by those tasks that run in this process.
        """
        do: tuple[Callable[..., worker.Outcome], Any]
        seconds: Mapping[str, float] = {}
        if executor.shares_memory:
            machines, seconds = worker.build_all(method, executor.device_groups(), num_tasks, meanwhile)
            do = (functools.partial(worker.do_on_any, is_stopped=is_ending), machines)
        else:
            do_there = worker.do_together if executor.spans_devices else worker.do_packed
            do = (do_there, worker.pack(method))
            meanwhile()
        pool = executor.open(num_tasks, worker.surroundings_of(method.precision))
        wanted = method.pace.task_seconds
        return Workers(pool, do, seconds, _TASK_SECONDS[executor.shares_memory] if wanted is None else wanted)
