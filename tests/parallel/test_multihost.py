"""Run chains on gangs: the bits of `Devices`, whoever dies or stands still, and nobody left behind."""

import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest import mock

import jax
import multihost_cases as cases
import numpy as np
import pytest
from paced import IMPATIENT, Paced, paced

from accord import infer
from accord.executors import WorkerLostError, surroundings_here
from accord.executors.gangs.messages import KEY
from accord.storage.run_folder import RunFolderRun

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
LONG = dict(draws=2000)  # so that much is left to do when something is first stored
SECRET = "correct horse battery staple"


def sample(num_rows=37, **options):
    return infer.sample(cases.rates(cases.counts(num_rows)), **(cases.RUN | options))


@functools.cache
def expected(num_rows=37, **options):
    return sample(num_rows, executor=infer.Devices(data=1, shard=cases.SHARD), **options)


def assert_same(found, reference):
    assert found.complete
    for kind in ("sites", "stats", "tuning", "warmup"):
        left, right = getattr(found, kind), getattr(reference, kind)
        for name in right:
            np.testing.assert_array_equal(left[name], right[name], err_msg=f"{kind}/{name}")


def test_two_processes_that_read_their_rows_have_the_bits_of_one_device_and_leave_no_trace(tmp_path):
    np.save(tmp_path / "y.npy", cases.counts(37))
    target = cases.rates(infer.rows(tmp_path / "y.npy"))
    found = infer.sample(target, executor=infer.MultiHost(2, cases.SHARD), **cases.RUN)
    assert_same(found, expected())
    assert jax.process_count() == 1
    assert not cases.children_of(os.getpid())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processes", "num_rows", "options"),
    [
        (1, 37, {}),
        (3, 37, {}),  # processes that divide neither rows nor blocks
        (2, 5, {}),  # fewer rows than there are blocks
        (2, 37, dict(chains=2)),
        (2, 37, dict(precision="float32")),
    ],
)
def test_bits_are_those_of_devices(processes, num_rows, options):
    found = sample(num_rows, executor=infer.MultiHost(processes, cases.SHARD), **options)
    assert_same(found, expected(num_rows, **options))


# Losses


@contextlib.contextmanager
def harmed(times, harm):
    """Harm the second member of the gang when something is first stored, and its successors as soon as they come.

    A gang that ends and its successor may both have members at a time: only where two are new are they a gang.
    """
    append, harmed, is_over = RunFolderRun.append, [], threading.Event()
    seen = set()

    def harm_next():
        gang = [member for member in cases.children_of(os.getpid()) if member not in seen]
        if len(gang) == 2:
            seen.update(gang)
            with contextlib.suppress(ProcessLookupError):
                os.kill(gang[1], harm)
                harmed.append(gang[1])

    def go_on():
        while len(harmed) < times and not is_over.wait(0.2):
            harm_next()

    thread = threading.Thread(target=go_on)

    def and_harm(run, segment):
        append(run, segment)
        if thread.ident is None:
            harm_next()  # while the next task is with the gang
            thread.start()

    with mock.patch.object(RunFolderRun, "append", and_harm):
        yield harmed
        is_over.set()
        if thread.ident is not None:
            thread.join()


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("harm", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_a_member_that_dies_or_stands_still_costs_no_draw(harm, tmp_path):
    with harmed(1, harm) as members:
        store = infer.RunFolder(tmp_path / "run")
        found = sample(executor=Paced(infer.MultiHost(2, "row"), IMPATIENT), store=store, **LONG)
    assert len(members) == 1
    assert_same(found, expected(**LONG))


@needs_proc
@pytest.mark.slow
def test_a_gang_that_dies_again_and_again_ends_the_run_with_what_was_stored(tmp_path):
    # Patient, since a gang that is only slow, as on a busy machine, would be lost too.
    executor, path = paced(infer.MultiHost(2, cases.SHARD), task_seconds=0.1), tmp_path / "run"
    num_drawn = 0
    with harmed(4, signal.SIGKILL) as members:
        try:
            found = sample(executor=executor, store=infer.RunFolder(path), **LONG)
            num_drawn = found.num_draws
            (told,) = [notice.message for notice in found.notices if notice.code == "chain_failed"]
        except WorkerLostError as error:  # there was no draw yet to return
            told = str(error)
    assert "member 1 of 2 was ended by SIGKILL" in told
    assert len(members) == 4
    loaded = infer.load(path)
    assert not loaded.problems
    assert loaded.warmup["position"].size
    target = cases.rates(cases.counts(37))
    resumed, whole = (
        infer.resume(path, target, executor=infer.Serial(), progress=False, quiet=True),
        expected(**LONG),
    )
    if num_drawn:  # by the time of the fourth; a chain that could not go on stays as it is
        assert not resumed.complete and resumed.num_draws == num_drawn
        np.testing.assert_array_equal(resumed["rate"], whole["rate"][:, :num_drawn])
    else:
        assert_same(resumed, whole)


@needs_proc
@pytest.mark.slow
def test_no_member_outlives_its_supervisor(tmp_path):
    options = dict(executor=dict(processes=2, shard=cases.SHARD), draws=100_000)
    command = [sys.executable, cases.__file__, json.dumps(options)]
    supervisor = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: len(cases.children_of(supervisor.pid)) == 2)
        members = cases.children_of(supervisor.pid)
        time.sleep(6)  # by now they compile or draw
    finally:
        supervisor.kill()
        supervisor.wait()
    wait_for(lambda: not any(map(cases.is_alive, members)))


def wait_for(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


# Several machines


def start_host_agents(address, *ranks):
    program = "import sys; from accord.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", program, "member", address]
    return [
        subprocess.Popen(command, env=os.environ | {"SLURM_PROCID": str(rank)}, stderr=subprocess.PIPE)
        for rank in ranks
    ]


def free_address():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"


@needs_proc
@pytest.mark.slow
def test_members_started_elsewhere_are_numbered_by_their_launcher_and_replace_what_dies(
    tmp_path, monkeypatch
):
    """Two host agents stand for two machines: what they share with the supervisor is the address and the secret."""
    monkeypatch.setenv(KEY, SECRET)
    address = free_address()
    host_agents = start_host_agents(address, 1, 0)
    append, killed = RunFolderRun.append, []

    def and_kill(run, segment):
        append(run, segment)
        if not killed:
            (member,) = cases.children_of(host_agents[0].pid)
            arguments = Path(f"/proc/{member}/cmdline").read_bytes().split(b"\0")
            assert arguments[-2] == b"1"
            os.kill(member, signal.SIGKILL)
            killed.append(member)

    try:
        with mock.patch.object(RunFolderRun, "append", and_kill):
            executor = infer.MultiHost(2, cases.SHARD, address=address)
            found = sample(executor=executor, store=infer.RunFolder(tmp_path / "run"), **LONG)
        assert killed
        assert_same(found, expected(**LONG))
        for host_agent in host_agents:
            assert host_agent.wait(30) == 0
    finally:
        for host_agent in host_agents:
            host_agent.kill()
            host_agent.communicate()


@needs_proc
@pytest.mark.slow
def test_a_machine_that_is_lost_is_replaced_by_one_that_comes_later(monkeypatch):
    monkeypatch.setenv(KEY, SECRET)
    address = free_address()
    executor = infer.MultiHost(2, cases.SHARD, address=address)
    host_agents = start_host_agents(address, 0, 1)
    pool = executor.open(1, surroundings_here("float64"))
    try:
        assert pool.submit(cases.num_processes).result(60) == (2, 2, 1)
        (orphan,) = cases.children_of(host_agents[1].pid)
        host_agents[1].kill()
        wait_for(lambda: not cases.is_alive(orphan))
        with pytest.raises(WorkerLostError, match="member 1 of 2 is on a machine that cannot be reached"):
            pool.submit(cases.num_processes).result(60)
        host_agents += start_host_agents(address, 1)
        assert pool.submit(cases.num_processes).result(60) == (2, 2, 1)
        pool.close()
        assert [host_agents[0].wait(30), host_agents[2].wait(30)] == [0, 0]
    finally:
        pool.close()
        for host_agent in host_agents:
            host_agent.kill()
            host_agent.communicate()
