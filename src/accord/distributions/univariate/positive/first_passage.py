"""Define first-passage times of Brownian motion: Levy (no drift) and inverse Gaussian (drift)."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import HALF_LOG_TWO_PI, erfcx, log, log1m, log_ndtr, log_of, ndtr, ndtri, solve_increasing
from ...special.basic.smooth import expm1
from ..common.entropy_quadrature import entropy_on_half_line
from ..common.location_scale import AbstractLocationScale

_EULER = float(np.euler_gamma)
_ROOT_HALF = math.sqrt(0.5)
# Beyond this many standard deviations a tail underflows in any precision.
_FAR = 1e3
_ROOT_INVERSE_TWO_PI = 1 / math.sqrt(2 * math.pi)
# Nodes on (0, 1) and weights of the Gauss-Legendre rule.
_RULE = tuple(
    (part + shift) / 2 for part, shift in zip(np.polynomial.legendre.leggauss(10), (1, 0), strict=True)
)


class Levy(AbstractLocationScale):
    """Levy distribution: first-passage time of Brownian motion; stable, with infinite mean and variance.

    **Fields**
    - `loc`: lower end, any real.
    - `scale`: > 0; the square of the level.

    **Density**: `sqrt(scale / (2 pi)) exp(-scale / (2 (x - loc))) / (x - loc)^(3/2)` for x > loc.

    **Source**: Feller (1971), An Introduction to Probability Theory and Its Applications 2, section VI.2.
    """

    loc: Any
    scale: Any
    has_end: ClassVar[bool] = True

    @property
    def support(self) -> Constraint:
        return constraints.greater_than(self.loc)

    @property
    def mean(self) -> jax.Array:
        return self._full(math.inf)

    @property
    def variance(self) -> jax.Array:
        return self._full(math.inf)

    @property
    def mode(self) -> jax.Array:
        return self._place(1 / 3)

    def entropy(self) -> jax.Array:
        return self._uncertainty(0.5 * (1 + 3 * _EULER + math.log(16 * math.pi)))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return keep_inside(super().sample(key, sample_shape), self._full(self.loc))

    def _log_density(self, z: jax.Array, *_: Any) -> jax.Array:
        is_outside = z <= 0
        z = jnp.where(is_outside, 1.0, z)
        return jnp.where(is_outside, -jnp.inf, -1.5 * jnp.log(z) - 0.5 / z - HALF_LOG_TWO_PI)

    def _cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        is_gone = z < _FAR**-2
        return jnp.where(is_gone, 0.0, 2 * ndtr(-jax.lax.rsqrt(jnp.where(is_gone, 1.0, z))))

    def _log_cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        is_outside = z <= 0
        level = jax.lax.rsqrt(jnp.where(is_outside, 1.0, z))
        return jnp.where(is_outside, -jnp.inf, log_ndtr(-level) + math.log(2))

    def _log_survival(self, z: jax.Array, *_: Any) -> jax.Array:
        is_outside = z <= 0
        level = jax.lax.rsqrt(jnp.where(is_outside, 1.0, z))
        return jnp.where(is_outside, 0.0, log_of(jax.lax.erf(_ROOT_HALF * level)))

    def _icdf(self, q: jax.Array, *_: Any) -> jax.Array:
        return ndtri(0.5 * q) ** -2


class InverseGaussian(AbstractDistribution):
    """Inverse Gaussian distribution of positive numbers: first-passage time of Brownian motion with drift.

    **Fields**
    - `loc`: mean, > 0.
    - `concentration`: > 0; the variance is `loc^3 / concentration`.

    **Density**: `sqrt(c / (2 pi x^3)) exp(-c (x - m)^2 / (2 m^2 x))`, m = loc, c = concentration.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 15; draws after Michael,
    Schucany & Haas (1976), The American Statistician 30, 88-90.
    """

    loc: Any
    concentration: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.positive,
        "concentration": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        return self._full(self.loc)

    @property
    def variance(self) -> jax.Array:
        loc, c = self._arrays("loc", "concentration")
        return loc**2 * (loc / c)

    @property
    def mode(self) -> jax.Array:
        loc, c = self._arrays("loc", "concentration")
        ratio = 1.5 * (loc / c)
        return loc / (jnp.hypot(1.0, ratio) + ratio)

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, c = align(value, self.loc, self.concentration)
        is_outside = x <= 0
        x = jnp.where(is_outside, 1.0, x)
        level = jnp.sqrt(c / x) * (x / loc - 1)
        log_prob = 0.5 * log(c) - 1.5 * jnp.log(x) - 0.5 * level * level - HALF_LOG_TWO_PI
        return jnp.where(is_outside, -jnp.inf, log_prob)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape, (key_root, key_side) = self._shape(sample_shape), jax.random.split(key)
        noise, loc, c = align(
            jax.random.normal(key_root, shape, self.dtype), *self._arrays("loc", "concentration")
        )
        # Both roots x of c (x - m)^2 / (m^2 x) = noise^2 multiply to m^2; the smaller is found without cancellation.
        half = 0.5 * (loc / c) * noise * noise
        root = 1 / (1 + half + jnp.sqrt(half * (2 + half)))
        is_small = jax.random.uniform(key_side, shape, self.dtype) * (1 + root) <= 1
        return keep_inside(loc * jnp.where(is_small, root, 1 / root), 0.0)

    def cdf(self, value: Any) -> jax.Array:
        is_outside, x, loc, c = self._inside(value)
        log_below, log_above = _log_tails(x, loc, c)
        return jnp.where(is_outside, 0.0, jnp.where(x < loc, jnp.exp(log_below), -expm1(log_above)))

    def icdf(self, q: Any) -> jax.Array:
        q, loc, c = jnp.broadcast_arrays(*_arrays(*align(q, self.loc, self.concentration)))
        is_low = q < 0.5
        target = jnp.where(is_low, log_of(jnp.where(is_low, q, 0.5)), -log1m(jnp.where(is_low, 0.5, q)))
        is_end, limits = jnp.isinf(target), jnp.finfo(q.dtype)

        def function(log_x: jax.Array) -> jax.Array:
            log_below, log_above = _log_tails(jnp.exp(log_x), loc, c)
            return jnp.where(is_low, log_below, -log_above)

        low, high = math.log(float(limits.tiny)), math.log(float(limits.max))
        log_x = solve_increasing(function, jnp.where(is_end, 0.0, target), low, high, jnp.log(loc))
        return jnp.where(is_end, jnp.where(is_low, 0.0, jnp.inf), jnp.exp(log_x))

    def entropy(self) -> jax.Array:
        loc, c = self._arrays("loc", "concentration")
        c = c / loc
        unit = InverseGaussian(jnp.ones_like(c)[None], c[None])
        spread = jnp.minimum(1 / jnp.sqrt(c), 1.0)
        # Below this fraction of it the mass underflows.
        below = jnp.maximum(jnp.log1p(1 / c) - jnp.log(c / 90), 0.0)
        return jnp.log(loc) + entropy_on_half_line(unit.log_prob, 1 + 1 / c, spread, jnp.zeros_like(c), below)

    def log_cdf(self, value: Any) -> jax.Array:
        is_outside, *parts = self._inside(value)
        return jnp.where(is_outside, -jnp.inf, _log_tails(*parts)[0])

    def log_survival(self, value: Any) -> jax.Array:
        is_outside, *parts = self._inside(value)
        return jnp.where(is_outside, 0.0, _log_tails(*parts)[1])

    def _inside(self, value: Any) -> tuple[jax.Array, ...]:
        """Return whether x is outside, a safe x and the parameters, as arrays."""
        x, loc, c = jnp.broadcast_arrays(*_arrays(*align(value, self.loc, self.concentration)))
        is_outside = x <= 0
        return is_outside, jnp.where(is_outside, loc, x), loc, c


@jax.custom_jvp
def _log_tails(x: jax.Array, m: jax.Array, c: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return log probabilities of the inverse Gaussian distribution below and above x."""
    near, weight, a, b, _ = _levels(x, m, c)
    is_low = near < 0
    # The smaller tail is weight * size / 2.
    size = jnp.where(is_low, a + b, _difference(near, b, jnp.sqrt(c / x)))
    small = -0.5 * near * near + jnp.log(0.5 * size)
    large = jnp.log1p(-0.5 * weight * size)
    return jnp.where(is_low, small, large), jnp.where(is_low, large, small)


@_log_tails.defjvp
def _log_tails_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    (x, m, c), (x_dot, m_dot, c_dot) = primals, tangents
    near, weight, _, b, root = _levels(x, m, c)
    log_below, log_above = _log_tails(x, m, c)
    # Derivatives of the cdf by the logs of its arguments, over the weight; they sum to 0, since only ratios count.
    by_x, by_m = root * _ROOT_INVERSE_TWO_PI, -(c / m) * b
    slope = by_x * (x_dot / x - c_dot / c) + by_m * (m_dot / m - c_dot / c)
    is_low = near < 0
    small = jnp.exp(-0.5 * near * near - jnp.where(is_low, log_below, log_above))
    large = weight / jnp.exp(jnp.where(is_low, log_above, log_below))
    below, above = jnp.where(is_low, small, large), jnp.where(is_low, large, small)
    return (log_below, log_above), (below * slope, -above * slope)


def _levels(x: jax.Array, m: jax.Array, c: jax.Array) -> tuple[jax.Array, ...]:
    """Return the nearer level, exp(-near^2 / 2), erfcx at the sizes of both levels, and sqrt(c / x)."""
    root = jnp.sqrt(c / x)
    near, far = root * (x / m - 1), root * (x / m + 1)
    is_gone = jnp.abs(near) > _FAR
    size = jnp.where(is_gone, 0.0, near)
    weight = jnp.where(is_gone, 0.0, jnp.exp(-0.5 * size * size))
    return near, weight, erfcx(_ROOT_HALF * jnp.abs(near)), erfcx(_ROOT_HALF * far), root


def _difference(near: jax.Array, erfcx_far: jax.Array, root: jax.Array) -> jax.Array:
    """Subtract erfcx at the farther level, 2 root above, from erfcx at the nearer, where that is positive.

    Where they are close it is the integral of the slope of erfcx.
    """
    near = _ROOT_HALF * jnp.where(near < 0, 0.0, near)
    gap = 2 * _ROOT_HALF * root
    is_close = gap < 0.5
    nodes, weights = (jnp.asarray(v, near.dtype).reshape((1,) * near.ndim + (-1,)) for v in _RULE)
    t = near[..., None] + jnp.where(is_close, gap, 0.0)[..., None] * nodes
    slope = (weights * (2 / math.sqrt(math.pi) - 2 * t * erfcx(t))).sum(-1)
    return jnp.where(is_close, gap * slope, erfcx(near) - erfcx_far)


def _arrays(*values: Any) -> tuple[jax.Array, ...]:
    """Convert numbers too to arrays, of the dtype of the first."""
    return tuple(jnp.asarray(value, values[0].dtype) for value in values)
