"""Define the normal inverse Gaussian distribution: a normal with inverse Gaussian variance."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, is_concrete
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import exp_of, ndtri, solve_increasing
from ...special.basic.quadrature import together
from ...special.basic.tails import solve_tails
from ...special.bessel.bessel_k01 import k1_gap
from ..positive.first_passage import InverseGaussian
from .hyperbolic_tail import log_hyperbolic_density, log_hyperbolic_tails

# Entropy: points, depth to which exponents are followed, and the largest log scales.
_POINTS, _FALL, _FAR = 320, 40.0, 45.0


class NormalInverseGaussian(AbstractDistribution):
    """Normal inverse Gaussian distribution on the real line: heavy, skewed tails, such as of returns.

    **Fields**
    - `loc`: any real; the mean only without skewness.
    - `scale`: > 0; the scale of the limiting Cauchy distribution as `tailweight` goes to 0.
    - `tailweight`: > 0; the rate at which tails fall without skewness. Large values approach the normal distribution.
    - `skewness`: between -`tailweight` and `tailweight`; tails fall at the rates `tailweight` -+ `skewness`.

    **Density**: `a d / pi K_1(a q) / q exp(d sqrt(a^2 - b^2) + b (x - loc))`, q = sqrt(d^2 + (x - loc)^2),
    a = tailweight, b = skewness, d = scale, with the modified Bessel function `K_1`.

    **Source**: Barndorff-Nielsen (1997), Scandinavian Journal of Statistics 24, 1-13.
    """

    loc: Any
    scale: Any
    tailweight: Any
    skewness: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "tailweight": constraints.positive,
        "skewness": constraints.real,
    }

    def __check_init__(self) -> None:
        if not (is_concrete(self.tailweight) and is_concrete(self.skewness)):
            return
        tailweight, skewness = np.broadcast_arrays(np.asarray(self.tailweight), np.asarray(self.skewness))
        is_bad = np.abs(skewness) >= tailweight
        if is_bad.any():
            at = tuple(np.argwhere(is_bad)[0])
            raise self.refuse(
                f"skewness must be between -tailweight and tailweight, got skewness={skewness[at]} "
                f"and tailweight={tailweight[at]}",
                "Parametrise skewness as a share of tailweight.",
            )

    @property
    def support(self) -> Constraint:
        return constraints.real

    @property
    def mean(self) -> jax.Array:
        loc, scale = self._arrays("loc", "scale")
        _, b, g = self._rates()
        return loc + scale * (b / g)

    @property
    def variance(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        a, _, g = self._rates()
        return scale * (a / g) ** 2 / g

    @property
    def mode(self) -> jax.Array:
        loc, scale = self._arrays("loc", "scale")
        a, b, g = together(*(scale * rate for rate in self._rates()))
        is_even = b == 0
        size = jnp.where(is_even, 1.0, jnp.abs(b))

        def fall(z: jax.Array) -> jax.Array:
            r, along = jnp.hypot(1.0, z), g * z
            # The rise by skewness less the fall by tailweight; the terms are close where both are large.
            tilt = (size - along) * ((size + along) / (size * r + a * z))
            return z * (2 / r - a * k1_gap(a * r)) - tilt

        found = solve_increasing(fall, jnp.zeros_like(a), 0.0, size / g)
        return loc + scale * jnp.where(is_even, 0.0, jnp.sign(b) * found)

    def log_prob(self, value: Any) -> jax.Array:
        x, *parts = self._centre(value)
        return jnp.where(jnp.abs(x) == jnp.inf, -jnp.inf, log_hyperbolic_density(*parts))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        key_time, key_noise = jax.random.split(key)
        shape = self._shape(sample_shape)
        _, b, g = self._rates()
        (scale,) = self._arrays("scale")
        time = InverseGaussian(1 / (scale * g), jnp.ones_like(g)).sample(key_time, sample_shape)
        noise = jax.random.normal(key_noise, shape, self.dtype)
        noise, time, loc, scale, b = align(noise, time, self.loc, self.scale, b)
        return keep_inside(loc + scale * (scale * b * time + jnp.sqrt(time) * noise))

    def cdf(self, value: Any) -> jax.Array:
        return exp_of(self.log_cdf(value))

    def icdf(self, q: Any) -> jax.Array:
        q, loc, scale, tailweight, skewness = align(q, self.loc, self.scale, self.tailweight, self.skewness)
        q, *shapes = together(q, scale, *_rates(tailweight, skewness))
        scale = shapes[0]
        a, b, g = (scale * rate for rate in shapes[1:])
        # Start from normal or Cauchy quantiles, on a scale on which tails are nearly linear.
        is_cauchy, is_end = g < 1, (q == 0) | (q == 1)
        level = jnp.where(is_end, 0.5, q)
        normal = b / g + ndtri(level) * (a / g) / jnp.sqrt(g)
        start = jnp.arcsinh(jnp.where(is_cauchy, jnp.tan(np.pi * (level - 0.5)), normal))
        far = 0.8 * math.log(float(jnp.finfo(q.dtype).max))

        def log_tails(s: jax.Array) -> tuple[jax.Array, jax.Array]:
            return log_hyperbolic_tails(jnp.sinh(s), a, b, g)

        found = jnp.sinh(solve_tails(log_tails, level, -far, far, start))
        ends = jnp.where(q == 0, -jnp.inf, jnp.inf).astype(q.dtype)
        return jnp.where(is_end, ends, loc + scale * found)

    def log_cdf(self, value: Any) -> jax.Array:
        return self._tail(value, 0)

    def log_survival(self, value: Any) -> jax.Array:
        return self._tail(value, 1)

    def entropy(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        a, b, g = together(*(scale * rate for rate in self._rates()))
        # With z = sinh s the exponent is g (1 - cosh(s - s0)).
        middle, reach = jnp.arcsinh(b / g), 2 * jnp.arcsinh(jnp.sqrt(0.5 * _FALL / g))
        low, high = jnp.maximum(middle - reach, -_FAR), jnp.minimum(middle + reach, 2 * _FAR)
        step = (high - low) / _POINTS
        nodes = (jnp.arange(_POINTS, dtype=g.dtype) + 0.5).reshape((1,) * g.ndim + (-1,))
        s = low[..., None] + step[..., None] * nodes
        one, *shapes = (part[..., None] for part in (jnp.ones_like(g), a, b, g))
        log_density = log_hyperbolic_density(jnp.sinh(s), one, *shapes)
        uncertainty = -step * (jnp.exp(log_density) * log_density * jnp.cosh(s)).sum(-1)
        return self._batched(jnp.log(scale) + uncertainty)

    def _rates(self) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return tailweight, skewness, and the root of the difference of their squares."""
        return _rates(*self._arrays("tailweight", "skewness"))

    def _centre(self, value: Any) -> tuple[jax.Array, ...]:
        """Return the value, its distance from the location (0 where it is infinite), and scale and rates."""
        x, loc, scale, *shapes = align(value, self.loc, self.scale, self.tailweight, self.skewness)
        distance = jnp.where(jnp.abs(x) == jnp.inf, loc, x) - loc
        return x, *together(distance, scale, *_rates(*shapes))

    def _tail(self, value: Any, side: int) -> jax.Array:
        """Return the log probability below or above a value."""
        x, distance, scale, *rates = self._centre(value)
        found = log_hyperbolic_tails(distance / scale, *(scale * rate for rate in rates))[side]
        ends = jnp.where((x > 0) == (side == 0), 0.0, -jnp.inf).astype(found.dtype)
        return jnp.where(jnp.abs(x) == jnp.inf, ends, found)


def _rates(tailweight: Any, skewness: Any) -> tuple[Any, Any, jax.Array]:
    """Return tailweight, skewness, and the root of the difference of their squares."""
    return tailweight, skewness, jnp.sqrt(tailweight - skewness) * jnp.sqrt(tailweight + skewness)
