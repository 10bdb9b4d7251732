"""State what a run carries out, in two halves: one that goes to the workers, and one that stays with the run."""

import abc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ..core.notice import Notice
from ..core.pace import Pace
from ..core.precision import Precision
from ..density import LogDensity
from ..executors import AbstractExecutor
from ..report import AbstractProgress
from ..storage import AbstractRun, Segment
from .stopping.watch import Watch
from .units import AbstractMachine, AbstractUnits, Failure, News

R = TypeVar("R")


def _nothing() -> None:
    pass


class AbstractMethod(abc.ABC):
    """Work of a run, as workers know it: a frozen value, which is pickled for workers in other processes."""

    @property
    @abc.abstractmethod
    def precision(self) -> Precision:
        """Precision of the work."""

    @property
    @abc.abstractmethod
    def pace(self) -> Pace:
        """Sizes of tasks, and how long to wait for one."""

    @abc.abstractmethod
    def machine(
        self,
        devices: Sequence[Any] | None = None,
        meanwhile: Callable[[], None] = _nothing,
        clock: Callable[[], float] = time.perf_counter,
    ) -> tuple[AbstractMachine[Any], dict[str, float]]:
        """Build the machine of a worker; return it and seconds by phase of building.

        - `devices`: those that its programs span; None is JAX's default device.
        - `meanwhile`: called while XLA compiles.
        - `clock`: in seconds; one for all processes that do the same work together.
        """


class AnyPlan(Protocol):
    """What each plan says of a run: see `AbstractMethod`."""

    @property
    def precision(self) -> Precision: ...

    @property
    def pace(self) -> Pace: ...


P = TypeVar("P", bound=AnyPlan)


@dataclass(frozen=True)
class AbstractPlanned(AbstractMethod, Generic[P]):
    """Units of one plan for one target. **Fields**: `density`, the target; `plan`."""

    density: LogDensity
    plan: P

    @property
    def precision(self) -> Precision:
        """See `AbstractMethod.precision`."""
        return self.plan.precision

    @property
    def pace(self) -> Pace:
        """See `AbstractMethod.pace`."""
        return self.plan.pace


class AbstractHost(abc.ABC, Generic[R]):
    """Half of a run that stays in the process that started it: it hears of news, and makes the result.

    **Fields**: `density`, the target.
    """

    density: LogDensity

    @property
    @abc.abstractmethod
    def shard(self) -> Mapping[str, int]:
        """Arguments whose rows are split over devices, with the axis of the rows."""

    @property
    @abc.abstractmethod
    def phases(self) -> Mapping[str, str]:
        """Phases of a unit in order, each with the name under which its seconds are kept."""

    @property
    @abc.abstractmethod
    def totals(self) -> Mapping[str, int]:
        """How much each unit has to do, by phase."""

    @abc.abstractmethod
    def begin_checks(self) -> None:
        """Start what is checked beside the work, now that programs compile."""

    @abc.abstractmethod
    def watch(self, run: AbstractRun, began: float, show: Callable[[str], None]) -> Watch | None:
        """Return what checks the stopping rule of the run, if it has one; arguments as of `Watch`."""

    @abc.abstractmethod
    def hear(self, news: News, num_sure: int | None) -> Failure | None:
        """Take news of a unit; return a failure for one that is given up.

        `num_sure`: how many rows per unit belong to the run whatever its stopping rule finds; None without a rule.

        **Raises** what ends the run.
        """

    @abc.abstractmethod
    def look(self, num_sure: int | None) -> None:
        """Consider the news so far again, since `num_sure` has grown. **Raises** as `hear`."""

    @abc.abstractmethod
    def reason(self, failure: Failure) -> BaseException:
        """Return the error to raise for a failure, explained."""

    @abc.abstractmethod
    def tell_failure(self, failure: Failure) -> Notice:
        """Return the notice of units that failed while others went on."""

    @abc.abstractmethod
    def result(self, run: AbstractRun, spilled: Sequence[Segment], lost: Sequence[Mapping[str, Any]]) -> R:
        """Read the result of a run.

        `spilled`: segments that the store could not write; `lost`: records of failed units.
        """

    @abc.abstractmethod
    def is_empty(self, result: R) -> bool:
        """Return whether a result has nothing in it."""

    @abc.abstractmethod
    def judge(self, result: R, executor: AbstractExecutor) -> list[Notice]:
        """Return the notices on a result."""

    @abc.abstractmethod
    def finished(self, result: R, notices: Sequence[Notice], timings: Mapping[str, float]) -> R:
        """Return the result with its notices and timings, as a user gets it."""


@dataclass(frozen=True)
class RunRequest(Generic[R]):
    """A run to execute.

    **Fields**: `method`; `host`; `units` to work on; `executor`; `run`, the open store; `display`; `is_quiet`; `began`,
    by `time.perf_counter`.
    """

    method: AbstractMethod
    host: AbstractHost[R]
    units: Sequence[AbstractUnits]
    executor: AbstractExecutor
    run: AbstractRun
    display: AbstractProgress
    is_quiet: bool
    began: float
