"""Define mixtures: a categorical distribution chooses one of several components."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import DistributionError
from ...core.options import checks_options
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..discrete.categorical import Categorical
from ..summary.levels import spread
from .mixture import AbstractMixture, check_kinds, pick, ranked
from .mixture_general import MixtureGeneral


class MixtureSameFamily(AbstractMixture):
    """Mixture whose components are the last batch axis of one distribution.

    **Fields**
    - `mixing_distribution`: a `Categorical` over `n` components.
    - `component_distribution`: any distribution with batch shape `(..., n)`.

    **Density**: `sum_i w_i f_i(x)`.

    **Source**: McLachlan & Peel (2000), Finite Mixture Models, section 1.1.
    """

    mixing_distribution: Categorical
    component_distribution: AbstractDistribution

    def __check_init__(self) -> None:
        check_kinds(self, (self.component_distribution,))
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

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_index, key_component = jax.random.split(key)
        count = self.mixing_distribution.num_categories
        index = self.mixing_distribution.expand(self.batch_shape).sample(key_index, sample_shape)
        component = self.component_distribution.expand((*self.batch_shape, count))
        draws = component.sample(key_component, sample_shape)
        return pick(draws, index, len(self.event_shape))

    def _by_component(self, method: str, value: Any) -> jax.Array:
        axis = value.ndim - len(self.event_shape)
        count = self.mixing_distribution.num_categories
        shape = (*value.shape[:axis], count, *value.shape[axis:])
        repeated = jnp.broadcast_to(jnp.expand_dims(value, axis), shape)
        return getattr(self.component_distribution, method)(repeated)

    def _knots(self) -> jax.Array:
        # The components are one more axis of the points.
        knots = jnp.moveaxis(self.component_distribution._knots(), -1, 0)
        return spread(knots.reshape((-1, *knots.shape[2:])), self.batch_shape)

    @property
    def _axis(self) -> int:
        """Return the axis of the components, counted from the end."""
        return -1 - len(self.event_shape)

    def _average(self, by_component: jax.Array) -> jax.Array:
        """Average over components, shape `batch + event`."""
        weights = jnp.exp(self._log_weights()).astype(by_component.dtype)
        weights = weights.reshape(weights.shape + (1,) * len(self.event_shape))
        weights = ranked(weights, by_component.ndim)
        averaged = (by_component * weights).sum(axis=self._axis)
        return jnp.broadcast_to(averaged, self._shape())


@checks_options
def Mixture(  # noqa: N802 - NumPyro's name
    mixing_distribution: Categorical, component_distributions: Any, *, support: Constraint | None = None
) -> MixtureSameFamily | MixtureGeneral:
    """Build a mixture: `MixtureSameFamily` for one batched distribution, `MixtureGeneral` for a sequence."""
    if isinstance(component_distributions, AbstractDistribution):
        return MixtureSameFamily(mixing_distribution, component_distributions)
    return MixtureGeneral(mixing_distribution, component_distributions, support=support)


def _union(support: Constraint, batch_shape: Shape) -> Constraint:
    """Return the union of supports: the lowest lower and highest upper bound along the component axis."""

    def reduce(path: Any, bound: Any) -> Any:
        if len(np.shape(bound)) < len(batch_shape) or np.shape(bound)[-1] != batch_shape[-1]:
            return bound[..., 0] if np.ndim(bound) else bound
        array: Any = jnp if isinstance(bound, jax.Array) else np
        is_lower = "lower" in jax.tree_util.keystr(path)
        return array.min(bound, axis=-1) if is_lower else array.max(bound, axis=-1)

    return jax.tree_util.tree_map_with_path(reduce, support)
