"""Compute with draws, block by block, in the workers of an executor.

A block is a pure function of its draws and keys: who does it, in what order and how often changes no number.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..core.errors import OptionError, WorkerError
from ..core.pace import Pace
from ..core.precision import Precision
from ..executors import AbstractExecutor, Threads, WorkerLostError
from ..executors.pools import one_blas_thread
from ..runs.method import AbstractMethod
from ..runs.scheduler import Scheduler
from ..runs.units import AbstractMachine, AbstractUnit, Failure, Item, News
from ..runs.workers import Workers
from .job import Job, Program

_PIECES = 4  # for each worker, so that one that is slow holds up little


@dataclass(frozen=True, eq=False)
class Block(AbstractUnit):
    """Some draws of one chain.

    **Fields**: `number` of the block; `place`, of the chain among the chains; `start`, the first draw, and `count`;
    `words`, of their keys, and `values`, by site: none once it is done.
    """

    number: int
    place: int
    start: int
    count: int
    words: np.ndarray
    values: dict[str, np.ndarray]
    noun: ClassVar[str] = "block of draws"

    @property
    def is_done(self) -> bool:
        """See `AbstractUnits.is_done`."""
        return not len(self.words)


@dataclass(frozen=True, eq=False)
class Computed(News):
    """Results for each draw of a block. **Fields**: `place`, `start` of the block; `leaves` of the tree."""

    place: int
    start: int
    leaves: list[np.ndarray]


@dataclass(frozen=True)
class JobMachine(AbstractMachine[Block]):
    """The compiled program of a job."""

    program: Program

    def work(
        self, units: Block, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[Block, Sequence[Item]]:
        """Do a whole block: see `AbstractMachine.work`."""
        found = self.program(units.words, units.values)
        return replace(units, words=units.words[:0], values={}), [Computed(units.place, units.start, found)]


@dataclass(frozen=True)
class OverDraws(AbstractMethod):
    """A computation for each draw. **Fields**: `job`; `usual`, the pace of the executor."""

    job: Job
    usual: Pace

    @property
    def precision(self) -> Precision:
        """See `AbstractMethod.precision`."""
        return self.job.target.precision

    @property
    def pace(self) -> Pace:
        """Return a pace without a deadline: how long a block takes is not known."""
        return replace(self.usual, patience=math.inf, patience_at_first=math.inf)

    def machine(
        self,
        devices: Sequence[Any] | None = None,
        meanwhile: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> tuple[JobMachine, dict[str, float]]:
        """See `AbstractMethod.machine`."""
        meanwhile()
        return JobMachine(self.job.program()), {}


def check_executor(function: str, executor: Any) -> AbstractExecutor:
    """The executor, or the one that None stands for.

    **Raises** `OptionError` for what is none, and for one that shares data out, which draws have no use for.
    """
    if executor is None:
        return Threads()
    if not isinstance(executor, AbstractExecutor):
        raise OptionError(
            f"infer.{function}: executor must be like infer.Threads(), got {type(executor).__name__}."
        )
    if executor.spans_devices or tuple(executor.device_groups()) != (None,):
        raise OptionError(
            f"infer.{function}: {type(executor).__name__} is for runs. Draws are computed with one by one, each by one "
            "worker: executor=infer.Threads(), Serial(), Processes(), Dask() or Ray()."
        )
    return executor


def each_block(
    job: Job,
    executor: AbstractExecutor,
    num_draws: int,
    cut: Callable[[int], Iterator[Block]],
    keep: Callable[[Computed], None],
) -> None:
    """Do all blocks, of which `cut(size)` has at most `size` draws each, and hand each result to `keep`, in any order.

    **Raises** what the job raises; `WorkerError` where the worker of one block is lost again and again.
    """

    def commit(items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, Computed):
                keep(item)

    def look(failures: Sequence[Failure]) -> None:
        if failures:
            stop.set()

    def noted(blocks: Iterator[Block]) -> Iterator[Block]:
        for block in blocks:
            where[block.number] = f"draws {block.start} to {block.start + block.count - 1} of a chain"
            yield block

    where: dict[int, str] = {}
    stop, least = threading.Event(), executor.pace.least_predicted
    method = OverDraws(job, executor.pace)
    with one_blas_thread():
        workers = Workers.open(method, executor, -(-num_draws // least) or 1, lambda: None, stop.is_set)
        try:
            size = min(job.rows, max(least, -(-num_draws // (_PIECES * workers.pool.num_workers))))
            scheduler = Scheduler(
                workers.pool, workers.do, commit, lambda text: None, stop, workers.task_seconds, method.pace
            )
            scheduler.look = look
            failures = scheduler.run(noted(cut(size)))
        finally:
            workers.pool.close()
    if failures:
        error = failures[0].error
        if not isinstance(error, WorkerLostError):
            raise error
        raise WorkerError(
            f"the workers that were to compute {where[failures[0].numbers[0]]} were lost again and again: {error}. "
            "Look at what the model calls; `executor=infer.Serial()` shows the error where it arises."
        ) from error
