"""Run the tasks of a run: in this process, or in a worker from a pickled machine."""

import contextlib
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ..core import precision as precisions
from ..core.precision import Precision
from ..density import LogDensity
from ..density.rows.blocks import AXIS, mesh_of
from ..executors import Surroundings, surroundings_here
from ..mcmc import group
from ..mcmc.compiled import compile_programs
from ..mcmc.group import Group, Item
from ..mcmc.machine import Machine
from ..mcmc.plan import Plan
from ..programs import cache


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
    """A stretch of work for one group.

    **Fields**: `group`, or the numbers of chains to start; `seconds`, its approximate length; `is_last`, whether to
    return the remaining draws without drawing more.
    """

    group: Group | Sequence[int]
    seconds: float = 0.0
    is_last: bool = False

    @property
    def numbers(self) -> list[int]:
        """Numbers of its chains."""
        return self.group.numbers if isinstance(self.group, Group) else list(self.group)

    def is_on(self, machine: Machine) -> bool:
        """Return whether the chains are on the device of a machine."""
        return isinstance(self.group, Group) and machine.holds(self.group.chains[0])

    def without(self, number: int) -> "Task":
        """Return the task without some chains."""
        if isinstance(self.group, Group):
            return replace(self, group=self.group.without(number))
        return replace(self, group=[chain for chain in self.group if chain != number])


Outcome = tuple[Group, list[Item]]
"""The group after a task, and the results of the task."""


class Machines:
    """Machines of a process: a task takes a free one, if possible the one on whose device its chains are.

    The machine of JAX's default device serves any number of tasks at once. A machine over several devices serves one:
    two programs on the same devices would wait for each other in a collective.
    """

    def __init__(self, machines: Sequence[Machine]):
        self._free, self._is_any_free = list(machines), threading.Condition()

    @contextlib.contextmanager
    def taken(self, task: Task) -> Iterator[Machine]:
        """Take a machine for the length of the `with` block."""
        with self._is_any_free:
            self._is_any_free.wait_for(lambda: self._free)
            machine = next((each for each in self._free if task.is_on(each)), self._free[0])
            self._free.remove(machine)
        try:
            yield machine
        finally:
            with self._is_any_free:
                self._free.append(machine)
                self._is_any_free.notify()


def build_all(
    density: LogDensity,
    plan: Plan,
    groups: Sequence[Sequence[Any] | None],
    num_tasks: int,
    meanwhile: Callable[[], None],
) -> tuple[Machines, dict[str, float]]:
    """Build a machine per group of devices, or one for the default device; return them and the seconds.

    Groups of devices beyond the number of tasks get none. `meanwhile()` is called while XLA compiles.
    """
    groups = groups[:num_tasks]
    found = [build(density, plan, devices, meanwhile) for devices in groups]
    seconds = {phase: sum(each[phase] for _, each in found) for phase in found[0][1]}
    machines = [
        machine
        for (machine, _), devices in zip(found, groups, strict=True)
        for _ in range(num_tasks if devices is None else 1)
    ]
    return Machines(machines), seconds


def build(
    density: LogDensity,
    plan: Plan,
    devices: Sequence[Any] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> tuple[Machine, dict[str, float]]:
    """Compile the programs of a plan, for these devices or JAX's default one; return the machine and the seconds."""
    cache.persist()
    programs = compile_programs(density, plan, devices, meanwhile)
    machine = Machine(plan, programs.advance, programs.sites, constants=programs.constants, put=programs.put)
    return machine, programs.seconds


def do_on_any(machines: Machines, task: Task, is_stopped: Callable[[], bool]) -> Outcome:
    """Run a task in this thread, on a free machine."""
    with machines.taken(task) as machine:
        return do(machine, task, is_stopped)


def do(machine: Machine, task: Task, is_stopped: Callable[[], bool] = lambda: False) -> Outcome:
    """Run a task in this thread."""
    with precisions.scope(machine.plan.precision):
        it = task.group if isinstance(task.group, Group) else group.begin(machine, task.group)
        if task.is_last:
            return group.flush(machine, it)
        return group.work(machine, it, task.seconds, is_stopped)


def surroundings_of(precision: Precision) -> Surroundings:
    """Return the surroundings of workers: those of this process, with the folder of compiled programs."""
    folder = cache.persist()
    here = surroundings_here(precision)
    return Surroundings(here.precision, here.platform, here.pool_width, folder)


def pack(density: LogDensity, plan: Plan) -> bytes:
    """Pickle the machine of a run for a worker. A model of a script is pickled by value, others by name."""
    import cloudpickle  # only where processes are used

    return cloudpickle.dumps((density, plan))


def do_packed(packed: bytes, task: Task) -> Outcome:
    """Run a task in a worker, which keeps the machines of the last runs."""
    return do(_unpacked(packed, None), task)


def do_together(packed: bytes, task: Task) -> Outcome:
    """Run a task in every process of a gang at the same time, on all their devices."""
    return do(_unpacked(packed, jax.devices()), task)


def _unpacked(packed: bytes, devices: Sequence[Any] | None) -> Machine:
    def unpack() -> Machine:
        density, plan = pickle.loads(packed)
        with precisions.scope(plan.precision):
            machine, _ = build(density, plan, devices)
            return machine if devices is None else replace(machine, clock=common_clock(devices))

    return cache.unpacked(packed, unpack)
