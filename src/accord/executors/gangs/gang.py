"""Supervise a gang: processes on one machine or several that run every call together, and start and end together.

JAX's processes wait for each other in collectives. If one dies or hangs, the others would wait for ever. So the loss of
one ends all, and a new gang is started.
"""

import contextlib
import hashlib
import queue
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.errors import WorkerError
from ..base import Surroundings, WorkerLostError
from ..calls import Call
from .arrivals import Peer
from .channel import Channel, heard_among
from .member_process import AbstractMemberProcess
from .messages import Answer, Keep, Orders, Work
from .rendezvous import Rendezvous
from .session import ForgedError

_POLL = 0.1  # seconds
_JOIN = 600.0  # seconds in which members have to come: Python, JAX and the model's module are imported
_GRACE = 10.0  # seconds that the others have to answer once one member has raised
_LAST_WORDS = 1.0  # seconds from the end of a connection to that of its process


class Gang:
    """Current members of a gang. Used by one thread, except for `end`."""

    def __init__(self, member_processes: Sequence[AbstractMemberProcess]):
        self._member_processes = member_processes
        self._channels: list[Channel] = []
        self._kept: set[bytes] = set()
        self._is_ended = False

    @property
    def is_there(self) -> bool:
        """Return whether all members have connected, and none is known to be lost."""
        return len(self._channels) == len(self._member_processes)

    def gather(self, rendezvous: Rendezvous, environment: Mapping[str, str]) -> None:
        """Start every member, and connect them.

        **Raises** `WorkerLostError` if one ended before that; `WorkerError` if members differ.
        """
        try:
            self._gather(rendezvous, environment)
        except BaseException:
            self.close()
            raise

    def _gather(self, rendezvous: Rendezvous, environment: Mapping[str, str]) -> None:
        ticket, until = secrets.token_hex(8), time.monotonic() + _JOIN
        for rank, member_process in enumerate(self._member_processes):
            try:
                member_process.launch(ticket, rank, environment)
            except OSError as error:
                raise WorkerLostError(
                    f"member {rank} of {len(self._member_processes)} cannot be started: {error}"
                ) from error
        peers: dict[int, Peer] = {}
        try:
            while len(peers) < len(self._member_processes):
                if self._is_ended:
                    raise WorkerLostError("the gang was ended while it came together")
                with contextlib.suppress(queue.Empty):
                    peer = rendezvous.members.get(timeout=_POLL)
                    rank = peer.hello.rank
                    if peer.hello.ticket == ticket and rank is not None and rank not in peers:
                        peers[rank] = peer
                    else:  # of a gang that was ended while it came together
                        peer.channel.close()
                if complaint := self._complaint():
                    raise WorkerLostError(f"{complaint}{rendezvous.told()}")
                if time.monotonic() > until:
                    raise WorkerLostError(
                        f"{len(peers)} of {len(self._member_processes)} members came within {_JOIN:.0f} s"
                        f"{rendezvous.told()}"
                    )
            _check_alike(peers)
            channels = [peers[rank].channel for rank in sorted(peers)]
            for channel in channels:
                self._send(channel, Orders(len(peers), peers[0].hello.coordinator))
            self._receive_all(channels)  # each is ready
        except BaseException:
            for peer in peers.values():
                peer.channel.close()
            raise
        self._channels = channels

    def answer(self, surroundings: Surroundings, call: Call) -> bytes:
        """Run the call in every member; return the packed answer of the first one, or of one that raised.

        **Raises** `WorkerLostError` if a member is lost; `WorkerError` if they disagree.
        """
        digests = tuple(self._shipped(each) for each in call.constants)
        for channel in self._channels:
            self._send(channel, Work(surroundings, digests, call.rest))
        answers: list[Answer] = self._receive_all(self._channels)
        if any(each.is_error for each in answers):
            return next(each.packed or b"" for each in answers if each.is_error)
        if len({each.digest for each in answers}) > 1:
            self.close()
            raise WorkerError(
                "the members of a gang were given the same work and returned different numbers. Either they run on "
                "machines that compute differently, or the model does not do the same each time: it asks for the "
                "time, for random numbers of NumPy, or for something of the machine, or a shard_map of its own does "
                "not add its parts up. Nothing of this was kept."
            )
        return answers[0].packed or b""

    def end(self) -> None:
        """End every member, whatever it is doing. May be called by any thread."""
        self._is_ended = True
        for member_process in self._member_processes:
            member_process.end()

    def close(self) -> None:
        """End every member and forget it."""
        self.end()
        for channel in self._channels:
            channel.close()
        self._channels = []

    def _shipped(self, constant: bytes) -> bytes:
        """Send a constant to every member once, and return its digest."""
        digest = hashlib.sha256(constant).digest()
        if digest not in self._kept:
            for channel in self._channels:
                self._send(channel, Keep(digest, constant))
            self._kept.add(digest)
        return digest

    def _send(self, channel: Channel, message: Any) -> None:
        try:
            channel.send(message)
        except OSError as error:
            raise self._lost(error) from error

    def _receive_all(self, channels: Sequence[Channel]) -> list[Any]:
        """Receive one message of each member; after an error, wait only a while for the others."""
        found: dict[Channel, Any] = {}
        until = float("inf")
        while len(found) < len(channels) and time.monotonic() < until:
            try:
                for channel in heard_among([each for each in channels if each not in found], _POLL):
                    found[channel] = channel.receive()
                    if getattr(found[channel], "is_error", False):
                        until = min(until, time.monotonic() + _GRACE)
            except (EOFError, OSError) as error:
                raise self._lost(error) from error
        if len(found) < len(channels):  # the others wait for it in a collective
            self.close()
        return [found[each] for each in channels if each in found]

    def _lost(self, error: BaseException) -> WorkerLostError:
        """Describe why a member no longer answers."""
        if isinstance(error, ForgedError):
            self.close()
            return WorkerLostError(f"the connection to a member of the gang was given up: {error}")
        until = time.monotonic() + _LAST_WORDS
        while not (complaint := self._complaint()) and not self._is_ended and time.monotonic() < until:
            time.sleep(_POLL)
        was_ended = self._is_ended
        self.close()
        if was_ended:
            return WorkerLostError("the gang stood still and was ended")
        return WorkerLostError(complaint or "a member of the gang closed its connection")

    def _complaint(self) -> str:
        """Describe how members have ended."""
        ends = [
            (rank, member_process.complaint()) for rank, member_process in enumerate(self._member_processes)
        ]
        return "; ".join(f"member {rank} of {len(ends)} {how}" for rank, how in ends if how)


def _check_alike(peers: Mapping[int, Peer]) -> None:
    """Raise `WorkerError` if members have other versions, or other processors, than the first one."""
    first = dict(peers[0].hello.kind)
    for rank, peer in peers.items():
        for name, found in peer.hello.kind:
            if found != first[name]:
                raise WorkerError(
                    f"member {rank} of the gang has {name} {found!r} where member 0 has {first[name]!r}: they would "
                    "compute different numbers, and wait for each other for ever. Give all members the same "
                    "environment, and machines of one kind."
                )
