"""Attack the door of a gang without its secret, from both sides, and notice whatever is unpickled."""

import contextlib
import os
import pickle
import socket
import struct
import threading
import time
from multiprocessing.connection import Client

import numpy as np
import pytest

from accord.executors.gangs.channel import enter
from accord.executors.gangs.handshake import ANSWER_SIZE, DIGEST_SIZE, GREETING_SIZE, PROTOCOL, ProofError
from accord.executors.gangs.messages import Hello

SECRET = b"correct horse battery staple"
HELLO = Hello("", None, "", ())


class Canary:
    """Object that makes a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __reduce__(self):
        return os.mkdir, (self.folder,)


def packed(folder):
    """A canary as those send it who skip the proof: in each of the frames that accord or `multiprocessing` reads."""
    payload = pickle.dumps(Canary(folder))
    own = len(payload).to_bytes(8, "big") + bytes(DIGEST_SIZE) + payload + bytes(DIGEST_SIZE)
    return [own, struct.pack("!i", len(payload)) + payload]


def received(own, size):
    """As many bytes, or those that came before the end."""
    found = b""
    with contextlib.suppress(OSError):
        while len(found) < size and (part := own.recv(size - len(found))):
            found += part
    return found


def to_its_end(own):
    """All bytes until the other end closes."""
    return received(own, 2**20)


def leave(own):
    """Close a connection, and wait until the other end has closed it too."""
    with contextlib.suppress(OSError):  # it has done so already
        own.shutdown(socket.SHUT_WR)
    to_its_end(own)
    own.close()


def enters(address, role="host agent", seconds=30.0):
    """A proven connection, for which one tries again where there is no room, as members and host agents do."""
    until = time.monotonic() + seconds
    while True:
        try:
            channel = enter(address, SECRET, role)
            channel.send(HELLO)
            return channel
        except (OSError, EOFError):
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


@contextlib.contextmanager
def between(address, role="host agent", hello=HELLO):
    """A process in the middle that has passed a handshake on: its connections to the joiner and to the listener.

    The joiner has sent a hello, which waits to be passed on. Last is what each of them has said.
    """
    entered = []

    def come_in():
        with contextlib.suppress(EOFError, OSError):
            entered.append(enter(server.getsockname(), SECRET, role))
            entered[0].send(hello)

    with socket.create_server(("127.0.0.1", 0)) as server, contextlib.ExitStack() as stack:
        thread = threading.Thread(target=come_in)
        thread.start()
        joiner = stack.enter_context(server.accept()[0])
        listener = stack.enter_context(socket.create_connection(address, timeout=30))
        greeting = received(listener, GREETING_SIZE)
        joiner.sendall(greeting)
        answer = received(joiner, ANSWER_SIZE)
        listener.sendall(answer)
        verdict = received(listener, DIGEST_SIZE)
        joiner.sendall(verdict)
        thread.join(30)
        stack.enter_context(contextlib.closing(entered[0]))
        yield joiner, listener, {"joiner": answer, "listener": greeting + verdict}


def recorded(address):
    """What a true host agent and a true listener say in one session."""
    with between(address) as (joiner, _, said):
        return said | {"joiner": said["joiner"] + joiner.recv(2**16)}


# Against a listener: each takes its address, a recording of a true session, and the folder of the canary


def say(*parts):
    """An attack that says so much after the greeting, and more once it is answered."""

    def attack(address, said, folder):
        with socket.create_connection(address, timeout=30) as own:
            received(own, GREETING_SIZE)
            with contextlib.suppress(OSError):  # it has been sent away by now
                for part in (*parts, *packed(folder)):
                    own.sendall(part)
                own.shutdown(socket.SHUT_WR)
            to_its_end(own)

    return attack


def say_recorded(address, said, folder):
    with socket.create_connection(address, timeout=30) as own:
        received(own, GREETING_SIZE)
        own.sendall(said["joiner"])
        to_its_end(own)


def say_it_back(address, said, folder):
    with socket.create_connection(address, timeout=30) as own:
        greeting = received(own, GREETING_SIZE)
        own.sendall(b"m" + (greeting[len(PROTOCOL) :] * 3)[: ANSWER_SIZE - 1])
        refusal = received(own, DIGEST_SIZE)
        assert not any(refusal)


def noise(address, said, folder, count=40):
    rng = np.random.default_rng(20)
    for _ in range(count):
        with socket.create_connection(address, timeout=30) as own, contextlib.suppress(OSError):
            own.sendall(rng.bytes(int(rng.integers(1, 300))))
            own.shutdown(socket.SHUT_WR)
            to_its_end(own)


def another_secret(address, said, folder):
    with pytest.raises(ProofError, match="did not prove that it knows the secret"):
        enter(address, b"another secret", "member")


def cut_off(address, said, folder):
    for size in (0, 1, ANSWER_SIZE - 1, ANSWER_SIZE, ANSWER_SIZE + 20):
        with socket.create_connection(address, timeout=30) as own:
            received(own, GREETING_SIZE)
            own.sendall(said["joiner"][:size])


def silence(address, said, folder):
    with socket.create_connection(address, timeout=30) as own:
        assert len(to_its_end(own)) == GREETING_SIZE


def slowness(address, said, folder):
    with socket.create_connection(address, timeout=30) as own, contextlib.suppress(OSError):
        for byte in said["joiner"]:
            own.sendall(bytes([byte]))
            time.sleep(0.02)


def old_protocol(address, said, folder):
    with pytest.raises(OSError, match="bad message length"):
        Client(address, authkey=SECRET)


def add_to_a_true_session(address, said, folder):
    """Pass a true host agent through, and then say something of one's own in its name."""
    with between(address) as (_, listener, _), contextlib.suppress(OSError):
        for frame in packed(folder):
            listener.sendall(frame)
        to_its_end(listener)


def no_card(address, said, folder):
    """Prove a true host agent, and then keep its hello back."""
    with between(address) as (_, listener, _):
        to_its_end(listener)


def no_card_but(message):
    """An attack by a process that knows the secret, and then says something else than it should."""

    def attack(address, said, folder):
        def introduce():
            channel.send(message)
            channel.receive()

        channel = enter(address, SECRET, "member")
        with contextlib.closing(channel), pytest.raises((EOFError, OSError)):
            introduce()

    return attack


UNPROVEN = "without proof of the secret"
ON_LISTENERS = {
    "noise": (noise, UNPROVEN),
    "a pickle at once": (say(), UNPROVEN),
    "a frame that is too large": (say(bytes(2**20)), UNPROVEN),
    "a proof of zeros": (say(b"m" + bytes(ANSWER_SIZE - 1)), UNPROVEN),
    "an unknown role": (say(b"x" * ANSWER_SIZE), UNPROVEN),
    "a recorded session": (say_recorded, UNPROVEN),
    "what it has said itself": (say_it_back, UNPROVEN),
    "another secret": (another_secret, UNPROVEN),
    "the protocol of multiprocessing": (old_protocol, "closed by the other end"),
    "frames that are cut": (cut_off, "closed by the other end"),
    "silence": (silence, "not introduced within 0.3 s"),
    "a slow sender": (slowness, "not introduced within 0.3 s"),
    "a hello that is kept back": (no_card, "not introduced within 0.3 s"),
    "something else than a hello": (
        no_card_but("a hello"),
        "with an altered message, or one of another version",
    ),
    "a hello that is too large": (
        no_card_but(bytes(2**17)),
        "with an altered message, or one of another version",
    ),
    "a message added to a true session": (add_to_a_true_session, "with an altered message"),
}

PATIENT = ("silence", "a slow sender", "a hello that is kept back")
"""Attacks that last as long as the rendezvous lets them."""


# Against a member or host agent, by a process that holds the port: each takes its connection, and the same


def speak(*parts):
    def attack(own, said, folder):
        for part in (*parts, *packed(folder)):
            own.sendall(part)
        to_its_end(own)

    return attack


def speak_recorded(own, said, folder):
    own.sendall(said["listener"])
    for frame in packed(folder):
        own.sendall(frame)
    to_its_end(own)


def return_its_proof(own, said, folder):
    own.sendall(said["listener"][:GREETING_SIZE])
    own.sendall(received(own, ANSWER_SIZE)[-DIGEST_SIZE:])
    for frame in packed(folder):
        own.sendall(frame)
    to_its_end(own)


def stop_within(own, said, folder):
    own.sendall(said["listener"][: GREETING_SIZE - 1])


def be_silent(own, said, folder):
    to_its_end(own)


def challenge_without_the_key(own, said, folder):
    """What a listener of `multiprocessing` says that has no key: a challenge, and welcome to any answer."""
    for words in (b"#CHALLENGE#" + bytes(20), b"#WELCOME#"):
        own.sendall(struct.pack("!i", len(words)) + words)
    for frame in packed(folder):
        own.sendall(frame)
    to_its_end(own)


ON_JOINERS = {
    "a recorded session": (speak_recorded, ProofError, "did not prove that it knows the secret"),
    "its own proof": (return_its_proof, ProofError, "did not prove that it knows the secret"),
    "a proof of zeros": (
        speak(PROTOCOL + bytes(GREETING_SIZE - len(PROTOCOL)), bytes(DIGEST_SIZE)),
        ProofError,
        "did not prove that it knows the secret",
    ),
    "another program": (
        speak(b"SSH-2.0-OpenSSH_9.2\r\n" * 3),
        ProofError,
        "does not speak the protocol.*SSH",
    ),
    "the protocol of multiprocessing": (challenge_without_the_key, ProofError, "does not speak the protocol"),
    "half a greeting": (stop_within, ConnectionError, "closed the connection within a message"),
    "silence": (be_silent, TimeoutError, "timed out"),
}
