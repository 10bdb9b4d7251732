"""Define the base class of constraints: a set of values, described in words, with a point well inside it."""

from abc import abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import value_hash
from ...core.modules import Module


class Constraint(Module):
    """Abstract base class of constraints: a set of permitted values.

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
        """Return whether each event lies in the set, as booleans of the batch shape; False for NaN."""

    @abstractmethod
    def feasible_like(self, value: Any) -> jax.Array:
        """Return an array of the shape of `value` in which every event lies well inside the set."""

    def describe(self) -> str:
        """Describe the set in words that continue "it must be"."""
        return self.words.format(**vars(self)) or str(self)


def float_of(value: Any) -> Any:
    """Return the dtype of `value` if it is floating, else JAX's default float."""
    dtype = jnp.result_type(value)
    return dtype if jnp.issubdtype(dtype, jnp.floating) else jnp.result_type(float)


def repeat(event: np.ndarray, value: Any) -> jax.Array:
    """Repeat one event to the shape and floating dtype of `value`."""
    event = event.reshape((1,) * (np.ndim(value) - event.ndim) + event.shape)
    return jnp.broadcast_to(jnp.asarray(event, float_of(value)), np.shape(value))


def slack(size: int) -> float:
    """Return the rounding error allowed in a sum of `size` float32 parts of order one: 6e-8 for each part."""
    return 1e-6 * max(1.0, size / 10)
