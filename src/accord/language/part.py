"""Take a part of the entries of a plate at random, without replacement."""

from dataclasses import dataclass
from math import isqrt
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, UInt32


@dataclass(frozen=True, eq=False)
class Settled:
    """The entries of a plate that inference has settled: a part by this key, or all of them without one."""

    key: Any = None


SHUFFLED = 512
"""Entries, up to which all are shuffled, which takes XLA milliseconds for thousands. Of more, only those that are taken
are computed."""

_ROUNDS = 8


def part_of(key: Any, size: int, count: int) -> Int[Array, " count"]:
    """Return `count` different numbers below `size`, by a JAX key: its first places under a permutation.

    Up to `SHUFFLED` entries, every permutation is as probable. Else it is one of a Feistel cipher, of which an entry
    costs the same however many there are; with fewer entries, distances between them would not be uniform.

    **Source**: Luby & Rackoff (1988), SIAM Journal on Computing 17(2); on numbers that are no power of 2, Black &
    Rogaway (2002), "Ciphers with arbitrary finite domains".
    """
    if size <= SHUFFLED:
        return jax.random.choice(key, size, (count,), replace=False)
    low = isqrt(size - 1) + 1
    high = -(-size // low)
    words = jax.random.bits(key, (_ROUNDS, 2), jnp.uint32)

    def encrypted(number: Array) -> Array:
        """Permute the numbers below `low * high`, of which hardly any are `size` or more."""
        left, right = number // low, number % low
        for at in range(0, _ROUNDS, 2):
            left = (left + _mixed(right, words[at]) % high) % high
            right = (right + _mixed(left, words[at + 1]) % low) % low
        return left * low + right

    first = encrypted(jnp.arange(count, dtype=jnp.uint32))
    # A number outside goes on along its own cycle until it is inside, where no other one arrives.
    inside = jax.lax.while_loop(
        lambda numbers: jnp.any(numbers >= size),
        lambda numbers: jnp.where(numbers >= size, encrypted(numbers), numbers),
        first,
    )
    return inside.astype(jnp.int32)


def _mixed(number: Array, words: UInt32[Array, " 2"]) -> Array:
    """Mix the bits of numbers with two words, by the finalizer of MurmurHash3 (Appleby, 2008)."""
    mixed = number * jnp.uint32(0x9E3779B1) ^ words[0]
    mixed = (mixed ^ mixed >> 16) * jnp.uint32(0x85EBCA6B)
    mixed = (mixed ^ mixed >> 13) * jnp.uint32(0xC2B2AE35) + words[1]
    mixed = (mixed ^ mixed >> 16) * jnp.uint32(0x85EBCA6B)
    return mixed ^ mixed >> 15
