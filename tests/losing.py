"""Threads that are lost, as processes are that die."""

from typing import Any

from accord.executors import AbstractExecutor, AbstractPool, Surroundings, ThreadPool, WorkerLostError


class Losing(AbstractExecutor):
    """Threads that lose their first calls. **Fields**: `num_losses`, how many; `of`, threads."""

    num_losses: int = 0
    of: int = 2

    @property
    def shares_memory(self) -> bool:
        return True

    def open(self, num_tasks: int, surroundings: Surroundings) -> AbstractPool:
        pool = ThreadPool(min(self.of, num_tasks))
        submit, lost = pool.submit, []

        def losing(function: Any, *arguments: Any) -> Any:
            def call() -> Any:
                if len(lost) < self.num_losses:
                    lost.append(function)
                    raise WorkerLostError("exit code -9")
                return function(*arguments)

            return submit(call)

        pool.submit = losing
        return pool
