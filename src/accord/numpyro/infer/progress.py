"""Take the steps of a fit in blocks, after each of which its progress is written."""

import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..compiled import compiled

_BLOCKS = 20


def in_blocks(
    step: Callable[[Any, Any], tuple[Any, Any]],
    state: Any,
    num_steps: int,
    word: str,
    what: str,
    *,
    is_shown: bool,
) -> tuple[Any, jax.Array]:
    """Take steps from a state; return the last one, and a number of each step.

    **Arguments**: `word`, with which a line of progress begins; `what` the numbers are.
    """
    size = max(num_steps // _BLOCKS, 1) if is_shown else num_steps
    kind = jax.eval_shape(step, state, None)[1]

    def steps(state: Any, count: Any) -> tuple[Any, jax.Array]:
        # The number of steps is an argument, so that the last block, which may be shorter, compiles nothing.
        def one(i: Any, carry: Any) -> Any:
            state, numbers = carry
            state, number = step(state, None)
            return state, numbers.at[i].set(number)

        return jax.lax.fori_loop(0, count, one, (state, jnp.zeros((size, *kind.shape), kind.dtype)))

    block = compiled(steps)
    found: list[Any] = []
    for done in range(0, num_steps, size):
        count = min(size, num_steps - done)
        state, numbers = block(state, count)
        found.append(numbers[:count])
        if is_shown:
            _tell(done + count, num_steps, found[-1], word, what)
    return state, jnp.concatenate(found)


def _tell(done: int, count: int, numbers: Any, word: str, what: str) -> None:
    """Write how far a fit is; to a terminal over the line before."""
    mean = float(np.nanmean(np.asarray(numbers))) if np.isfinite(numbers).any() else float("nan")
    end = "\r" if sys.stderr.isatty() and done < count else "\n"
    sys.stderr.write(f"{word}: {done}/{count}; mean {what} of the last {len(numbers)} {mean:.4f}{end}")
    sys.stderr.flush()
