"""Split a normal vector with missing elements: observed marginal, and missing given observed.

Vectors have different elements missing, and arrays have one shape: an element that has no part in a computation gets a
unit variance, no covariance and its mean as its value, which adds nothing.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import constraint as c
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..multivariate.normal.multivariate import MultivariateNormal
from ..special import HALF_LOG_TWO_PI
from ..special.basic.linear import by_columns, log_diagonal, lower_factor, multiply, product, solve_lower
from .entries import AbstractEntries, AbstractPart
from .wrappers import ExpandedDistribution


def normal_of(distribution: AbstractDistribution | None) -> MultivariateNormal | None:
    """Return the multivariate normal that a distribution is or repeats; None for another family."""
    while isinstance(distribution, ExpandedDistribution):
        distribution = distribution.base
    return distribution if isinstance(distribution, MultivariateNormal) else None


def part_of(
    distribution: AbstractDistribution | None, shape: Shape, is_there: np.ndarray
) -> AbstractDistribution | None:
    """Return the distribution of the observed elements of vectors."""
    normal = normal_of(distribution)
    return distribution if normal is None else NormalPart(base=normal, shape=shape, is_there=is_there)


class NormalPart(AbstractPart):
    """Normal vectors whose missing elements do not enter the density; they may be any finite numbers.

    **Fields**
    - `base`: the distribution of whole vectors.
    - `shape`: a batch shape to which the batch shape of `base` broadcasts.
    - `is_there`: which elements have a part, shape `(*shape, n)`.

    **Density**: the marginal density of the observed elements, whatever the others are.
    """

    base: MultivariateNormal
    shape: Shape = eqx.field(static=True)
    is_there: np.ndarray

    @property
    def batch_shape(self) -> Shape:
        return self.shape

    @property
    def event_shape(self) -> Shape:
        return self.base.event_shape

    @property
    def dtype(self) -> np.dtype:
        return self.base.dtype

    @property
    def support(self) -> c.Constraint:
        return self.base.support

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        rows = _Rows.of(self.base, self.shape, ~self.is_there)
        whole = jnp.broadcast_to(self.base.log_prob(value), value.shape[:-1])
        flat = whole.reshape(*whole.shape[: whole.ndim - len(self.shape)], -1)
        flat = flat.at[..., rows.numbers].set(rows.log_prob_of_part(rows.taken(value)))
        return flat.reshape(whole.shape)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        """Draw whole vectors."""
        return self.base.expand(self.shape).sample(key, sample_shape)


class NormalEntries(AbstractEntries):
    """Missing elements of normal vectors given the others, in one row: batch shape `(num_entries,)`.

    The elements of a vector depend on each other: their joint log density is assigned to the first, and the others have
    zero.

    **Fields**, besides the fields of `Entries`; `index` is into the flattened `(*shape, n)`:
    - `given`: the vectors, shape `(*shape, n)`; what stands at `index` has no influence.

    **Density**: the density of whole vectors over the density of the observed elements.

    **Source**: Bishop (2006), Pattern Recognition and Machine Learning, section 2.3.1.
    """

    base: MultivariateNormal
    shape: Shape = eqx.field(static=True)
    index: np.ndarray
    given: Any

    @property
    def event_shape(self) -> Shape:
        return ()

    @property
    def support(self) -> c.Constraint:
        return constraints.real

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        rows, whole = self._rows(), self._completed(value)
        vectors = rows.taken(whole)
        given = rows.law.log_prob(vectors) - rows.log_prob_of_part(vectors)
        _, first = np.unique(self.index // whole.shape[-1], return_index=True)
        return jnp.zeros(value.shape, given.dtype).at[..., first].set(given)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        # Draw a whole vector, then shift it by the expectation given its distance from the observed elements.
        rows, n = self._rows(), self.base.event_shape[0]
        drawn = rows.law.expand((len(rows.numbers),)).sample(key, sample_shape)
        given = rows.taken(self._completed(jnp.zeros(self.index.shape, drawn.dtype)))
        found = drawn + rows.expected(jnp.broadcast_to(given, drawn.shape) - drawn)
        place = np.searchsorted(rows.numbers, self.index // n)
        return found[..., place, self.index % n]

    def take(self, weights: Any, event_shape: Shape = ()) -> Any:
        if not np.shape(weights):
            return weights
        xp: Any = jnp if isinstance(weights, jax.Array) else np
        each = self.index // self.base.event_shape[0]
        return xp.broadcast_to(weights, (*self.shape, *event_shape)).reshape(-1, *event_shape)[each]

    def _rows(self) -> "_Rows":
        is_missing = np.zeros(int(np.prod((*self.shape, *self.base.event_shape))), bool)
        is_missing[self.index] = True
        return _Rows.of(self.base, self.shape, is_missing.reshape(*self.shape, -1))

    def _completed(self, value: jax.Array) -> jax.Array:
        shape = (*self.shape, *self.base.event_shape)
        given = jnp.asarray(self.given, value.dtype).reshape(-1)
        flat = jnp.broadcast_to(given, (*value.shape[:-1], given.size)).at[..., self.index].set(value)
        return flat.reshape(*value.shape[:-1], *shape)


class _Rows(eqx.Module):
    """Vectors with missing elements in a batch of this `shape`.

    **Fields**: `numbers`, of them in the flattened batch; `law`, of whole ones, its batch their number or one;
    `is_there`, shape `(num_rows, n)`; `factor`, of the covariance of what is there, `(num_rows, n, n)`.
    """

    shape: Shape = eqx.field(static=True)
    numbers: np.ndarray
    law: MultivariateNormal
    is_there: np.ndarray
    factor: jax.Array

    @staticmethod
    def of(base: MultivariateNormal, shape: Shape, is_missing: np.ndarray) -> "_Rows":
        (n,) = base.event_shape
        flat = is_missing.reshape(-1, n)
        (numbers,) = np.nonzero(flat.any(axis=1))
        is_there = ~flat[numbers]

        def taken(parameter: jax.Array, num_axes: int) -> jax.Array:
            own = parameter.shape[parameter.ndim - num_axes :]
            if parameter.ndim == num_axes:
                return parameter
            return jnp.broadcast_to(parameter, (*shape, *own)).reshape(-1, *own)[numbers]

        factor = lower_factor(base.dtype, base.covariance_matrix, base.precision_matrix, base.scale_tril)
        loc = jnp.broadcast_to(jnp.asarray(base.loc, base.dtype), (*np.shape(base.loc)[:-1], n))
        law = MultivariateNormal(taken(loc, 1), scale_tril=taken(factor, 2))
        # If all vectors share a covariance, factor each pattern of missing elements once.
        patterns, place = np.unique(is_there, axis=0, return_inverse=True)
        if law.scale_tril.ndim > 2:
            patterns, place = is_there, np.arange(len(is_there))
        both = patterns[:, :, None] & patterns[:, None, :]
        covariance = product(law.scale_tril, jnp.swapaxes(law.scale_tril, -1, -2))
        eye = jnp.broadcast_to(jnp.eye(n, dtype=covariance.dtype), both.shape)
        part = jnp.where(both, jnp.broadcast_to(covariance, both.shape), eye)
        return _Rows(shape, numbers, law, is_there, jnp.linalg.cholesky(part)[place.reshape(-1)])

    def taken(self, vectors: jax.Array) -> jax.Array:
        """Select these vectors from `(*sample, *shape, n)`, as `(*sample, num_rows, n)`."""
        sample = vectors.shape[: vectors.ndim - 1 - len(self.shape)]
        return vectors.reshape(*sample, -1, vectors.shape[-1])[..., self.numbers, :]

    def log_prob_of_part(self, vectors: jax.Array) -> jax.Array:
        """Return the log density of the observed elements."""
        white = solve_lower(
            self.factor, self._of_part(vectors - jnp.broadcast_to(self.law.loc, vectors.shape))
        )
        quadratic = (white * white).sum(axis=-1)
        log_volume = log_diagonal(self.factor) + self.is_there.sum(axis=1) * HALF_LOG_TWO_PI
        return -0.5 * quadratic - jnp.broadcast_to(log_volume, quadratic.shape)

    def expected(self, distance: jax.Array) -> jax.Array:
        """Return the expectation of all elements, given the observed elements' distance from their mean."""
        white = solve_lower(self.factor, self._of_part(distance))
        weights = by_columns(self._solve_transposed, white, self.factor.shape)
        covariance = product(self.law.scale_tril, jnp.swapaxes(self.law.scale_tril, -1, -2))
        return multiply(covariance, weights)

    def _solve_transposed(self, columns: jax.Array) -> jax.Array:
        return jax.lax.linalg.triangular_solve(
            self.factor, columns, left_side=True, lower=True, transpose_a=True
        )

    def _of_part(self, distance: jax.Array) -> jax.Array:
        return jnp.where(jnp.broadcast_to(self.is_there, distance.shape), distance, jnp.zeros_like(distance))
