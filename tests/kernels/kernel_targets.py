"""Log densities on which kernels are tried, once for JAX and once, with a gradient by hand, for NumPy."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Case:
    """A log density.

    **Fields**: `dim`; `jax`, position to log density; `numpy`, position to log density and gradient; `draw(generator)`,
    one exact draw, shape `(dim,)`.
    """

    dim: int
    jax: Callable[[jax.Array], jax.Array]
    numpy: Callable[[np.ndarray], tuple[float, np.ndarray]]
    draw: Callable[[np.random.Generator], np.ndarray]

    def evaluate(self, position: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Log density and gradient, as kernels want them."""
        return jax.value_and_grad(self.jax)(position)


def normal(covariance: np.ndarray) -> Case:
    """A normal about zero."""
    precision, root = np.linalg.inv(covariance), np.linalg.cholesky(covariance)
    dim = covariance.shape[0]

    def numpy(x: np.ndarray) -> tuple[float, np.ndarray]:
        force = -precision @ x
        return 0.5 * float(x @ force), force

    return Case(
        dim,
        lambda x: -0.5 * x @ (jnp.asarray(precision) @ x),
        numpy,
        lambda generator: root @ generator.standard_normal(dim),
    )


def funnel(dim: int) -> Case:
    """Neal's funnel (2003): v ~ N(0, 3), and `dim - 1` numbers that are N(0, exp(v / 2)) given v."""
    size = dim - 1

    def numpy(q: np.ndarray) -> tuple[float, np.ndarray]:
        v, x = q[0], q[1:]
        with np.errstate(all="ignore"):
            precision = np.exp(-v)
            square = precision * (x @ x)
            value = -(v**2) / 18 - 0.5 * square - 0.5 * size * v
            gradient = np.concatenate([[-v / 9 + 0.5 * square - 0.5 * size], -precision * x])
        return float(value), gradient

    def log_density(q: jax.Array) -> jax.Array:
        v, x = q[0], jax.lax.slice_in_dim(q, 1, dim)
        return -(v**2) / 18 - 0.5 * jnp.exp(-v) * jnp.sum(x * x) - 0.5 * size * v

    def draw(generator: np.random.Generator) -> np.ndarray:
        v = 3 * generator.standard_normal()
        return np.concatenate([[v], np.exp(v / 2) * generator.standard_normal(size)])

    return Case(dim, log_density, numpy, draw)


CORRELATED = np.array([[1.0, 0.9, 0.3], [0.9, 1.5, 0.2], [0.3, 0.2, 0.5]])
