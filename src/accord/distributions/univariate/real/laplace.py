"""Define the Laplace distribution and its asymmetric forms."""

import abc
import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ... import constraints
from ...constraint import Constraint
from ...special.basic.smooth import expm1, log_from_both
from ..common.location_scale import AbstractLocationScale


class Laplace(AbstractLocationScale):
    """Laplace distribution on the real line: two exponential tails about a centre.

    The slope of the log density at the centre does not exist and is given as 0.

    **Fields**
    - `loc`: mean and median, any real.
    - `scale`: mean absolute deviation, > 0.

    **Density**: `exp(-|z|) / (2 scale)`, z = (x - loc) / scale.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 24.
    """

    loc: Any = 0.0
    scale: Any = 1.0

    @property
    def mean(self) -> jax.Array:
        return self._place(0.0)

    @property
    def variance(self) -> jax.Array:
        return self._spread(2.0)

    @property
    def mode(self) -> jax.Array:
        return self._place(0.0)

    def entropy(self) -> jax.Array:
        return self._uncertainty(1 + math.log(2))

    def _log_density(self, z: jax.Array, *_: Any) -> jax.Array:
        return -_size(z) - math.log(2)

    def _cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        below = z < 0
        tail = 0.5 * jnp.exp(jnp.where(below, z, -z))
        return jnp.where(below, tail, 1 - tail)

    def _log_cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        below = z < 0
        above = jnp.log1p(-0.5 * jnp.exp(-jnp.where(below, 0.0, z)))
        return jnp.where(below, z - math.log(2), above)

    def _log_survival(self, z: jax.Array, *_: Any) -> jax.Array:
        return self._log_cdf(-z)

    def _icdf(self, q: jax.Array, *_: Any) -> jax.Array:
        below = q < 0.5
        tail = jnp.log(2 * jnp.where(below, q, 1 - q))
        return jnp.where(below, tail, -tail)


class _TwoRates(AbstractLocationScale):
    """Density of z with exponential tails of rates `left` below 0 and `right` above, continuous at 0.

    The probability below 0 is right / (left + right).
    """

    @abc.abstractmethod
    def _rates(self, shape: Any) -> tuple[Any, Any]:
        """Return the left and right rates from the one shape parameter."""

    @property
    def mean(self) -> jax.Array:
        left, right = self._rates(*self._arrays(*self.shapes))
        return self._place(1 / right - 1 / left)

    @property
    def variance(self) -> jax.Array:
        left, right = self._rates(*self._arrays(*self.shapes))
        return self._spread(1 / right**2 + 1 / left**2)

    @property
    def mode(self) -> jax.Array:
        return self._place(0.0)

    def entropy(self) -> jax.Array:
        left, right = self._rates(*self._arrays(*self.shapes))
        return self._uncertainty(1 + jnp.log(1 / left + 1 / right))

    def _log_density(self, z: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        left, right = self._rates(shape)
        return -_size(z) * jnp.where(z < 0, left, right) - jnp.log(1 / left + 1 / right)

    def _cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        return _two_rates_cdf(z, *self._rates(shape))

    def _log_cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        left, right = self._rates(shape)
        below = z < 0
        far = left * jnp.where(below, z, 0.0) - jnp.log1p(left / right)
        z = jnp.where(below, 0.0, z)
        near = log_from_both(_two_rates_cdf(z, left, right), _two_rates_cdf(-z, right, left))
        return jnp.where(below, far, near)

    def _log_survival(self, z: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        left, right = self._rates(shape)
        above = z > 0
        far = -right * jnp.where(above, z, 0.0) - jnp.log1p(right / left)
        z = jnp.where(above, 0.0, z)
        near = log_from_both(_two_rates_cdf(-z, right, left), _two_rates_cdf(z, left, right))
        return jnp.where(above, far, near)

    def _icdf(self, q: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        left, right = self._rates(shape)
        # Logs of the shares of both sides, which resolve q where either share is nearly 1.
        log_below, log_above = -jnp.log1p(left / right), -jnp.log1p(right / left)
        below = q < 1 / (1 + left / right)
        lower = (jnp.log(jnp.where(below, q, 1.0)) - log_below) / left
        upper = (log_above - jnp.log1p(-jnp.where(below, 0.0, q))) / right
        return jnp.where(below, lower, upper)


class AsymmetricLaplace(_TwoRates):
    """Asymmetric Laplace distribution on the real line: exponential tails of different lengths about a mode.

    **Fields**
    - `loc`: mode, any real.
    - `scale`: > 0; geometric mean of the lengths of the tails.
    - `asymmetry`: > 0; the lower tail has length `scale * asymmetry`, the upper tail `scale / asymmetry`.

    **Density**: `exp(-z a) / (scale (a + 1/a))` where z = (x - loc) / scale >= 0, `exp(z / a) / (scale (a + 1/a))`
    below, a = asymmetry.

    **Source**: Kozubowski & Podgorski (2000), Computational Statistics 15, 531-540.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    asymmetry: Any = 1.0
    shapes: ClassVar[tuple[str, ...]] = ("asymmetry",)
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "asymmetry": constraints.positive,
    }

    def _rates(self, shape: Any) -> tuple[Any, Any]:
        return 1 / shape, shape


class AsymmetricLaplaceQuantile(_TwoRates):
    """Asymmetric Laplace distribution about a quantile: the working likelihood of quantile regression.

    **Fields**
    - `loc`: mode, and the quantile of the given level, any real.
    - `scale`: > 0.
    - `quantile`: level of `loc`, in (0, 1): the probability of being below it.

    **Density**: `p (1 - p) exp(-z (p - (z < 0))) / scale`, z = (x - loc) / scale, p = quantile.

    **Source**: Yu & Moyeed (2001), Statistics & Probability Letters 54, 437-447.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    quantile: Any = 0.5
    shapes: ClassVar[tuple[str, ...]] = ("quantile",)
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "quantile": constraints.open_interval(0.0, 1.0),
    }

    def _rates(self, shape: Any) -> tuple[Any, Any]:
        return 1 - shape, shape


@jax.custom_jvp
def _size(z: jax.Array) -> jax.Array:
    """Compute |z|, with the slope 0 at 0."""
    return jnp.abs(z)


@_size.defjvp
def _size_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (z,), (z_dot,) = primals, tangents
    return _size(z), jnp.sign(z) * z_dot


def _two_rates_cdf(z: jax.Array, left: Any, right: Any) -> jax.Array:
    """Return the probability below z, exact where it is small, with exact slopes where it is nearly 1."""
    below = z < 0
    share, rest = 1 / (1 + left / right), 1 / (1 + right / left)
    lower = share * jnp.exp(left * jnp.where(below, z, 0.0))
    fall = -right * jnp.where(below, 0.0, z)
    # Just above the corner the cdf may be small, and then differs little from the share below it.
    near, far = share - rest * expm1(fall), 1 - rest * jnp.exp(fall)
    return jnp.where(below, lower, jnp.where(near < 0.5, near, far))
