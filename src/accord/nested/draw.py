"""Carry out nested sampling of a target by a plan."""

from ..density import LogDensity
from ..executors import AbstractExecutor
from ..report import AbstractProgress
from ..runs.method import RunRequest
from ..storage import AbstractRun
from .host import NestedHost
from .machine import Nested
from .plan import Plan
from .points import NestedRun
from .result import NestedDraws

WORDS = ("run", "rounds and points")
"""For a unit, and what is done in it."""


def order_of(
    density: LogDensity,
    plan: Plan,
    units: list[NestedRun],
    executor: AbstractExecutor,
    run: AbstractRun,
    shown_as: AbstractProgress,
    is_quiet: bool,
    began: float,
) -> RunRequest[NestedDraws]:
    """Return the order to carry out a plan; `began`, by `time.perf_counter`."""
    return RunRequest(
        Nested(density, plan), NestedHost(density, plan), units, executor, run, shown_as, is_quiet, began
    )
