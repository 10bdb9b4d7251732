"""State what an executor does: run functions somewhere, and hand back what they return.

An executor moves work and knows nothing of it: order, retries, deadlines and storage belong to the scheduler of a run.
What it is given is a pure function of its arguments, so that which worker runs it, when, and how often, changes no
number.
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
    """What must be the same in every worker for the same numbers; travels with the run.

    **Fields**
    - `precision`: `"float64"` or `"float32"`.
    - `platform`: JAX's, such as `"cpu"`.
    - `pool_width`: threads of XLA's pool, which decides the order of large sums.
    - `cache`: folder of compiled programs, or None.
    - `flags`: XLA's, as in the environment. `software`: the versions of what computes. Those of the process that
      builds it.
    """

    precision: Precision
    platform: str
    pool_width: int
    cache: str | None = None
    flags: str = field(default_factory=_flags_here)
    software: str = field(default_factory=_software_here)


class WorkerLostError(Exception):
    """A worker died, or was ended, before its work was done; the same work may be given to another one."""


class AbstractPool(abc.ABC):
    """The workers of one run."""

    @property
    @abc.abstractmethod
    def num_workers(self) -> int:
        """How many calls run at the same time."""

    @abc.abstractmethod
    def submit(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Call `function(*arguments)` in a worker; returns at once.

        The future raises what the function raised, or `WorkerLostError`.
        """

    @abc.abstractmethod
    def end(self, future: "Future[Any]") -> bool:
        """End the worker that is at a call, where that is possible; its future then raises `WorkerLostError`."""

    @abc.abstractmethod
    def close(self) -> None:
        """Let go of every worker. Calls that still run are abandoned. Closing twice is harmless."""


class AbstractExecutor(Module):
    """Where chains run."""

    @property
    @abc.abstractmethod
    def shares_memory(self) -> bool:
        """Whether workers see the objects of this process; otherwise what they are given is pickled."""

    @property
    def is_gang(self) -> bool:
        """Whether a worker is several processes that do every call side by side, each with some of the devices."""
        return False

    @property
    def pace(self) -> Pace:
        """How much is done at a time, and how long is waited: it changes no draw."""
        return USUAL

    @property
    def sharding(self) -> tuple[tuple[str, int], ...] | str:
        """Arguments of the model whose rows are shared out over devices, with the axis of the rows; or a plate."""
        return ()

    def device_groups(self) -> Sequence[Sequence[Any] | None]:
        """The devices of each program that runs at the same time; None is JAX's default device."""
        return (None,)

    @abc.abstractmethod
    def open(self, num_tasks: int, surroundings: Surroundings) -> AbstractPool:
        """Start workers, no more than there are tasks, in these surroundings.

        **Raises** `OptionError` where workers cannot be started here, `WorkerError` where one of them is in other
        surroundings than it was told.
        """
