"""Carry out runs of something that is no chain: counters, which know nothing of a model.

What is tested here is the contract of `runs`: order, losses, failures and stops, for any units.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pytest
from losing import Losing

from accord import infer
from accord.core.errors import OptionError
from accord.core.pace import USUAL, Pace
from accord.core.precision import Precision
from accord.executors import AbstractExecutor
from accord.runs.method import AbstractMethod
from accord.runs.scheduler import Scheduler
from accord.runs.units import AbstractMachine, AbstractUnits, Failure, Item, News, UnitFailedError
from accord.runs.workers import Workers


@dataclass(frozen=True)
class Counters(AbstractUnits):
    """Counters that go up to 3 together."""

    counting: tuple[int, ...]
    at: int = 0
    told: int = 0
    noun: ClassVar[str] = "counter"

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.counting

    @property
    def is_done(self) -> bool:
        return self.at == 3

    @property
    def has_rest(self) -> bool:
        return self.told < self.at

    def done_by(self, numbers: Sequence[int]) -> int:
        return self.at

    def without(self, number: int) -> "Counters":
        return replace(self, counting=tuple(each for each in self.counting if each != number))


@dataclass(frozen=True)
class Counted(News):
    numbers: tuple[int, ...]
    at: int


class TooLargeError(UnitFailedError):
    def __init__(self, number: int):
        super().__init__(f"counter {number} is too large")
        self.number = number


@dataclass(frozen=True)
class CountingMachine(AbstractMachine[Counters]):
    """Tells of every second step; steps of number 13 raise."""

    largest: int
    raised: list[BaseException] = field(default_factory=list)

    def work(
        self, units: Counters, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[Counters, Sequence[Item]]:
        for number in units.numbers:
            if number > self.largest:
                raise TooLargeError(number)
            if number == 13:
                self.raised.append(ZeroDivisionError("thirteen"))
                raise self.raised[-1]
            if number == 99:
                raise OptionError("99 is no number of a counter")
        after = replace(units, at=units.at + 1)
        return (
            (after, [])
            if after.at == 1
            else (replace(after, told=after.at), [Counted(after.numbers, after.at)])
        )

    def flush(self, units: Counters) -> tuple[Counters, Sequence[Item]]:
        return replace(units, told=units.at), [Counted(units.numbers, units.at)]


@dataclass(frozen=True)
class Counting(AbstractMethod):
    largest: int = 1000

    @property
    def precision(self) -> Precision:
        return "float64"

    @property
    def pace(self) -> Pace:
        return USUAL

    def machine(self, devices: Any = None, meanwhile: Any = None, clock: Any = None) -> Any:
        return CountingMachine(self.largest), {"build": 0.0}


def counted(
    units: Sequence[Counters],
    executor: AbstractExecutor,
    method: Counting = Counting(),
    stops_at: int | None = None,
) -> tuple[list[Counted], list[Failure], list[str]]:
    """Carry out the units; stop once so many results are in. Returns results, failures and what was said."""
    found: list[Counted] = []
    said: list[str] = []
    stop = threading.Event()

    def commit(items: Sequence[Item]) -> None:
        found.extend(item for item in items if isinstance(item, Counted))
        if stops_at is not None and len(found) >= stops_at:
            stop.set()

    workers = Workers.open(method, executor, len(units), lambda: None, stop.is_set)
    try:
        scheduler = Scheduler(workers.pool, workers.do, commit, said.append, stop, 0.0)
        return found, scheduler.run(iter(units)), said
    finally:
        workers.pool.close()


ALL = [Counters((0, 1)), Counters((2, 3)), Counters((4, 5))]
TOLD = {((0, 1), at) for at in (2, 3)} | {((2, 3), at) for at in (2, 3)} | {((4, 5), at) for at in (2, 3)}


@pytest.mark.parametrize(
    "executor",
    [infer.Serial(), infer.Threads(workers=2), Losing(num_losses=3)],
    ids=["serial", "threads", "lost"],
)
def test_units_are_carried_to_their_end_wherever_they_are(executor: AbstractExecutor) -> None:
    found, failures, said = counted(ALL, executor)
    assert {(each.numbers, each.at) for each in found} == TOLD and len(found) == len(TOLD)
    assert failures == []
    assert all(text.startswith("counter ") and "takes its place" in text for text in said)
    assert len(said) == getattr(executor, "num_losses", 0)


@pytest.mark.slow
def test_units_are_carried_to_their_end_in_processes() -> None:
    found, failures, _ = counted(ALL, infer.Processes(workers=2))
    assert {(each.numbers, each.at) for each in found} == TOLD and failures == []


def test_units_furthest_behind_go_first() -> None:
    found, _, _ = counted([Counters((0,)), Counters((1,))], infer.Serial())
    assert [(each.numbers, each.at) for each in found] == [((0,), 2), ((1,), 2), ((0,), 3), ((1,), 3)]


def test_a_unit_that_fails_is_left_out_and_the_others_of_its_task_go_on() -> None:
    found, failures, _ = counted([Counters((4, 500)), Counters((6,))], infer.Serial(), Counting(largest=100))
    assert [failure.numbers for failure in failures] == [(500,)]
    assert isinstance(failures[0].error, TooLargeError) and "too large" in failures[0].text
    assert {each.numbers for each in found} == {(4,), (6,)}


def test_what_is_raised_twice_fails_all_units_of_a_task() -> None:
    found, failures, _ = counted([Counters((13, 14)), Counters((6,))], infer.Serial())
    assert [failure.numbers for failure in failures] == [(13, 14)]
    assert isinstance(failures[0].error, ZeroDivisionError)
    assert {each.numbers for each in found} == {(6,)}


def test_a_mistake_of_the_user_ends_the_run() -> None:
    with pytest.raises(OptionError, match="99 is no number"):
        counted([Counters((99,)), Counters((6,))], infer.Serial())


def test_what_is_held_back_is_handed_over_when_a_run_is_stopped() -> None:
    found, failures, _ = counted(
        [Counters((0,), at=1, told=1), Counters((1,))], infer.Threads(workers=1), stops_at=1
    )
    assert failures == []
    assert {each.numbers: each.at for each in found} == {(0,): 2, (1,): 1}
