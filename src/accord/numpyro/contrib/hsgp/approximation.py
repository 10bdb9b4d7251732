"""Approximate Gaussian processes by sines on a box around 0: NumPyro's names over `accord.gp.SineBasis`."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from .... import distributions as dist
from .... import gp
from ....core.errors import OptionError
from ...names.refusal import refusal as _refusal
from ...plates import plate
from ...primitives import sample

__all__ = ["hsgp_matern", "hsgp_rational_quadratic", "hsgp_squared_exponential", "linear_approximation"]

__getattr__ = _refusal("numpyro.contrib.hsgp.approximation")

_MATERN = {0.5: gp.Matern12, 1.5: gp.Matern32, 2.5: gp.Matern52}

Size = int | Sequence[int]
Half = Any | Sequence[Any]
"""Half of the side of the box, for all axes or one for each."""


def linear_approximation(phi: Any, spd: Any, m: int, non_centered: bool = True) -> Any:
    """Return `phi` times weights, the sites `beta` in the plate `basis`.

    **Arguments**: `phi`, functions at points, shape `(point, m)`; `spd`, standard deviations of the weights, shape
    `(m,)`; `non_centered`, whether `beta` are weights in units of these.
    """
    with plate("basis", m):
        if non_centered:
            return phi @ (spd * sample("beta", dist.Normal(0.0, 1.0)))
        return phi @ sample("beta", dist.Normal(0.0, jnp.clip(spd, jnp.finfo(spd.dtype).tiny)))


def hsgp_squared_exponential(
    x: Any, alpha: Any, length: Any, ell: Half, m: Size, non_centered: bool = True
) -> Any:
    """Return a Gaussian process with the covariance `alpha exp(-r^2 / 2)` at points.

    **Arguments**: `x`, shape `(point,)` or `(point, axis)`, in the box from `-ell` to `ell`; `alpha`, variance;
    `length`, a lengthscale, or one for each axis; `m`, functions, or a number for each axis.
    """
    return _process(x, gp.SquaredExponential(jnp.sqrt(alpha), length), ell, m, non_centered)


def hsgp_matern(
    x: Any, nu: float, alpha: Any, length: Any, ell: Half, m: Size, non_centered: bool = True
) -> Any:
    """Return a Gaussian process with a Matern covariance of order `nu`, 1/2, 3/2 or 5/2, at points.

    **Arguments**: otherwise as of `hsgp_squared_exponential`. **Raises** `OptionError` for another order.
    """
    if nu not in _MATERN:
        raise OptionError(f"hsgp_matern: nu must be 0.5, 1.5 or 2.5, got {nu!r}.")
    return _process(x, _MATERN[nu](jnp.sqrt(alpha), length), ell, m, non_centered)


def hsgp_rational_quadratic(
    x: Any, alpha: Any, length: Any, scale_mixture: Any, ell: Half, m: Size, non_centered: bool = True
) -> Any:
    """Return a Gaussian process with the covariance `alpha (1 + r^2 / (2 mixture))^-mixture` at points.

    **Arguments**: otherwise as of `hsgp_squared_exponential`.
    """
    covariance = gp.RationalQuadratic(jnp.sqrt(alpha), length, scale_mixture)
    return _process(x, covariance, ell, m, non_centered)


def _process(x: Any, covariance: Any, ell: Half, m: Size, non_centered: bool) -> Any:
    axes = 1 if jnp.ndim(x) == 1 else jnp.shape(x)[-1]
    half = np.asarray(ell, float) if axes == 1 else np.broadcast_to(np.asarray(ell, float), (axes,))
    sizes = tuple(np.broadcast_to(np.asarray(m), (axes,)).tolist())
    half = half.reshape(()) if axes == 1 else half
    basis = gp.SineBasis(-half, half, sizes[0] if axes == 1 else sizes)
    functions = basis(x[:, 0] if axes == 1 and jnp.ndim(x) == 2 else x)
    return linear_approximation(functions, basis.scales(covariance), basis.num_functions, non_centered)
