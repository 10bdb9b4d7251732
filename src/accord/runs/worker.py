"""Run the tasks of a run: in this process, or in a worker from a pickled method."""

import contextlib
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ..core import precision as precisions
from ..core.precision import Precision
from ..density.rows.blocks import AXIS, mesh_of
from ..executors import Surroundings, surroundings_here
from ..programs import cache
from .method import AbstractMethod
from .units import AbstractMachine, AbstractUnits, Item


def common_clock(devices: Sequence[Any]) -> Callable[[], float]:
    """Return a clock that all processes with these devices share: that of the first device's process.

    With its own clock, one process could call the program once more than the others, and wait for them for ever. The
    clock is a program over the devices, which takes 0.3 ms on two processes of one machine.
    """
    mesh = mesh_of(devices)
    spread, everywhere = NamedSharding(mesh, PartitionSpec(AXIS)), NamedSharding(mesh, PartitionSpec())
    tell = jax.jit(lambda words: words, out_shardings=everywhere)

    def clock() -> float:
        words = np.float64(time.perf_counter()).reshape(1).view(np.uint32)  # whole in any precision
        mine = jax.make_array_from_callback((len(devices), len(words)), spread, lambda index: words[None])
        return float(np.asarray(tell(mine))[0].view(np.float64)[0])

    return clock


@dataclass(frozen=True)
class Task:
    """Some work on units.

    **Fields**: `units`; `seconds`, its approximate length; `is_last`, whether to return what is held back without
    more work.
    """

    units: AbstractUnits
    seconds: float = 0.0
    is_last: bool = False


Outcome = tuple[AbstractUnits, Sequence[Item]]
"""The units after a task, and the results of the task."""


class Machines:
    """Machines of a process: a task takes a free one, if possible the one on whose device its units are.

    The machine of JAX's default device serves any number of tasks at once. A machine over several devices serves one:
    two programs on the same devices would wait for each other in a collective.
    """

    def __init__(self, machines: Sequence[AbstractMachine[Any]]):
        self._free, self._is_any_free = list(machines), threading.Condition()

    @contextlib.contextmanager
    def taken(self, task: Task) -> Iterator[AbstractMachine[Any]]:
        """Take a machine for the length of the `with` block."""
        with self._is_any_free:
            self._is_any_free.wait_for(lambda: self._free)
            machine = next((each for each in self._free if each.holds(task.units)), self._free[0])
            self._free.remove(machine)
        try:
            yield machine
        finally:
            with self._is_any_free:
                self._free.append(machine)
                self._is_any_free.notify()


def build_all(
    method: AbstractMethod,
    groups: Sequence[Sequence[Any] | None],
    num_tasks: int,
    meanwhile: Callable[[], None],
) -> tuple[Machines, dict[str, float]]:
    """Build a machine per group of devices, or one for the default device; return them and the seconds.

    Groups of devices beyond the number of tasks get none. `meanwhile()` is called while XLA compiles.
    """
    cache.persist()
    groups = groups[:num_tasks]
    found = [method.machine(devices, meanwhile) for devices in groups]
    seconds = {phase: sum(each[phase] for _, each in found) for phase in found[0][1]}
    machines = [
        machine
        for (machine, _), devices in zip(found, groups, strict=True)
        for _ in range(num_tasks if devices is None else 1)
    ]
    return Machines(machines), seconds


def do_on_any(machines: Machines, task: Task, is_stopped: Callable[[], bool]) -> Outcome:
    """Run a task in this thread, on a free machine."""
    with machines.taken(task) as machine:
        return do(machine, task, is_stopped)


def do(machine: AbstractMachine[Any], task: Task, is_stopped: Callable[[], bool] = lambda: False) -> Outcome:
    """Run a task in this thread."""
    return machine.flush(task.units) if task.is_last else machine.work(task.units, task.seconds, is_stopped)


def surroundings_of(precision: Precision) -> Surroundings:
    """Return the surroundings of workers: those of this process, with the folder of compiled programs."""
    folder = cache.persist()
    here = surroundings_here(precision)
    return Surroundings(here.precision, here.platform, here.pool_width, folder)


def pack(method: AbstractMethod) -> bytes:
    """Pickle what workers do. A model of a script is pickled by value, others by name."""
    import cloudpickle  # only where processes are used

    return cloudpickle.dumps(method)


def do_packed(packed: bytes, task: Task) -> Outcome:
    """Run a task in a worker, which keeps the machines of the last runs."""
    return do(_unpacked(packed, None), task)


def do_together(packed: bytes, task: Task) -> Outcome:
    """Run a task on all devices of this process, or of a gang, whose processes run it at the same time."""
    return do(_unpacked(packed, jax.devices()), task)


def _unpacked(packed: bytes, devices: Sequence[Any] | None) -> AbstractMachine[Any]:
    def unpack() -> AbstractMachine[Any]:
        method: AbstractMethod = pickle.loads(packed)
        cache.persist()
        with precisions.scope(method.precision):
            clock = time.perf_counter
            if devices is not None and jax.process_count() > 1:
                clock = common_clock(devices)
            machine, _ = method.machine(devices, clock=clock)
            return machine

    return cache.unpacked(packed, unpack)
