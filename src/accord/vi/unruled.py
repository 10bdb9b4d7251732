"""Host of runs whose units end by themselves, and of which no rule of the run is asked."""

import abc
from collections.abc import Callable, Mapping
from typing import TypeVar

from ..core import precision as precisions
from ..core.precision import Precision
from ..density import LogDensity
from ..mcmc.start.explained import explain_start
from ..mcmc.start.search import StartFailedError
from ..runs.method import AbstractHost
from ..runs.stopping.watch import Watch
from ..runs.units import Failure, News
from ..storage import AbstractRun

R = TypeVar("R")


class AbstractUnruledHost(AbstractHost[R]):
    """Host of units that end by themselves; what they do is all stored, so that it hears of nothing else."""

    density: LogDensity

    @property
    @abc.abstractmethod
    def precision(self) -> Precision:
        """Precision of the run."""

    @property
    def shard(self) -> Mapping[str, int]:
        """See `AbstractHost.shard`: none."""
        return {}

    def begin_checks(self) -> None:
        """See `AbstractHost.begin_checks`: there are none."""

    def watch(self, run: AbstractRun, began: float, show: Callable[[str], None]) -> Watch | None:
        """See `AbstractHost.watch`: there is no rule of all units."""
        return None

    def hear(self, news: News, num_sure: int | None) -> Failure | None:
        """See `AbstractHost.hear`."""
        return None

    def look(self, num_sure: int | None) -> None:
        """See `AbstractHost.look`."""

    def reason(self, failure: Failure) -> BaseException:
        """See `AbstractHost.reason`."""
        if isinstance(failure.error, StartFailedError):
            with precisions.scope(self.precision):
                return explain_start(self.density, failure.error)
        return failure.error
