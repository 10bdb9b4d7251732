"""Map over pytrees in which some arrays have one entry per step, along a new first axis."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

Flags = tuple[bool, ...]
"""Flags for the leaves of a pytree, in JAX's order: whether the leaf has an entry for each step."""


def at_each_step(function: Callable[..., Any], tree: Any, by_step: Flags, *values: Any, axis: int = 0) -> Any:
    """Map `function(tree of a step, *values of a step)` over all steps; `axis` holds the steps in values and result.

    Leaves of the tree that are not arrays are the same at each step, and stay unchanged.
    """
    leaves, structure = jax.tree.flatten(tree)
    own = [leaf for leaf, is_own in zip(leaves, by_step, strict=True) if is_own]

    def of_step(own: list[Any], *values: Any) -> Any:
        rest = iter(own)
        now = [next(rest) if is_own else leaf for leaf, is_own in zip(leaves, by_step, strict=True)]
        return function(jax.tree.unflatten(structure, now), *values)

    return jax.vmap(of_step, in_axes=(0, *(axis for _ in values)), out_axes=axis)(own, *values)


def made_at_each_step(function: Callable[[Any], Any], tree: Any, by_step: Flags) -> tuple[Any, Flags]:
    """Map a pytree-valued `function` over the trees of all steps; also return which leaves are per step."""
    rest: list[Any] = []

    def arrays_of(tree: Any) -> Any:
        arrays, other = eqx.partition(function(tree), eqx.is_array)
        rest.append(other)
        return arrays

    if not any(by_step):
        found = function(tree)
        return found, (False,) * len(jax.tree.leaves(found))
    found = eqx.combine(at_each_step(arrays_of, tree, by_step), rest[-1])
    return found, tuple(eqx.is_array(leaf) for leaf in jax.tree.leaves(found))
