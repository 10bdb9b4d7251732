"""Do the tasks of a run: here, with the objects of this process, or in a worker, from what was pickled once."""

import contextlib
import pickle
import queue
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax

from ..core import precision as precisions
from ..core.precision import Precision
from ..density import LogDensity
from ..executors import Surroundings, surroundings_here
from . import cache, group
from .clock import common_clock
from .compiled import compile_programs
from .group import Group, Item
from .machine import Machine
from .plan import Plan


@dataclass(frozen=True)
class Task:
    """A stretch of work for one group.

    **Fields**: `group`, or the numbers of chains that are to begin; `seconds`, about how long; `is_last`, whether what
    was drawn is to be handed over and nothing more drawn.
    """

    group: Group | Sequence[int]
    seconds: float = 0.0
    is_last: bool = False

    @property
    def numbers(self) -> list[int]:
        """Of its chains."""
        return self.group.numbers if isinstance(self.group, Group) else list(self.group)

    def without(self, number: int) -> "Task":
        """The same for its other chains."""
        if isinstance(self.group, Group):
            return replace(self, group=self.group.without(number))
        return replace(self, group=[chain for chain in self.group if chain != number])


Outcome = tuple[Group, list[Item]]
"""The group after a task, and what was completed."""


class Machines:
    """The machines of a process: a task takes one that is free.

    That of JAX's default device serves any number of tasks at once. One that spans devices serves one: two programs on
    the same devices would wait for each other in a collective.
    """

    def __init__(self, machines: Sequence[Machine]):
        self._free: queue.SimpleQueue[Machine] = queue.SimpleQueue()
        for machine in machines:
            self._free.put(machine)

    @contextlib.contextmanager
    def taken(self) -> Iterator[Machine]:
        """One of them, for a while."""
        machine = self._free.get()
        try:
            yield machine
        finally:
            self._free.put(machine)


def build_all(
    density: LogDensity,
    plan: Plan,
    groups: Sequence[Sequence[Any] | None],
    num_tasks: int,
    meanwhile: Callable[[], None],
) -> tuple[Machines, dict[str, float]]:
    """A machine for each group of devices, or the one of the default device for all tasks; with the seconds it took.

    `meanwhile()` is called when XLA is at work.
    """
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
    """Compile the programs of a plan, for these devices or for JAX's default one; with the seconds that it took."""
    cache.persist()
    programs = compile_programs(density, plan, devices, meanwhile)
    machine = Machine(plan, programs.advance, programs.sites)
    return machine, programs.seconds


def do_on_any(machines: Machines, task: Task, is_stopped: Callable[[], bool]) -> Outcome:
    """Carry out a task in this thread, on a machine that is free."""
    with machines.taken() as machine:
        return do(machine, task, is_stopped)


def do(machine: Machine, task: Task, is_stopped: Callable[[], bool] = lambda: False) -> Outcome:
    """Carry out a task in this thread."""
    with precisions.scope(machine.plan.precision):
        it = task.group if isinstance(task.group, Group) else group.begin(machine, task.group)
        if task.is_last:
            return group.flush(machine, it)
        return group.work(machine, it, task.seconds, is_stopped)


def surroundings_of(precision: Precision) -> Surroundings:
    """What workers are to find around them: what is here, with the folder of compiled programs."""
    folder = cache.persist()
    here = surroundings_here(precision)
    return Surroundings(here.precision, here.platform, here.pool_width, folder)


def pack(density: LogDensity, plan: Plan) -> bytes:
    """What a worker needs to build the machine of a run. A model of a script travels by value, others by name."""
    import cloudpickle  # only where processes are used

    return cloudpickle.dumps((density, plan))


def do_packed(packed: bytes, task: Task) -> Outcome:
    """Carry out a task in a worker, which keeps the machines of the last runs."""
    return do(_unpacked(packed, None), task)


def do_together(packed: bytes, task: Task) -> Outcome:
    """Carry out a task in every process of a gang at the same time, on all devices of all of them."""
    return do(_unpacked(packed, jax.devices()), task)


def _unpacked(packed: bytes, devices: Sequence[Any] | None) -> Machine:
    def unpack() -> Machine:
        density, plan = pickle.loads(packed)
        with precisions.scope(plan.precision):
            machine, _ = build(density, plan, devices)
            return machine if devices is None else replace(machine, clock=common_clock(devices))

    return cache.unpacked(packed, unpack)
