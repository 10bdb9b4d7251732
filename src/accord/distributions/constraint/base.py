"""State what a constraint is: a set of values, in words, with a point well inside it."""

from abc import abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import value_hash
from ...core.modules import Module


class Constraint(Module):
    """A set of values.

    **Class variables**
    - `is_discrete`: whether the set is countable.
    - `event_dim`: how many trailing axes of a value form one event.
    - `words`: what a value must be, for messages: "above {lower}", with the fields' names in braces.
    """

    is_discrete: ClassVar[bool] = False
    event_dim: ClassVar[int] = 0
    words: ClassVar[str] = ""

    def __hash__(self) -> int:
        return value_hash(self)

    @abstractmethod
    def __call__(self, value: Any) -> Any:
        """Whether each event lies in the set: booleans of the batch shape. NaN does not."""

    @abstractmethod
    def feasible_like(self, value: Any) -> jax.Array:
        """An array of the shape of `value` whose every event lies well inside the set."""

    def describe(self) -> str:
        """The set in words that continue "it must be"."""
        return self.words.format(**vars(self)) or str(self)


def float_of(value: Any) -> Any:
    """The dtype of `value` where that is floating, else JAX's default float."""
    dtype = jnp.result_type(value)
    return dtype if jnp.issubdtype(dtype, jnp.floating) else jnp.result_type(float)


def repeat(event: np.ndarray, value: Any) -> jax.Array:
    """One event, in the shape and floating dtype of `value`."""
    event = event.reshape((1,) * (np.ndim(value) - event.ndim) + event.shape)
    return jnp.broadcast_to(jnp.asarray(event, float_of(value)), np.shape(value))


def slack(size: int) -> float:
    """How far a sum of `size` float32 parts of order one may be off: each part adds up to 6e-8."""
    return 1e-6 * max(1.0, size / 10)
