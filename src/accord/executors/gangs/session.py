"""Authenticate every message of a proven connection.

    size (8 bytes), proof of the size, payload, proof of the payload

A proof is an HMAC with the key of its direction, over the number of the message. So a message that is altered, made up,
repeated, left out, moved or sent back is found before it is unpickled. The size is proven before it is used, so that
what is read, and held in memory, is bounded by what the other end has sent. Nothing is encrypted.
"""

import hmac

from .handshake import DIGEST, DIGEST_SIZE, Exchange, Keys

_SIZE = 8  # bytes
HEADER_SIZE = _SIZE + DIGEST_SIZE
_OF_SIZE, _OF_PAYLOAD = b"s", b"p"


class ForgedError(ConnectionError):
    """Error of a message without the proof of this connection. Nothing that follows it can be trusted."""


class Session:
    """Counts the messages of one connection, and proves them. One thread seals at a time, and one opens."""

    def __init__(self, keys: Keys):
        self._keys = keys
        self._num_sealed = 0
        self._num_opened = 0

    def seal(self, payload: bytes) -> tuple[bytes, bytes]:
        """Return what to send before the payload and after it."""
        number, self._num_sealed = self._num_sealed, self._num_sealed + 1
        size = len(payload).to_bytes(_SIZE, "big")
        header = size + _proof(self._keys.sending, _OF_SIZE, number, size)
        return header, _proof(self._keys.sending, _OF_PAYLOAD, number, payload)

    def opening(self, limit: int | None = None) -> Exchange[memoryview]:
        """Receive the next message; return its payload, of at most `limit` bytes.

        **Raises** `ForgedError` if it is not the one that the other end sent next, or is larger.
        """
        header = yield b"", HEADER_SIZE
        key, number = self._keys.receiving, self._num_opened
        _check(header[_SIZE:], _proof(key, _OF_SIZE, number, header[:_SIZE]))
        size = int.from_bytes(header[:_SIZE], "big")
        if limit is not None and size > limit:
            raise ForgedError(f"a message has {size} bytes, where at most {limit} are due")
        body = memoryview((yield b"", size + DIGEST_SIZE))
        _check(body[size:], _proof(key, _OF_PAYLOAD, number, body[:size]))
        self._num_opened += 1
        return body[:size]


def _check(found: bytes | bytearray | memoryview, expected: bytes) -> None:
    if not hmac.compare_digest(found, expected):
        raise ForgedError(
            "a message was altered, repeated, left out, or sent by a process that does not know the secret"
        )


def _proof(key: bytes, part: bytes, number: int, content: bytes | bytearray | memoryview) -> bytes:
    found = hmac.new(key, part + number.to_bytes(8, "big"), DIGEST)
    found.update(content)  # not joined to the rest, which would copy gigabytes
    return found.digest()
