"""State what workers carry: units of work, and what a task on them brings.

A unit is what a run is made of: a chain, a block of draws to predict from, a simulation. A program may carry several at
once. Nothing here knows what they are.
"""

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Self, TypeVar

from ..storage import Phase, Segment


class AbstractUnits(abc.ABC):
    """Units that one task carries. A value: a task takes one and returns the next, so it may be repeated or moved."""

    noun: ClassVar[str]
    """Word for one unit in messages, such as `"chain"`."""

    @property
    @abc.abstractmethod
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the units."""

    @property
    @abc.abstractmethod
    def is_done(self) -> bool:
        """Return whether nothing is left to do."""

    @property
    def num_done(self) -> int:
        """Count what the slowest unit has done; tasks with the least go first."""
        return self.done_by(self.numbers)

    @property
    def has_rest(self) -> bool:
        """Return whether results are held back that `AbstractMachine.flush` hands over."""
        return False

    def done_by(self, numbers: Sequence[int]) -> int:
        """Count what the slowest of these units has done, in steps of its own; 0 by default."""
        return 0

    @abc.abstractmethod
    def without(self, number: int) -> Self:
        """Return these without one unit. Never called for the last one."""


class AbstractUnit(AbstractUnits):
    """One unit, which a task carries by itself. **Fields**: its `number`."""

    number: int

    @property
    def numbers(self) -> tuple[int, ...]:
        """See `AbstractUnits.numbers`."""
        return (self.number,)

    def without(self, number: int) -> Self:
        """See `AbstractUnits.without`: there is no other."""
        return self


U = TypeVar("U", bound=AbstractUnits)


class AbstractStretch(abc.ABC):
    """Consecutive rows of one phase of one unit, which are stored together."""

    @abc.abstractmethod
    def segment(self) -> Segment:
        """Return them as a store keeps them."""


@dataclass(frozen=True)
class Progress:
    """Progress of a unit.

    **Fields**: `unit`, its number; `phase`; `num_done` of `num_total` in that phase; `shown`, what the display shows
    beside it, as `AbstractProgress.update` names it; `age`, seconds between this state and the end of its task.
    """

    unit: int
    phase: Phase
    num_done: int
    num_total: int
    shown: Mapping[str, Any] = field(default_factory=dict)
    age: float = 0.0


class News:
    """Result that is neither stored nor shown, such as a chain that is stuck; the run's host hears of it."""


Item = AbstractStretch | Progress | News
"""A result of a task."""


class UnitFailedError(Exception):
    """Error of one unit, which leaves the others of its task as they are. **Fields**: `number` of the unit."""

    number: int
    is_final = True  # to try again would change nothing


@dataclass(frozen=True)
class Failure:
    """Units that failed.

    **Fields**: `numbers` of the units; `num_done`, what the one furthest behind had done; `error`, and `text`, its
    message with its source location.
    """

    numbers: tuple[int, ...]
    num_done: int
    error: BaseException
    text: str


class AbstractMachine(abc.ABC, Generic[U]):
    """Machine of a worker: compiled programs, and whatever they need beside the units."""

    @abc.abstractmethod
    def work(
        self, units: U, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[AbstractUnits, Sequence[Item]]:
        """Work until about `seconds` have passed, the units are done, or `is_stopped()`; return the results too.

        The given units are not changed. **Raises** `UnitFailedError` for one that cannot go on.
        """

    def flush(self, units: U) -> tuple[AbstractUnits, Sequence[Item]]:
        """Return the results that are held back, without more work."""
        return units, ()

    def holds(self, units: U) -> bool:
        """Return whether the state of these units is on this machine's devices."""
        return False
