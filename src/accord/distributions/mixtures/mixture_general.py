"""Define mixtures of distributions from several families."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from ...core.errors import DistributionError
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..discrete.categorical import Categorical
from .mixture import AbstractMixture, check_kinds, pick, ranked


class MixtureGeneral(AbstractMixture):
    """Mixture of distributions from any families with a common support and shape.

    **Fields**
    - `mixing_distribution`: a `Categorical` over `n` components.
    - `component_distributions`: `n` distributions of one event shape.
    - `constraint`: the common support, given as `support=`; by default the support of the components, which must agree.

    **Density**: `sum_i w_i f_i(x)`.

    **Source**: McLachlan & Peel (2000), Finite Mixture Models, section 1.1.
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
                "Give one weight for each component."
            )
        events = {component.event_shape for component in components}
        if len(events) > 1:
            raise DistributionError(
                f"MixtureGeneral: the components have event shapes {sorted(events)}. "
                "Give components of one event shape."
            )
        check_kinds(self, components)
        kinds = {type(component.support).__name__ for component in components}
        if self.constraint is None and len(kinds) > 1:
            raise DistributionError(
                f"MixtureGeneral: the components have supports of different kinds, {', '.join(sorted(kinds))}. "
                "Name the support of the mixture: `support=constraints.real`."
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

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_index, *keys = jax.random.split(key, 1 + len(self.component_distributions))
        index = self.mixing_distribution.expand(self.batch_shape).sample(key_index, sample_shape)
        draws = [d.sample(k, sample_shape) for d, k in zip(self._expanded(), keys, strict=True)]
        event_dim = len(self.event_shape)
        return pick(jnp.stack(draws, axis=-1 - event_dim), index, event_dim)

    def _by_component(self, method: str, value: Any) -> jax.Array:
        terms = [getattr(component, method)(value) for component in self.component_distributions]
        shape = jnp.broadcast_shapes(self.batch_shape, *(term.shape for term in terms))
        dtype = float_type(*terms)
        return jnp.stack([jnp.broadcast_to(term, shape).astype(dtype) for term in terms], axis=-1)

    def _knots(self) -> jax.Array:
        return jnp.concatenate([component._knots().astype(self.dtype) for component in self._expanded()])

    def _expanded(self) -> list[AbstractDistribution]:
        """Return the components, each with the whole batch shape."""
        return [component.expand(self.batch_shape) for component in self.component_distributions]

    def _average(self, by_component: list[jax.Array]) -> jax.Array:
        """Average summaries of the components, shape `batch + event`."""
        event_dim = len(self.event_shape)
        stacked = jnp.stack(
            [jnp.broadcast_to(item, self._shape()) for item in by_component], axis=-1 - event_dim
        )
        weights = jnp.exp(self.mixing_distribution.log_weights().astype(stacked.dtype))
        weights = weights.reshape(weights.shape + (1,) * event_dim)
        return (stacked * ranked(weights, stacked.ndim)).sum(axis=-1 - event_dim)
