"""Approximate a stationary Gaussian process by sines on a box, after Solin & Sarkka."""

import math
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..bijectors import float_type, is_concrete, value_hash
from ..core.errors import DistributionError, OptionError
from ..core.modules import Module
from ..core.options import checks_options, positive_count
from .base import AbstractCovariance, as_points, library_of
from .stationary import AbstractStationary

_LEAST_WIDTH = 1.2  # half-widths of the interval in half-ranges of the points, whatever the lengthscale


class SineBasis(Module):
    """Sine basis on an interval or box (Hilbert-space approximation of a stationary Gaussian process).

    `basis(x)`, at points of shape `(n,)` or `(n, d)`, has shape `(n, num_functions)`; times weights with the standard
    deviations `basis.scales(covariance)` it is a Gaussian process whose covariance approaches the exact one as the size
    grows and the borders recede. It costs `n * num_functions` operations, where the exact process costs `n^3`. The
    interval belongs to the model: choose it wide enough for all points at which you will predict. Beyond it the values
    are NaN. NumPy points give a NumPy array.

    **Fields**
    - `low`, `high`: the borders, in the units of `x`; shape `()`, or `(d,)` for a box.
    - `size`: the number of functions; for a box a tuple, one for each axis; the basis is their product.

    **Source**: Solin & Sarkka (2020), Statistics and Computing 30, 419-446, section 3; Riutort-Mayol et al. (2023),
    Statistics and Computing 33, 17 (accuracy, and the rules of `around`).

    **Example**

    >>> x = np.array([-1.0, 0.0, 1.0])
    >>> basis = gp.SineBasis.around(x, lengthscales=(0.5, 2.0), covariance=gp.Matern52)
    >>> print(basis.low, basis.high, basis.num_functions, basis(x).shape)
    -8.2 8.2 44 (3, 44)
    """

    low: Any
    high: Any
    size: int | tuple[int, ...] = eqx.field(static=True)

    @checks_options
    def __init__(self, low: Any, high: Any, size: int | tuple[int, ...]):
        self.low, self.high = low, high
        sizes = tuple(
            positive_count("SineBasis: size", each) for each in np.atleast_1d(np.asarray(size)).tolist()
        )
        self.size = sizes if isinstance(size, (tuple, list)) else sizes[0]
        for name in ("low", "high"):
            shape = np.shape(getattr(self, name))
            if shape not in ((), (self.num_axes,)):
                raise OptionError(
                    f"SineBasis: {name} has shape {shape}, and size {self.size} is of {self.num_axes} axes. Give a "
                    "number, or one for each axis."
                )
        if is_concrete(low) and is_concrete(high) and not np.all(np.asarray(low) < np.asarray(high)):
            raise OptionError(f"SineBasis: low must be below high, got low={low!r} and high={high!r}.")

    @classmethod
    @checks_options
    def around(cls, x: Any, lengthscales: tuple[float, float], covariance: type[AbstractStationary]) -> Self:
        """Build a basis for points `x` that is accurate for all lengthscales in a range, by published rules.

        **Arguments**
        - `x`: all points, including prediction points; known numbers of shape `(n,)` or `(n, d)`.
        - `lengthscales`: the shortest and the longest that matter; the first decides the number of functions, the
          second the width.
        - `covariance`: the class, one of `SquaredExponential`, `Matern32` and `Matern52`.

        **Raises** `OptionError` for a covariance without published rules.
        """
        rules = getattr(covariance, "rules", None)
        if rules is None:
            raise OptionError(
                f"SineBasis.around: there are no rules for {covariance!r}. Give SquaredExponential, Matern32 or "
                "Matern52, or choose low, high and size yourself, and compare with the exact covariance."
            )
        short, long = lengthscales
        if not 0 < short <= long:
            raise OptionError(
                f"SineBasis.around: lengthscales must be 0 < shortest <= longest, got {lengthscales!r}."
            )
        width, density = rules
        points = np.asarray(x, float)
        half = 0.5 * np.ptp(points, axis=0)
        middle = points.min(axis=0) + half
        reach = np.maximum(_LEAST_WIDTH * half, width * long)
        sizes = np.ceil(density * reach / short).astype(int)
        return cls(
            middle - reach, middle + reach, sizes.tolist() if points.ndim == 1 else tuple(sizes.tolist())
        )

    @property
    def num_axes(self) -> int:
        """Number of axes of the points."""
        return len(self.size) if isinstance(self.size, tuple) else 1

    @property
    def num_functions(self) -> int:
        """Number of functions, and of weights."""
        return math.prod(self.size) if isinstance(self.size, tuple) else self.size

    def frequencies(self) -> Any:
        """Return the angular frequencies of the functions along each axis, shape `(num_functions, d)`."""
        sizes = self.size if isinstance(self.size, tuple) else (self.size,)
        counts = np.indices(sizes).reshape(len(sizes), -1).T + 1
        dtype = float_type(self.low, self.high)
        return jnp.asarray(counts, dtype) * (jnp.pi / self._width(dtype))

    def scales(self, covariance: AbstractCovariance) -> jax.Array:
        """Return standard deviations of the weights, shape `(num_functions,)`.

        **Raises** `DistributionError` for a covariance without a spectral density.
        """
        if not isinstance(covariance, AbstractStationary):
            raise DistributionError(
                f"SineBasis is for stationary covariances such as SquaredExponential, got {type(covariance).__name__}. "
                "A Periodic one has `gp.HarmonicBasis(covariance.period, size)`."
            )
        return jnp.exp(0.5 * covariance.log_spectral_density(self.frequencies()))

    def __hash__(self) -> int:
        return value_hash(self)

    def __call__(self, x: Any) -> Any:
        lib, dtype = library_of(x, self.low, self.high)
        x, width = as_points("SineBasis", x, dtype, lib), self._width(dtype, lib)
        if x.shape[-1] != self.num_axes:
            raise DistributionError(
                f"SineBasis: the points have {x.shape[-1]} axes, and size {self.size} is of {self.num_axes}. Give a "
                "tuple with one number of functions for each axis."
            )
        away = x - lib.atleast_2d(lib.asarray(self.low, dtype))
        is_inside = ((away >= 0) & (away <= width)).all(axis=-1)
        sizes = self.size if isinstance(self.size, tuple) else (self.size,)
        whole = lib.ones((x.shape[0], 1), dtype)
        for axis, size in enumerate(sizes):
            side = width[0, axis]
            angles = away[:, axis, None] * (lib.arange(1, size + 1, dtype=dtype)[None] * (math.pi / side))
            waves = lib.sqrt(2 / side) * lib.sin(angles)
            whole = (whole[:, :, None] * waves[:, None, :]).reshape(x.shape[0], -1)
        return lib.where(is_inside[:, None], whole, math.nan)

    def _width(self, dtype: Any, lib: Any = jnp) -> Any:
        """Return the width of the interval along each axis, shape `(1, d)`."""
        low, high = (lib.atleast_2d(lib.asarray(each, dtype)) for each in (self.low, self.high))
        return lib.broadcast_to(high - low, (1, self.num_axes))
