"""Select entries of a distribution's batch, for example the missing or observed ones."""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import DistributionError
from .. import constraint as c
from ..base import AbstractDistribution, Shape


class AbstractEntries(AbstractDistribution):
    """Abstract base class of the missing entries of a batch, in one row: batch shape `(num_entries,)`.

    **Fields**
    - `base`: the distribution of the batch.
    - `shape`: a batch shape to which the batch shape of `base` broadcasts.
    - `index`: which are missing, shape `(num_entries,)`.
    """

    base: eqx.AbstractVar[Any]
    shape: eqx.AbstractVar[Shape]
    index: eqx.AbstractVar[np.ndarray]

    @property
    def batch_shape(self) -> Shape:
        return np.shape(self.index)

    @property
    def dtype(self) -> np.dtype:
        return self.base.dtype

    @abc.abstractmethod
    def take(self, weights: Any, event_shape: Shape = ()) -> Any:
        """Select these entries from an array with one number for each entry of the batch (or that broadcasts to it)."""


class AbstractPart(AbstractDistribution):
    """Abstract base class of the observed part of a batch.

    **Fields**
    - `base`: the distribution of the whole.
    - `is_there`: which elements are observed, of the shape of a value.
    """

    base: eqx.AbstractVar[Any]
    is_there: eqx.AbstractVar[np.ndarray]


class Entries(AbstractEntries):
    """Selected entries of a batch, in one row: batch shape `(num_entries,)`.

    **Fields**
    - `base`: any distribution.
    - `shape`: a batch shape to which the batch shape of `base` broadcasts.
    - `index`: places in the flattened `shape`, shape `(num_entries,)`.

    **Density**: the density of `base` for these entries.
    """

    base: AbstractDistribution
    shape: Shape = eqx.field(static=True)
    index: np.ndarray

    @property
    def event_shape(self) -> Shape:
        return self.base.event_shape

    @property
    def support(self) -> c.Constraint:
        """Return the support of `base`, with the bounds of these entries.

        **Raises** `DistributionError` where bounds differ between entries without one value for each.
        """
        support = self.base.support
        inner = support
        while isinstance(inner, c.Independent):
            inner = inner.base
        if any(np.shape(leaf) for leaf in jax.tree.leaves(support)) and inner.event_dim:
            raise DistributionError(
                f"{type(self.base).__name__}: the support differs between entries of the batch, so that some of "
                "them cannot be selected. Observe all entries, or write one site for each."
            )
        return jax.tree.map(lambda bound: self.take(bound, self.event_shape), support)

    def log_prob(self, value: Any) -> jax.Array:
        # The other entries get an arbitrary value, since parameters cannot be selected by entry in general.
        value = jnp.asarray(value)
        sample = value.shape[: value.ndim - 1 - len(self.event_shape)]
        whole = (*sample, *self.shape, *self.event_shape)
        full = self.base.support.feasible_like(jnp.zeros(whole, value.dtype))
        flat = full.reshape(*sample, -1, *self.event_shape)
        place = (*[slice(None)] * len(sample), self.index)
        flat = flat.at[place].set(value.astype(flat.dtype))
        entries = jnp.broadcast_to(self.base.log_prob(flat.reshape(whole)), (*sample, *self.shape))
        return entries.reshape(*sample, -1)[place]

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        draws = self.base.expand(self.shape).sample(key, sample_shape)
        return draws.reshape(*sample_shape, -1, *self.event_shape)[
            (*[slice(None)] * len(sample_shape), self.index)
        ]

    def take(self, weights: Any, event_shape: Shape = ()) -> Any:
        """Select these entries from an array with one number for each entry of the batch (or that broadcasts to it).

        Further axes to the left, such as the steps of a scan, are kept.
        """
        found = np.shape(weights)
        if not found:
            return weights
        xp: Any = jnp if isinstance(weights, jax.Array) else np
        left = found[: max(len(found) - len(self.shape) - len(event_shape), 0)]
        whole = xp.broadcast_to(weights, (*left, *self.shape, *event_shape))
        place = (*[slice(None)] * len(left), self.index)
        return whole.reshape(*left, -1, *event_shape)[place]
