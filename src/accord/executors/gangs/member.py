"""Run one of several processes that make the same calls together, each with a part of the devices.

python -m accord.executors.gangs.member HOST:PORT TICKET RANK

The process is started with its surroundings in its environment, and leaves as soon as it loses its supervisor, or who
started it.
"""

import hashlib
import os
import platform
import queue
import signal
import socket
import sys
import threading
from importlib import metadata
from multiprocessing.connection import Client, Connection
from typing import Any

import jax

from ..calls import Call, answer, has_error
from .lobby import notice_loss
from .messages import Answer, Card, Keep, Orders, Ready, Work, address_of, key_here

_LOST = 3  # status of a member that lost its supervisor
_POLL = 1.0  # seconds
_WAIT = 300  # seconds in which all members have to meet


def main() -> None:
    """Join a gang, and answer calls until the supervisor is gone."""
    address, ticket, rank = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    check_own_name()
    connection = Client(address_of(address), authkey=key_here())
    notice_loss(connection)
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, inbox), daemon=True).start()
    connection.send(Card("member", ticket, int(rank), _free_address(connection), kind_here()))
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
    connection.send(Ready())
    _serve(connection, inbox, is_first=rank == "0")


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


def _receive(connection: Connection, inbox: "queue.SimpleQueue[Any]") -> None:
    """Listen to the supervisor while the main thread computes: this process ends with it."""
    parent = os.getppid()
    try:
        while os.getppid() == parent:
            if connection.poll(_POLL):
                inbox.put(connection.recv())
    except (EOFError, OSError):
        pass
    os._exit(_LOST)


def _free_address(connection: Connection) -> str:
    """Return an address of this machine that others reach, as the supervisor's connection does."""
    with socket.socket(fileno=os.dup(connection.fileno())) as own:
        host = own.getsockname()[0]
    with socket.create_server((host, 0)) as free:
        return f"{host}:{free.getsockname()[1]}"


def _serve(connection: Connection, inbox: "queue.SimpleQueue[Any]", is_first: bool) -> None:
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
        connection.send(Answer(digest, is_error, packed if is_first or is_error else None))


if __name__ == "__main__":
    main()
