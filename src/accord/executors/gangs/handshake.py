"""Let both ends of a connection prove that they know the secret of a gang, before anything is unpickled.

    listener -> joiner   greeting: the protocol, the listener's nonce
    joiner -> listener   answer: the joiner's role, its nonce, its proof
    listener -> joiner   verdict: the listener's proof, or zeros as a refusal

A proof is an HMAC over the side that makes it, the protocol, the role and both nonces. So it convinces only the other
end of the same exchange: it is worth nothing when it is sent back, repeated later, or passed to a third process. The
proofs of `multiprocessing.connection` cover one nonce and nothing else: a listener without the key passes the challenge
of one member to another, and its answer back.

The messages have fixed sizes, all below 100 bytes, so nothing that is read before the proof says how much to read.

**Source**: protocol AKEP2 of Bellare & Rogaway (1993), Entity authentication and key distribution, CRYPTO '93. Here one
secret with labels stands for its two keys, and each proof covers the whole exchange.
"""

import hmac
from collections.abc import Generator
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

T = TypeVar("T")

Role = Literal["member", "host agent"]

Exchange = Generator[tuple[bytes, int], bytes | bytearray, T]
"""Side of an exchange, without input and output: it yields what to send and then how many bytes to receive, is sent
these, and returns its result.
"""

NONCE_SIZE = 32  # bytes
DIGEST: Final = "sha256"
DIGEST_SIZE = 32  # bytes
PROTOCOL = b"accord gang 2\r\n\0"
GREETING_SIZE = len(PROTOCOL) + NONCE_SIZE
ANSWER_SIZE = 1 + NONCE_SIZE + DIGEST_SIZE
REFUSAL = bytes(DIGEST_SIZE)
_MARKS: dict[Role, bytes] = {"member": b"m", "host agent": b"k"}
_ROLES: dict[bytes, Role] = {b"m": "member", b"k": "host agent"}
# What each HMAC is for. All that follows a label has one length, so no two uses hash the same bytes.
_JOINER, _LISTENER = b"proof of the joiner", b"proof of the listener"
_TO_JOINER, _TO_LISTENER = b"messages to the joiner", b"messages to the listener"


class ProofError(Exception):
    """Error of an exchange in which the other side did not prove that it knows the secret."""


@dataclass(frozen=True)
class Keys:
    """Keys of one connection, one for each direction. **Fields**: `sending`, `receiving`, 32 bytes each."""

    sending: bytes
    receiving: bytes


def admit(key: bytes, nonce: bytes) -> Exchange[tuple[Role, Keys]]:
    """Take the listener's side; return the joiner's role and the keys.

    **Raises** `ProofError` if the joiner does not know the secret, after a refusal has been sent.
    """
    answer = bytes((yield PROTOCOL + nonce, ANSWER_SIZE))
    mark, other, proof = answer[:1], answer[1 : 1 + NONCE_SIZE], answer[1 + NONCE_SIZE :]
    transcript = PROTOCOL + mark + nonce + other
    role = _ROLES.get(mark)
    if not hmac.compare_digest(proof, _mac(key, _JOINER, transcript)) or role is None:
        yield REFUSAL, 0
        raise ProofError("it did not prove that it knows the secret")
    yield _mac(key, _LISTENER, transcript), 0
    return role, Keys(_mac(key, _TO_JOINER, transcript), _mac(key, _TO_LISTENER, transcript))


def join(key: bytes, role: Role, nonce: bytes) -> Exchange[Keys]:
    """Take the joiner's side; return the keys.

    **Raises** `ProofError` if the listener does not know the secret, or speaks another protocol.
    """
    greeting = bytes((yield b"", GREETING_SIZE))
    if not greeting.startswith(PROTOCOL):
        raise ProofError(f"it does not speak the protocol of this version of accord; it said {greeting!r}")
    mark = _MARKS[role]
    transcript = PROTOCOL + mark + greeting[len(PROTOCOL) :] + nonce
    verdict = yield mark + nonce + _mac(key, _JOINER, transcript), DIGEST_SIZE
    if not hmac.compare_digest(verdict, _mac(key, _LISTENER, transcript)):
        raise ProofError("it did not prove that it knows the secret")
    return Keys(_mac(key, _TO_LISTENER, transcript), _mac(key, _TO_JOINER, transcript))


def _mac(key: bytes, label: bytes, transcript: bytes) -> bytes:
    return hmac.digest(key, label + b"\0" + transcript, DIGEST)
