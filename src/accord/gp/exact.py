"""Build distributions of an exact Gaussian process, before and after observing it at other points."""

from typing import Any

import jax
import jax.numpy as jnp

from ..core.options import checks_options
from ..distributions import MultivariateNormal
from .base import AbstractCovariance


@checks_options
def marginal(covariance: AbstractCovariance, x: Any, *, noise: Any, mean: Any = 0.0) -> MultivariateNormal:
    """Build the distribution of noisy observations of a Gaussian process at `x`; the density costs `n^3` operations.

    **Arguments**
    - `x`: shape `(n,)` or `(n, d)`.
    - `noise`: standard deviation of the normal noise of an observation, > 0; a number, or one for each point. For the
      process itself, without noise, give a small number: 1e-4 of the amplitude keeps the matrix positive definite in
      float64, 1e-2 in float32.
    - `mean`: of the process at the points; a number, or shape `(n,)`.

    **Source**: Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, equation 2.30.

    **Example**

    >>> covariance = gp.Matern52(amplitude=2.0, lengthscale=0.5)
    >>> observed = gp.marginal(covariance, np.array([0.0, 0.5, 1.0]), noise=0.5)
    >>> print(observed.covariance_matrix)
    [[4.25  2.096 0.555]
     [2.096 4.25  2.096]
     [0.555 2.096 4.25 ]]
    """
    return MultivariateNormal(mean, covariance_matrix=_with_noise(covariance(x), noise))


@checks_options
def conditional(
    covariance: AbstractCovariance,
    x: Any,
    y: Any,
    x_new: Any,
    *,
    noise: Any,
    noise_new: Any = None,
    mean: Any = 0.0,
    mean_new: Any = 0.0,
) -> MultivariateNormal:
    """Build the distribution of observations at `x_new`, shape `(k,)` or `(k, d)`, given observations `y` at `x`.

    **Arguments**
    - `x`, `noise`, `mean`: as for `marginal`; `y`, shape `(n,)`.
    - `noise_new`, `mean_new`: at the new points; by default `noise`, which must then be a number, and 0. A small
      `noise_new` gives the process itself.

    **Source**: Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, equations 2.22 to 2.24.

    **Example**

    >>> covariance = gp.Matern52(amplitude=2.0, lengthscale=0.5)
    >>> x, seen = np.array([0.0, 0.5, 1.0]), np.array([0.3, 0.9, -0.2])
    >>> ahead = gp.conditional(covariance, x, seen, np.array([0.5, 1.0, 1.5]), noise=0.5, noise_new=0.01)
    >>> print(ahead.mean, np.sqrt(ahead.variance))
    [ 0.812 -0.147 -0.256] [0.474 0.48  1.7  ]
    """
    old, between, new = covariance(x), covariance(x, x_new), covariance(x_new)
    factor = jnp.linalg.cholesky(_with_noise(old, noise))
    # Both are multiplied by the inverse of the factor, so that a square is subtracted from `new`.
    sides = jnp.concatenate(
        [between, (jnp.asarray(y, old.dtype) - jnp.asarray(mean, old.dtype))[:, None]], axis=1
    )
    solved = jax.scipy.linalg.solve_triangular(factor, sides, lower=True)
    known, residual = solved[:, :-1], solved[:, -1]
    centre = jnp.asarray(mean_new, old.dtype) + known.T @ residual
    left = _with_noise(new - known.T @ known, noise if noise_new is None else noise_new)
    return MultivariateNormal(centre, covariance_matrix=left)


def _with_noise(matrix: jax.Array, noise: Any) -> jax.Array:
    variances = jnp.broadcast_to(jnp.asarray(noise, matrix.dtype) ** 2, matrix.shape[:1])
    return matrix + jnp.diag(variances)
