"""Standard deviations that a mean field leaves out: how its means respond to a change of the posterior."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from ..core.tree import to_numpy
from ..density import LogDensity
from ..executors.pools import one_blas_thread
from ..guides.base import Params
from ..programs.standalone import compile_alone
from .each import are_side_by_side, sharing
from .evaluate import Fitted
from .given import fixed_noise
from .objectives.base import AbstractObjective

MAX_DIM = 300
"""Up to which they are computed: they take second derivatives by twice as many numbers."""


def linear_response(
    density: LogDensity, fitted: Fitted, objective: AbstractObjective, seed: int, restart: int
) -> np.ndarray | None:
    """Return standard deviations of all latent scalars in the model's space, shape `(scalar,)`.

    At the maximum of the bound, tilting the log density by `t * f` moves the mean of `g` at a rate that is their
    covariance. By the second derivatives of the bound, that holds for the covariances which the guide does not have.
    None where the bound is not curved at its maximum, or the unknowns are more than `MAX_DIM`.

    **Source**: Giordano, Broderick & Jordan (2018), "Covariances, robustness, and variational Bayes", JMLR 19(51).
    """
    if density.dim > MAX_DIM:
        return None
    guide, dtype = fitted.guide, np.asarray(fitted.frame.location).dtype
    noise = fixed_noise(objective, guide, seed, restart, density.dim, dtype)
    names, is_point = [entry.name for entry in density.layout.entries], guide.points(density.dim)
    is_side_by_side = are_side_by_side(density, len(noise))

    def program(density: LogDensity, params: Any, frame: Any, noise: Any) -> Any:
        flat, unravel = ravel_pytree(params)

        def bound(flat: Any) -> Any:
            each = sharing(frame.within(density, is_point), is_side_by_side)
            return objective.loss(guide, unravel(flat), noise, each)

        def means(flat: Any) -> Any:
            own = unravel(flat)

            def latents(log_density: Any, row: Any) -> Any:
                del log_density
                sites = density.program.means(frame.position(guide.draw(own, row)[0]), density.data)
                return jnp.concatenate([jnp.ravel(sites[name]) for name in names])

            return jnp.mean(sharing(density, is_side_by_side)(latents, noise), axis=0)

        def column(direction: Any) -> Any:
            turned = jax.jvp(jax.grad(bound), (flat,), (direction,))[1]
            return turned, jax.jvp(means, (flat,), (direction,))[1]

        return jax.lax.map(column, jnp.eye(flat.size, dtype=flat.dtype))

    params: Params = fitted.params
    compiled = compile_alone(density, program, params, fitted.frame, noise)
    with one_blas_thread():
        turns, slopes = to_numpy(compiled(params, fitted.frame, noise))
        turns = (turns + turns.T) / 2
        if not np.isfinite(turns).all():
            return None
        values, vectors = np.linalg.eigh(turns)
        if not values[0] > math.sqrt(np.finfo(dtype).eps) * values[-1]:
            return None
        halves = (vectors / np.sqrt(values)).T @ slopes
    return np.sqrt(np.sum(halves**2, axis=0))
