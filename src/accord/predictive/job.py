"""Hold what is to be computed for each draw, and the program that does it for a block of draws.

One draw after the other, because in a batch the bits of a draw could depend on what stands beside it: so they do not
depend on the size of blocks, nor on the other chains, nor on the worker that does it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core import precision as precisions
from ..core.tree import to_numpy
from ..density.joint import Predictive
from ..programs.standalone import compile_alone

BLOCK_BYTES = 2**24

Evaluate = Callable[[Predictive, Mapping[str, Any], jax.Array], Any]
"""From a model, the values of a draw and a key to a tree of arrays."""

Program = Callable[[np.ndarray, dict[str, np.ndarray]], list[np.ndarray]]
"""From the words of keys and the values of some draws, by site, to the leaves of the tree, an entry for each draw."""


@dataclass(frozen=True, eq=False)
class Job:
    """Computation to run for each draw.

    **Fields**
    - `target`: the model. `evaluate`: what of it.
    - `like`: by site, shape and dtype of the values of a draw. `result`: the tree for one draw, likewise.
    - `rows`: how many draws a block has room for, a power of two: fixed by what is computed, however many there are.
    """

    target: Predictive
    evaluate: Evaluate
    like: dict[str, jax.ShapeDtypeStruct]
    result: Any
    rows: int

    @staticmethod
    def of(
        target: Predictive, evaluate: Evaluate, like: dict[str, jax.ShapeDtypeStruct], max_rows: int
    ) -> "Job":
        """Trace the computation to find the form of its result; a block has at most `max_rows`."""
        with precisions.scope(target.precision):
            one = _one(evaluate)
            result = jax.eval_shape(lambda words, values: one(target, words, values), _WORDS, like)
        row_bytes = num_bytes(jax.tree.leaves(result)) + num_bytes(like.values())
        room = max(min(BLOCK_BYTES // max(row_bytes, 1), max_rows), 1)
        return Job(target, evaluate, like, result, 2 ** (room.bit_length() - 1))

    def program(self) -> Program:
        """Return the compiled program; it may be called in any thread."""
        precision, rows = self.target.precision, self.rows
        with precisions.scope(precision):
            like = jax.tree.map(
                lambda leaf: jax.ShapeDtypeStruct((rows, *leaf.shape), leaf.dtype), (_WORDS, self.like)
            )
            compiled = compile_alone(self.target, _over_rows(_one(self.evaluate), rows), *like, np.int32(0))

        def run(words: np.ndarray, values: dict[str, np.ndarray]) -> list[np.ndarray]:
            count = len(words)
            with precisions.scope(precision):
                padded = {name: _padded(value, rows) for name, value in values.items()}
                found = to_numpy(compiled(_padded(words, rows), padded, np.int32(count)))
            return [leaf[:count] for leaf in jax.tree.leaves(found)]

        return run


def num_bytes(leaves: Any) -> int:
    """Bytes of one draw."""
    return sum(math.prod(leaf.shape) * np.dtype(leaf.dtype).itemsize for leaf in leaves)


_WORDS = jax.ShapeDtypeStruct((2,), np.uint32)


def _one(evaluate: Evaluate) -> Callable[..., Any]:
    """Run the computation for one draw, with the words of its key."""

    def run(target: Predictive, words: Any, values: Any) -> Any:
        return evaluate(target, values, jax.random.wrap_key_data(words, impl="threefry2x32"))

    return run


def _over_rows(one: Callable[..., Any], rows: int) -> Callable[..., Any]:
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


def _padded(array: np.ndarray, rows: int) -> np.ndarray:
    if len(array) == rows:
        return array
    return np.concatenate([array, np.zeros((rows - len(array), *array.shape[1:]), array.dtype)])
