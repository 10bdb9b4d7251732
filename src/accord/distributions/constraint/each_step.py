"""Constrain the steps of a series, each by its own bounds."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...core.by_step import Flags, at_each_step
from .base import Constraint
from .combine import Cat, Independent
from .either import Either


class EachStep(Constraint):
    """Series along the first axis, in which each step has its own constraint.

    **Fields**
    - `base`: a constraint whose bounds may have a first axis of steps; `by_step`, for each of its leaves, whether.
    """

    base: Constraint
    by_step: Flags = eqx.field(static=True)

    @property
    def is_discrete(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Return whether the set is countable."""
        return self.base.is_discrete

    @property
    def event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Trailing axes of a value that form one event."""
        return self.base.event_dim

    def __call__(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and (aligned := self.aligned(value.ndim)) is not None:
            return aligned(value)
        return at_each_step(
            lambda base, value: jnp.asarray(base(value)), self.base, self.by_step, jnp.asarray(value)
        )

    def feasible_like(self, value: Any) -> jax.Array:
        return at_each_step(
            lambda base, value: base.feasible_like(value), self.base, self.by_step, jnp.asarray(value)
        )

    def describe(self) -> str:
        return self.base.describe()

    def aligned(self, ndim: int) -> Constraint | None:
        """Return the set for a NumPy series with this many axes, its bounds given as many axes; None if impossible.

        NumPy has no `vmap`, and JAX's would compile a program. Bounds must be NumPy arrays, of a single set.
        """
        inner = self.base
        while isinstance(inner, Independent):
            inner = inner.base
        if isinstance(inner, Cat | Either | EachStep):
            return None
        leaves, structure = jax.tree.flatten(self.base)
        num_axes = ndim - inner.event_dim
        bounds = []
        for leaf, is_own in zip(leaves, self.by_step, strict=True):
            if is_own and isinstance(leaf, np.ndarray):
                leaf = leaf.reshape(leaf.shape[0], *(1,) * (num_axes - leaf.ndim), *leaf.shape[1:])
            elif is_own:
                return None
            bounds.append(leaf)
        return jax.tree.unflatten(structure, bounds)
