"""Define Matern covariances of processes with no, one or two derivatives."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from .stationary import AbstractStationary


class AbstractMatern(AbstractStationary):
    """Abstract base class of Matern covariances of half-integer order.

    **Class variables**: `half_order`, k: the order is k + 1/2, and the process has k derivatives.

    **Source**: Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, equations 4.15 to 4.17.
    """

    half_order: ClassVar[int] = 0

    def _correlation(self, square: jax.Array) -> jax.Array:
        return _decay((2 * self.half_order + 1) * square, self.half_order)

    def _log_spectrum(self, square: jax.Array, num_axes: int) -> jax.Array:
        order = self.half_order + 0.5
        log_gammas = math.lgamma(order + 0.5 * num_axes) - math.lgamma(order)
        constant = num_axes * (math.log(2) + 0.5 * math.log(math.pi)) + log_gammas
        # The powers of 2 order are taken together, which cancel at frequency 0.
        decay = (order + 0.5 * num_axes) * jnp.log1p(square / (2 * order))
        return constant - 0.5 * num_axes * math.log(2 * order) - decay


class Matern12(AbstractMatern):
    """Matern covariance of order 1/2 (Ornstein-Uhlenbeck process): continuous, without a derivative.

    **Fields**: `amplitude`, `lengthscale`, as for `AbstractCovariance`.

    **Covariance**: `amplitude^2 exp(-r)`, r the distance in lengthscales.

    **Source**: Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, equation 4.18.

    **Example**

    >>> covariance = gp.Matern12(amplitude=2.0, lengthscale=0.5)
    >>> print(covariance(np.array([0.0, 0.5, 1.0])))
    [[4.    1.472 0.541]
     [1.472 4.    1.472]
     [0.541 1.472 4.   ]]
    """


class Matern32(AbstractMatern):
    """Matern covariance of order 3/2: a process with one derivative.

    **Fields**: `amplitude`, `lengthscale`, as for `AbstractCovariance`.

    **Covariance**: `amplitude^2 (1 + a) exp(-a)`, a = sqrt(3) r, r the distance in lengthscales.

    **Source**: Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, equation 4.17.

    **Example**

    >>> covariance = gp.Matern32(amplitude=2.0, lengthscale=0.5)
    >>> print(covariance(np.array([0.0, 0.5, 1.0])))
    [[4.    1.933 0.559]
     [1.933 4.    1.933]
     [0.559 1.933 4.   ]]
    """

    half_order: ClassVar[int] = 1
    rules: ClassVar[tuple[float, float] | None] = (4.5, 3.42)


class Matern52(AbstractMatern):
    """Matern covariance of order 5/2: a process with two derivatives.

    **Fields**: `amplitude`, `lengthscale`, as for `AbstractCovariance`.

    **Covariance**: `amplitude^2 (1 + a + a^2 / 3) exp(-a)`, a = sqrt(5) r, r the distance in lengthscales.

    **Source**: Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, equation 4.17.

    **Example**

    >>> covariance = gp.Matern52(amplitude=2.0, lengthscale=0.5)
    >>> print(covariance(np.array([0.0, 0.5, 1.0])))
    [[4.    2.096 0.555]
     [2.096 4.    2.096]
     [0.555 2.096 4.   ]]
    """

    half_order: ClassVar[int] = 2
    rules: ClassVar[tuple[float, float] | None] = (4.1, 2.65)


@jax.custom_jvp
def _rough(square: jax.Array) -> jax.Array:
    """Compute exp(-a) from a^2, with slope 0 at 0, where it has a kink as a function of position."""
    return jnp.exp(-_root(square))


@_rough.defjvp
def _rough_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (square,), (dot,) = primals, tangents
    is_apart = square > 0
    slope = -0.5 / _root(jnp.where(is_apart, square, 1.0)) * _rough(square)
    return _rough(square), jnp.where(is_apart, slope, 0.0) * dot


@jax.custom_jvp
def _once(square: jax.Array) -> jax.Array:
    """Compute (1 + a) exp(-a) from a^2; its slope is -exp(-a) / 2."""
    a = _root(square)
    return (1 + a) * jnp.exp(-a)


@_once.defjvp
def _once_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (square,), (dot,) = primals, tangents
    return _once(square), -0.5 * _rough(square) * dot


@jax.custom_jvp
def _twice(square: jax.Array) -> jax.Array:
    """Compute (1 + a + a^2 / 3) exp(-a) from a^2; its slope is -(1 + a) exp(-a) / 6."""
    a = _root(square)
    return (1 + a + a * a / 3) * jnp.exp(-a)


@_twice.defjvp
def _twice_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (square,), (dot,) = primals, tangents
    return _twice(square), -_once(square) / 6 * dot


def _decay(square: jax.Array, half_order: int) -> jax.Array:
    return (_rough, _once, _twice)[half_order](square)


def _root(square: Any) -> jax.Array:
    return jnp.sqrt(square)
