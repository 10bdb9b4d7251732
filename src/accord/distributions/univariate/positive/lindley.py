"""Define the Lindley distribution of lifetimes."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import log, log1m_exp, one_less_exp, solve_increasing
from ...special.basic.excess import log1p_excess

# Exact to rounding for exp(r) E1(r), the integral of exp(-t) / (r + t) over t > 0, from r = 10.
_LAGUERRE = np.polynomial.laguerre.laggauss(24)
_LAGUERRE_FROM = 10.0


class Lindley(AbstractDistribution):
    """Lindley distribution of lifetimes: the failure rate grows up to a bound.

    **Fields**
    - `rate`: > 0; the bound of the rate of failure, which begins at `rate^2 / (1 + rate)`.

    **Density**: `r^2 (1 + x) exp(-r x) / (1 + r)`, r = rate, x >= 0: a mixture of Gamma(1, r) and Gamma(2, r).

    **Source**: Ghitany, Atieh & Nadarajah (2008), Mathematics and Computers in Simulation 78, 493-506.
    """

    rate: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"rate": constraints.positive}

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative

    @property
    def mean(self) -> jax.Array:
        (r,) = self._arrays("rate")
        return (r + 2) / (r * (r + 1))

    @property
    def variance(self) -> jax.Array:
        (r,) = self._arrays("rate")
        return (2 + r * (4 + r)) / (r * (r + 1)) ** 2

    @property
    def mode(self) -> jax.Array:
        (r,) = self._arrays("rate")
        return jnp.where(r < 1, (1 - r) / r, 0.0)

    def log_prob(self, value: Any) -> jax.Array:
        x, r = align(value, self.rate)
        is_outside = x < 0
        inside = jnp.where(is_outside, 0.0, x)
        log_prob = 2 * log(r) - log(1 + r) + jnp.log1p(inside) - r * inside
        return jnp.where(is_outside, -jnp.inf, log_prob)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_gap, key_second, key_choice = jax.random.split(key, 3)
        shape = self._shape(sample_shape)
        first = jax.random.exponential(key_gap, shape, self.dtype)
        second = jax.random.exponential(key_second, shape, self.dtype)
        chance, r = align(jax.random.uniform(key_choice, shape, self.dtype), self.rate)
        return keep_inside(jnp.where(chance * (1 + r) < r, first, first + second) / r)

    def cdf(self, value: Any) -> jax.Array:
        return one_less_exp(-self._hazard_at(value))

    def icdf(self, q: Any) -> jax.Array:
        q, r = align(q, self.rate)
        is_end = q == 1
        hazard = -jnp.log1p(-jnp.where(is_end, 0.0, q))
        rate = jnp.broadcast_to(jnp.asarray(r, q.dtype), hazard.shape)
        # From the first two terms of the hazard alone.
        start = 2 * hazard / (rate + jnp.sqrt(rate * rate + 2 * hazard))
        s = solve_increasing(lambda s: _hazard(s, rate), hazard, 0.0, jnp.inf, start)
        return jnp.where(is_end, jnp.inf, s * ((1 + rate) / rate))

    def log_cdf(self, value: Any) -> jax.Array:
        return log1m_exp(-self._hazard_at(value))

    def log_survival(self, value: Any) -> jax.Array:
        return -self._hazard_at(value)

    def entropy(self) -> jax.Array:
        (r,) = self._arrays("rate")
        is_large = r > _LAGUERRE_FROM
        small, large = jnp.where(is_large, 1.0, r), jnp.where(is_large, r, _LAGUERRE_FROM)
        shape = (1,) * r.ndim + (-1,)
        nodes, weights = (array.astype(self.dtype).reshape(shape) for array in _LAGUERRE)
        by_rule = (weights / (large[..., None] + nodes)).sum(-1)
        scaled = jnp.where(is_large, by_rule, jnp.exp(small) * jsp.exp1(small))
        mean_log = (1 + scaled) / (1 + r)
        return jnp.log1p(r) - 2 * jnp.log(r) + (r + 2) / (r + 1) - mean_log

    def _hazard_at(self, value: Any) -> jax.Array:
        """Return minus the log of the survival function; 0 below the support."""
        x, r = align(value, self.rate)
        return _hazard(jnp.where(x < 0, 0.0, x) * (r / (1 + r)), r)


def _hazard(s: jax.Array, r: Any) -> jax.Array:
    """Return minus the log survival at r x = (1 + r) s: r s + (s - log(1 + s)), both positive."""
    return r * s - log1p_excess(s)
