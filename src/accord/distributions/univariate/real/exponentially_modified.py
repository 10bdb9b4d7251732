"""Define the exponentially modified Gaussian distribution: a normal plus an exponential variable."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special import log1m, ndtri, solve_increasing
from ...special.basic.quadrature import together
from ...special.basic.tails import solve_tails
from ..common.entropy_quadrature import entropy_on_line
from .exponential_gap import log_modified_density, log_modified_lower, log_modified_upper, modified_slope

# Beyond this, in standard deviations and in means of the exponential part, tails underflow in any precision.
_FAR, _FAR_OUT = 50.0, 750.0


class ExponentiallyModifiedGaussian(AbstractDistribution):
    """Exponentially modified Gaussian: a normal plus an exponential variable; reaction times, chromatograms.

    **Fields**
    - `loc`: mean of the normal part, any real.
    - `scale`: standard deviation of the normal part, > 0.
    - `rate`: inverse mean of the exponential part, > 0.

    **Density**: `rate exp(k^2 / 2 - k z) Phi(z - k)`, z = (x - loc) / scale, k = rate scale, Phi the normal cdf.

    **Source**: Grushka (1972), Analytical Chemistry 44, 1733-1738.
    """

    loc: Any
    scale: Any
    rate: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "rate": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.real

    @property
    def mean(self) -> jax.Array:
        loc, rate = self._arrays("loc", "rate")
        return loc + 1 / rate

    @property
    def variance(self) -> jax.Array:
        scale, rate = self._arrays("scale", "rate")
        return scale**2 + 1 / rate**2

    @property
    def mode(self) -> jax.Array:
        loc, scale, rate = self._arrays("loc", "scale", "rate")
        k = rate * scale
        return loc + scale * solve_increasing(lambda z: -modified_slope(z, k), jnp.zeros_like(k), 0.0, 1 / k)

    def log_prob(self, value: Any) -> jax.Array:
        return log_modified_density(*self._centre(value))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_normal, key_exponential = jax.random.split(key)
        shape = self._shape(sample_shape)
        wait = jax.random.exponential(key_exponential, shape, self.dtype)
        noise = jax.random.normal(key_normal, shape, self.dtype)
        noise, loc, scale, rate = align(noise, self.loc, self.scale, self.rate)
        return loc + scale * noise + wait / rate

    def cdf(self, value: Any) -> jax.Array:
        return jnp.exp(self.log_cdf(value))

    def icdf(self, q: Any) -> jax.Array:
        q, loc, scale, rate = align(q, self.loc, self.scale, self.rate)
        q, scale, rate = together(q, scale, rate)
        start = scale * ndtri(q) - log1m(q) / rate
        low, high = -_FAR * scale, _FAR * scale + _FAR_OUT / rate

        def log_tails(x: jax.Array) -> tuple[jax.Array, jax.Array]:
            return log_modified_lower(x, scale, rate), log_modified_upper(x, scale, rate)

        # At 0 and 1 the normal quantile is infinite.
        is_end = (q == 0) | (q == 1)
        return loc + jnp.where(is_end, ndtri(q), solve_tails(log_tails, q, low, high, start))

    def log_cdf(self, value: Any) -> jax.Array:
        return log_modified_lower(*self._centre(value))

    def log_survival(self, value: Any) -> jax.Array:
        return log_modified_upper(*self._centre(value))

    def entropy(self) -> jax.Array:
        scale, rate = self._arrays("scale", "rate")
        k = rate * scale
        of_z = entropy_on_line(
            lambda z: log_modified_density(*together(z, jnp.ones_like(z), k[None])),
            jnp.zeros_like(k),
            jnp.ones_like(k),
            jnp.full_like(k, 12.0),
            12 + 45 / k,
        )
        return jnp.log(scale) + of_z

    def _centre(self, value: Any) -> tuple[jax.Array, ...]:
        """Return the distance from the mean of the normal part, the scale and the rate, of one shape."""
        x, loc, scale, rate = align(value, self.loc, self.scale, self.rate)
        return together(x - loc, scale, rate)
