"""Mix distributions: with probability given by a categorical distribution, draw from one of several components."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import DistributionError
from .base import AbstractDistribution, Shape
from .constraint import Constraint
from .discrete import Categorical
from .special import log_sum_exp


class MixtureSameFamily(AbstractDistribution):
    """A mixture whose components are the last batch axis of one distribution.

    **Fields**
    - `mixing_distribution`: a `Categorical` over `n` components.
    - `component_distribution`: any distribution with batch shape `(..., n)`.
    """

    mixing_distribution: Categorical
    component_distribution: AbstractDistribution

    def __check_init__(self) -> None:
        count, batch = self.mixing_distribution.num_categories, self.component_distribution.batch_shape
        if not batch or batch[-1] != count:
            raise DistributionError(
                f"MixtureSameFamily: the components have batch shape {batch}, but there are {count} mixing weights. "
                "Put the components on the last batch axis."
            )

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(
            self.mixing_distribution.batch_shape, self.component_distribution.batch_shape[:-1]
        )

    @property
    def event_shape(self) -> Shape:
        return self.component_distribution.event_shape

    @property
    def dtype(self) -> np.dtype:
        return self.component_distribution.dtype

    @property
    def support(self) -> Constraint:
        return _union(self.component_distribution.support, self.component_distribution.batch_shape)

    @property
    def mean(self) -> jax.Array:
        return self._average(self.component_distribution.mean)

    @property
    def variance(self) -> jax.Array:
        component = self.component_distribution
        spread = component.mean - jnp.expand_dims(self.mean, self._axis)
        return self._average(component.variance + spread**2)

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        axis = value.ndim - len(self.event_shape)
        count = self.mixing_distribution.num_categories
        shape = (*value.shape[:axis], count, *value.shape[axis:])
        repeated = jnp.broadcast_to(jnp.expand_dims(value, axis), shape)
        return log_sum_exp(_add(self.component_distribution.log_prob(repeated), self._log_weights()))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_index, key_component = jax.random.split(key)
        count = self.mixing_distribution.num_categories
        index = self.mixing_distribution.expand(self.batch_shape).sample(key_index, sample_shape)
        component = self.component_distribution.expand((*self.batch_shape, count))
        draws = component.sample(key_component, sample_shape)
        return _pick(draws, index, len(self.event_shape))

    def cdf(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        count = self.mixing_distribution.num_categories
        repeated = jnp.broadcast_to(jnp.expand_dims(value, -1), (*value.shape, count))
        by_component, log_weights = self.component_distribution.cdf(repeated), self._log_weights()
        return (by_component * _ranked(jnp.exp(log_weights), by_component.ndim)).sum(axis=-1)

    @property
    def _axis(self) -> int:
        """Where the components are, counted from the end."""
        return -1 - len(self.event_shape)

    def _log_weights(self) -> jax.Array:
        """Log mixing weights in the dtype of the components, shape `(..., n)`."""
        return self.mixing_distribution.log_weights().astype(self.dtype)

    def _average(self, by_component: jax.Array) -> jax.Array:
        """Average over components, shape `batch + event`."""
        weights = jnp.exp(self._log_weights())
        weights = weights.reshape(weights.shape + (1,) * len(self.event_shape))
        weights = _ranked(weights, by_component.ndim)
        averaged = (by_component * weights).sum(axis=self._axis)
        return jnp.broadcast_to(averaged, self._shape())


class MixtureGeneral(AbstractDistribution):
    """A mixture of distributions of any families that share a support and a shape.

    **Fields**
    - `mixing_distribution`: a `Categorical` over `n` components.
    - `component_distributions`: `n` distributions of one event shape.
    - `constraint`: the common support, given as `support=`; by default that of the components, which must be equal.
    """

    mixing_distribution: Categorical
    component_distributions: tuple[AbstractDistribution, ...]
    constraint: Constraint | None = None

    def __init__(
        self,
        mixing_distribution: Categorical,
        component_distributions: Any,
        *,
        support: Constraint | None = None,
    ):
        self.mixing_distribution = mixing_distribution
        self.component_distributions = tuple(component_distributions)
        self.constraint = support

    def __check_init__(self) -> None:
        components, count = self.component_distributions, self.mixing_distribution.num_categories
        if len(components) != count:
            raise DistributionError(
                f"MixtureGeneral: got {len(components)} components and {count} mixing weights. "
                "Give one weight for each."
            )
        events = {component.event_shape for component in components}
        if len(events) > 1:
            raise DistributionError(
                f"MixtureGeneral: the components have event shapes {sorted(events)}. "
                "Give components of one event shape."
            )
        kinds = {type(component.support).__name__ for component in components}
        if self.constraint is None and len(kinds) > 1:
            raise DistributionError(
                f"MixtureGeneral: the components have supports of different kinds, {', '.join(sorted(kinds))}. "
                "Say which one the mixture has: `support=constraints.real`."
            )

    @property
    def batch_shape(self) -> Shape:
        shapes = [component.batch_shape for component in self.component_distributions]
        return np.broadcast_shapes(self.mixing_distribution.batch_shape, *shapes)

    @property
    def event_shape(self) -> Shape:
        return self.component_distributions[0].event_shape

    @property
    def dtype(self) -> np.dtype:
        return max((component.dtype for component in self.component_distributions), key=lambda d: d.itemsize)

    @property
    def support(self) -> Constraint:
        return self.component_distributions[0].support if self.constraint is None else self.constraint

    @property
    def mean(self) -> jax.Array:
        return self._average([component.mean for component in self.component_distributions])

    @property
    def variance(self) -> jax.Array:
        mean = self.mean
        return self._average([d.variance + (d.mean - mean) ** 2 for d in self._expanded()])

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        terms = [component.log_prob(value) for component in self.component_distributions]
        shape = jnp.broadcast_shapes(self.batch_shape, *(term.shape for term in terms))
        stacked = jnp.stack([jnp.broadcast_to(term, shape) for term in terms], axis=-1)
        return log_sum_exp(_add(stacked, self.mixing_distribution.log_weights().astype(stacked.dtype)))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_index, *keys = jax.random.split(key, 1 + len(self.component_distributions))
        index = self.mixing_distribution.expand(self.batch_shape).sample(key_index, sample_shape)
        draws = [d.sample(k, sample_shape) for d, k in zip(self._expanded(), keys, strict=True)]
        event_dim = len(self.event_shape)
        return _pick(jnp.stack(draws, axis=-1 - event_dim), index, event_dim)

    def cdf(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        stacked = jnp.stack([component.cdf(value) for component in self.component_distributions], axis=-1)
        weights = jnp.exp(self.mixing_distribution.log_weights().astype(stacked.dtype))
        return (stacked * _ranked(weights, stacked.ndim)).sum(axis=-1)

    def _expanded(self) -> list[AbstractDistribution]:
        """The components, each of the whole batch shape."""
        return [component.expand(self.batch_shape) for component in self.component_distributions]

    def _average(self, by_component: list[jax.Array]) -> jax.Array:
        """Average summaries of the components, shape `batch + event`."""
        event_dim = len(self.event_shape)
        stacked = jnp.stack(
            [jnp.broadcast_to(item, self._shape()) for item in by_component], axis=-1 - event_dim
        )
        weights = jnp.exp(self.mixing_distribution.log_weights().astype(stacked.dtype))
        weights = weights.reshape(weights.shape + (1,) * event_dim)
        return (stacked * _ranked(weights, stacked.ndim)).sum(axis=-1 - event_dim)


def Mixture(  # noqa: N802 - NumPyro's name
    mixing_distribution: Categorical, component_distributions: Any, *, support: Constraint | None = None
) -> MixtureSameFamily | MixtureGeneral:
    """`MixtureSameFamily` for one batched distribution, `MixtureGeneral` for a sequence of distributions."""
    if isinstance(component_distributions, AbstractDistribution):
        return MixtureSameFamily(mixing_distribution, component_distributions)
    return MixtureGeneral(mixing_distribution, component_distributions, support=support)


def _ranked(array: jax.Array, rank: int) -> jax.Array:
    """Prepend axes of length 1."""
    return array.reshape((1,) * (rank - array.ndim) + array.shape)


def _add(terms: jax.Array, log_weights: jax.Array) -> jax.Array:
    """Add log weights to terms, both with components last, in the broadcast rank."""
    rank = max(terms.ndim, log_weights.ndim)
    return _ranked(terms, rank) + _ranked(log_weights, rank)


def _pick(draws: jax.Array, index: jax.Array, event_dim: int) -> jax.Array:
    """Of draws with components on the axis before the event, take the one at `index`."""
    where = jnp.expand_dims(index, tuple(range(index.ndim, index.ndim + 1 + event_dim)))
    return jnp.take_along_axis(draws, where, axis=-1 - event_dim).squeeze(-1 - event_dim)


def _union(support: Constraint, batch_shape: Shape) -> Constraint:
    """The support of all components: the lowest lower and the highest upper bound along the component axis."""

    def reduce(path: Any, bound: Any) -> Any:
        if len(np.shape(bound)) < len(batch_shape) or np.shape(bound)[-1] != batch_shape[-1]:
            return bound[..., 0] if np.ndim(bound) else bound
        array: Any = jnp if isinstance(bound, jax.Array) else np
        is_lower = "lower" in jax.tree_util.keystr(path)
        return array.min(bound, axis=-1) if is_lower else array.max(bound, axis=-1)

    return jax.tree_util.tree_map_with_path(reduce, support)
