"""Define the generalised normal distribution: the exponential of a power of the distance from the centre."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax.scipy import special as jsp

from ....bijectors import align
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import log_gamma_quantile_upper, log_gamma_survival
from ...special.basic.quadrature import together
from ..common.location_scale import AbstractLocationScale


class GeneralizedNormal(AbstractLocationScale):
    """Generalised normal distribution on the real line: Laplace (power 1), normal (2), towards uniform.

    For a power of at most 1 the slope of the log density at the centre does not exist and is given as 0.

    **Fields**
    - `loc`: centre, any real.
    - `scale`: > 0; for power 2 `sqrt(2)` standard deviations.
    - `power`: > 0; 1 is Laplace's distribution, 2 the normal, and a large power almost uniform.

    **Density**: `power exp(-|z|^power) / (2 scale Gamma(1 / power))`, z = (x - loc) / scale.

    **Source**: Nadarajah (2005), Journal of Applied Statistics 32, 685-694.
    """

    loc: Any
    scale: Any
    power: Any
    shapes: ClassVar[tuple[str, ...]] = ("power",)
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "power": constraints.positive,
    }

    @property
    def mean(self) -> jax.Array:
        return self._full(self.loc)

    @property
    def variance(self) -> jax.Array:
        (power,) = self._arrays("power")
        return self._spread(jnp.exp(jsp.gammaln(3 / power) - jsp.gammaln(1 / power)))

    @property
    def mode(self) -> jax.Array:
        return self._full(self.loc)

    def entropy(self) -> jax.Array:
        (power,) = self._arrays("power")
        return self._uncertainty(1 / power + jsp.gammaln(1 + 1 / power) + math.log(2))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_size, key_sign = jax.random.split(key)
        shape, (power,) = self._shape(sample_shape), self._arrays("power")
        log_gamma = jax.random.loggamma(key_size, 1 / power, shape, self.dtype)
        log_gamma, power, loc, scale = align(log_gamma, self.power, self.loc, self.scale)
        noise = jax.random.rademacher(key_sign, shape, self.dtype) * jnp.exp(log_gamma / power)
        return keep_inside(loc + scale * noise)

    def _log_density(self, z: jax.Array, *shapes: Any) -> jax.Array:
        return _log_density(*together(jnp.where(z < 0, -z, z), *shapes))

    def _cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        is_lower = z < 0
        tail = jnp.exp(log_power_tail(*together(jnp.where(is_lower, -z, z), *shapes)))
        return jnp.where(is_lower, tail, 1 - tail)

    def _log_cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        is_lower = z < 0
        log_tail = log_power_tail(*together(jnp.where(is_lower, -z, z), *shapes))
        return jnp.where(is_lower, log_tail, jnp.log1p(-jnp.exp(log_tail)))

    def _log_survival(self, z: jax.Array, *shapes: Any) -> jax.Array:
        return self._log_cdf(-z, *shapes)

    def _icdf(self, q: jax.Array, *shapes: Any) -> jax.Array:
        is_lower = q < 0.5
        size = power_tail_size(*together(jnp.where(is_lower, q, 1 - q), *shapes))
        return jnp.where(is_lower, -size, size)


def _log_density(size: jax.Array, power: jax.Array) -> jax.Array:
    """Return the log density of z at a distance from 0."""
    is_peak = (size == 0) & (power <= 1)
    fall = jnp.where(is_peak, 0.0, jnp.where(is_peak, 1.0, size) ** power)
    return -fall - jsp.gammaln(1 + 1 / power) - math.log(2)


@jax.custom_jvp
def log_power_tail(size: jax.Array, power: jax.Array) -> jax.Array:
    """Return the log probability that z is above `size`, which is at least 0."""
    argument, is_flat = _argument(size, power)
    beyond = log_gamma_survival(1 / power, argument) - math.log(2)
    return jnp.where(is_flat, _log_flat_tail(jnp.where(is_flat, size, 0.0), power), beyond)


@log_power_tail.defjvp
def _log_power_tail_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    size, power = primals
    found = log_power_tail(size, power)
    argument, is_flat = _argument(size, power)
    is_gone = found == -jnp.inf
    by_size = -jnp.exp(_log_density(size, power) - jnp.where(is_gone, 0.0, found))
    # The argument of the gamma tail moves with the power as well as its shape.
    by_log = by_size * size * jnp.log(jnp.where(is_flat, 1.0, size))
    _, by_a = jax.jvp(lambda a: log_gamma_survival(a, argument), (1 / power,), (jnp.ones_like(power),))
    near = jnp.where(is_flat, size, 0.0)
    _, by_flat = jax.jvp(lambda power: _log_flat_tail(near, power), (power,), (jnp.ones_like(power),))
    by_power = jnp.where(is_flat, by_flat, (by_log - by_a / power) / power)
    return found, jnp.where(is_gone, 0.0, by_size * tangents[0] + by_power * tangents[1])


def _argument(size: jax.Array, power: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the argument of the gamma tail, 1 if it may underflow, and whether it does (flat density)."""
    argument = size**power
    is_flat = argument < 1e-30
    return jnp.where(is_flat, 1.0, argument), is_flat


def _log_flat_tail(size: jax.Array, power: jax.Array) -> jax.Array:
    """Return the log probability beyond `size` for a flat density."""
    return jnp.log1p(-size * jnp.exp(-jsp.gammaln(1 + 1 / power))) - math.log(2)


@jax.custom_jvp
def power_tail_size(p: jax.Array, power: jax.Array) -> jax.Array:
    """Find the distance from 0 with probability p, at most 1/2, of z above it."""
    return jnp.exp(log_gamma_quantile_upper(1 / power, 2 * p) / power)


@power_tail_size.defjvp
def _power_tail_size_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    p, power = primals
    size = power_tail_size(p, power)
    is_end = size == jnp.inf
    safe = jnp.where(is_end, 1.0, size)
    log_tail, by_power = jax.jvp(lambda power: log_power_tail(safe, power), (power,), (tangents[1],))
    moved = jnp.exp(log_tail) * by_power - tangents[0]
    return size, jnp.where(is_end, 0.0, moved / jnp.exp(_log_density(safe, power)))
