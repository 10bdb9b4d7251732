"""Give the tasks of a run to workers: order, retries, deadlines, and an end when the user asks for one.

Everything that can go wrong with a worker is dealt with here and nowhere else. A task may be given away again at any
time, because it is a pure function; what it completes is committed once, when it comes back.
"""

import statistics
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.errors import AccordError
from ..core.pace import USUAL, Pace
from ..core.tracebacks import shorten
from ..executors import AbstractPool, WorkerLostError
from .group import Group, Item
from .starting.search import StartFailedError
from .worker import Outcome, Task

_POLL = 0.1  # seconds
_MAX_LOSSES = 3  # of the worker of one task
_MAX_ERRORS = 2  # of one task: what it raises twice it would raise again
_GRACE = 1.5  # seconds that tasks have to come back once the run is to stop


@dataclass(frozen=True)
class Failure:
    """Chains that could not go on.

    **Fields**: `chains`, their numbers; `draw`, how many draws they had handed over, warm-up included; `error`, which
    was raised, and `text`, it in words with its place.
    """

    chains: tuple[int, ...]
    draw: int
    error: BaseException
    text: str


@dataclass
class _Flight:
    """A task that is with a worker."""

    task: Task
    began: float
    is_first: bool  # perhaps, of its worker
    is_overdue: bool = False


@dataclass
class Scheduler:
    """The run of all groups of one plan over one pool. Used once.

    **Fields**
    - `pool`: the workers. `do`: carries out a task there.
    - `commit`: takes what tasks completed, in order for each chain.
    - `say`: shows a line to the user.
    - `stop`: when it is set, tasks that are out may come back for a short while, and the run ends; so when `enough`
      is, by what `look` has found.
    - `look`: is called again and again while tasks are out, with the chains that have failed.
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
    _num_warm: int = 0  # workers that have compiled, as far as is known
    _waiting: deque[Task] = field(default_factory=deque)
    _flights: dict[Future[Outcome], _Flight] = field(default_factory=dict)
    _losses: dict[int, int] = field(default_factory=dict)
    _errors: dict[int, int] = field(default_factory=dict)
    _durations: deque[float] = field(default_factory=lambda: deque(maxlen=100))

    def run(self, groups: Sequence[Group | Sequence[int]]) -> list[Failure]:
        """Run every group to its end, or until the stop; returns the chains that failed.

        **Raises** what `commit` raises, and an `AccordError` of a task: of those the user is at fault.
        """
        self._waiting.extend(Task(group, self.seconds) for group in groups)
        try:
            while (self._waiting or self._flights) and not self._is_ending:
                self._give_what_waits()
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
        return sorted(self.failures, key=lambda failure: failure.chains)

    @property
    def _is_ending(self) -> bool:
        return self.stop.is_set() or self.enough.is_set()

    def _give_what_waits(self) -> None:
        while self._waiting and len(self._flights) < self.pool.num_workers and not self._is_ending:
            # The chains that are furthest behind: what is cut to the shortest, or looked at together, waits for them.
            task = min(self._waiting, key=_num_drawn)
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
                group, items = future.result()
            except BaseException as error:
                self._take_error(flight.task, error)
                continue
            if flight.is_first:
                self._num_warm += 1
            else:
                self._durations.append(time.monotonic() - flight.began)
            if not group.is_done and not flight.task.is_last:
                self._waiting.append(replace(flight.task, group=group))
                self._give_what_waits()  # so that workers draw while this is committed
            self.commit(items)

    def _take_error(self, task: Task, error: BaseException) -> None:
        first = task.numbers[0]
        if isinstance(error, StartFailedError) and len(task.numbers) > 1:
            self._leave_out((error.chain,), task, error)
            self._waiting.appendleft(task.without(error.chain))
            return
        if isinstance(error, WorkerLostError):
            counts, limit = self._losses, _MAX_LOSSES + 1
            self._num_warm = max(self._num_warm - 1, 0)  # its successor compiles anew
        elif isinstance(error, AccordError) or not isinstance(error, Exception):
            raise error
        else:
            counts, limit = self._errors, _MAX_ERRORS
        counts[first] = counts.get(first, 0) + 1
        if counts[first] < limit and not getattr(error, "is_final", False):
            if isinstance(error, WorkerLostError):
                self.say(f"chain {first}: {error}; another worker goes on in its place.")
            self._waiting.appendleft(task)
            return
        self._leave_out(tuple(task.numbers), task, error)

    def _leave_out(self, chains: tuple[int, ...], task: Task, error: BaseException) -> None:
        begun = task.group.kept if isinstance(task.group, Group) else ()
        draw = min((chain.draw for chain in begun if chain.number in chains), default=0)
        shorten(error)
        text = "".join(traceback.format_exception(error)).strip()
        self.failures.append(Failure(chains, draw, error, text))

    def _look_for_the_stuck(self) -> None:
        now = time.monotonic()
        usual = 10 * statistics.median(self._durations) if self._durations else 0.0
        for future, flight in self._flights.items():
            limit = max(self.pace.patience_at_first if flight.is_first else self.pace.patience, usual)
            if flight.is_overdue or now - flight.began < limit:
                continue
            flight.is_overdue = True
            if not self.pool.end(future):
                numbers = ", ".join(map(str, flight.task.numbers))
                self.say(
                    f"chain {numbers} has been at one block for {now - flight.began:.0f} s, and its thread cannot be "
                    "ended. Ctrl-C stops the run; executor=infer.Processes() can replace what is stuck."
                )

    def _wind_up(self) -> None:
        """Let tasks come back for a while; then have what was drawn handed over, where there is a free worker."""
        until = time.monotonic() + _GRACE
        self._finish_flights(until)
        groups = [task.group for task in self._waiting if isinstance(task.group, Group)]
        self._waiting.clear()
        if self._flights:
            return  # those workers are not free, and what the others have not handed over is two seconds of work
        for group in groups:
            if any(chain.blocks for chain in group.kept):
                self._give(Task(group, is_last=True))
        self._finish_flights(until)

    def _finish_flights(self, until: float) -> None:
        while self._flights and time.monotonic() < until:
            self._collect(_POLL)


def _num_drawn(task: Task) -> int:
    """Draws of the chain of a task that is furthest behind."""
    return min((chain.draw for chain in task.group.kept), default=0) if isinstance(task.group, Group) else 0
