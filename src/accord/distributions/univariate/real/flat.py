"""Define improper flat priors on the real line and on a half-line."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint


class Flat(AbstractDistribution):
    """Improper flat prior on the real line, with density 1; it cannot be sampled.

    **Density**: `1`; it does not integrate to one.

    **Source**: Jeffreys (1961), Theory of Probability, section 3.1.
    """

    @property
    def support(self) -> Constraint:
        return constraints.real

    def log_prob(self, value: Any) -> jax.Array:
        (x,) = align(value)
        return jnp.where(jnp.isnan(x), x, 0.0)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        del key, sample_shape
        raise self.refuse("it has no draws, since it does not integrate to one", "Draw from a proper prior.")


class FlatPos(AbstractDistribution):
    """Improper flat prior above a bound, with density 1; it cannot be sampled.

    **Fields**
    - `lower`: the bound, any real; it may be traced.

    **Density**: `1` for x > lower; it does not integrate to one.

    **Source**: Jeffreys (1961), Theory of Probability, section 3.1.
    """

    lower: Any
    parameters: ClassVar[dict[str, Constraint]] = {"lower": constraints.real}

    @property
    def support(self) -> Constraint:
        return constraints.greater_than(self.lower)

    def log_prob(self, value: Any) -> jax.Array:
        x, lower = align(value, self.lower)
        return jnp.where(jnp.isnan(x), x, jnp.where(x <= lower, -jnp.inf, 0.0))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        del key, sample_shape
        raise self.refuse("it has no draws, since it does not integrate to one", "Draw from a proper prior.")
