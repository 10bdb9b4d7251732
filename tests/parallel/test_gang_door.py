"""Attack the door of a gang: nothing of an attacker is unpickled, both ends say what happened, true members get in."""

import collections
import contextlib
import errno
import itertools
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import gang_attacks as attacks
import multihost_cases as cases
import pytest
from gang_attacks import SECRET, Canary, enters

from accord.core.errors import WorkerError
from accord.executors import WorkerLostError, surroundings_here
from accord.executors.gangs import host_agent, member
from accord.executors.gangs.arrivals import reason_of
from accord.executors.gangs.channel import Channel, enter
from accord.executors.gangs.gang import Gang
from accord.executors.gangs.gang_pool import GangPool
from accord.executors.gangs.handshake import ANSWER_SIZE, DIGEST_SIZE, GREETING_SIZE, Keys, ProofError
from accord.executors.gangs.member_process import AbstractMemberProcess, RemoteMemberProcess
from accord.executors.gangs.messages import KEY, Hello
from accord.executors.gangs.rendezvous import Rendezvous
from accord.executors.gangs.session import ForgedError, Session
from accord.executors.parent import command

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="uses addresses and limits of Linux")


def opened(**options):
    return contextlib.closing(Rendezvous(("127.0.0.1", 0), SECRET, **options))


def wait_for(condition, what):
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.005)


@pytest.fixture(scope="module")
def said():
    """A true session, as a process in the middle has recorded it."""
    with opened() as rendezvous:
        found = attacks.recorded(rendezvous.address)
    assert len(found["listener"]) == GREETING_SIZE + DIGEST_SIZE
    assert len(found["joiner"]) > ANSWER_SIZE
    return found


@pytest.mark.parametrize("attack", attacks.ON_LISTENERS)
def test_a_rendezvous_opens_nothing_of_a_process_without_the_secret_and_lets_true_ones_in(
    attack, said, tmp_path
):
    function, words = attacks.ON_LISTENERS[attack]
    canary = tmp_path / "canary"
    with opened(manners=0.3) as rendezvous:
        function(rendezvous.address, said, canary)
        wait_for(lambda: words in rendezvous.told(), f"{words!r} is not in {rendezvous.told()!r}")
        assert rendezvous.members.empty() and rendezvous.host_agents.empty()
        peer = let_in(rendezvous)
        assert (peer.role, peer.hello) == ("member", attacks.HELLO)
    assert not canary.exists()


def let_in(rendezvous):
    """A true member, which tries again if this machine is too busy for the little time that the rendezvous gives."""
    for _ in range(30):
        with contextlib.closing(enters(rendezvous.address, "member")), contextlib.suppress(queue.Empty):
            peer = rendezvous.members.get(timeout=1)
            peer.channel.close()
            return peer
    raise AssertionError(f"no member got in{rendezvous.told()}")


def hold_the_port(attack, said, folder):
    """A process that has the port before the supervisor, and does this to one connection: its address."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        own, _ = server.accept()
        server.close()
        with own, contextlib.suppress(OSError):
            attack(own, said, folder)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return server.getsockname(), thread


@pytest.mark.parametrize("attack", attacks.ON_JOINERS)
def test_a_member_opens_nothing_of_a_listener_without_the_secret(attack, said, tmp_path):
    function, error, words = attacks.ON_JOINERS[attack]
    canary = tmp_path / "canary"
    address, thread = hold_the_port(function, said, canary)
    with pytest.raises(error, match=words):
        enter(address, SECRET, "member", patience=0.3 if error is TimeoutError else 30.0)
    thread.join(30)
    assert not canary.exists()


@pytest.mark.parametrize(
    "roles", list(itertools.product(("member", "host agent"), repeat=2)), ids=" and ".join
)
def test_a_listener_that_passes_one_members_proof_to_another_is_not_believed(roles, said, tmp_path):
    """It took members over when an answer proved the secret without saying to whom."""
    canary, errors = tmp_path / "canary", []

    def joins(address, role):
        with pytest.raises(ProofError) as found:
            enter(address, SECRET, role)
        errors.append(str(found.value))

    with socket.create_server(("127.0.0.1", 0)) as server:
        threads = [threading.Thread(target=joins, args=(server.getsockname(), role)) for role in roles]
        for thread in threads:
            thread.start()
        first, second = (server.accept()[0] for _ in roles)
    with first, second:
        first.sendall(said["listener"][:GREETING_SIZE])
        answer = attacks.received(first, ANSWER_SIZE)
        second.sendall(said["listener"][: GREETING_SIZE - 32] + answer[1:33])
        first.sendall(attacks.received(second, ANSWER_SIZE)[-DIGEST_SIZE:])
        second.sendall(answer[-DIGEST_SIZE:])
        for own, frame in itertools.product((first, second), attacks.packed(canary)):
            with contextlib.suppress(OSError):  # it has left by now
                own.sendall(frame)
        for thread in threads:
            thread.join(30)
    assert len(errors) == 2
    assert all("did not prove that it knows the secret" in each for each in errors)
    assert not canary.exists()


def test_a_host_agent_says_that_another_process_than_the_supervisor_answered(said, tmp_path, monkeypatch):
    monkeypatch.setenv(KEY, SECRET.decode())
    (host, port), thread = hold_the_port(attacks.return_its_proof, said, tmp_path / "canary")
    with pytest.raises(
        WorkerError, match=f"listens at {host}:{port} is not the supervisor.*another secret in {KEY}"
    ):
        host_agent.keep(f"{host}:{port}", 5.0)
    thread.join(30)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_member_says_why_it_finds_no_supervisor(is_there, said, tmp_path, monkeypatch):
    (host, port), thread = hold_the_port(attacks.return_its_proof, said, tmp_path / "canary")
    words = f"what listens at {host}:{port} is not this member's supervisor, or has another secret in {KEY}"
    if not is_there:
        socket.create_connection((host, port)).close()
        thread.join(30)
        words = f"the supervisor at {host}:{port} cannot be reached"
    monkeypatch.setenv(KEY, SECRET.decode())
    monkeypatch.setattr(sys, "argv", ["member", f"{host}:{port}", "ticket", "0"])
    monkeypatch.setattr(member.signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit, match=words):
        member.main()
    thread.join(30)
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize(
    "door", [lambda: Rendezvous(("127.0.0.1", 0), b""), lambda: enter(("127.0.0.1", 9), b"", "member")]
)
def test_an_empty_secret_opens_no_door(door):
    with pytest.raises(ValueError, match="without a key"):
        door()


def test_connections_are_counted_by_a_few_reasons():
    errors = [
        ProofError("a"),
        ForgedError("b"),
        EOFError(),
        ConnectionResetError(),
        OSError(5, "bad"),
        TypeError("c"),
    ]
    assert [reason_of(each) for each in errors] == [
        "without proof of the secret",
        "with an altered message, or one of another version of accord",
        "closed by the other end",
        "closed by the other end",
        "broken off (bad)",
        "not understood (TypeError)",
    ]


# Messages after the proof


@pytest.fixture
def ends():
    """Both ends of a proven connection, and the bare sockets in the middle of it: an attacker has them."""
    there, near = socket.socketpair()
    here, far = socket.socketpair()
    one, other = b"1" * 32, b"2" * 32
    with near, far:
        pair = Channel(there, Session(Keys(one, other))), Channel(here, Session(Keys(other, one)))
        yield *pair, near, far
        for channel in pair:
            channel.close()


def add_a_canary(frame, folder):
    return attacks.packed(folder)[0]


IN_THE_MIDDLE = {
    "repeats": lambda frame, folder: frame + frame,
    "alters": lambda frame, folder: frame[:-40] + bytes([frame[-40] ^ 1]) + frame[-39:],
    "adds": add_a_canary,
    "puts its own payload into": lambda frame, folder: frame[:40] + attacks.packed(folder)[0][40:],
}


@pytest.mark.parametrize("how", IN_THE_MIDDLE)
def test_a_channel_gives_up_when_one_in_the_middle_touches_a_message(how, ends, tmp_path):
    there, here, near, far = ends
    canary = tmp_path / "canary"
    there.send("true")
    far.sendall(IN_THE_MIDDLE[how](near.recv(2**16), canary))
    found = [here.receive()] if how == "repeats" else []
    with pytest.raises(ForgedError, match="altered, repeated, left out"):
        here.receive()
    assert found in ([], ["true"])
    assert here.is_closed
    assert not canary.exists()


def test_large_messages_pass_a_channel_whole(ends):
    there, here, near, far = ends
    content = os.urandom(3 * 2**20)

    def send():
        there.send(content)
        there.close()

    def carry():
        while part := near.recv(2**20):
            far.sendall(part)

    threads = [threading.Thread(target=each) for each in (send, carry)]
    for thread in threads:
        thread.start()
    assert here.poll(30)
    assert here.receive() == content
    for thread in threads:
        thread.join()


def test_a_message_of_another_version_is_an_error_in_words(ends, tmp_path):
    there, here, near, far = ends
    there.send(Canary(tmp_path / "no" / "folder"))  # which fails when it is opened
    far.sendall(near.recv(2**16))
    with pytest.raises(ForgedError, match=r"cannot be read \(FileNotFoundError.*may have another accord"):
        here.receive()


def test_the_supervisor_says_which_connection_was_given_up(ends):
    _, here, _, far = ends
    member_process = RemoteMemberProcess(here)
    assert member_process.is_there
    far.sendall(bytes(200))
    assert "on a machine whose connection was given up: a message was altered" in member_process.complaint()
    assert not member_process.is_there


class AttackedMemberProcess(AbstractMemberProcess):
    """A member that comes in through a process in the middle, which repeats its hello."""

    def __init__(self, rendezvous):
        self.rendezvous = rendezvous
        self.stack = contextlib.ExitStack()

    def launch(self, ticket, rank, environment):
        middle = attacks.between(self.rendezvous.address, "member", Hello(ticket, rank, "", ()))
        joiner, listener, _ = self.stack.enter_context(middle)
        listener.sendall(joiner.recv(2**16) * 2)

    def complaint(self):
        return None

    def end(self):
        self.stack.close()


def test_a_gang_whose_messages_are_repeated_is_ended_with_the_reason():
    with (
        opened() as rendezvous,
        pytest.raises(WorkerLostError, match="member of the gang was given up: a message was"),
    ):
        Gang([AttackedMemberProcess(rendezvous)]).gather(rendezvous, {})


def test_a_host_agent_whose_messages_are_altered_ends_with_the_reason(monkeypatch):
    monkeypatch.setenv(KEY, SECRET.decode())
    with opened() as rendezvous:

        def alter(own, said, folder):
            listener = socket.create_connection(rendezvous.address)
            with listener:
                own.sendall(attacks.received(listener, GREETING_SIZE))
                listener.sendall(attacks.received(own, ANSWER_SIZE))
                own.sendall(attacks.received(listener, DIGEST_SIZE) + bytes(100))
                attacks.to_its_end(own)

        (host, port), thread = hold_the_port(alter, None, None)
        with pytest.raises(
            WorkerError, match=f"supervisor at {host}:{port} was given up: a message was altered"
        ):
            host_agent.keep(f"{host}:{port}", 5.0)
        thread.join(30)


# Floods, and what runs out


def test_silent_connections_are_bounded_in_number_and_keep_no_member_out():
    num_threads = threading.active_count()
    with opened(room=8) as rendezvous, contextlib.ExitStack() as stack:
        silent = []
        for _ in range(4):
            silent += [stack.enter_context(socket.create_connection(rendezvous.address)) for _ in range(8)]
            stack.enter_context(contextlib.closing(enters(rendezvous.address)))
            stack.enter_context(contextlib.closing(rendezvous.host_agents.get(timeout=30).channel))
        assert threading.active_count() <= num_threads + 1
        for gone in silent[: len(silent) - 8]:
            gone.settimeout(30)
            assert len(attacks.to_its_end(gone)) == GREETING_SIZE
        assert "in favour of later ones" in rendezvous.told()


@pytest.mark.slow
def test_members_come_in_through_a_flood():
    """Thousands of connections from this machine, of which it keeps the last 400, while 40 members come in."""
    is_over, counts = threading.Event(), itertools.count()
    with opened() as rendezvous:

        def flood():
            kept = collections.deque()
            while not is_over.is_set():
                with contextlib.suppress(OSError):
                    kept.append(socket.create_connection(rendezvous.address, timeout=30))
                    next(counts)
                if len(kept) > 100:
                    kept.popleft().close()
            for each in kept:
                each.close()

        threads = [threading.Thread(target=flood) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            wait_for(lambda: next(counts) > 1_000, "there is no flood")
            for _ in range(40):
                let_in(rendezvous)
        finally:
            is_over.set()
            for thread in threads:
                thread.join()


@on_linux
def test_a_flood_from_one_machine_sends_no_slow_member_of_another_one_away(said):
    with opened(room=8) as rendezvous, contextlib.ExitStack() as stack:
        slow = stack.enter_context(socket.create_connection(rendezvous.address, timeout=30))
        assert len(attacks.received(slow, GREETING_SIZE)) == GREETING_SIZE
        for _ in range(40):
            flood = socket.create_connection(rendezvous.address, timeout=30, source_address=("127.0.0.2", 0))
            attacks.received(stack.enter_context(flood), GREETING_SIZE)
        slow.sendall(bytes(ANSWER_SIZE))
        assert attacks.to_its_end(slow) == bytes(DIGEST_SIZE)  # it is heard to its end, here a refusal


def test_no_connection_outlives_its_time(said):
    with opened(manners=0.2, room=8) as rendezvous, contextlib.ExitStack() as stack:
        for own in [
            stack.enter_context(socket.create_connection(rendezvous.address, timeout=30)) for _ in range(8)
        ]:
            assert len(attacks.to_its_end(own)) == GREETING_SIZE


class Short(socket.socket):
    """A listening socket to which the system refuses connections for these reasons, one after the other."""

    reasons: list[int]

    def accept(self):
        if self.reasons:
            raise OSError(self.reasons[0], os.strerror(self.reasons.pop(0)))
        return super().accept()


REASONS = [
    *(errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM),
    *(errno.ECONNABORTED, errno.EPERM, errno.EPROTO),
]


@pytest.mark.parametrize("reasons", [[each] for each in REASONS] + [REASONS], ids=str)
def test_a_rendezvous_outlives_what_the_system_is_short_of(reasons, monkeypatch):
    def create_server(address, **_):
        short = Short()
        short.reasons = list(reasons)
        short.bind(address)
        short.listen()
        return short

    monkeypatch.setattr(socket, "create_server", create_server)
    with opened() as rendezvous, contextlib.closing(enters(rendezvous.address)):
        rendezvous.host_agents.get(timeout=30).channel.close()
        assert not rendezvous.told()


@on_linux
def test_a_rendezvous_recovers_when_all_descriptors_were_taken_and_are_freed():
    program = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("rendezvous_without_descriptors.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with program, contextlib.ExitStack() as stack:
        stack.callback(program.kill)

        def ask(*words):
            program.stdin.write(" ".join(words) + "\n")
            program.stdin.flush()
            return program.stdout.readline().strip()

        address = ("127.0.0.1", int(program.stdout.readline()))
        with contextlib.ExitStack() as silent:
            for _ in range(50):  # more than it has descriptors for, and fewer than it has room for
                own = socket.create_connection(address, timeout=30)
                silent.callback(attacks.leave, own)
                assert len(attacks.received(own, GREETING_SIZE)) == GREETING_SIZE
            with contextlib.closing(enters(address)):
                assert ask("peers") == "1"
            assert "in favour of later ones" in ask("told")
        assert int(ask("take")) > 10
        found = []
        thread = threading.Thread(target=lambda: found.append(enters(address)))
        thread.start()
        wait_for(lambda: "accepted at present (Too many open files)" in ask("told"), "it does not tell")
        assert not found
        assert ask("free") == "freed"
        thread.join(30)
        assert ask("peers") == "1"
        assert "Too many open files" not in ask("told")
        found[0].close()


# With a gang of processes


@pytest.mark.slow
def test_a_member_whose_messages_are_altered_ends_with_the_reason():
    with opened() as rendezvous, socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)  # for a member that ends before it comes
        host, port = server.getsockname()
        process = subprocess.Popen(
            command("accord.executors.gangs.member", f"{host}:{port}", "ticket", "0"),
            env=os.environ | {KEY: SECRET.decode()},
            stderr=subprocess.PIPE,
            text=True,
        )
        with process, server.accept()[0] as joiner, socket.create_connection(rendezvous.address) as listener:
            joiner.sendall(attacks.received(listener, GREETING_SIZE))
            listener.sendall(attacks.received(joiner, ANSWER_SIZE))
            joiner.sendall(attacks.received(listener, DIGEST_SIZE) + bytes(100))
            _, said = process.communicate(timeout=60)
        assert process.returncode == 3
        assert "the connection to the supervisor was given up: a message was altered" in said


@pytest.mark.slow
def test_a_gang_forms_and_works_under_attack(said, tmp_path):
    """500 connections of every kind of attack while two members start and come in."""
    canary, is_over = tmp_path / "canary", threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    pool = GangPool(2, surroundings_here("float64"), address, SECRET, False)
    counts = itertools.count()

    def attack():
        with contextlib.ExitStack() as stack:
            while not is_over.is_set():
                for name, (function, _) in attacks.ON_LISTENERS.items():
                    with contextlib.suppress(OSError, AssertionError):
                        if name not in attacks.PATIENT:
                            function(address, said, canary)
                        stack.enter_context(socket.create_connection(address, timeout=30))
                        next(counts)

    threads = [threading.Thread(target=attack) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            assert pool.submit(cases.num_processes).result(120) == (2, 2, 1)
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
        pool.close()
    assert next(counts) > 500
    assert not canary.exists()
