"""Define executors: run functions somewhere, and return their results.

An executor only moves work: order, retries, deadlines and storage belong to the scheduler of a run. Each function is
pure, so that results do not depend on the worker, the time or the number of repetitions.
"""

import abc
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, TypeVar

import jax
import numpy as np

from ..core.modules import Module
from ..core.pace import USUAL, Pace
from ..core.precision import Precision

T = TypeVar("T")


def _flags_here() -> str:
    return os.environ.get("XLA_FLAGS", "")


def _software_here() -> str:
    return f"jax {jax.__version__}, jaxlib {metadata.version('jaxlib')}, numpy {np.__version__}"


@dataclass(frozen=True)
class Surroundings:
    """Settings that every worker must share to give the same numbers.

    **Fields**
    - `precision`: `"float64"` or `"float32"`.
    - `platform`: JAX's, such as `"cpu"`.
    - `pool_width`: threads of XLA's pool, which decides the order of large sums.
    - `cache`: folder of compiled programs, or None.
    - `cpu_devices`: how many a worker makes; None is one, or what the environment says. Not compared: they change no
      number.
    - `flags`: XLA's, as in the environment. `software`: the versions of what computes. Those of the process that
      builds it.
    """

    precision: Precision
    platform: str
    pool_width: int
    cache: str | None = None
    flags: str = field(default_factory=_flags_here)
    software: str = field(default_factory=_software_here)
    cpu_devices: int | None = field(default=None, compare=False)


class WorkerLostError(Exception):
    """Error of a worker that died, or was ended, before its work was done; another worker can repeat it."""


class AbstractPool(abc.ABC):
    """Pool of the workers of one run."""

    @property
    @abc.abstractmethod
    def num_workers(self) -> int:
        """Number of calls that run at the same time."""

    @abc.abstractmethod
    def submit(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Call `function(*arguments)` in a worker; returns at once.

        The future raises what the function raised, or `WorkerLostError`.
        """

    def end(self, future: "Future[Any]") -> bool:
        """End the worker of a call if possible; its future then raises `WorkerLostError`.

        Returns whether that was possible. By default only a call that has not begun can be ended.
        """
        return future.cancel()

    @abc.abstractmethod
    def close(self) -> None:
        """Release every worker. Running calls are abandoned. Closing twice is harmless."""


class AbstractExecutor(Module):
    """Executor: where chains run."""

    @property
    @abc.abstractmethod
    def shares_memory(self) -> bool:
        """Return whether workers see the objects of this process; else arguments are pickled."""

    @property
    def spans_devices(self) -> bool:
        """Return whether a worker makes each call on all devices that it has, in one process or several: a gang."""
        return False

    @property
    def pace(self) -> Pace:
        """Return the pace of a run: sizes of blocks and tasks, and waits. It changes no draw."""
        return USUAL

    @property
    def sharding(self) -> tuple[tuple[str, int], ...] | str:
        """Arguments of the model whose rows are split over devices, with the axis of the rows; or a plate."""
        return ()

    def device_groups(self) -> Sequence[Sequence[Any] | None]:
        """Return the devices of each concurrent program; None is JAX's default device."""
        return (None,)

    @abc.abstractmethod
    def open(self, num_tasks: int, surroundings: Surroundings) -> AbstractPool:
        """Start workers, no more than there are tasks, in these surroundings.

        **Raises** `OptionError` if workers cannot be started here, `WorkerError` if a worker has other surroundings
        than requested.
        """
