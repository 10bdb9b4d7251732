"""Connect to the rendezvous of a gang, and prove to each other that both ends know the key."""

import secrets
import socket
import time

from .channel import Channel, notice_loss, settle
from .handshake import NONCE_SIZE, Role, join
from .session import Session

_PATIENCE = 20.0  # seconds


def enter(place: tuple[str, int], key: bytes, role: Role, patience: float = _PATIENCE) -> Channel:
    """Return a proven connection; its first message has to be a hello.

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
