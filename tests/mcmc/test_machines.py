"""Give machines to tasks: that of the default device to any number, one that spans devices to one at a time."""

from types import SimpleNamespace

from accord.mcmc.group import NotBegun
from accord.runs import worker
from accord.runs.units import AbstractMachine

NEW = worker.Task(NotBegun((0,)))


class Named(AbstractMachine[NotBegun]):
    """A machine that is only told apart."""

    def __init__(self, name):
        self.name = name

    def work(self, units, seconds, is_stopped):
        raise NotImplementedError


def build_all(groups, num_tasks):
    method = SimpleNamespace(machine=lambda devices, meanwhile: (Named(devices), {"compile": 1.0}))
    return worker.build_all(method, groups, num_tasks, lambda: None)


def test_a_machine_that_spans_devices_serves_one_task_at_a_time():
    machines, seconds = build_all(["first pair", "second pair"], 4)
    assert seconds == {"compile": 2.0}
    with machines.taken(NEW) as held:
        for _ in range(5):  # a quick task after another beside a slow one
            with machines.taken(NEW) as other:
                assert {held.name, other.name} == {"first pair", "second pair"}


def test_the_machine_of_the_default_device_serves_all_tasks_at_once():
    machines, _ = build_all([None], 3)
    with machines.taken(NEW), machines.taken(NEW), machines.taken(NEW) as third:
        assert third.name is None


def test_devices_that_no_task_could_use_get_no_machine():
    machines, seconds = build_all(["one", "another", "a third"], 2)
    assert seconds == {"compile": 2.0}
    with machines.taken(NEW) as first, machines.taken(NEW) as second:
        assert {first.name, second.name} == {"one", "another"}
