"""Define product distributions: independent elements of any families."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.tracebacks import entry_point
from .. import constraint as c
from ..base import AbstractDistribution, Shape


class ProductDistribution(AbstractDistribution):
    """Product distribution: a vector of independent variables, each with its own distribution.

    **Fields**
    - `components`: univariate distributions, all continuous or all discrete, whose batch shapes broadcast.

    **Density**: `f_1(x_1) ... f_n(x_n)`.

    **Source**: Casella & Berger (2002), Statistical Inference, definition 4.6.5.
    """

    components: tuple[AbstractDistribution, ...]

    def __check_init__(self) -> None:
        if not self.components:
            raise self.refuse("got no distributions", "Give at least one.")
        for component in self.components:
            if component.event_shape:
                raise self.refuse(
                    f"{type(component).__name__} has event shape {component.event_shape}",
                    "Give univariate distributions.",
                )
        if len({component.is_discrete for component in self.components}) > 1:
            raise self.refuse(
                "some of the distributions are discrete and some are not", "Make one product for each kind."
            )

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(*(component.batch_shape for component in self.components))

    @property
    def event_shape(self) -> Shape:
        return (len(self.components),)

    @property
    def dtype(self) -> np.dtype:
        return max((component.dtype for component in self.components), key=lambda dtype: dtype.itemsize)

    @property
    def support(self) -> c.Constraint:
        return c.Independent(c.Cat(tuple(component.support for component in self.components), -1), 1)

    @property
    def mean(self) -> jax.Array:
        return self._stack([component.mean for component in self._expanded()])

    @property
    def variance(self) -> jax.Array:
        return self._stack([component.variance for component in self._expanded()])

    @property
    def mode(self) -> jax.Array:
        return self._stack([component.mode for component in self._expanded()])

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        terms = [component.log_prob(value[..., i]) for i, component in enumerate(self._expanded())]
        shape = jnp.broadcast_shapes(*(term.shape for term in terms))
        return sum(
            (jnp.broadcast_to(term, shape).astype(self.dtype) for term in terms), jnp.zeros(shape, self.dtype)
        )

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        keys = jax.random.split(key, len(self.components))
        draws = [d.sample(k, sample_shape) for d, k in zip(self._expanded(), keys, strict=True)]
        return jnp.stack(draws, axis=-1) if self.is_discrete else self._stack(draws)

    def entropy(self) -> jax.Array:
        return self._stack([component.entropy() for component in self._expanded()]).sum(axis=-1)

    def _expanded(self) -> list[AbstractDistribution]:
        """Return the components, each with the whole batch shape."""
        return [component.expand(self.batch_shape) for component in self.components]

    def _stack(self, parts: list[jax.Array]) -> jax.Array:
        """Stack results of the components, in one dtype."""
        return jnp.stack([part.astype(self.dtype) for part in parts], axis=-1)


@entry_point
def product_distribution(distributions: Sequence[AbstractDistribution]) -> ProductDistribution:
    """Build the distribution of a vector of independent variables, one for each univariate distribution given."""
    return ProductDistribution(tuple(distributions))
