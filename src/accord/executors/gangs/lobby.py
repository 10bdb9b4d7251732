"""Accept connections that know the key, and identify them."""

import os
import queue
import socket
import threading
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge

from .messages import Card

_POLL = 0.2  # seconds
_MANNERS = 20.0  # seconds


@dataclass(frozen=True)
class Guest:
    """Accepted connection. **Fields**: `connection`; `card`, its description of itself."""

    connection: Connection
    card: Card


class Lobby:
    """Listens at an address; nothing is unpickled before both sides have shown that they know the key.

    A guest has `manners` seconds to prove that it knows the key.

    **Fields**: `address`, with the port that was free if none was asked for; `members` and `keepers`, in the order of
    their arrival.
    """

    def __init__(self, address: tuple[str, int], key: bytes, manners: float = _MANNERS):
        self._key, self._manners = key, manners
        self._socket = socket.create_server(address)
        self._socket.settimeout(_POLL)
        self._is_closed = False
        self.address: tuple[str, int] = self._socket.getsockname()[:2]
        self.members: queue.SimpleQueue[Guest] = queue.SimpleQueue()
        self.keepers: queue.SimpleQueue[Guest] = queue.SimpleQueue()
        threading.Thread(target=self._listen, name="accord-lobby", daemon=True).start()

    def close(self) -> None:
        """Stop accepting connections. Accepted ones stay open."""
        self._is_closed = True
        self._socket.close()

    def _listen(self) -> None:
        while not self._is_closed:
            try:
                arrival, _ = self._socket.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            # Each in a thread of its own: who says nothing keeps no other waiting.
            threading.Thread(target=self._admit, args=(arrival,), daemon=True).start()

    def _admit(self, arrival: socket.socket) -> None:
        connection = Connection(os.dup(arrival.fileno()))
        notice_loss(connection)
        # Closing a socket wakes nobody who reads from it.
        patience = threading.Timer(self._manners, arrival.shutdown, (socket.SHUT_RDWR,))
        patience.daemon = True
        patience.start()
        try:
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            card = connection.recv()
        except (AuthenticationError, EOFError, OSError, ValueError, AssertionError):
            connection.close()
            return
        finally:
            patience.cancel()
            arrival.close()
        (self.members if card.role == "member" else self.keepers).put(Guest(connection, card))


def notice_loss(connection: Connection) -> None:
    """Make a connection end within about a minute if the other machine disappears."""
    with socket.socket(fileno=os.dup(connection.fileno())) as own:
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        own.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):  # not of every system
                own.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
