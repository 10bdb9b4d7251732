"""Define the Polya-Gamma distribution of any shape and tilt."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import solve_increasing
from ...special.basic.quadrature import together
from ..common.entropy_quadrature import entropy_on_half_line
from ..positive.first_passage import InverseGaussian
from .contour import polya_gamma_log_density, polya_gamma_log_tails, tanh_ratio

_TERMS = 16


class PolyaGamma(AbstractDistribution):
    """Polya-Gamma distribution PG(shape, tilt): augments logistic and negative binomial likelihoods.

    Draws sum 16 exact gamma variables and an inverse Gaussian variable, which replaces the rest of the series and has
    its mean and variance. Without tilt the rest is 5e-6 of the variance. With a large tilt it is most of the variance,
    and is itself nearly inverse Gaussian.

    **Fields**
    - `shape`: > 0; the number of trials, or of trials and failures.
    - `tilt`: any real, the log odds; its sign does not matter.

    **Density**: `cosh(c/2)^b exp(-c^2 x / 2) 2^(b - 1) / Gamma(b) * sum over n = 0, 1, ... of (-1)^n Gamma(n + b) / n!
    * (2 n + b) / sqrt(2 pi x^3) exp(-(2 n + b)^2 / (8 x))`, b = shape, c = tilt.

    **Source**: Polson, Scott & Windle (2013), J. Am. Stat. Assoc. 108(504), 1339-1349.
    """

    shape: Any
    tilt: Any = 0.0
    parameters: ClassVar[dict[str, Constraint]] = {
        "shape": constraints.positive,
        "tilt": constraints.real,
    }

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        shape, tilt = self._arrays("shape", "tilt")
        return shape * tanh_ratio(0.25 * tilt * tilt)[0] / 4

    @property
    def variance(self) -> jax.Array:
        shape, tilt = self._arrays("shape", "tilt")
        return shape * tanh_ratio(0.25 * tilt * tilt)[1] / 8

    @property
    def mode(self) -> jax.Array:
        shape, tilt = self._arrays("shape", "tilt")

        def fall(log_x: jax.Array) -> jax.Array:
            def log_density(log_x: jax.Array) -> jax.Array:
                return polya_gamma_log_density(jnp.exp(log_x), shape, tilt)

            return -jax.jvp(log_density, (log_x,), (jnp.ones_like(log_x),))[1]

        # Between the quantiles of the inverse Gaussian distribution, which has the same tails, and of the normal.
        high = jnp.log(self.mean)
        low = jnp.minimum(jnp.log(shape * shape / 12), high) - 1
        return jnp.exp(solve_increasing(fall, jnp.zeros_like(high), low, high))

    def log_prob(self, value: Any) -> jax.Array:
        is_outside, x, shape, tilt = self._aligned(value)
        return jnp.where(is_outside, -jnp.inf, polya_gamma_log_density(x, shape, tilt))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_terms, key_rest = jax.random.split(key)
        shape, dtype = self._shape(sample_shape), self.dtype
        b, tilt = self._arrays("shape", "tilt")
        steps = (np.arange(_TERMS, dtype=dtype) + 0.5).reshape((1,) * b.ndim + (-1,))
        heights = 0.5 / ((np.pi * steps) ** 2 + (0.5 * tilt[..., None]) ** 2)
        sums, squares = heights.sum(axis=-1), (heights * heights).sum(axis=-1)
        mean, variance = self.mean - b * sums, self.variance - b * squares
        gammas = jax.random.gamma(key_terms, b[..., None], (*shape, _TERMS), dtype)
        first = (gammas * heights.reshape((1,) * len(sample_shape) + heights.shape)).sum(axis=-1)
        rest = InverseGaussian(mean, mean * (mean / variance) * mean).sample(key_rest, sample_shape)
        return keep_inside(first + rest, 0.0)

    def cdf(self, value: Any) -> jax.Array:
        return jnp.exp(self.log_cdf(value))

    def log_cdf(self, value: Any) -> jax.Array:
        is_outside, x, shape, tilt = self._aligned(value)
        return jnp.where(is_outside, -jnp.inf, polya_gamma_log_tails(x, shape, tilt)[0])

    def log_survival(self, value: Any) -> jax.Array:
        is_outside, x, shape, tilt = self._aligned(value)
        return jnp.where(is_outside, 0.0, polya_gamma_log_tails(x, shape, tilt)[1])

    def icdf(self, q: Any) -> jax.Array:
        q, shape, tilt = jnp.broadcast_arrays(*map(jnp.asarray, align(q, self.shape, self.tilt)))
        shape, tilt = shape.astype(q.dtype), tilt.astype(q.dtype)
        is_inside = (q > 0) & (q < 1)
        level = jnp.where(is_inside, q, 0.5)

        def log_odds(x: jax.Array) -> jax.Array:
            below, above = polya_gamma_log_tails(x, shape, tilt)
            return below - above

        start = shape * tanh_ratio(0.25 * tilt * tilt)[0] / 4
        # Below, the log of the cdf is about -shape^2 / (8 x); above, the density falls by exp(-pi^2 / 2) in each unit.
        least, most = jnp.minimum(1e-5 * shape * shape, 1e-4 * start), 1e3 * (1 + start)
        found = solve_increasing(log_odds, jnp.log(level) - jnp.log1p(-level), least, most, start)
        ends = jnp.where(q == 0, 0.0, jnp.where(q == 1, jnp.inf, jnp.nan))
        return jnp.where(is_inside, found, ends)

    def entropy(self) -> jax.Array:
        shape, tilt = self._arrays("shape", "tilt")
        mean, variance = self.mean, self.variance
        typical = mean + variance / mean
        spread = jnp.minimum(jnp.sqrt(variance) / mean, 1.0)
        # Below this fraction of shape^2 the mass underflows.
        below = jnp.maximum(jnp.log(typical) - jnp.log(shape * shape / 360), 0.0)
        return entropy_on_half_line(
            lambda x: polya_gamma_log_density(*together(x, shape[None], tilt[None])),
            typical,
            spread,
            jnp.zeros_like(shape),
            below,
        )

    def _aligned(self, value: Any) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
        """Return whether the value is outside, a safe value, and the parameters, of one shape."""
        x, shape, tilt = align(value, self.shape, self.tilt)
        x, shape, tilt = jnp.broadcast_arrays(x, jnp.asarray(shape, x.dtype), jnp.asarray(tilt, x.dtype))
        is_outside = x <= 0
        return is_outside, jnp.where(is_outside, 1.0, x), shape, tilt
