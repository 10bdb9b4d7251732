"""Define the Dirichlet distribution: vectors of shares that sum to one."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint, Independent
from ..special import log_gamma_remainder
from ..special.basic.digamma import digamma_less_log
from ..special.basic.shares import share_against_mean


class Dirichlet(AbstractDistribution):
    """Dirichlet distribution of shares that sum to one: the beta distribution for more than two parts.

    **Fields**
    - `concentration`: shape `(..., n)`, > 0, the weight of each part.

    **Density**: `Gamma(sum a) / prod Gamma(a) * prod x^(a - 1)` on the open simplex, with respect to its first n - 1
    parts; a = concentration.

    **Source**: Kotz, Balakrishnan & Johnson (2000), Continuous Multivariate Distributions 1, ch. 49.
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
        return share * ((total - a) / total) / (total + 1)

    @property
    def mode(self) -> jax.Array:
        # Parts of concentration below 1 have an unbounded density at 0; when all are, it is largest where the part of
        # largest concentration is the whole.
        a = jnp.asarray(self.concentration, self.dtype)
        weight = jnp.maximum(a - 1, 0.0)
        is_flat = (weight == 0).all(axis=-1, keepdims=True)
        is_largest = a == jnp.maximum(a.max(axis=-1, keepdims=True), 0.0)
        is_first = jnp.cumsum(is_largest, axis=-1) == 1
        is_one = (a == 1).any(axis=-1, keepdims=True)
        corner = jnp.where(is_one, a == 1, is_largest & is_first).astype(a.dtype)
        weight = jnp.where(is_flat, corner, weight)
        return weight / weight.sum(axis=-1, keepdims=True)

    def log_prob(self, value: Any) -> jax.Array:
        x, a = align(value, jnp.asarray(self.concentration))
        is_missing = jnp.isnan(x).any(axis=-1)
        is_inside = (self.support(x) & (x > 0).all(axis=-1)) | is_missing
        x = jnp.where(jnp.expand_dims(is_inside, -1), x, 1 / x.shape[-1])
        # Every part is compared with its mean, so that near the mean large concentrations multiply small logs.
        total = a.sum(axis=-1, keepdims=True)
        share = a / total
        terms = share_against_mean(x, a, jnp.log(x / share), jnp.log(share)) - log_gamma_remainder(a)
        return jnp.where(is_inside, terms.sum(axis=-1) + log_gamma_remainder(total).squeeze(-1), -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        a = jnp.broadcast_to(jnp.asarray(self.concentration, self.dtype), self._shape(sample_shape))
        shares = jax.nn.softmax(jax.random.loggamma(key, a, a.shape, a.dtype), axis=-1)
        # A share below the smallest number would round to 0, where the density ends.
        return jnp.maximum(shares, jnp.finfo(a.dtype).tiny)

    def entropy(self) -> jax.Array:
        a = jnp.asarray(self.concentration, self.dtype)
        total = a.sum(axis=-1, keepdims=True)
        log_share = jnp.log(a / total)
        slopes = digamma_less_log(total) - digamma_less_log(a)
        by_part = log_gamma_remainder(a) + log_share + (a - 1) * slopes
        return by_part.sum(axis=-1) - log_gamma_remainder(total).squeeze(-1)
