"""Send and receive objects over a connection whose ends have proven that they know the secret."""

import contextlib
import pickle
import secrets
import socket
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import Any, TypeVar

from .handshake import NONCE_SIZE, Exchange, Role, join
from .session import ForgedError, Session

T = TypeVar("T")

_STALL = 60.0  # seconds in which a message that has begun must go on
_PATIENCE = 20.0  # seconds
_SMALL = 2**16  # bytes; below, what is sent is one packet, and copied for it


class Channel:
    """Proven connection. Any thread may send; one receives at a time. After an error it is closed."""

    def __init__(self, own: socket.socket, session: Session):
        own.settimeout(_STALL)
        self._socket, self._session = own, session
        self._lock = threading.Lock()

    def send(self, message: Any) -> None:
        """Send an object. Raises `OSError` if the other end is lost."""
        payload = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        with self._lock:
            try:
                before, after = self._session.seal(payload)
                if len(payload) < _SMALL:
                    _send_all(self._socket, before + payload + after)
                    return
                for part in (before, payload, after):
                    _send_all(self._socket, part)
            except BaseException:  # the other end would take what comes next for the rest of this
                self.close()
                raise

    def receive(self) -> Any:
        """Return the next object.

        **Raises** `EOFError` if the other end has closed the connection, `ForgedError` if the message is not what it
        sent, `OSError` if it stops within a message.
        """
        try:
            payload = settle(self._session.opening(), self._socket)
            return unpickled(payload)
        except BaseException:
            self.close()
            raise

    def poll(self, seconds: float) -> bool:
        """Return whether there is something to receive within so many seconds. Raises `OSError` once it is closed."""
        return bool(heard_among([self], seconds))

    def fileno(self) -> int:
        """Return the descriptor of the connection. Raises `OSError` once it is closed."""
        if self.is_closed:
            raise OSError("the connection is closed")
        return self._socket.fileno()

    @property
    def is_closed(self) -> bool:
        """Return whether the connection is closed at this end."""
        return self._socket.fileno() < 0

    @property
    def host(self) -> str:
        """Return the address of this machine by which the other end reaches it."""
        return self._socket.getsockname()[0]

    def close(self) -> None:
        """Close the connection. Closing twice is harmless."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # to close a socket wakes no thread that reads from it
        self._socket.close()


def enter(place: tuple[str, int], key: bytes, role: Role, patience: float = _PATIENCE) -> Channel:
    """Connect to a rendezvous; both ends prove that they know the key. The first message has to be a hello.

    **Arguments**: `patience`, seconds that the other end has for its part. **Raises** `ProofError` if it does not know
    the key; `EOFError` and `OSError` if it is not there, says too little, or has no room at present.
    """
    if not key:
        raise ValueError("without a key nothing can be proven")
    until = time.monotonic() + patience
    own = socket.create_connection(place, timeout=patience)
    try:
        notice_loss(own)
        keys = settle(join(key, role, secrets.token_bytes(NONCE_SIZE)), own, until)
    except BaseException:
        own.close()
        raise
    return Channel(own, Session(keys))


def heard_among(channels: Sequence[Channel], seconds: float) -> list[Channel]:
    """Return the channels on which there is something to receive, as soon as there is one or the time is over."""
    heard = wait([each.fileno() for each in channels], seconds)
    return [each for each in channels if each.fileno() in heard]


def settle(exchange: Exchange[T], own: socket.socket, until: float | None = None) -> T:
    """Go through an exchange on a socket; return its result.

    **Arguments**: `until`, on the monotonic clock, when it has to be over; None for the timeout of the socket, from one
    packet to the next. **Raises** what the exchange raises, `EOFError` and `OSError`.
    """
    try:
        say, size = next(exchange)
        while True:
            _send_all(own, say)
            say, size = exchange.send(_received(own, size, until))
    except StopIteration as end:
        return end.value


def unpickled(payload: memoryview) -> Any:
    """Return the object of a message that is proven. Raises `ForgedError` for one of another version of accord."""
    try:
        return pickle.loads(payload)
    except Exception as error:
        raise ForgedError(
            f"a message cannot be read ({type(error).__name__}: {error}): the other end may have another accord"
        ) from error


def notice_loss(own: socket.socket) -> None:
    """Make a connection end within about a minute if the other machine disappears."""
    own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):  # not of every system
            own.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _send_all(own: socket.socket, content: bytes) -> None:
    """Send everything. Unlike `sendall`, which counts the whole, this has the timeout from one packet to the next."""
    rest = memoryview(content)
    while rest:
        rest = rest[own.send(rest) :]


def _received(own: socket.socket, size: int, until: float | None) -> bytearray:
    """Receive so many bytes. Raises `EOFError` if there are none, `OSError` if there are fewer."""
    buffer = bytearray(size)
    rest = memoryview(buffer)
    while rest:
        if until is not None:
            own.settimeout(max(until - time.monotonic(), 1e-3))
        num_read = own.recv_into(rest)
        if num_read == 0 and len(rest) == size:
            raise EOFError("the other end closed the connection")
        if num_read == 0:
            raise ConnectionError("the other end closed the connection within a message")
        rest = rest[num_read:]
    return buffer
