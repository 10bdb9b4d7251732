"""Take a part of the entries of a plate at random, without replacement."""

from dataclasses import dataclass
from functools import partial
from math import isqrt
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, UInt32


@dataclass(frozen=True, eq=False)
class Settled:
    """The entries of a plate that inference has settled: a part by this key, or all of them without one.

    **Fields**: `step`, the number of the part: consecutive ones are an epoch, in which no entry comes twice. None is
    the only part of its key.
    """

    key: Any = None
    step: Any = None


SHUFFLED = 512
"""Entries, up to which all are shuffled, which takes XLA milliseconds for thousands. Of more, only those that are taken
are computed."""

_ROUNDS = 8


@partial(jax.jit, static_argnames=("size", "count"), inline=True)  # traced once, however often a model is
def part_of(key: Any, size: int, count: int, step: Any = None) -> Int[Array, " count"]:
    """Return `count` different numbers below `size`, by a JAX key: its first places under a permutation.

    With `step`, a whole number, they are the next ones under it, and at the end of the permutation another one begins.
    What is left at its end, fewer than `count` places, is left out.

    Up to `SHUFFLED` entries, every permutation is as probable. Else it is one of a Feistel cipher, of which an entry
    costs the same however many there are; with fewer entries, distances between them would not be uniform.

    **Source**: Luby & Rackoff (1988), SIAM Journal on Computing 17(2); on numbers that are no power of 2, Black &
    Rogaway (2002), "Ciphers with arbitrary finite domains".
    """
    begin: Any = 0
    if step is not None:
        num_parts = size // count
        key = jax.random.fold_in(key, step // num_parts)
        begin = step % num_parts * count
    if size <= SHUFFLED:
        return jax.lax.dynamic_slice_in_dim(_shuffled(key, size), begin, count)
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

    first = encrypted(jnp.arange(count, dtype=jnp.uint32) + jnp.asarray(begin, jnp.uint32))
    # A number outside goes on along its own cycle until it is inside, where no other one arrives.
    inside = jax.lax.while_loop(
        lambda numbers: jnp.any(numbers >= size),
        lambda numbers: jnp.where(numbers >= size, encrypted(numbers), numbers),
        first,
    )
    return inside.astype(jnp.int32)


def _shuffled(key: Any, size: int) -> Int[Array, " size"]:
    """Return the numbers below `size`, at most `SHUFFLED`, in a random order.

    Each is the low bits of a random word, and the words are sorted. XLA sorts one array much faster than two, as
    `jax.random.permutation` has it: 400 entries take 15 microseconds in the place of 49, and ten times as many in a
    batch 62 in the place of 1370. Of two words, the bits above are equal in one of 8 million cases, and the smaller
    number is then first.
    """
    low = jnp.uint32(SHUFFLED - 1)
    words = jax.random.bits(key, (size,), jnp.uint32) & ~low | jnp.arange(size, dtype=jnp.uint32)
    return (jax.lax.sort(words, is_stable=False) & low).astype(jnp.int32)


def _mixed(number: Array, words: UInt32[Array, " 2"]) -> Array:
    """Mix the bits of numbers with two words, by the finalizer of MurmurHash3 (Appleby, 2008)."""
    mixed = number * jnp.uint32(0x9E3779B1) ^ words[0]
    mixed = (mixed ^ mixed >> 16) * jnp.uint32(0x85EBCA6B)
    mixed = (mixed ^ mixed >> 13) * jnp.uint32(0xC2B2AE35) + words[1]
    mixed = (mixed ^ mixed >> 16) * jnp.uint32(0x85EBCA6B)
    return mixed ^ mixed >> 15
