"""Compute something for every draw, in blocks, one draw after the other.

One at a time, because in a batch the bits of a draw could depend on what stands beside it: so they do not depend on the
size of blocks, nor on the other chains. A draw's random numbers are a function of (seed, chain, draw).
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core import keys
from ...core import precision as precisions
from ...core.errors import OptionError
from ...core.series import AbstractSeries
from ...core.tree import to_numpy
from ...density.predictive import Predictive
from ..compiled import compile_alone
from ..memory import free_bytes
from .source import Source, float_values

_BLOCK_BYTES = 2**24
_MAX_ROWS = 1024
_SHARE = 0.9  # of the memory that is free


def over_draws(
    target: Predictive,
    source: Source,
    function: Callable[[Predictive, Mapping[str, Any], jax.Array], Any],
    *,
    seed: int = 0,
    num_draws: int | None = None,
) -> Any:
    """The tree of arrays that `function(target, values, key)` returns for each draw, with axes `(chain, draw, ...)`.

    `num_draws` is of use where there are no draws to go by.

    **Raises** `OptionError` for a seed that cannot be, and where the result would not fit into memory.
    """
    count = source.num_draws if num_draws is None else num_draws
    key_words = [keys.words(keys.chain_key(seed, chain), keys.USE_PREDICT, count) for chain in source.chains]
    series, names = source.series, target.given
    like = {name: _one(series, name, target) for name in names}

    def one(target: Predictive, words: Any, values: Any) -> Any:
        return function(target, values, jax.random.wrap_key_data(words, impl="threefry2x32"))

    with precisions.scope(target.precision):
        words = jax.ShapeDtypeStruct((2,), np.uint32)
        shapes = jax.eval_shape(lambda words, values: one(target, words, values), words, like)
        leaves, structure = jax.tree.flatten(shapes)
        if not leaves:
            return shapes
        _check_memory(len(source.chains) * count * _bytes(leaves))
        rows = _rows(_bytes(leaves) + _bytes(like.values()))
        program = compile_alone(
            target,
            lambda target, words, values, count: _program(one, rows)(target, words, values, count),
            *_stacked((words, like), rows),
            np.int32(0),
        )
        found = [np.empty((len(source.chains), count, *leaf.shape), leaf.dtype) for leaf in leaves]
        for place, start, values in _blocks(series, names, len(source.chains), count, rows):
            num = min(rows, count - start)
            values = {name: _padded(float_values(values[name], target.precision), rows) for name in names}
            some = program(_padded(key_words[place][start : start + num], rows), values, np.int32(num))
            for array, leaf in zip(found, jax.tree.leaves(to_numpy(some)), strict=True):
                array[place, start : start + num] = leaf[:num]
    return jax.tree.unflatten(structure, found)


def _program(one: Callable[..., Any], rows: int) -> Callable[..., Any]:
    """The first `count` rows of a block, one by one; the others are left zero."""

    def run(target: Predictive, words: Any, values: Any, count: Any) -> Any:
        def of_row(row: Any) -> Any:
            words_here, values_here = jax.tree.map(
                lambda leaf: jax.lax.dynamic_index_in_dim(leaf, row, keepdims=False), (words, values)
            )
            return one(target, words_here, values_here)

        def put(row: Any, out: Any) -> Any:
            return jax.tree.map(
                lambda array, value: jax.lax.dynamic_update_index_in_dim(array, value, row, 0),
                out,
                of_row(row),
            )

        like = jax.eval_shape(of_row, np.int32(0))
        out = jax.tree.map(lambda leaf: jnp.zeros((rows, *leaf.shape), leaf.dtype), like)
        return jax.lax.fori_loop(0, count, put, out)

    return run


def _blocks(
    series: AbstractSeries, names: tuple[str, ...], num_chains: int, num_draws: int, rows: int
) -> Iterator[tuple[int, int, dict[str, np.ndarray]]]:
    """Blocks of draws in order: which chain, from which draw, and the draws, which are read as they are needed."""
    readers = {name: _Reader(series.pieces(name)) for name in names}
    for chain in range(num_chains):
        for start in range(0, num_draws, rows):
            num = min(rows, num_draws - start)
            yield chain, start, {name: reader.take(num) for name, reader in readers.items()}


class _Reader:
    """Take so many draws from pieces of any size; belongs to one call of `over_draws`."""

    def __init__(self, pieces: Iterator[np.ndarray]):
        self._pieces = pieces
        self._rest: np.ndarray | None = None

    def take(self, count: int) -> np.ndarray:
        parts: list[np.ndarray] = []
        while count:
            piece = next(self._pieces) if self._rest is None or not len(self._rest) else self._rest
            parts.append(piece[:count])
            self._rest = piece[count:]
            count -= len(parts[-1])
        return np.concatenate(parts)


def _one(series: AbstractSeries, name: str, target: Predictive) -> jax.ShapeDtypeStruct:
    piece = next(series.pieces(name))
    dtype = float_values(piece[:0], target.precision).dtype
    return jax.ShapeDtypeStruct(series.shape(name)[2:], dtype)


def _stacked(tree: Any, rows: int) -> Any:
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((rows, *leaf.shape), leaf.dtype), tree)


def _padded(array: np.ndarray, rows: int) -> np.ndarray:
    if len(array) == rows:
        return array
    return np.concatenate([array, np.zeros((rows - len(array), *array.shape[1:]), array.dtype)])


def _bytes(leaves: Any) -> int:
    return sum(math.prod(leaf.shape) * np.dtype(leaf.dtype).itemsize for leaf in leaves)


def _rows(row_bytes: int) -> int:
    """How many draws a block has room for, a power of two: fixed by the program, whatever number of draws there are."""
    room = max(min(_BLOCK_BYTES // max(row_bytes, 1), _MAX_ROWS), 1)
    return 2 ** (room.bit_length() - 1)


def _check_memory(needed: int) -> None:
    free = free_bytes()
    if free is not None and needed > _SHARE * free:
        raise OptionError(
            f"the result would take {needed / 2**30:.3g} GiB, and {free / 2**30:.3g} GiB are free. Name what you need "
            "by sites=[...], or use fewer draws: {name: draws[name][:, ::10] for name in draws}."
        )
