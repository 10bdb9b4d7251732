"""Schedule the tasks of a run on workers: order, retries, deadlines, and an early end on request.

All failures of workers are handled here. A task may be repeated at any time, because it is a pure function; its results
are committed once, when it returns.
"""

import itertools
import statistics
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.errors import AccordError
from ..core.pace import USUAL, Pace
from ..core.tracebacks import shorten
from ..executors import AbstractPool, WorkerLostError
from .units import AbstractUnits, Failure, Item, UnitFailedError
from .worker import Outcome, Task

_POLL = 0.1  # seconds
_MAX_LOSSES = 3  # of the worker of one task
_MAX_ERRORS = 2  # of one task: what it raises twice it would raise again
_GRACE = 1.5  # seconds that tasks have to come back once the run is to stop


@dataclass
class _Flight:
    """A task that a worker is running."""

    task: Task
    began: float
    is_first: bool  # perhaps, of its worker
    is_overdue: bool = False


@dataclass
class Scheduler:
    """Runs all units of one run on one pool. Used once.

    **Fields**
    - `pool`: the workers. `do`: runs a task there.
    - `commit`: records the results of tasks, in order for each unit.
    - `say`: shows a line to the user.
    - `stop`: once set, running tasks have a short while to return, and the run ends. `enough` does the same, set by
      `look`.
    - `look`: called repeatedly while tasks run, with the failed units.
    - `seconds`: about how long a task takes.
    - `pace`: after how many seconds a task is overdue.
    """

    pool: AbstractPool
    do: tuple[Callable[..., Outcome], Any]
    commit: Callable[[Sequence[Item]], None]
    say: Callable[[str], None]
    stop: threading.Event
    seconds: float
    pace: Pace = USUAL
    enough: threading.Event = field(default_factory=threading.Event)
    look: Callable[[Sequence[Failure]], None] = lambda failures: None
    failures: list[Failure] = field(default_factory=list)
    _to_come: Iterator[AbstractUnits] = field(default_factory=lambda: iter(()))
    _num_warm: int = 0  # workers that have compiled, as far as is known
    _waiting: deque[Task] = field(default_factory=deque)
    _flights: dict[Future[Outcome], _Flight] = field(default_factory=dict)
    _losses: dict[int, int] = field(default_factory=dict)
    _errors: dict[int, int] = field(default_factory=dict)
    _durations: deque[float] = field(default_factory=lambda: deque(maxlen=100))

    def run(self, units: Iterable[AbstractUnits]) -> list[Failure]:
        """Carry all units to their end, or until the stop; returns those that failed.

        Units are taken one after the other as workers get free, so that they need not be there all at once.

        **Raises** errors of `commit`, and an `AccordError` of a task, which reports a user's mistake.
        """
        self._to_come = iter(units)
        try:
            while self._is_busy() and not self._is_ending:
                self._collect(_POLL)
                self._look_for_the_stuck()
                self.look(self.failures)
        except BaseException:
            # A thread that is in a compiled program when the interpreter leaves takes the process down with it.
            self.stop.set()
            wait(self._flights, timeout=_GRACE)
            raise
        if self._is_ending:
            self._wind_up()
        return sorted(self.failures, key=lambda failure: failure.numbers)

    @property
    def _is_ending(self) -> bool:
        return self.stop.is_set() or self.enough.is_set()

    def _is_busy(self) -> bool:
        """Give workers what waits, and return whether there is anything to wait for."""
        self._give_what_waits()
        return bool(self._waiting or self._flights)

    def _give_what_waits(self) -> None:
        while len(self._flights) < self.pool.num_workers and not self._is_ending:
            if not self._waiting or min(
                map(_num_done, self._waiting)
            ):  # they come in the order of what they have done
                self._waiting.extend(
                    Task(units, self.seconds) for units in itertools.islice(self._to_come, 1)
                )
            if not self._waiting:
                return
            # The units that are furthest behind: what is cut to the shortest, or looked at together, waits for them.
            task = min(self._waiting, key=_num_done)
            self._waiting.remove(task)
            self._give(task)

    def _give(self, task: Task) -> None:
        function, context = self.do
        is_first = self._num_warm < self.pool.num_workers
        self._flights[self.pool.submit(function, context, task)] = _Flight(task, time.monotonic(), is_first)

    def _collect(self, timeout: float) -> None:
        done, _ = wait(self._flights, timeout=timeout, return_when=FIRST_COMPLETED)
        for future in done:
            flight = self._flights.pop(future)
            try:
                units, items = future.result()
            except BaseException as error:
                self._take_error(flight.task, error)
                continue
            if flight.is_first:
                self._num_warm += 1
            else:
                self._durations.append(time.monotonic() - flight.began)
            if not units.is_done and not flight.task.is_last:
                self._waiting.append(replace(flight.task, units=units))
            self._give_what_waits()  # so that workers go on while this is committed
            self.commit(items)

    def _take_error(self, task: Task, error: BaseException) -> None:
        units = task.units
        first = units.numbers[0]
        if isinstance(error, UnitFailedError) and len(units.numbers) > 1:
            self._leave_out((error.number,), units, error)
            self._waiting.appendleft(replace(task, units=units.without(error.number)))
            return
        if isinstance(error, WorkerLostError | CancelledError):
            counts, limit = self._losses, _MAX_LOSSES + 1
            self._num_warm = max(self._num_warm - 1, 0)  # its successor compiles anew
        elif isinstance(error, AccordError) or not isinstance(error, Exception):
            raise error
        else:
            counts, limit = self._errors, _MAX_ERRORS
        counts[first] = counts.get(first, 0) + 1
        if counts[first] < limit and not getattr(error, "is_final", False):
            if isinstance(error, WorkerLostError):
                self.say(f"{units.noun} {first}: {error}; another worker takes its place.")
            self._waiting.appendleft(task)
            return
        self._leave_out(units.numbers, units, error)

    def _leave_out(self, numbers: tuple[int, ...], units: AbstractUnits, error: BaseException) -> None:
        shorten(error)
        text = "".join(traceback.format_exception(error)).strip()
        self.failures.append(Failure(numbers, units.done_by(numbers), error, text))

    def _look_for_the_stuck(self) -> None:
        now = time.monotonic()
        usual = 10 * statistics.median(self._durations) if self._durations else 0.0
        for future, flight in self._flights.items():
            limit = max(self.pace.patience_at_first if flight.is_first else self.pace.patience, usual)
            if flight.is_overdue or now - flight.began < limit:
                continue
            flight.is_overdue = True
            if not self.pool.end(future):
                units = flight.task.units
                numbers = ", ".join(map(str, units.numbers))
                self.say(
                    f"{units.noun} {numbers} has spent {now - flight.began:.0f} s in one block, and its thread cannot "
                    "be ended. Ctrl-C stops the run; executor=infer.Processes() can replace a stuck worker."
                )

    def _wind_up(self) -> None:
        """Let tasks return for a while; then collect what free workers hold back."""
        until = time.monotonic() + _GRACE
        self._finish_flights(until)
        left = [task.units for task in self._waiting if task.units.has_rest]
        self._waiting.clear()
        if self._flights:
            return  # those workers are not free, and what the others have not handed over is two seconds of work
        for units in left:
            self._give(Task(units, is_last=True))
        self._finish_flights(until)

    def _finish_flights(self, until: float) -> None:
        while self._flights and time.monotonic() < until:
            self._collect(_POLL)


def _num_done(task: Task) -> int:
    return task.units.num_done
