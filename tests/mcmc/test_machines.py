"""Give machines to tasks: that of the default device to any number, one that spans devices to one at a time."""

from accord.runs import worker

NEW = worker.Task([0])


def build_all(monkeypatch, groups, num_tasks):
    monkeypatch.setattr(
        worker, "build", lambda density, plan, devices, meanwhile: (devices, {"compile": 1.0})
    )
    return worker.build_all(None, None, groups, num_tasks, lambda: None)


def test_a_machine_that_spans_devices_serves_one_task_at_a_time(monkeypatch):
    machines, seconds = build_all(monkeypatch, ["first pair", "second pair"], 4)
    assert seconds == {"compile": 2.0}
    with machines.taken(NEW) as held:
        for _ in range(5):  # a quick task after another beside a slow one
            with machines.taken(NEW) as other:
                assert {held, other} == {"first pair", "second pair"}


def test_the_machine_of_the_default_device_serves_all_tasks_at_once(monkeypatch):
    machines, _ = build_all(monkeypatch, [None], 3)
    with machines.taken(NEW), machines.taken(NEW), machines.taken(NEW) as third:
        assert third is None


def test_devices_that_no_task_could_use_get_no_machine(monkeypatch):
    machines, seconds = build_all(monkeypatch, ["one", "another", "a third"], 2)
    assert seconds == {"compile": 2.0}
    with machines.taken(NEW) as first, machines.taken(NEW) as second:
        assert {first, second} == {"one", "another"}
