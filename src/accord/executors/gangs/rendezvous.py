"""Accept connections that know the key, and go on whatever the others do."""

import contextlib
import errno
import queue
import selectors
import socket
import threading
import time
from collections import Counter

from .arrivals import Arrival, Peer, reason_of
from .channel import notice_loss

_POLL = 0.2  # seconds
_SHORTAGE = 0.05  # seconds until descriptors that are short are tried for again
_MANNERS = 20.0  # seconds
_ROOM = 64  # arrivals
_AT_ONCE = 16  # connections accepted before those that have said something are heard again
_OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)


class Rendezvous:
    """Listens at an address; nothing is unpickled before both sides have shown that they know the key.

    A new connection, an arrival, has `manners` seconds to prove that it knows the key. At most `room` arrivals are kept
    at a time. When one more comes, the machine with most arrivals loses its oldest. So a flood from one machine keeps
    out no member of another. Members of the same machine need a few milliseconds, and try again if they lose their
    place. One thread hears all arrivals and waits for none.

    **Fields**: `address`, with the port that was free if none was asked for; `members` and `host_agents`, in the
    order of their arrival.
    """

    def __init__(self, address: tuple[str, int], key: bytes, manners: float = _MANNERS, room: int = _ROOM):
        if not key:
            raise ValueError("without a key nothing can be proven")
        self._key, self._manners, self._room = key, manners, room
        self._socket = socket.create_server(address, backlog=socket.SOMAXCONN)
        self._socket.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._arrivals: list[Arrival] = []
        self._refused: Counter[str] = Counter()
        self._trouble = ""
        self._is_closed = threading.Event()
        self.address: tuple[str, int] = self._socket.getsockname()[:2]
        self.members: queue.SimpleQueue[Peer] = queue.SimpleQueue()
        self.host_agents: queue.SimpleQueue[Peer] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="accord-rendezvous", daemon=True)
        self._thread.start()

    def told(self) -> str:
        """Describe the connections that were sent away, and what prevents new ones; empty if there were none.

        Each part begins with a semicolon, so that it can follow the error that it explains.
        """
        # A copy in one step: the other thread may add to it.
        refused = self._refused.copy().most_common()
        sent_away = "; connections sent away: " + ", ".join(f"{count} {why}" for why, count in refused)
        trouble = f"; no connection can be accepted at present ({self._trouble})"
        return (sent_away if refused else "") + (trouble if self._trouble else "")

    def close(self) -> None:
        """Stop listening, and close members still in the queue. All other connections stay open."""
        self._is_closed.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread, on Linux
        self._thread.join()
        with contextlib.suppress(queue.Empty):
            while True:
                self.members.get_nowait().channel.close()

    def _serve(self) -> None:
        while not self._is_closed.is_set():
            ready = {key.data for key, _ in self._selector.select(_POLL)}
            for arrival in [each for each in self._arrivals if each in ready]:
                self._hear(arrival)
            now = time.monotonic()
            for arrival in [each for each in self._arrivals if each.until < now]:
                self._send_away(arrival, f"not introduced within {self._manners:g} s")
            if None in ready:
                self._accept()
        for arrival in self._arrivals:
            arrival.socket.close()
        self._selector.close()
        self._socket.close()

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                own, place = self._socket.accept()
            except BlockingIOError:
                self._trouble = ""
                return
            except OSError as error:
                self._bear(error)
                return
            self._trouble = ""
            if len(self._arrivals) >= self._room:
                self._make_room()
            self._let_in(own, place[0])

    def _bear(self, error: OSError) -> None:
        """Wait until connections can be accepted again: descriptors and memory may be freed at any time."""
        if error.errno == errno.ECONNABORTED or self._is_closed.is_set():
            return
        self._trouble = error.strerror or str(error)
        if error.errno in _OUT_OF_DESCRIPTORS and self._arrivals:
            self._make_room()
        else:
            self._is_closed.wait(_SHORTAGE)

    def _let_in(self, own: socket.socket, host: str) -> None:
        try:
            notice_loss(own)
            arrival = Arrival(own, host, self._key, time.monotonic() + self._manners)
            self._selector.register(own, selectors.EVENT_READ, arrival)
        except (OSError, ValueError) as error:  # it has left already
            own.close()
            self._refused[reason_of(error)] += 1
            return
        self._arrivals.append(arrival)

    def _hear(self, arrival: Arrival) -> None:
        try:
            peer = arrival.hear()
        except Exception as error:  # whatever one has sent concerns no other
            self._send_away(arrival, reason_of(error))
            return
        if peer is not None:
            self._arrivals.remove(arrival)
            self._selector.unregister(arrival.socket)
            (self.members if peer.role == "member" else self.host_agents).put(peer)

    def _make_room(self) -> None:
        """Send away the oldest arrival of the machine with most of them."""
        crowds = Counter(each.host for each in self._arrivals)
        oldest = max(self._arrivals, key=lambda each: crowds[each.host])
        self._send_away(oldest, "in favour of later ones")

    def _send_away(self, arrival: Arrival, why: str) -> None:
        self._arrivals.remove(arrival)
        self._selector.unregister(arrival.socket)
        arrival.socket.close()
        self._refused[why] += 1
