"""Approximate a periodic Gaussian process by the first terms of its Fourier series."""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..bijectors import float_type, is_concrete, value_hash
from ..core.errors import DistributionError, OptionError
from ..core.modules import Module
from ..core.options import checks_options, positive_count
from ..distributions import constraints
from ..distributions.parameters import check_parameter
from .base import AbstractCovariance, as_points, library_of
from .periodic import Periodic

# The recurrence starts this many orders beyond the last one: its error is below 3e-8 for any lengthscale.
_BEYOND = 48


class HarmonicBasis(Module):
    """Fourier basis of a periodic process: a constant, and cosines and sines of multiples of a frequency.

    `basis(x)`, at points of shape `(n,)`, has shape `(n, 2 * size + 1)`; times weights with the standard deviations
    `basis.scales(covariance)` it is a Gaussian process whose covariance quickly approaches the exact one as the size
    grows. NumPy points give a NumPy array.

    **Fields**
    - `period`: the period of the covariance, > 0, shape `()`.
    - `size`: the number of multiples; about 3 divided by the lengthscale of the covariance is enough for most.

    **Source**: Solin & Sarkka (2014), Explicit Link between Periodic Covariance Functions and State Space Models,
    section 3; the ratios of Bessel functions are by DLMF 10.29.1, begun like the bounds of Amos (1974).

    **Example**

    >>> basis = gp.HarmonicBasis(period=12.0, size=1)
    >>> print(basis(np.array([0.0, 3.0, 6.0])))
    [[ 1.  1.  0.]
     [ 1.  0.  1.]
     [ 1. -1.  0.]]
    """

    period: Any
    size: int = eqx.field(static=True)

    @checks_options
    def __init__(self, period: Any, size: int):
        self.period = period
        self.size = positive_count("HarmonicBasis: size", size)
        check_parameter("HarmonicBasis", "period", constraints.positive, period)

    @property
    def num_functions(self) -> int:
        """Number of functions, and of weights."""
        return 2 * self.size + 1

    def scales(self, covariance: AbstractCovariance) -> jax.Array:
        """Return standard deviations of the weights, shape `(2 * size + 1,)`: constant, cosines, sines.

        **Raises** `DistributionError` for a covariance that is not periodic; `OptionError` for another period.
        """
        if not isinstance(covariance, Periodic):
            raise DistributionError(
                f"HarmonicBasis is for Periodic covariances, got {type(covariance).__name__}. A stationary one has "
                "`gp.SineBasis(low, high, size)`."
            )
        if not _is_same(self.period, covariance.period):
            raise OptionError(
                f"HarmonicBasis: its period is {self.period}, but the covariance has period {covariance.period}. Build "
                "the basis from the covariance: `gp.HarmonicBasis(covariance.period, size)`."
            )
        dtype = float_type(covariance.amplitude, covariance.lengthscale)
        amplitude, lengthscale = (
            jnp.asarray(each, dtype) for each in (covariance.amplitude, covariance.lengthscale)
        )
        half_logs = 0.5 * _log_series(lengthscale**-2, self.size)
        return amplitude * jnp.exp(jnp.concatenate([half_logs, half_logs[1:]]))

    def __hash__(self) -> int:
        return value_hash(self)

    def __call__(self, x: Any) -> Any:
        lib, dtype = library_of(x, self.period)
        if np.ndim(x) != 1:
            raise DistributionError(
                f"HarmonicBasis: the points have shape {np.shape(x)}. Give shape (n,), on a line."
            )
        turns = as_points("HarmonicBasis", x, dtype, lib) / lib.asarray(self.period, dtype)
        # Remove whole turns first, since the sine of a large angle is inaccurate.
        angles = 2 * math.pi * (turns - lib.floor(turns)) * lib.arange(1, self.size + 1, dtype=dtype)[None]
        return lib.concatenate([lib.ones_like(turns), lib.cos(angles), lib.sin(angles)], axis=1)


def _log_series(z: jax.Array, size: int) -> jax.Array:
    """Return logs of exp(-z) I_0(z), 2 exp(-z) I_1(z), ..., 2 exp(-z) I_size(z); the full series sums to 1."""
    from ..distributions.special import log_bessel_i0e

    last = size + _BEYOND
    # The ratio of the orders `last` and `last - 1`, with an error of z^-3 where z is large.
    start = z / (last - 0.5 + jnp.sqrt(last * last - 0.25 + z * z))

    def lower(ratio: jax.Array, order: jax.Array) -> tuple[jax.Array, jax.Array]:
        # I_order / I_(order - 1) from the ratio of the order above.
        ratio = z / (2 * order + z * ratio)
        return ratio, ratio

    orders = jnp.arange(1, last, dtype=z.dtype)
    ratios = jax.lax.scan(lower, start, orders, reverse=True)[1][:size]
    above = jnp.cumsum(jnp.log(ratios)) + jnp.log(jnp.asarray(2, z.dtype))
    return log_bessel_i0e(z) + jnp.concatenate([jnp.zeros((1,), z.dtype), above])


def _is_same(a: Any, b: Any) -> bool:
    return a is b or (is_concrete(a) and is_concrete(b) and float(a) == float(b))
