"""Draw by rejection: propose for all elements at once until each has accepted, in a bounded number of rounds."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def first_accepted(
    key: jax.Array,
    propose: Callable[[jax.Array], tuple[jax.Array, jax.Array]],
    like: jax.Array,
    most_rounds: int,
) -> jax.Array:
    """Return the first accepted proposal of each element, or the last proposal if every round refused.

    **Arguments**
    - `propose`: from a key to proposals and to booleans, True where one is accepted; both of the shape of `like`.
    - `like`: an array of numbers of the shape and dtype of the draws, on which the proposals depend.
    - `most_rounds`: bound on the rounds; the probability that all refuse is below rounding.
    """

    def again(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        i, drawn, done = carry
        proposal, accept = propose(jax.random.fold_in(key, i))
        return i + 1, jnp.where(done, drawn, proposal), done | accept

    # Both depend on the inputs only formally, so that under `shard_map` they vary over the same axes as the results.
    drawn = jnp.zeros_like(like) + 0 * _first_word(key).astype(like.dtype)
    rounds: tuple[Any, jax.Array, jax.Array] = (0, drawn, (drawn != 0) | ((like == like) & False))
    return jax.lax.while_loop(lambda c: (c[0] < most_rounds) & ~c[2].all(), again, rounds)[1]


def _first_word(key: jax.Array) -> jax.Array:
    """Return the first word of a key."""
    return jax.random.key_data(key).reshape(-1)[0]
