"""State what an executor does: iterate over jobs somewhere, and hand their items back as they come.

An executor moves work and knows nothing of it. Each job is a pure function of what it was built from, so that which
worker runs it, and beside which others, changes no number.
"""

import abc
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import equinox as eqx

T = TypeVar("T")
Job = Callable[[], Iterator[T]]
"""A function that begins one job and returns its items one by one."""


class AbstractExecutor(eqx.Module):
    """Where jobs run."""

    @abc.abstractmethod
    def stream(self, jobs: Sequence[Job[T]]) -> Iterator[T]:
        """Run every job; yield their items, those of one job in order and those of different jobs as they come.

        The calling thread only waits, so that it can be interrupted at any time and asked to go on waiting. An
        exception in a job is raised here with its own traceback, after which no job takes another step. Closing the
        iterator has the same effect: a job is left at its next item.
        """
