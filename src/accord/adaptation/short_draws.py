"""Take shorter steps in some draws after warm-up, where the posterior may be steeper than warm-up saw.

No trajectory of the usual step is accepted there, and the chain would stay in place: a short draw takes it out. Which
draws are short depends on their number alone, so each keeps the posterior as it is.
"""

from typing import Any

import jax.numpy as jnp

from .metric import Care

_MORE_DOUBLINGS = 2  # than usual, with much care: such draws take four times as many steps at most


def shortening(draw: Any, care: Any, dtype: Any) -> Any:
    """Return the factor of the step size in this draw: in a program, or on the host.

    With `Care.LITTLE`, every 16th draw takes steps of a half and a quarter in turn; with `Care.SOME`, of a half, a
    quarter, a half and a 16th; with `Care.MUCH`, every eighth takes steps of a quarter and a 16th in turn.

    **Arguments**: `draw`, its number with warm-up, and `care`, 32-bit integers whose shapes broadcast; `dtype`, of the
    result.
    """
    # Quotients of integers stand for conditions: with strict dtypes, JAX does not add a condition to a number.
    has_any, is_some, is_much = (care + 2) // 3, care // Care.SOME, care // Care.MUCH
    turn, is_16th, is_eighth = (draw >> 4) & 3, (draw & 15) // 15, (draw & 7) // 7
    some = is_16th * (1 + (turn & 1) + 2 * (turn // 3) * is_some)
    much = is_eighth * (2 + 2 * ((draw >> 3) & 1))
    halvings = has_any * (some + is_much * (much - some))
    return 1 / (1 << halvings).astype(dtype)


def max_doublings(factor: Any, care: Any, usual: Any, most: int) -> Any:
    """Return how often the trajectory of a draw may double, given its `shortening`; shape `()`.

    `usual`: doublings of most trajectories in warm-up. `most`: of the kernel. If trajectories with steps of a 16th went
    as far as usual ones, a chain with `Care.MUCH` would take twice the gradients; a quarter of the way does.
    """
    return jnp.where((care == Care.MUCH) & (factor < 1), jnp.minimum(usual + _MORE_DOUBLINGS, most), most)
