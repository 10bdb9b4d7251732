"""Define the generalised inverse Gaussian distribution, between gamma, inverse gamma and inverse Gaussian."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special import exp_of, log_bessel_ke
from ...special.basic.quadrature import together
from ...special.basic.tails import solve_tails
from .generalized_inverse_gaussian_draws import draw
from .log_bell import bell, bell_height, bell_nodes, bell_top, log_bell_mass, log_bell_tails

# From this sharpness of the bell on, compute the variance from points around the top.
_SHARP_FROM = 30.0


class GeneralizedInverseGaussian(AbstractDistribution):
    """Generalised inverse Gaussian distribution: exponential tails in x and 1 / x; waiting times, volatilities.

    **Fields**
    - `a`: > 0; twice the rate of the upper tail.
    - `b`: > 0; twice the rate in 1 / x of the lower tail.
    - `p`: power, any real; -1/2 is the inverse Gaussian distribution.

    **Density**: `(a / b)^(p/2) / (2 K_p(sqrt(a b))) x^(p - 1) exp(-(a x + b / x) / 2)`, x > 0, with the modified Bessel
    function `K_p`.

    **Source**: Jorgensen (1982), Statistical Properties of the Generalized Inverse Gaussian Distribution, chapter 2.
    """

    a: Any
    b: Any
    p: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "a": constraints.positive,
        "b": constraints.positive,
        "p": constraints.real,
    }

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        return self._moments()[0]

    @property
    def variance(self) -> jax.Array:
        return self._moments()[1]

    @property
    def mode(self) -> jax.Array:
        a, b, p = self._arrays("a", "b", "p")
        return bell_top(a, b, p - 1)

    def log_prob(self, value: Any) -> jax.Array:
        is_outside, x, a, b, p = self._inside(value)
        place = bell(a, b, p)
        found = bell_height(x, place) - log_bell_mass(place) - jnp.log(x)
        return jnp.where(is_outside, -jnp.inf, found)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return draw(key, self._shape(sample_shape), *self._arrays("a", "b", "p"))

    def cdf(self, value: Any) -> jax.Array:
        return exp_of(self.log_cdf(value))

    def icdf(self, q: Any) -> jax.Array:
        q, *law = together(*align(q, self.a, self.b, self.p))
        place = bell(*law)
        log_mass = log_bell_mass(place)
        is_end, limits = (q == 0) | (q == 1), jnp.finfo(q.dtype)
        least, most = math.log(float(limits.tiny)) + 1, math.log(float(limits.max)) - 1

        def log_tails(s: jax.Array) -> tuple[jax.Array, jax.Array]:
            return log_bell_tails(jnp.exp(s), (law[0], law[1], law[2]), place, log_mass)

        level = jnp.where(is_end, 0.5, q)
        found = jnp.exp(solve_tails(log_tails, level, least, most, jnp.log(place.top)))
        return jnp.where(is_end, jnp.where(q == 0, 0.0, jnp.inf), found)

    def log_cdf(self, value: Any) -> jax.Array:
        return self._tail(value, 0)

    def log_survival(self, value: Any) -> jax.Array:
        return self._tail(value, 1)

    def entropy(self) -> jax.Array:
        place = bell(*self._arrays("a", "b", "p"))
        u, exponents, weights = bell_nodes(place)
        shares = weights * jnp.exp(exponents)
        total = shares.sum(-1)
        return self._batched(jnp.log(total) + jnp.log(place.top) + (shares * (u - exponents)).sum(-1) / total)

    def _moments(self) -> tuple[jax.Array, jax.Array]:
        """Return mean and variance."""
        a, b, p = self._arrays("a", "b", "p")
        place = bell(a, b, p)
        unit, w = jnp.sqrt(b) / jnp.sqrt(a), jnp.sqrt(a) * jnp.sqrt(b)
        zeroth, first, second = (log_bessel_ke(jnp.abs(p + k), w) for k in range(3))
        mean = unit * jnp.exp(first - zeroth)
        wide = unit * (unit * jnp.exp(second - zeroth)) - mean * mean
        u, exponents, weights = bell_nodes(place)
        shares = weights * jnp.exp(exponents)
        rest = jnp.expm1(u)
        centre = (shares * rest).sum(-1) / shares.sum(-1)
        sharp = (shares * (rest - centre[..., None]) ** 2).sum(-1) / shares.sum(-1)
        is_sharp, top = place.up + place.down > _SHARP_FROM, place.top
        return jnp.where(is_sharp, top * (1 + centre), mean), jnp.where(is_sharp, top * (top * sharp), wide)

    def _tail(self, value: Any, side: int) -> jax.Array:
        """Return the log probability below or above a value."""
        is_outside, x, a, b, p = self._inside(value)
        place = bell(a, b, p)
        found = log_bell_tails(x, (a, b, p), place, log_bell_mass(place))[side]
        # Outside the support, the replacement value is above 1 where the value is infinite.
        ends = jnp.where((x > 1) == (side == 0), 0.0, -jnp.inf).astype(x.dtype)
        return jnp.where(is_outside, ends, found)

    def _inside(self, value: Any) -> tuple[jax.Array, ...]:
        """Return whether the value is outside or NaN, a safe value, and the parameters, of one shape."""
        x, *shapes = together(*align(value, self.a, self.b, self.p))
        is_outside = (x <= 0) | (x == jnp.inf)
        return is_outside, jnp.where(is_outside, jnp.where(x > 0, 2.0, 1.0), x), *shapes
