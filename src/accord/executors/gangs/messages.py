"""Define the messages between the supervisor of a gang, its members, and host agents on other machines."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ..base import Surroundings

KEY = "ACCORD_GANG_KEY"
"""Environment variable of the secret that all of them share."""


@dataclass(frozen=True)
class Hello:
    """Description of a connecting process, whose role is proven already.

    **Fields**: `ticket`, of the gang that a member was started for, or empty; `rank` of a host agent from its
    launcher, or None; `coordinator`, where JAX's coordinator would listen; `kind`, what all members must share.
    """

    ticket: str
    rank: int | None
    coordinator: str
    kind: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Orders:
    """To a member: the number of members, and the address of JAX's coordinator, which runs in the first one."""

    num_members: int
    coordinator: str


@dataclass(frozen=True)
class Ready:
    """Report from a member that it is connected to the others."""


@dataclass(frozen=True)
class Keep:
    """To a member: a constant of calls that refer to it by its digest, so that it travels once."""

    digest: bytes
    constant: bytes


@dataclass(frozen=True)
class Work:
    """To every member: a call, with the digests of its constants, and the surroundings in which to make it."""

    surroundings: Surroundings
    constants: tuple[bytes, ...]
    rest: bytes


@dataclass(frozen=True)
class Answer:
    """Report from a member the digest of its packed answer, and whether it is an error.

    The first member sends the answer too, and so does one that raised.
    """

    digest: bytes
    is_error: bool
    packed: bytes | None


@dataclass(frozen=True)
class Launch:
    """To a host agent: start a member."""

    ticket: str
    rank: int
    environment: Mapping[str, str]


@dataclass(frozen=True)
class End:
    """To a host agent: end its member."""


@dataclass(frozen=True)
class Ended:
    """Report from a host agent that the member it started with this ticket has ended, and how."""

    ticket: str
    how: str


@dataclass(frozen=True)
class Leave:
    """To a host agent: the run is over."""


def address_of(text: str) -> tuple[str, int]:
    """Parse `HOST:PORT`. Raises `ValueError` for anything else."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isdecimal() and int(port) < 2**16):
        raise ValueError(f"an address is HOST:PORT, as in 10.0.0.1:9900; got {text!r}")
    return host, int(port)


def key_here() -> bytes:
    """Return the secret in the environment; empty if there is none."""
    return os.fsencode(os.environ.get(KEY, ""))
