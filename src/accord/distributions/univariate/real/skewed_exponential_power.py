"""Define the skewed exponential power distribution on the real line."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax.scipy import special as jsp

from ....bijectors import align
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import log_gamma_remainder
from ...special.basic.quadrature import together
from ..common.location_scale import AbstractLocationScale
from .generalized_normal import log_power_tail, power_tail_size


class SkewedExponentialPower(AbstractLocationScale):
    """Skewed exponential power distribution: includes the asymmetric Laplace and the two-piece normal.

    For a power of at most 1 the slope of the log density at the peak does not exist and is given as 0.

    **Fields**
    - `loc`: the peak, any real.
    - `scale`: > 0; for power 2 and asymmetry 1/2 the standard deviation.
    - `power`: > 0; 1 is an asymmetric Laplace distribution, 2 a two-piece normal one.
    - `asymmetry`: the probability below the peak, in (0, 1).

    **Density**: `exp(-(|z| / (2 a))^power / power) / (2 scale power^(1 / power) Gamma(1 + 1 / power))`,
    z = (x - loc) / scale; a = asymmetry for z < 0, 1 - asymmetry for z > 0.

    **Source**: Zhu & Zinde-Walsh (2009), Journal of Econometrics 148(1), 86-99, with equal powers on both sides.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    power: Any = 2.0
    asymmetry: Any = 0.5
    shapes: ClassVar[tuple[str, ...]] = ("power", "asymmetry")
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "power": constraints.positive,
        "asymmetry": constraints.open_interval(0.0, 1.0),
    }

    @property
    def mean(self) -> jax.Array:
        power, below = self._arrays("power", "asymmetry")
        return self._place(2 * (1 - 2 * below) * _moment(power, 1))

    @property
    def variance(self) -> jax.Array:
        power, below = self._arrays("power", "asymmetry")
        product = below * (1 - below)
        square = (1 - 3 * product) * _moment(power, 2) - (1 - 4 * product) * _moment(power, 1) ** 2
        return self._spread(4 * square)

    @property
    def mode(self) -> jax.Array:
        return self._full(self.loc)

    def entropy(self) -> jax.Array:
        (power,) = self._arrays("power")
        return self._uncertainty(log_gamma_remainder(1 / power) + jnp.log(2 / power))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_size, key_side = jax.random.split(key)
        shape, (power,) = self._shape(sample_shape), self._arrays("power")
        log_gamma = jax.random.loggamma(key_size, 1 / power, shape, self.dtype)
        side = jax.random.uniform(key_side, shape, self.dtype)
        log_gamma, power, loc, scale, below = align(
            log_gamma, self.power, self.loc, self.scale, self.asymmetry
        )
        size = 2 * jnp.exp((log_gamma + jnp.log(power)) / power)
        noise = jnp.where(side < below, -below, 1 - below) * size
        return keep_inside(loc + scale * noise)

    def _log_density(self, z: jax.Array, *shapes: Any) -> jax.Array:
        size, _, power = _sides(z, *shapes)
        is_peak = (size == 0) & (power <= 1)
        fall = jnp.where(is_peak, 0.0, jnp.where(is_peak, 1.0, size) ** power) / power
        return -fall - _log_width(power)

    def _cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        tail = jnp.exp(self._log_tail(z, *shapes))
        return jnp.where(z < 0, tail, 1 - tail)

    def _log_cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        log_tail = self._log_tail(z, *shapes)
        is_lower = z < 0
        return jnp.where(is_lower, log_tail, jnp.log1p(-jnp.exp(jnp.where(is_lower, -1.0, log_tail))))

    def _log_survival(self, z: jax.Array, *shapes: Any) -> jax.Array:
        log_tail = self._log_tail(z, *shapes)
        is_lower = z < 0
        return jnp.where(is_lower, jnp.log1p(-jnp.exp(jnp.where(is_lower, log_tail, -1.0))), log_tail)

    def _icdf(self, q: jax.Array, *shapes: Any) -> jax.Array:
        q, power, below = together(q, *shapes)
        is_lower = q < below
        share = jnp.where(is_lower, below, 1 - below)
        tail = jnp.where(is_lower, q, 1 - q) / (2 * share)
        size = 2 * share * power ** (1 / power) * power_tail_size(tail, power)
        return jnp.where(is_lower, -size, size)

    def _log_tail(self, z: jax.Array, *shapes: Any) -> jax.Array:
        """Return the log probability beyond z, on its side of the peak."""
        size, share, power = _sides(z, *shapes)
        return jnp.log(2 * share) + log_power_tail(size * power ** (-1 / power), power)


def _sides(z: jax.Array, power: Any, below: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the distance from the peak in its side's scale, the probability of the side, and the power."""
    z, power, below = together(z, power, below)
    is_lower = z < 0
    share = jnp.where(is_lower, below, 1 - below)
    return jnp.where(is_lower, -z, z) / (2 * share), share, power


def _log_width(power: jax.Array) -> jax.Array:
    """Compute log(2 power^(1 / power) Gamma(1 + 1 / power)), without cancellation for a small power."""
    inverse = 1 / power
    return log_gamma_remainder(inverse) + jnp.log(2 * inverse) - inverse


def _moment(power: jax.Array, order: int) -> jax.Array:
    """Return the mean of a power of the distance from the peak, in its side's scale."""
    return jnp.exp(jsp.gammaln((order + 1) / power) - jsp.gammaln(1 / power) + order * jnp.log(power) / power)
