"""Define folded distributions: the absolute value of a variable."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import float_type
from .. import constraint as c
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..special import log_sum_exp, solve_increasing
from ..summary.integrated import AbstractIntegrated
from ..truncation.interval_measure import measure


class FoldedDistribution(AbstractIntegrated):
    """Folded distribution: the absolute value of a variable.

    **Fields**
    - `base_dist`: the distribution of the variable; univariate.
    - `constraint`: the support, given as `support=`; by default the non-negative numbers.

    **Density**: `f(x) + f(-x)` for x >= 0.

    **Source**: Leone, Nelson & Nottingham (1961), Technometrics 3(4), 543-550.
    """

    base_dist: AbstractDistribution
    constraint: c.Constraint | None = None
    has_smooth_mode: ClassVar[bool] = True

    def __init__(self, base_dist: AbstractDistribution, *, support: c.Constraint | None = None):
        self.base_dist = base_dist
        self.constraint = support

    def __check_init__(self) -> None:
        if self.base_dist.event_shape or self.base_dist.is_discrete:
            raise self.refuse(
                f"{type(self.base_dist).__name__} is discrete or has event shape {self.base_dist.event_shape}",
                "Give a continuous univariate distribution.",
            )

    @property
    def batch_shape(self) -> Shape:
        return self.base_dist.batch_shape

    @property
    def dtype(self) -> np.dtype:
        return self.base_dist.dtype

    @property
    def support(self) -> c.Constraint:
        return constraints.nonnegative if self.constraint is None else self.constraint

    def log_prob(self, value: Any) -> jax.Array:
        x = self._value(value)
        is_outside = x < 0
        x = jnp.where(is_outside, 1.0, x)
        both_sides = log_sum_exp(jnp.stack([self.base_dist.log_prob(x), self.base_dist.log_prob(-x)]), axis=0)
        return jnp.where(jnp.isnan(x), jnp.nan, jnp.where(is_outside, -jnp.inf, both_sides))

    def icdf(self, q: Any) -> jax.Array:
        q = self._value(q)
        is_inside = (q > 0) & (q < 1)
        level = jnp.where(is_inside, q, 0.5)
        is_above = level > 0.5
        target = jnp.where(is_above, -jnp.log1p(-jnp.where(is_above, level, 0.5)), jnp.log(level))

        def smaller(x: jax.Array) -> jax.Array:
            # The logarithm of the smaller share resolves both tails.
            return jnp.where(is_above, -self.log_survival(x), self.log_cdf(x))

        found = solve_increasing(smaller, target, 0.0, jnp.inf)
        return jnp.where(is_inside, found, jnp.where(q == 0, 0.0, jnp.where(q == 1, jnp.inf, jnp.nan)))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return jnp.abs(self.base_dist.sample(key, sample_shape))

    def cdf(self, value: Any) -> jax.Array:
        return jnp.exp(self.log_cdf(value))

    def log_cdf(self, value: Any) -> jax.Array:
        x = self._value(value)
        is_inside = x > 0
        x = jnp.where(is_inside, x, 1.0)
        known = (None, None)
        return jnp.where(is_inside, measure(self.base_dist, -x, x, known).log_mass, -jnp.inf)

    def log_survival(self, value: Any) -> jax.Array:
        x = self._value(value)
        is_inside = x > 0
        x = jnp.where(is_inside, x, 1.0)
        tails = jnp.stack([self.base_dist.log_cdf(-x), self.base_dist.log_survival(x)])
        return jnp.where(is_inside, log_sum_exp(tails, axis=0), 0.0)

    def _knots(self) -> jax.Array:
        return jnp.abs(self.base_dist._knots())

    def _value(self, value: Any) -> jax.Array:
        """Return the value as floats, broadcast against the batch shape."""
        x = jnp.asarray(value, float_type(value, *jax.tree.leaves(self.base_dist)))
        return jnp.broadcast_to(x, np.broadcast_shapes(x.shape, self.batch_shape))
