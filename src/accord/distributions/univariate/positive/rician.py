"""Define the Rice distribution: the length of a normal vector in the plane."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from ....bijectors import align
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import bessel_ratio, solve_increasing
from ...special.basic.quadrature import together
from ...special.gamma_beta.noncentral_gamma import log_noncentral_density, log_noncentral_tails
from ..common.entropy_quadrature import entropy_on_half_line
from ..common.two_tails import AbstractTwoTailed, with_ends
from ..noncentral.chi2 import noncentral_quantile

# Coefficients of u, u^2, ... in the mean over nu, u = 2 (sigma / nu)^2, exact to rounding where `nu` is this far out.
_FAR = 8.0
_MEAN = np.cumprod([(n - 1.5) ** 2 / n for n in range(1, 20)])


class Rician(AbstractTwoTailed):
    """Rice distribution of positive numbers: amplitudes of a signal in noise.

    **Fields**
    - `nu`: distance of the point without errors, >= 0; at 0 the distribution is Rayleigh's.
    - `sigma`: standard deviation of the error along each of two axes, > 0.

    **Density**: `x / sigma^2 exp(-(x^2 + nu^2) / (2 sigma^2)) I_0(x nu / sigma^2)`, with the modified Bessel function
    `I_0`.

    **Source**: Rice (1945), Bell System Technical Journal 24, 46-156, section 3.10.
    """

    nu: Any
    sigma: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {
        "nu": constraints.nonnegative,
        "sigma": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        nu, sigma = self._arrays("nu", "sigma")
        return sigma * _moments(nu / sigma)[0]

    @property
    def variance(self) -> jax.Array:
        nu, sigma = self._arrays("nu", "sigma")
        return sigma**2 * _moments(nu / sigma)[1]

    @property
    def mode(self) -> jax.Array:
        nu, sigma = self._arrays("nu", "sigma")
        s = nu / sigma

        def fall(x: jax.Array) -> jax.Array:
            return x - 1 / x - s * bessel_ratio(x * s)

        return sigma * solve_increasing(fall, jnp.zeros_like(s), 1 - 1e-6, s + 1.1, jnp.hypot(s, 1.0))

    def log_prob(self, value: Any) -> jax.Array:
        is_below, is_above, x, sigma, *noncentral = self._aligned(value)
        inside = math.log(2) + jnp.log(x) - 2 * jnp.log(sigma) + log_noncentral_density(*noncentral)
        return jnp.where(is_below | is_above, -jnp.inf, inside)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise = jax.random.normal(key, (2, *self._shape(sample_shape)), self.dtype)
        along, nu, sigma = align(noise[0], self.nu, self.sigma)
        return keep_inside(jnp.hypot(nu + sigma * along, sigma * noise[1]), 0.0)

    def icdf(self, q: Any) -> jax.Array:
        q, nu, sigma = together(*align(q, self.nu, self.sigma))
        # The root of 0 or of infinity has no derivative.
        square = noncentral_quantile(q, (nu / sigma) ** 2, jnp.ones_like(q))
        is_end = (square == 0) | (square == jnp.inf)
        return jnp.where(is_end, square, sigma * jnp.sqrt(jnp.where(is_end, 1.0, square)))

    def entropy(self) -> jax.Array:
        nu, sigma = self._arrays("nu", "sigma")
        s = nu / sigma
        mean, variance = _moments(s)
        unit = Rician(s[None], jnp.ones_like(s)[None])
        spread = jnp.sqrt(variance) / mean
        return jnp.log(sigma) + entropy_on_half_line(
            unit.log_prob, mean, spread, jnp.ones_like(s), jnp.full_like(s, 20.0)
        )

    def _log_tails(self, value: Any) -> tuple[jax.Array, jax.Array]:
        is_below, is_above, _, _, *noncentral = self._aligned(value)
        return with_ends(is_below, is_above, log_noncentral_tails(*noncentral))

    def _aligned(self, value: Any) -> tuple[jax.Array, ...]:
        """Return whether the value is below or above the support, a safe value, sigma, and noncentral chi2 parts."""
        x, nu, sigma = together(*align(value, self.nu, self.sigma))
        is_below, is_above = x <= 0, x == jnp.inf
        limits = jnp.finfo(x.dtype)
        safe = jnp.where(is_below | is_above, 1.0, x)
        square = jnp.clip((safe / sigma) ** 2, 1e3 * float(limits.tiny), 1e-3 * float(limits.max))
        return is_below, is_above, safe, sigma, square, (nu / sigma) ** 2, jnp.ones_like(x)


def _moments(s: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return mean and variance for sigma 1."""
    is_far = s > _FAR
    near, far = jnp.where(is_far, 1.0, s), jnp.where(is_far, s, _FAR)
    # The mean as a Laguerre function, and by its asymptotic series, with the first term apart: it cancels.
    half = 0.25 * near * near
    mean = math.sqrt(math.pi / 2) * ((1 + 2 * half) * jsp.i0e(half) + 2 * half * jsp.i1e(half))
    u = 2 / (far * far)
    rest = jnp.zeros_like(u)
    for coefficient in _MEAN[:0:-1]:
        rest = u * (float(coefficient) + rest)
    rest = u * rest
    first = 0.25 * u
    far_mean = far * (1 + first + rest)
    far_variance = 1 - far * far * (2 * rest + (first + rest) ** 2)
    return jnp.where(is_far, far_mean, mean), jnp.where(is_far, far_variance, 2 + near * near - mean * mean)
