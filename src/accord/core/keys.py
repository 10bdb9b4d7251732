"""Derive every random number of a run from its purpose: (seed, chain, draw, use).

A key is two 32-bit words. Nothing is split and carried in run order, so a draw's numbers are the same whether it is
made alone, after an interruption, or in another process. The same arithmetic runs on the host (NumPy) and inside
compiled programs (JAX).

The block cipher is written out here, unrolled, because JAX's own threefry lowers to a loop on CPU, which would cost
more than a leapfrog step of a small model.

**Source**: Salmon, Moraes, Dror & Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3"; Threefry-2x32-20, the
generator that JAX uses.
"""

from operator import xor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .errors import OptionError
from .options import shown

# Purposes of a chain's random numbers, folded into the chain's key, so that streams never overlap.
USE_DRAW = 0
USE_TUNE = 1
USE_START = 2
USE_SIMULATE = 3
USE_SIMULATION_SEED = 4
USE_PREDICT = 5
USE_LAPLACE = 6
USE_COLLAPSED = 7
USE_START_WHOLE = 8
USE_FORMULA = 9
USE_BATCH = 10
USE_FIT = 11
USE_GUIDE = 12
USE_PATH = 13
USE_PATH_DRAW = 14
USE_RESAMPLE = 15
USE_PARTICLE = 16
USE_MOVE = 17
USE_PROBE = 18
USE_BRIDGE = 32
USE_FOLDS = 33
USE_FOLD_SEED = 34
USE_BOOTSTRAP = 35
USE_FILTER = 40
USE_PILOT = 41
USE_PROGRAM = 48
USE_POOLED = 49
USE_IMPORTANCE = 50
USE_TIE = 51

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


def threefry(key: tuple[Any, Any], counter: tuple[Any, Any]) -> tuple[Any, Any]:
    """Encrypt two words of counter with two words of key; uint32 scalars or arrays, NumPy or JAX.

    With JAX, key words are scalars and counters have any one shape.
    """
    if isinstance(counter[1], jax.Array):
        key = (jnp.broadcast_to(key[0], counter[1].shape), jnp.broadcast_to(key[1], counter[1].shape))
        return _rounds(key, counter, jax.lax.add, _rotate_traced, jax.lax.bitwise_xor)
    return _rounds(key, counter, np.add, _rotate, np.bitwise_xor)


def _rounds(key: Any, counter: Any, add: Any, rotate: Any, either: Any) -> tuple[Any, Any]:
    like = key[0]
    schedule = (key[0], key[1], either(either(key[0], key[1]), _constant(_PARITY, like)))
    x, y = add(counter[0], schedule[0]), add(counter[1], schedule[1])
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = add(x, y)
            y = either(rotate(y, rotation), x)
        x = add(x, schedule[(group + 1) % 3])
        y = add(y, add(schedule[(group + 2) % 3], _constant(np.uint32(group + 1), like)))
    return x, y


def _constant(value: np.uint32, like: Any) -> Any:
    if isinstance(like, int):
        return int(value)
    return jax.lax.full_like(like, value) if isinstance(like, jax.Array) else value


def _add_ints(first: int, second: int) -> int:
    return (first + second) & 0xFFFFFFFF


def _rotate_int(word: int, count: int) -> int:
    return (word << count | word >> (32 - count)) & 0xFFFFFFFF


def _rotate(word: Any, count: int) -> Any:
    return (word << np.uint32(count)) | (word >> np.uint32(32 - count))


def _rotate_traced(word: jax.Array, count: int) -> jax.Array:
    # The operations of `jax.lax` trace several times faster than the operators, and there are hundreds of them.
    left = jax.lax.shift_left(word, jax.lax.full_like(word, count))
    right = jax.lax.shift_right_logical(word, jax.lax.full_like(word, 32 - count))
    return jax.lax.bitwise_or(left, right)


def fold(key: Any, number: Any) -> Any:
    """Derive the key of item `number` (uint32 scalar) from `key`, shape `(2,)`; on the host or in a program."""
    if isinstance(number, jax.Array):
        zero = jax.lax.full_like(number, 0)
        return jnp.stack(threefry((key[0], key[1]), (zero, number)))
    if np.ndim(number) == 0 and np.ndim(key) == 1:
        return _of_ints(key, (0, int(number)))
    with np.errstate(over="ignore"):  # the cipher relies on wrap-around
        return np.stack(threefry((key[0], key[1]), (np.uint32(0), number)))


def _of_ints(key: Any, counter: tuple[int, int]) -> np.ndarray:
    """Encrypt one block on the host with Python integers, several times faster than NumPy scalars."""
    words = _rounds((int(key[0]), int(key[1])), counter, _add_ints, _rotate_int, xor)
    return np.array(words, np.uint32)


def item(key: Any, use: Any, number: Any) -> Any:
    """Return the key of item `number` of stream `use` (both uint32) of a chain's key; shapes as for `fold`.

    It takes one block of the cipher, where two folds take two. The counter's first word is never 0, the one of `fold`.
    """
    if isinstance(number, jax.Array):
        first = use + np.uint32(1)
        return jnp.stack(threefry((key[0], key[1]), (jnp.broadcast_to(first, number.shape), number)))
    if np.ndim(number) == 0 and np.ndim(key) == 1:
        return _of_ints(key, (int(use) + 1, int(number)))
    with np.errstate(over="ignore"):
        return np.stack(threefry((key[0], key[1]), (use + np.uint32(1), number)))


def chain_key(seed: int, chain: int) -> np.ndarray:
    """Return the key of one chain, shape `(2,)` uint32, from the run's seed and the chain's number.

    **Raises** `OptionError` for a seed outside [0, 2**64).
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= int(seed) < 2**64:
        raise OptionError(f"seed must be an integer in [0, 2**64), got {shown(seed)}.")
    root = np.array([int(seed) >> 32, int(seed) & 0xFFFFFFFF], np.uint32)
    return fold(root, np.uint32(chain))


def generator(key: np.ndarray, use: int, number: int) -> np.random.Generator:
    """Return a NumPy generator for host-side work (starting points), at `number` of stream `use` of a chain's key."""
    return generator_of(fold(fold(key, np.uint32(use)), np.uint32(number)))


def generator_of(words: np.ndarray) -> np.random.Generator:
    """Return the NumPy generator seeded by two words."""
    return np.random.Generator(np.random.Philox(key=int(words[0]) << 32 | int(words[1])))


def words(key: np.ndarray, use: int, count: int) -> np.ndarray:
    """Return the words for items 0, 1, ... of stream `use` of a chain's key, shape `(count, 2)` uint32.

    They make a JAX key (`jax.random.wrap_key_data`), or a NumPy generator (`generator_of`).
    """
    return np.ascontiguousarray(fold(fold(key, np.uint32(use)), np.arange(count, dtype=np.uint32)).T)


def of_numbers(numbers: jax.Array) -> jax.Array:
    """Return the key, shape `(2,)` uint32, of floats of shape `(n,)`: a function of all their bits.

    The words of each number are encrypted with its position, then added up.
    """
    words = jax.lax.bitcast_convert_type(numbers, jnp.uint32).reshape(numbers.size, -1)
    place = jnp.arange(numbers.size, dtype=jnp.uint32)
    found = threefry((words[:, 0], words[:, -1]), (jnp.full_like(place, USE_COLLAPSED), place))
    return jnp.stack([jnp.sum(each, dtype=jnp.uint32) for each in found])


def uniform(key: jax.Array, first: Any, second: Any, dtype: Any) -> jax.Array:
    """Draw uniform numbers in (0, 1), never 0 nor 1, at counters `(first, second)` of a key; shape of the counters."""
    words = threefry((key[0], key[1]), (jnp.asarray(first), jnp.asarray(second)))
    if dtype == jnp.float32:
        return ((words[0] >> np.uint32(9)).astype(dtype) + np.float32(0.5)) * np.float32(2.0**-23)
    # 52 bits and the middle of their cell: with 53, the last cell's middle would round to one.
    high = (words[0] >> np.uint32(6)).astype(dtype) * 2.0**-26
    low = (words[1] >> np.uint32(6)).astype(dtype) * 2.0**-52
    return high + low + 2.0**-53


def uniforms(key: jax.Array, first: Any, second: Any, dtype: Any) -> tuple[jax.Array, jax.Array]:
    """Draw two independent uniform numbers in (0, 1), never 0 nor 1, from one cipher block; shape of the counters.

    They have 32 bits each (23 in float32), which is enough for choices: probabilities are off by 1e-10 at most.
    """
    words = threefry((key[0], key[1]), (jnp.asarray(first), jnp.asarray(second)))
    bits = 23 if dtype == jnp.float32 else 32
    half, cell = np.asarray(0.5, dtype), np.asarray(2.0**-bits, dtype)
    one, other = (((word >> np.uint32(32 - bits)).astype(dtype) + half) * cell for word in words)
    return one, other


def normal(key: jax.Array, size: int, stream: int | jax.Array, dtype: Any) -> jax.Array:
    """Draw standard normal numbers, shape `(size,)`, at stream `stream` of a key, by the inverse cdf."""
    return normal_from(uniforms_for_normal(key, size, stream, dtype))


def uniforms_for_normal(key: jax.Array, size: int, stream: int | jax.Array, dtype: Any) -> jax.Array:
    """Draw the uniform numbers from which `normal` makes its own; see there."""
    counters = jnp.arange(size, dtype=jnp.uint32)
    return uniform(key, counters, jnp.full_like(counters, stream), dtype)


def normal_from(u: jax.Array) -> jax.Array:
    """Map uniform numbers in (0, 1) to standard normal ones."""
    return np.sqrt(2.0).astype(u.dtype) * jax.lax.erf_inv(2 * u - 1)
