"""Define stationary covariances and their spectral densities."""

import math
from abc import abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ..distributions import constraints
from ..distributions.constraint import Constraint
from .base import AbstractCovariance

LOG_TWO_PI = math.log(2 * math.pi)


class AbstractStationary(AbstractCovariance):
    """Abstract base class of stationary covariances with a spectral density.

    The distance is Euclidean, after each axis has been divided by its lengthscale.

    **Class variables**
    - `rules`: the least width of an interval and the least number of functions on it, as `SineBasis.around` uses them;
      None if no rules were published.
    """

    rules: ClassVar[tuple[float, float] | None] = None

    def __call__(self, x: Any, z: Any = None) -> jax.Array:
        x, z = self._points(x, x if z is None else z)
        scale = self._of_axes(x.dtype)[None]
        apart = (x[:, None, :] - z[None, :, :]) / scale
        return jnp.asarray(self.amplitude, x.dtype) ** 2 * self._correlation((apart * apart).sum(axis=-1))

    def log_spectral_density(self, frequency: Any) -> jax.Array:
        """Return the log Fourier transform of the covariance at angular frequencies.

        The covariance at a difference r is `(2 pi)^-d` times the integral of `exp(i w r)` times the density over w.

        **Arguments**: `frequency`, in radians per unit of `x`, shape `(m,)` or `(m, d)`. **Returns** shape `(m,)`.
        """
        (w,) = self._points(frequency)
        num_axes, scale = w.shape[-1], self._of_axes(w.dtype)
        scaled = ((scale * w) ** 2).sum(axis=-1)
        amplitude = jnp.asarray(self.amplitude, w.dtype)
        volume = jnp.broadcast_to(jnp.log(scale), (1, num_axes)).sum()
        return 2 * jnp.log(amplitude) + volume + self._log_spectrum(scaled, num_axes)

    @abstractmethod
    def _correlation(self, square: jax.Array) -> jax.Array:
        """Return the correlation at a squared distance in lengthscales."""

    @abstractmethod
    def _log_spectrum(self, square: jax.Array, num_axes: int) -> jax.Array:
        """Return the log spectral density for unit amplitude and lengthscales, at a squared frequency."""

    def _of_axes(self, dtype: Any) -> jax.Array:
        """Return the lengthscale, shape `(1, 1)` or `(1, d)`."""
        return jnp.atleast_2d(jnp.asarray(self.lengthscale, dtype))


class SquaredExponential(AbstractStationary):
    """Squared exponential covariance: the process has all derivatives.

    **Fields**: `amplitude`, `lengthscale`, as for `AbstractCovariance`.

    **Covariance**: `amplitude^2 exp(-r^2 / 2)`, r the distance in lengthscales.

    **Source**: Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, equation 4.9.

    **Example**

    >>> covariance = gp.SquaredExponential(amplitude=2.0, lengthscale=0.5)
    >>> print(covariance(np.array([0.0, 0.5, 1.0])))
    [[4.    2.426 0.541]
     [2.426 4.    2.426]
     [0.541 2.426 4.   ]]
    """

    rules: ClassVar[tuple[float, float] | None] = (3.2, 1.75)

    def _correlation(self, square: jax.Array) -> jax.Array:
        return jnp.exp(-0.5 * square)

    def _log_spectrum(self, square: jax.Array, num_axes: int) -> jax.Array:
        return 0.5 * num_axes * LOG_TWO_PI - 0.5 * square


class RationalQuadratic(AbstractStationary):
    """Rational quadratic covariance: a mixture of squared exponentials over many lengthscales.

    **Fields**
    - `amplitude`, `lengthscale`: as for `AbstractCovariance`.
    - `mixture`: > 0, shape `()`; a smaller number mixes more different lengthscales; infinity gives a single one.

    **Covariance**: `amplitude^2 (1 + r^2 / (2 mixture))^-mixture`, r the distance in lengthscales.

    **Source**: Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, equation 4.19. The spectral
    density is a squared exponential's, averaged over the gamma distribution of its precision (DLMF 10.32.10).

    **Example**

    >>> covariance = gp.RationalQuadratic(amplitude=2.0, lengthscale=0.5, mixture=1.0)
    >>> print(covariance(np.array([0.0, 0.5, 1.0])))
    [[4.    2.667 1.333]
     [2.667 4.    2.667]
     [1.333 2.667 4.   ]]
    """

    mixture: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {
        **AbstractCovariance.parameters,
        "mixture": constraints.positive,
    }

    def _correlation(self, square: jax.Array) -> jax.Array:
        mixture = jnp.asarray(self.mixture, square.dtype)
        return jnp.exp(-mixture * jnp.log1p(square / (2 * mixture)))

    def _log_spectrum(self, square: jax.Array, num_axes: int) -> jax.Array:
        # The Bessel function takes long to import, and most models do without.
        from ..distributions.special import log_bessel_k

        mixture = jnp.asarray(self.mixture, square.dtype)
        order = mixture - 0.5 * num_axes
        half = 0.5 * mixture * square
        log_k = log_bessel_k(jnp.abs(order), 2 * jnp.sqrt(half))
        scale = mixture * jnp.log(mixture) - jax.scipy.special.gammaln(mixture)
        power = 0.5 * order * (jnp.log(half) - 2 * jnp.log(mixture))
        return 0.5 * num_axes * LOG_TWO_PI + scale + math.log(2) + power + log_k
