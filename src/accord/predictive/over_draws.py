"""Compute something for every draw, block by block, in the workers of an executor.

Draws are read as they are needed; the result has to fit into memory. A draw's random numbers are a function of
(seed, chain, draw).
"""

import itertools
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from ..core import keys
from ..core.errors import OptionError
from ..core.series import AbstractSeries
from ..density.joint import Predictive
from ..executors import AbstractExecutor
from ..runs.memory import free_bytes
from .blocks import Block, Computed, check_executor, each_block
from .job import Evaluate, Job, num_bytes
from .source import Source, float_values

_SHARE = 0.9  # of the memory that is free


def over_draws(
    function: str,
    target: Predictive,
    source: Source,
    evaluate: Evaluate,
    *,
    executor: AbstractExecutor | None = None,
    seed: int = 0,
    num_draws: int | None = None,
    use: int = keys.USE_PREDICT,
) -> Any:
    """The tree of arrays that `evaluate(target, values, key)` returns for each draw, with axes `(chain, draw, ...)`.

    `num_draws` is of use where there are no draws to go by; `function`, of `infer`, is whose options these are; `use`,
    of `core.keys`, what the random numbers are for.

    **Raises** `OptionError` for a seed or an executor that cannot be, and where the result would not fit into memory.
    """
    where = check_executor(function, executor)
    count = source.num_draws if num_draws is None else num_draws
    num_chains = len(source.chains)
    key_words = [keys.words(keys.chain_key(seed, chain), use, count) for chain in source.chains]
    like = {name: _one(source.series, name, target) for name in target.read}
    job = Job.of(target, evaluate, like, where.pace.predicted_rows)
    leaves, structure = jax.tree.flatten(job.result)
    if not leaves:
        return job.result
    _check_memory(num_chains * count * num_bytes(leaves))
    found = [np.empty((num_chains, count, *leaf.shape), leaf.dtype) for leaf in leaves]

    numbers = itertools.count()

    def cut(rows: int) -> Iterator[Block]:
        readers = {name: _Reader(source.series.pieces(name)) for name in target.read}
        for place in range(num_chains):
            for start in range(0, count, rows):
                num = min(rows, count - start)
                values = {name: reader.take(num) for name, reader in readers.items()}
                yield Block(
                    next(numbers),
                    place,
                    start,
                    num,
                    key_words[place][start : start + num],
                    {
                        name: target.takings[name](float_values(values[name], target.precision))
                        for name in values
                    },
                )

    def keep(some: Computed) -> None:
        for array, leaf in zip(found, some.leaves, strict=True):
            array[some.place, some.start : some.start + len(leaf)] = leaf

    each_block(job, where, num_chains * count, cut, keep)
    return jax.tree.unflatten(structure, found)


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
    return jax.ShapeDtypeStruct(target.layout[name].shape, dtype)


def _check_memory(needed: int) -> None:
    free = free_bytes()
    if free is not None and needed > _SHARE * free:
        raise OptionError(
            f"the result would take {needed / 2**30:.3g} GiB, and {free / 2**30:.3g} GiB are free. Name what you need "
            "by sites=[...], or use fewer draws: {name: draws[name][:, ::10] for name in draws}."
        )
