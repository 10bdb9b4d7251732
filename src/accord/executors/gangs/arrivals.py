"""Hear a connection that has not proven itself yet, without ever waiting for it."""

import secrets
import socket
from dataclasses import dataclass

from .channel import Channel, unpickled
from .handshake import NONCE_SIZE, Exchange, ProofError, Role, admit
from .messages import Hello
from .session import ForgedError, Session

_LARGEST_HELLO = 2**16  # bytes


@dataclass(frozen=True)
class Peer:
    """Proven connection. **Fields**: `channel`; `role`; `hello`, its description of itself."""

    channel: Channel
    role: Role
    hello: Hello


class Arrival:
    """Connection on its way through the handshake.

    **Arguments**: `own`, its socket; `host`, from where it comes; `key`; `until`, by when it has to be through.
    """

    def __init__(self, own: socket.socket, host: str, key: bytes, until: float):
        own.setblocking(False)
        self.socket, self.host, self.until = own, host, until
        self._exchange = _welcome(key)
        self._received = bytearray()
        self._size = self._say(*next(self._exchange))

    def hear(self) -> Peer | None:
        """Go on with what has come; return the peer once it is one.

        **Raises** `ProofError`, `ForgedError`, `EOFError` and `OSError` for an arrival to be sent away.
        """
        try:
            while True:
                while len(self._received) < self._size:
                    try:
                        part = self.socket.recv(self._size - len(self._received))
                    except BlockingIOError:
                        return None
                    if not part:
                        raise EOFError("the other end closed the connection")
                    self._received += part
                received, self._received = self._received, bytearray()
                self._size = self._say(*self._exchange.send(received))
        except StopIteration as end:
            role, session, payload = end.value
        hello = unpickled(payload)
        if not isinstance(hello, Hello):
            raise ForgedError("a hello was due first, and something else came")
        return Peer(Channel(self.socket, session), role, hello)

    def _say(self, words: bytes, size: int) -> int:
        """Send a few bytes, for which a new connection has room; return the size of the reply."""
        if words and self.socket.send(words) < len(words):
            raise OSError("it does not receive")
        return size


def _welcome(key: bytes) -> Exchange[tuple[Role, Session, memoryview]]:
    role, keys = yield from admit(key, secrets.token_bytes(NONCE_SIZE))
    session = Session(keys)
    return role, session, (yield from session.opening(_LARGEST_HELLO))


def reason_of(error: Exception) -> str:
    """Describe in a few fixed ways why an arrival was sent away, so that many of a kind can be counted."""
    if isinstance(error, ProofError):
        return "without proof of the secret"
    if isinstance(error, ForgedError):
        return "with an altered message, or one of another version of accord"
    if isinstance(error, EOFError | ConnectionError):
        return "closed by the other end"
    if isinstance(error, OSError):
        return f"broken off ({error.strerror or error})"
    return f"not understood ({type(error).__name__})"
