"""Define the Gauss-Legendre rule of the incomplete gamma and beta functions."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_RULES = {bits: np.polynomial.legendre.leggauss(size) for bits, size in ((32, 24), (64, 56))}
# Coefficients of u^2, u^3, ... in the exponential series.
_EXP_REST = tuple(1 / math.factorial(k) for k in range(2, 16))
# An integrand is followed until it has fallen by this factor's logarithm.
FALL = {32: 18.0, 64: 38.0}


def bits_of(x: jax.Array) -> int:
    """Return 32 or 64, the rule that serves the precision of `x`."""
    return 64 if jnp.finfo(x.dtype).bits > 32 else 32


def rule_on_unit(x: jax.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on (0, 1), in the dtype of `x`, along one more axis than `x` has."""
    nodes, weights = _RULES[bits_of(x)]
    shape, dtype = (1,) * x.ndim + nodes.shape, np.dtype(x.dtype)
    return ((1 + nodes) / 2).astype(dtype).reshape(shape), (weights / 2).astype(dtype).reshape(shape)


def exp_rest(u: jax.Array) -> jax.Array:
    """Compute exp(u) - 1 - u, for |u| < 1/2, with relative accuracy as u goes to 0."""
    total = jnp.full_like(u, _EXP_REST[-1])
    for coefficient in _EXP_REST[-2::-1]:
        total = coefficient + u * total
    return u * u * total


def together(*arguments: Any) -> tuple[jax.Array, ...]:
    """Broadcast arguments to arrays of one dtype and shape; Python numbers have no dtype."""
    dtype = jnp.result_type(*arguments)
    arrays = [jnp.asarray(argument, dtype) for argument in arguments]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    return tuple(jnp.broadcast_to(array, shape) for array in arrays)
