"""Distribute vectors of shares that sum to one: Dirichlet."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from ..bijectors import align
from . import constraints
from .base import AbstractDistribution, Shape
from .constraint import Constraint, Independent
from .special import log_gamma_remainder


class Dirichlet(AbstractDistribution):
    """The Dirichlet distribution on the open simplex.

    **Fields**
    - `concentration`: shape `(..., n)`, > 0, the weight of each part.
    """

    concentration: Any
    parameters: ClassVar[dict[str, Constraint]] = {"concentration": Independent(constraints.positive, 1)}

    @property
    def event_shape(self) -> Shape:
        return np.shape(self.concentration)[-1:]

    @property
    def support(self) -> Constraint:
        return constraints.simplex

    @property
    def mean(self) -> jax.Array:
        a = jnp.asarray(self.concentration, self.dtype)
        return a / a.sum(axis=-1, keepdims=True)

    @property
    def variance(self) -> jax.Array:
        a = jnp.asarray(self.concentration, self.dtype)
        total = a.sum(axis=-1, keepdims=True)
        share = a / total
        return share * (1 - share) / (total + 1)

    def log_prob(self, value: Any) -> jax.Array:
        x, a = align(value, jnp.asarray(self.concentration))
        is_inside = self.support(x) & (x > 0).all(axis=-1)
        x = jnp.where(jnp.expand_dims(is_inside, -1), x, 1 / x.shape[-1])
        # Every part is compared with its mean, so that near the mean large concentrations multiply small logs.
        total = a.sum(axis=-1, keepdims=True)
        share = a / total
        terms = (a - 1) * jnp.log(x / share) - (jnp.log(share) + log_gamma_remainder(a))
        return jnp.where(is_inside, terms.sum(axis=-1) + log_gamma_remainder(total).squeeze(-1), -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        a = jnp.asarray(self.concentration, self.dtype)
        return jax.random.dirichlet(key, a, (*sample_shape, *self.batch_shape), self.dtype)

    def entropy(self) -> jax.Array:
        a = jnp.asarray(self.concentration, self.dtype)
        total = a.sum(axis=-1)
        by_part = ((a - 1) * jsp.digamma(a)).sum(axis=-1)
        return _log_normalizer(a) + (total - a.shape[-1]) * jsp.digamma(total) - by_part


def _log_normalizer(a: jax.Array) -> jax.Array:
    """Logarithm of prod Gamma(a) / Gamma(sum a), from the remainders of log-gamma: nothing large cancels."""
    total = a.sum(axis=-1, keepdims=True)
    by_part = log_gamma_remainder(a) + a * jnp.log(a / total)
    return by_part.sum(axis=-1) - log_gamma_remainder(total).squeeze(-1)
