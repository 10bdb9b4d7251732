"""Sum a model's discrete unknowns out by evaluating it at each combination of their values."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from accord import handlers
from accord.core.errors import SiteError

Supports = Mapping[str, tuple[Sequence[int], tuple[int, ...]]]
"""By site, the values that an entry may take, and the shape of the site."""


class BruteForce:
    """A model with its discrete unknowns observed, at each combination of values.

    **Fields**: `values`, by site, shape `(combination, *shape)`.
    """

    def __init__(self, model: Any, supports: Supports) -> None:
        """List the combinations, and make the density of the model given the first of them."""
        sizes = [int(np.prod(shape, dtype=int)) for _, shape in supports.values()]
        each = [v for (v, _), size in zip(supports.values(), sizes, strict=True) for _ in range(size)]
        rows = np.array([*itertools.product(*each)], dtype=np.int32)
        ends = np.cumsum(sizes)
        self.values = {
            name: rows[:, end - size : end].reshape(-1, *shape)
            for (name, (_, shape)), size, end in zip(supports.items(), sizes, ends, strict=True)
        }
        self.density = self._at_the_first_possible(model, len(rows))

    def _at_the_first_possible(self, model: Any, num_rows: int) -> Any:
        for row in range(num_rows):
            try:
                given = {name: value[row] for name, value in self.values.items()}
                return handlers.condition(model, given).log_density()
            except SiteError:  # outside of a support, which is told of data that are numbers
                continue
        raise AssertionError("no combination of values is possible")

    def log_densities(self, position: Any) -> Any:
        """Evaluate all combinations, shape `(combination,)`; -inf for those that cannot be."""

        def at(values: Any) -> Any:
            given = {f"condition/{name}": each for name, each in values.items()}
            return self.density.with_data({**self.density.data, **given})(position)

        return jax.lax.map(at, self.values, batch_size=256)

    def value_and_grad(self, position: Any) -> tuple[Any, Any]:
        """Evaluate the sum over all combinations, and its gradient."""
        each, gradients = jax.jit(self._each)(position)
        total = jax.scipy.special.logsumexp(each)
        weights = jnp.exp(each - total)[:, None]
        return total, jnp.where(weights > 0, weights * gradients, 0.0).sum(0)

    def _each(self, position: Any) -> tuple[Any, Any]:
        along = [jax.jvp(self.log_densities, (position,), (axis,)) for axis in jnp.eye(position.size)]
        return along[0][0], jnp.stack([slope for _, slope in along], axis=-1)

    def marginals(self, position: Any, name: str, num_values: int) -> Any:
        """Compute the probabilities of a site's values given the rest, shape `(value, *shape)`."""
        each = self.log_densities(position)
        weights = jnp.exp(each - jax.scipy.special.logsumexp(each))
        is_value = self.values[name][None] == np.arange(num_values).reshape(
            (-1,) + (1,) * self.values[name].ndim
        )
        return jnp.tensordot(weights, jnp.moveaxis(jnp.asarray(is_value, float), 1, 0), 1)
