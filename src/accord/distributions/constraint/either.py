"""Choose one of two constraints by a condition that may be traced."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .base import Constraint


class Either(Constraint):
    """The set `first` where the condition holds, else `second`.

    **Fields**: `condition`, bool of shape `()`; two sets whose events have as many axes.
    """

    condition: Any
    first: Constraint
    second: Constraint

    @property
    def is_discrete(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Return whether both sets are countable."""
        return self.first.is_discrete and self.second.is_discrete

    @property
    def event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Trailing axes of a value that form one event."""
        return max(self.first.event_dim, self.second.event_dim)

    def __call__(self, value: Any) -> Any:
        where: Any = jnp.where if isinstance(value, jax.Array) else np.where
        return where(self.condition, self.first(value), self.second(value))

    def feasible_like(self, value: Any) -> jax.Array:
        return jnp.where(self.condition, self.first.feasible_like(value), self.second.feasible_like(value))

    def describe(self) -> str:
        return f"{self.first.describe()} or {self.second.describe()}, by a condition"


def either(condition: Any, first: Constraint, second: Constraint) -> Constraint:
    """Return one of two sets; sets of the same kind give that kind, with the chosen bounds."""
    if jax.tree.structure(first) != jax.tree.structure(second):
        return Either(condition, first, second)
    return chosen(condition, first, second)


def chosen(condition: Any, first: Any, second: Any) -> Any:
    """Choose one of two pytrees of equal structure; a number equal in both stays a Python number."""
    return jax.tree.map(lambda a, b: _number(condition, a, b), first, second)


def _number(condition: Any, first: Any, second: Any) -> Any:
    is_number = isinstance(first, bool | int | float) and isinstance(second, bool | int | float)
    return first if is_number and first == second else jnp.where(condition, first, second)
