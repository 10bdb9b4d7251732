"""Hold what a gang promises whoever runs it: one answer of all members, and none lives on when another is lost."""

import contextlib
import os
import re
import signal
import socket
import threading
import time
from dataclasses import replace

import jax
import multihost_cases as cases
import numpy as np
import pytest

from accord import infer
from accord.core.errors import OptionError, WorkerError
from accord.executors import WorkerLostError, surroundings_here
from accord.executors.gangs import host_agent, member
from accord.executors.gangs.channel import enter
from accord.executors.gangs.gang import Gang
from accord.executors.gangs.handshake import ProofError
from accord.executors.gangs.member_process import AbstractMemberProcess
from accord.executors.gangs.messages import KEY, Hello, Leave
from accord.executors.gangs.rendezvous import Rendezvous

SECRET = "correct horse battery staple"
LOCAL = dict(processes=2, shard=cases.SHARD)


@pytest.fixture(scope="module")
def pool():
    pool = infer.MultiHost(**LOCAL).open(1, surroundings_here("float64"))
    yield pool
    pool.close()


def result(pool, function, *arguments):
    return pool.submit(function, *arguments).result(timeout=120)


def test_members_have_one_device_each_and_the_users_process_is_none_of_them(pool):
    assert result(pool, cases.num_processes) == (2, 2, 1)
    assert jax.process_count() == 1
    assert not jax.distributed.is_initialized()


def test_constants_travel_once_and_answers_are_of_all_of_them(pool):
    before = cases.children_of(os.getpid())
    for _ in range(2):
        assert result(pool, cases.length, b"x" * 100_000, b"y") == 100_001
    with pytest.raises(ArithmeticError, match="no such number"):
        result(pool, cases.fail)
    assert cases.children_of(os.getpid()) == before  # what all have raised harms none


def test_each_member_reads_the_rows_that_it_computes_with(pool, tmp_path):
    np.save(tmp_path / "y.npy", cases.counts(32))
    assert result(pool, cases.num_rows_read, str(tmp_path / "y.npy")) == 16


FAILURES = {
    "different answers": (cases.rank, WorkerError, "returned different numbers"),
    "an error in one": (cases.fail_in_one, ArithmeticError, "no such number"),
    "a member that leaves": (cases.end_one, WorkerLostError, "member 1 of 2 left with status 7"),
}


@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES)
def test_a_gang_whose_members_part_is_ended_and_made_anew(pool, failure):
    function, error, words = FAILURES[failure]
    result(pool, cases.num_processes)
    before = cases.children_of(os.getpid())
    with pytest.raises(error, match=words):
        result(pool, function)
    assert not any(map(cases.is_alive, before))
    assert result(pool, cases.num_processes) == (2, 2, 1)


def test_a_gang_with_one_that_stands_still_is_ended_when_asked(pool):
    result(pool, cases.num_processes)
    os.kill(cases.children_of(os.getpid())[1], signal.SIGSTOP)
    future = pool.submit(cases.num_processes)
    with pytest.raises(TimeoutError):
        future.result(timeout=0.5)
    assert pool.end(future)
    with pytest.raises(WorkerLostError, match="stood still"):
        future.result(timeout=60)
    assert not cases.children_of(os.getpid())


# Who may come in


@pytest.fixture
def rendezvous():
    rendezvous = Rendezvous(("127.0.0.1", 0), SECRET.encode())
    yield rendezvous
    rendezvous.close()


def test_a_process_with_another_secret_is_not_heard(rendezvous, monkeypatch):
    with pytest.raises(ProofError):
        enter(rendezvous.address, b"another", "member")
    host, port = rendezvous.address
    monkeypatch.setenv(KEY, "another")
    with pytest.raises(WorkerError, match="has another secret in ACCORD_GANG_KEY"):
        host_agent.keep(f"{host}:{port}", 5.0)
    assert rendezvous.members.empty()
    assert rendezvous.host_agents.empty()


def test_a_host_agent_is_let_in_beside_connections_that_say_nothing(rendezvous, monkeypatch):
    silent = [socket.create_connection(rendezvous.address) for _ in range(3)]
    monkeypatch.setenv(KEY, SECRET)
    monkeypatch.setenv("SLURM_PROCID", "3")
    host, port = rendezvous.address
    errors = []

    def keep():
        try:
            host_agent.keep(f"{host}:{port}", 5.0)
        except WorkerError as error:
            errors.append(str(error))

    thread = threading.Thread(target=keep)
    thread.start()
    peer = rendezvous.host_agents.get(timeout=30)
    assert peer.hello.rank == 3
    with socket.socket(fileno=os.dup(peer.channel.fileno())) as own:
        assert own.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    peer.channel.close()
    thread.join(30)
    assert "is gone, and with it the run" in errors[0]
    for each in silent:
        each.close()


REFUSED = {
    "nothing to share out": (dict(processes=2, shard={}), "needs to know what to share out"),
    "no process": (dict(processes=0, shard=cases.SHARD), "at least 1"),
    "no port": (LOCAL | dict(address="10.0.0.1"), "HOST:PORT"),
    "an open address": (LOCAL | dict(address="10.0.0.1:9900"), "insecure=True"),
    "a name": (LOCAL | dict(address="node1:9900"), "insecure=True"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_with_the_remedy(case):
    options, words = REFUSED[case]
    with pytest.raises(OptionError, match=words):
        infer.MultiHost(**options)


def test_an_address_needs_a_secret_that_is_long(monkeypatch):
    executor = infer.MultiHost(**LOCAL, address="127.0.0.1:0")
    for secret in ("", "short"):
        monkeypatch.setenv(KEY, secret)
        with pytest.raises(OptionError, match="openssl rand"):
            executor.open(1, surroundings_here("float64"))


def test_an_address_that_is_taken_is_refused(rendezvous, monkeypatch):
    monkeypatch.setenv(KEY, SECRET)
    host, port = rendezvous.address
    with pytest.raises(OptionError, match=f"cannot listen at {host}:{port}"):
        infer.MultiHost(**LOCAL, address=f"{host}:{port}").open(1, surroundings_here("float64"))


def test_a_host_agent_without_a_secret_or_a_run_says_so(monkeypatch):
    monkeypatch.delenv(KEY, raising=False)
    with pytest.raises(OptionError, match="must hold the secret"):
        host_agent.keep("127.0.0.1:9", 0.0)
    monkeypatch.setenv(KEY, SECRET)
    with pytest.raises(WorkerError, match="no run was found at"):
        host_agent.keep("127.0.0.1:9", 0.0)


def test_machines_in_reserve_are_told_when_the_run_is_over(monkeypatch):
    monkeypatch.setenv(KEY, SECRET)
    pool = infer.MultiHost(**LOCAL, address="127.0.0.1:0").open(1, surroundings_here("float64"))
    found = who_is_missing(pool)
    assert found.startswith("0 of 2 members have come in; start `accord member 127")
    host, port = re.findall(r"member (\S+):(\d+)`", found)[0]
    with pytest.raises(ProofError):
        enter((host, int(port)), b"another secret", "host agent")
    assert who_is_missing(pool).endswith(
        "for each of them; connections sent away: 1 without proof of the secret"
    )
    with contextlib.closing(enter((host, int(port)), SECRET.encode(), "host agent")) as host_agent_in_reserve:
        host_agent_in_reserve.send(Hello("", None, "", ()))
        until = time.monotonic() + 60
        while not who_is_missing(pool).startswith("1 of 2"):
            assert time.monotonic() < until, "it was not let in"
        pool.close()
        assert host_agent_in_reserve.poll(60), "it was not told"
        assert isinstance(host_agent_in_reserve.receive(), Leave)


def who_is_missing(pool):
    """What a call to a gang that is not complete says when it is ended."""
    future = pool.submit(cases.num_processes)
    with pytest.raises(TimeoutError):
        future.result(timeout=0.3)
    assert pool.end(future)
    with pytest.raises(WorkerLostError, match="members have come in") as found:
        future.result(timeout=30)
    return str(found.value)


class StrangeSeat(AbstractMemberProcess):
    """A member that comes in with another processor than its neighbours."""

    def __init__(self, rendezvous):
        self.rendezvous = rendezvous
        self.channel = None

    def launch(self, ticket, rank, environment):
        self.channel = enter(self.rendezvous.address, SECRET.encode(), "member")
        self.channel.send(Hello(ticket, rank, "127.0.0.1:9", (("processor", f"kind {rank}"),)))

    def complaint(self):
        return None

    def end(self):
        self.channel.close()


def test_members_that_compute_differently_are_refused(rendezvous):
    with pytest.raises(WorkerError, match=r"member 1 of the gang has processor 'kind 1'.*of one kind"):
        Gang([StrangeSeat(rendezvous), StrangeSeat(rendezvous)]).gather(rendezvous, {})


def test_processes_that_would_share_accelerators_are_refused():
    on_gpu = replace(surroundings_here("float64"), platform="cuda")
    with pytest.raises(OptionError, match=r"take every cuda device.*Devices"):
        infer.MultiHost(**LOCAL).open(1, on_gpu)


def test_launchers_number_their_processes():
    assert host_agent.rank_here({"SLURM_PROCID": "2"}) == 2
    assert host_agent.rank_here({"OMPI_COMM_WORLD_RANK": "1"}) == 1
    assert host_agent.rank_here({"PMI_RANK": "0"}) == 0
    assert host_agent.rank_here({}) is None


def test_a_machine_whose_name_has_no_address_is_told_so(monkeypatch):
    def unknown(*_):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(member.socket, "getaddrinfo", unknown)
    with pytest.raises(SystemExit, match=r"stands for no address .*Add a line such as .* to /etc/hosts"):
        member.check_own_name()
