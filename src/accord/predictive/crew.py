"""Have the blocks of a job done by the workers of an executor.

A block is a pure function of its draws and keys: who does it, in what order and how often changes no number.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import OptionError, WorkerError
from ..executors import AbstractExecutor, AbstractPool, Threads, WorkerLostError
from ..executors.pools import one_blas_thread
from ..runs.worker import surroundings_of
from .job import Job, do_packed

_POLL = 0.1  # seconds; between polls a signal reaches the waiting thread
_PIECES = 4  # for each worker, so that one that is slow holds up little
_MAX_LOSSES = 3  # of the worker of one block


@dataclass(frozen=True)
class Block:
    """Some draws of one chain.

    **Fields**: `place`, of the chain among the chains; `start`, the first draw; `words`, of their keys; `values`, by
    site.
    """

    place: int
    start: int
    words: np.ndarray
    values: dict[str, np.ndarray]


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
    if executor.is_gang or tuple(executor.device_groups()) != (None,):
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
    keep: Callable[[Block, list[np.ndarray]], None],
) -> None:
    """Do all blocks, of which `cut(size)` has at most `size` draws each, and hand each result to `keep`, in any order.

    **Raises** what the job raises; `WorkerError` where the worker of one block is lost again and again.
    """
    with one_blas_thread():
        do: tuple[Any, ...] = (job.program(),) if executor.shares_memory else (do_packed, job.pack())
        least = executor.pace.least_predicted
        pool = executor.open(-(-num_draws // least) or 1, surroundings_of(job.target.precision))
        try:
            size = min(job.rows, max(least, -(-num_draws // (_PIECES * pool.num_workers))))
            _do_all(pool, do, cut(size), keep)
        finally:
            pool.close()


def _do_all(
    pool: AbstractPool,
    do: tuple[Any, ...],
    blocks: Iterator[Block],
    keep: Callable[[Block, list[np.ndarray]], None],
) -> None:
    out: dict[Future[list[np.ndarray]], tuple[Block, int]] = {}

    def give(block: Block, losses: int) -> None:
        out[pool.submit(*do, block.words, block.values)] = block, losses

    while True:
        while len(out) < pool.num_workers and (block := next(blocks, None)) is not None:
            give(block, 0)
        if not out:
            return
        for future in wait(out, timeout=_POLL, return_when=FIRST_COMPLETED).done:
            block, losses = out.pop(future)
            try:
                keep(block, future.result())
            except WorkerLostError as error:
                if losses + 1 == _MAX_LOSSES:
                    raise WorkerError(
                        f"the workers that were to compute draws {block.start} to {block.start + len(block.words) - 1} "
                        f"of a chain were lost {_MAX_LOSSES} times: {error}. Look at what the model calls; "
                        "`executor=infer.Serial()` shows the error where it arises."
                    ) from error
                give(block, losses + 1)
