"""Integrate densities of one to three numbers each by adaptive Gauss-Hermite quadrature.

With mode m and the Cholesky factor L of minus the second derivatives h'' there, z = m + L'**-1 x is in standard
deviations. With nodes x_j and weights w_j for exp(-x**2), in as many dimensions as there are numbers, the logarithm of
the integral of exp(h) is -log|L| + log sum_j sqrt(2)**d w_j exp(x_j.x_j + h(m + sqrt(2) L'**-1 x_j)).

**Source**: Liu & Pierce (1994), Biometrika 81(3), 624-629; for several numbers, Pinheiro & Bates (1995), Journal of
Computational and Graphical Statistics 4(1), 12-35, section 2.4.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....distributions.special import log_sum_exp
from ..normal.square import Conditional

ByGroup = Callable[[jax.Array], jax.Array]
"""From one place for each group, shape `(num, size)`, to their log densities, shape `(num,)`."""

_NUMBERS = 2**22  # of an array of nodes and rows, at most: 32 MB
_FEWEST_AT_ONCE = 100
_NEGLIGIBLE = -80.0  # logarithm of the share of an integral below which a node is left out


def nodes_of(count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes, in standard deviations from the mode, and logarithms of their weights for a density.

    **Arguments**: `count`, of nodes along each of `size` dimensions. **Returns** shapes `(count**size, size)` and
    `(count**size,)`; for no dimension, the one place that there is.
    """
    places, weights = np.polynomial.hermite.hermgauss(count)
    log_weights = np.log(np.sqrt(2) * weights) + places**2
    which = np.indices((count,) * size).reshape(size, count**size).T
    return np.sqrt(2) * places[which], log_weights[which].sum(axis=1)


def log_integrals(
    by_group: ByGroup, fixed: ByGroup, normal: Conditional, counts: Sequence[int], rows: int
) -> list[jax.Array]:
    """Compute the logarithm of all integrals' product relative to the densities at their modes, by each of `counts`.

    **Arguments**: `fixed`, the log densities without derivatives by anything; `normal`, around the modes; `counts`, of
    nodes along each dimension; `rows` of the model, of which there is an array for each node.
    """
    every = [nodes_of(count, normal.mean.shape[1]) for count in counts]
    ends = np.cumsum([len(log_weights) for _, log_weights in every])
    places, log_weights = (
        jnp.asarray(np.concatenate(each), normal.mean.dtype) for each in zip(*every, strict=True)
    )
    at, log_weights = at_places(normal, places), log_weights[:, None]
    # A node far out, where a model may overflow, is taken out of the program before derivatives meet it.
    at_once = max(_FEWEST_AT_ONCE, _NUMBERS // max(rows, 1))
    known = log_weights + at_each(fixed, jax.lax.stop_gradient(at), at_once)
    highest = jnp.max(jnp.where(jnp.isnan(known), -jnp.inf, known), axis=0, keepdims=True)
    is_seen = known > highest + _NEGLIGIBLE
    at = jnp.where(is_seen[:, :, None], at, normal.mean[None])
    log_weights = jnp.where(is_seen, log_weights, -jnp.inf)
    peak, heights = jnp.split(at_each(by_group, jnp.concatenate([normal.mean[None], at]), at_once), [1])
    parts = jnp.split(log_weights + heights - peak, ends[:-1])
    return [log_sum_exp(part, axis=0).sum() - normal.factor.log_det for part in parts]


def at_places(normal: Conditional, places: jax.Array) -> jax.Array:
    """Turn places in standard deviations, the same for all groups, shape `(count, size)`, into `(count, num, size)`."""
    shape = normal.mean.shape
    return jax.vmap(lambda place: normal.mean + normal.deviation(jnp.broadcast_to(place, shape)))(places)


def at_each(by_group: ByGroup, z: jax.Array, at_once: int) -> jax.Array:
    """Evaluate log densities at places of shape `(count, num, size)`: shape `(count, num)`.

    More than `at_once` are taken some at a time; derivatives evaluate them again, and need no memory for all of them.
    """
    count = len(z)
    if count <= at_once:
        return jax.vmap(by_group)(z)
    steps = -(-count // at_once)
    # The last ones are repeated, so that the model is traced once.
    z = jnp.concatenate([z, jnp.broadcast_to(z[-1:], (-count % steps, *z.shape[1:]))])
    blocks = z.reshape(steps, -1, *z.shape[1:])
    found: Any = jax.lax.map(jax.checkpoint(jax.vmap(by_group)), blocks)
    return found.reshape(len(z), -1)[:count]
