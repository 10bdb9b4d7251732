"""Run one of several processes that make the same calls together, each with a part of the devices.

The process has its surroundings in its environment and `HOST:PORT TICKET RANK` on its command line. It leaves as soon
as it loses its supervisor, or the process that started it.
"""

import hashlib
import os
import platform
import queue
import signal
import socket
import sys
import threading
import time
from importlib import metadata
from typing import Any

import jax

from ..calls import Call, answer, has_error
from .channel import Channel, enter
from .handshake import ProofError
from .messages import KEY, Answer, Hello, Keep, Orders, Ready, Work, address_of, key_here
from .session import ForgedError

_LOST = 3  # status of a member that lost its supervisor
_PAUSE = 1.0  # seconds between two tries to come in
_WAIT = 300  # seconds in which all members have to meet
_DOOR = 60.0  # seconds in which a supervisor with many visitors has to let this one in


def main() -> None:
    """Join a gang, and answer calls until the supervisor is gone."""
    address, ticket, rank = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    check_own_name()
    channel = _entered(address)
    channel.send(Hello(ticket, int(rank), _free_address(channel.host), kind_here()))
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(channel, inbox), daemon=True).start()
    orders: Orders = inbox.get()
    # Its service would catch the SIGTERM by which a supervisor ends a gang.
    jax.config.update("jax_enable_preemption_service", False)
    jax.distributed.initialize(
        orders.coordinator,
        orders.num_members,
        int(rank),
        cluster_detection_method="deactivate",
        initialization_timeout=_WAIT,
        coordinator_bind_address=orders.coordinator if rank == "0" else None,
    )
    channel.send(Ready())
    _serve(channel, inbox, is_first=rank == "0")


def _entered(address: str) -> Channel:
    """Connect to the supervisor. Exit with a message if that is impossible."""
    until = time.monotonic() + _DOOR
    while True:
        try:
            return enter(address_of(address), key_here(), "member")
        except ProofError as error:
            raise SystemExit(
                f"what listens at {address} is not this member's supervisor, or has another secret in {KEY}: {error}."
            ) from error
        except (OSError, EOFError) as error:
            if isinstance(error, ConnectionRefusedError) or time.monotonic() > until:
                raise SystemExit(f"the supervisor at {address} cannot be reached ({error}).") from error
            time.sleep(_PAUSE)


def check_own_name() -> None:
    """Exit with a message if the name of this machine has no address, which gloo needs and does not report."""
    name = socket.gethostname()
    try:
        socket.getaddrinfo(name, None)
    except socket.gaierror as error:
        raise SystemExit(
            f"the name of this machine, {name!r}, stands for no address ({error}), and JAX's processes find each other "
            f"by it. Add a line such as `127.0.1.1 {name}` to /etc/hosts."
        ) from error


def kind_here() -> tuple[tuple[str, str], ...]:
    """Return the properties that all members must share for equal numbers."""
    versions = tuple((name, metadata.version(name)) for name in ("accord", "jax", "jaxlib", "numpy"))
    return (*versions, ("python", platform.python_version()), ("processor", _processor()))


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            model = next(
                (line.partition(":")[2].strip() for line in file if line.startswith("model name")), ""
            )
    except OSError:
        model = ""
    return model or platform.processor() or platform.machine()


def _receive(channel: Channel, inbox: "queue.SimpleQueue[Any]") -> None:
    """Listen to the supervisor while the main thread computes: this process ends with it."""
    try:
        while True:
            inbox.put(channel.receive())
    except ForgedError as error:
        sys.stderr.write(f"the connection to the supervisor was given up: {error}.\n")
        sys.stderr.flush()
    except (EOFError, OSError):
        pass
    os._exit(_LOST)


def _free_address(host: str) -> str:
    """Return an address with a free port, at the host by which the supervisor reaches this machine."""
    with socket.create_server((host, 0)) as free:
        return f"{host}:{free.getsockname()[1]}"


def _serve(channel: Channel, inbox: "queue.SimpleQueue[Any]", is_first: bool) -> None:
    kept: dict[bytes, bytes] = {}
    while True:
        message: Keep | Work = inbox.get()
        if isinstance(message, Keep):
            kept[message.digest] = message.constant
            continue
        call = Call(tuple(kept[digest] for digest in message.constants), message.rest)
        packed = answer(message.surroundings, call)
        is_error = has_error(packed)
        digest = hashlib.sha256(packed).digest()
        channel.send(Answer(digest, is_error, packed if is_first or is_error else None))
