"""Follow particles back to their ancestors."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

PARTICLES = "particle"
"""Name of the axis of particles, over which a model is vectorised."""


def gathered(tree: Any) -> Any:
    """Return the arrays of all particles, with an axis for them in front; the same for each particle."""
    return jax.tree.map(lambda leaf: jax.lax.all_gather(leaf, PARTICLES), tree)


def chosen(tree: Any, ancestor: Int[Array, ""]) -> Any:
    """Return the arrays of a particle's ancestor."""
    return jax.tree.map(lambda leaf: leaf[ancestor], gathered(tree))


def path_of(slot: Int[Array, ""], ancestors: Int[Array, " step"]) -> tuple[Array, Int[Array, " step"]]:
    """Return where a particle's ancestors were: before the first step, and after each; shape `()`, `(step,)`.

    **Arguments**: `slot`, where the particle is at the end; `ancestors`, of the particle in the same place, of each
    step.
    """

    def back(place: Any, of_all: Any) -> tuple[Any, Any]:
        return of_all[place], place

    every = jnp.moveaxis(gathered(ancestors), 0, 1)
    return jax.lax.scan(back, slot.astype(every.dtype), every, reverse=True)


def along(tree: Any, path: Int[Array, " step"]) -> Any:
    """Return what has steps along its first axes, as it was on a path."""
    steps = jnp.arange(len(path))
    return jax.tree.map(lambda leaf: leaf[path, steps], gathered(tree))


def families(first: Int[Array, " particle"], shares: Array) -> tuple[Array, Array]:
    """Add up the shares of particles with the same first ancestor, in a fixed order.

    **Returns** sums, and which of them are those of whole families, one for each; shape `(particle,)`.
    """
    order = jnp.argsort(first, stable=True)
    first, shares = first[order], shares[order]

    def joined(one: Any, other: Any) -> Any:
        is_same = one[0] == other[0]
        return other[0], jnp.where(is_same, one[1] + other[1], other[1])

    _, sums = jax.lax.associative_scan(joined, (first, shares))
    return sums, jnp.concatenate([first[1:] != first[:-1], jnp.ones(1, bool)])
