"""Keep the work of watching below a share of the run's time."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

SHARE = 0.01
"""Share of the time since the run began that watching may take of a core."""
_AT_FIRST = 0.3  # seconds of a core, so that a run of seconds is shown too


@dataclass
class Thrift:
    """Seconds of a core that were spent, and those that may be.

    **Fields**: `began`, when the run did, in seconds of `now`; `share` of the time since, that may be spent; `clock`,
    seconds of a core of this thread.
    """

    began: float
    share: float = SHARE
    now: Callable[[], float] = time.time
    clock: Callable[[], float] = time.thread_time
    spent: float = 0.0
    _entered: float = field(default=0.0, init=False)

    def affords(self, seconds: float = 0.0) -> bool:
        """Return whether so much more may be spent, on top of what is being spent now."""
        running = self.clock() - self._entered if self._entered else 0.0
        return self.spent + running + seconds <= _AT_FIRST + self.share * max(self.now() - self.began, 0.0)

    def __enter__(self) -> "Thrift":
        self._entered = self.clock()
        return self

    def __exit__(self, *_: object) -> None:
        self.spent += self.clock() - self._entered
        self._entered = 0.0
